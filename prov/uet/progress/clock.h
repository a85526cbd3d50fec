// The clock of the provider.
#pragma once

#include "base/time.h"

#include <ctime>

namespace uet::prov {

Instant monotonic_now();
timespec to_timespec(Duration d);

}  // namespace uet::prov
