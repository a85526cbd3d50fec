// The log line for a route that was found to carry less than packets that were sent. [LF-141]
#pragma once

#include "fep/engine.h"

namespace uet::prov {

// Logs the payload in use and the limit of the route. Runs inside the engine.
void log_path_notice(const fep::Engine::PathNotice& notice);

}  // namespace uet::prov
