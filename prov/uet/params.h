// The FI_UET_* settings of this process: named to libfabric, read once, complained about once.
// The table of them is in prov/uet/settings. [LF-129, LF-130]
#pragma once

#include "prov/uet/settings/settings.h"

namespace uet::prov {

// Names the settings to libfabric, so that fi_info lists them. Called once, from fi_prov_ini.
void define_params();
// Reads them from the environment on the first call; the same values for ever after, and libfabric
// is not asked again: at the end of the process it forgets them while threads still open domains.
const Settings& params();

}  // namespace uet::prov
