// Counters that a simulation suite need not move, and why. Included by uet_sim.cpp.
constexpr Exempt kExempt[] = {
    {"", ""},
};
