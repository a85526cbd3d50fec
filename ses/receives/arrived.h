// The facts about a message that its receive needs at completion.
#pragma once

#include "ses/receives/matcher.h"
#include "ses/types.h"

#include <cstdint>

namespace uet::ses {

struct Arrived {
  Envelope envelope;
  uint64_t header_data = 0;
  uint32_t request_length = 0;
  bool has_data = false;
  Completion::Status status = Completion::Status::ok;
  wire::ReturnCode code{};
  uint64_t place = 0;  // in the receive
  uint64_t room = 0;   // octets of the message that fit
};

}  // namespace uet::ses
