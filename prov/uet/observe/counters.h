// The counters of a domain, by name: what fi_ext_uet.h offers to programs and the status socket to
// uet_ctl. The numbers live in the layers that count; here they are only collected.
#pragma once

#include "prov/uet/api/fi_ext_uet.h"
#include "prov/uet/progress/progress.h"

#include <optional>
#include <vector>

namespace uet::prov {

// All counters of all layers, always in the same order; names are unique. Counts as a
// visit of the application. With a limit it does not, and the result is empty if another thread
// holds the engine's lock for longer.
std::vector<fi_uet_counter> read_counters(ProgressEngine& engine,
                                          std::optional<Duration> limit = std::nullopt);

// The ops_open operation of domains and endpoints: FI_UET_COUNTERS, or -FI_ENOSYS.
int open_ops(fid* fid, const char* name, uint64_t flags, void** ops, void* context) noexcept;

// FI_UET_GET_COUNTERS of fi_control, on domains and endpoints.
int control_counters(fid* fid, void* list) noexcept;

}  // namespace uet::prov
