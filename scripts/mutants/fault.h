// The switch of planted faults. In a copy of the tree scripts/mutants.sh includes it into each file
// that has faults; nothing that is shipped contains it.
#pragma once

extern "C" char* getenv(const char* name) noexcept;
extern "C" int atoi(const char* text) noexcept;

// The number of the fault that this process has, 0 for none: from the environment, read once.
inline const int uet_fault_of_process = [] {
  const char* text = getenv("UET_PLANTED_FAULT");
  return text == nullptr ? 0 : atoi(text);
}();

// Whether this process has fault `number`. Tables with faults call it, so that they are filled when
// the process starts.
inline bool uet_fault_now(int number) { return uet_fault_of_process == number; }

// The same everywhere else. Values computed at compile time have no faults.
constexpr bool uet_fault(int number) {
  return !__builtin_is_constant_evaluated() && uet_fault_of_process == number;
}
