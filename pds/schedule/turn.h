// What became of a PDC's turn to send: each step sends one packet or says why there is none.
// [PDS-244]
#pragma once

#include <cstdint>

namespace uet::pds {

enum class Step : uint8_t {
  sent,
  idle,     // there is nothing to send, or the window is full
  full,     // no slot memory
  blocked,  // CMS has no room
};

struct Turn {
  Step end;  // of the last step
  bool has_sent;
};

}  // namespace uet::pds
