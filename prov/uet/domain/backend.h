// The backend that FI_UET_IO chooses on an interface, and its name. [LF-143]
#pragma once

#include "prov/uet/settings/settings.h"

#include "io/host/interfaces.h"

#include <string>

namespace uet::prov {

// Why FI_UET_IO=auto does not take packet sockets there: it may not, or they would bypass rules of
// the host. A phrase, empty when it takes them; own_rings: see io::why_frames_differ.
std::string why_no_packet_sockets(const io::Interface& interface, uint32_t own_rings = 0);

// "packet sockets (FI_UET_IO=auto)", "UDP sockets (FI_UET_IO=auto; packet sockets: WHY)": the line
// of fi_info -v. An answer for `auto` may be a second old, because the host is asked many
// questions.
std::string backend_text(IoChoice choice, const io::Interface& interface);

}  // namespace uet::prov
