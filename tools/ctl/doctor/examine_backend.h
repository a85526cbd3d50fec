// The part of examine() about FI_UET_IO.
#pragma once

#include "tools/ctl/doctor/examine.h"

#include "prov/uet/settings/settings.h"

#include <vector>

namespace uet::tools {

// The backend of a domain, or why there is none: one finding, with FI_UET_IO=auto one for each
// interface.
std::vector<Finding> examine_backend(const Facts& facts, const prov::Settings& settings);

}  // namespace uet::tools
