// Constants of the stack's congestion control by name, as in `uet_sim run --cc nscc,target-us=6`:
// the window of NSCC, and credit of the receiver. What they mean: cms/config.h. [CMS-190]
#pragma once

#include "cms/config.h"

#include <string_view>

namespace uet::sim::fabric {

// "nscc" of "nscc,target-us=6": what stands before the first comma.
std::string_view name_before_constants(std::string_view congestion);

// nscc, rccc and both have constants.
bool has_constants(std::string_view congestion);

// Sets the constants behind the name; all others stay as they are. Throws TopologyError, with the
// list of names, when a name is unknown, and with the range when a value is out of it.
void set_constants(cms::Config& config, std::string_view congestion);

}  // namespace uet::sim::fabric
