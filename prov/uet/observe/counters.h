// The counters of a domain, by name: what fi_ext_uet.h offers to programs and the status socket to
// uet_ctl. The numbers live in the layers that count; here they are only collected.
#pragma once

#include "prov/uet/api/fi_ext_uet.h"
#include "prov/uet/progress/progress.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace uet::prov {

class Domain;

// All counters of all layers, always in the same order; names are unique. Counts as a
// visit of the application. With a limit it does not, and the result is empty if another thread
// holds the engine's lock for longer.
std::vector<fi_uet_counter> read_counters(ProgressEngine& engine,
                                          std::optional<Duration> limit = std::nullopt);

// What fi_ext_uet.h offers; 0 or -FI_E*. The sums over all engines of the domain to `out`, which
// has room for *count of them; *count becomes their number.
int copy_counters(Domain& domain, fi_uet_counter* out, size_t* count);
// The same to a fi_uet_counter_list, which may be null. [FI_UET_GET_COUNTERS of fi_control]
int copy_counters(Domain& domain, void* list);

}  // namespace uet::prov
