// The settings of this process: registered with libfabric, and read from its parameters. [LF-129,
// LF-130]
#pragma once

#include "prov/uet/settings/settings.h"

namespace uet::prov {

// Names the settings to libfabric, so that fi_info lists them. Called once, from fi_prov_ini.
void define_settings();
// Reads them, and logs wrong values and unknown names. Call it once, and keep the result: libfabric
// drops them at the end of the process, while threads may still open domains.
Settings read_settings_of_process();

}  // namespace uet::prov
