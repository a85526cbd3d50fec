// The value of FI_UET_PORT_RANGE: UDP ports for processes that find UET's own port taken.
#pragma once

#include "prov/uet/settings/settings.h"

#include <string>
#include <string_view>

namespace uet::prov {

// "first-last": whole blocks of 16 ports, one block at least. [WIRE-121]
bool read_port_range(Settings& settings, std::string_view text);
std::string print_port_range(const Settings& settings);

}  // namespace uet::prov
