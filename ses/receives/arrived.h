// The facts about a message that its receive needs at completion, and the one way to make them.
#pragma once

#include "ses/receives/matcher.h"
#include "ses/types.h"

#include <cstdint>

namespace uet::ses {

// The place of a message in its receive, and the octets that fit.
struct Place {
  uint64_t begin = 0;
  uint64_t room = 0;
};

struct Arrived {
  Envelope envelope;
  uint64_t header_data = 0;
  uint32_t request_length = 0;
  bool has_data = false;
  Completion::Status status = Completion::Status::ok;
  wire::ReturnCode code{};
  Place place;
};

// From any record of the message: a Request, an RxMessage, an UnexpectedMessage.
template <class Message>
Arrived arrived(const Message& m, const Place& at) {
  Arrived a;
  a.envelope = envelope_of(m);
  a.header_data = m.header_data;
  a.request_length = m.request_length;
  a.has_data = m.has_data;
  a.place = at;
  return a;
}

}  // namespace uet::ses
