// Result of a step in a PDC's turn to send: one packet, or the reason why none was sent. [PDS-244]
#pragma once

#include <cstdint>

namespace uet::pds {

enum class Step : uint8_t {
  sent,
  idle,     // nothing to send, or the window is full
  full,     // no slot memory
  blocked,  // CMS has no room
};

struct Turn {
  Step end;  // of the last step
  bool has_sent;
};

}  // namespace uet::pds
