// The settings of a FabricEndpoint by the names of their members, all of them and in the unit of
// the member; what people set is a part of these. A list of admitted addresses is not recorded.
#pragma once

#include "sim/recording/calls.h"

#include "fep/config.h"

#include <string>
#include <vector>

namespace uet::recording {

std::vector<Create::Setting> settings_of(const fep::Config& config);

// Returns the error in a setting, or nothing.
std::string take_settings(const std::vector<Create::Setting>& settings, fep::Config& config);

}  // namespace uet::recording
