// Messages that the user must see even without FI_LOG_LEVEL: why the provider offers nothing, or
// something else than the environment requests. A few lines in the life of a process.
#pragma once

namespace uet::prov {

// Writes one line: to libfabric's log where warnings are on, else to standard error. [LF-135]
[[gnu::format(printf, 1, 2)]] void tell_user(const char* format, ...);

}  // namespace uet::prov
