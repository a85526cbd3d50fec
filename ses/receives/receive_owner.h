// Somebody outside of SES who owns the receives of a queue: who is asked for a receive when a
// message arrives, and told of a message that is kept because there is none. SES keeps nothing of
// the owner's receives but those that messages have. [LF-159]
#pragma once

#include "ses/receives/matcher.h"
#include "ses/types.h"

#include <cstdint>

namespace uet::ses {

// What the owner is told of a message.
struct Sought {
  Envelope envelope;
  uint32_t bytes = 0;
  bool tagged = false;
};

enum class Asked : uint8_t {
  receive,     // there is one, and it is the message's
  unexpected,  // there is none: keep() or forget() follows before the next question
  later,       // nobody knows now: the message is kept, and asked about again
};

// Called from what PDS reports and from OwnedReceives, only while the owner may be asked; must not
// call back into SES.
struct ReceiveOwner {
  void* self = nullptr;
  // With `receive`, `out` is it; what it refers to stays valid until the next question.
  Asked (*ask)(void* self, const Sought& message, ReceiveRequest& out) = nullptr;
  // The message is kept under that claim until Claims::receive or discard, or until it is lost.
  // False: the owner has no room to remember it, and is asked again in its next turn.
  bool (*keep)(void* self, uint32_t claim, const uint64_t* header_data) = nullptr;
  // It is not kept: it comes again, and is asked about again.
  void (*forget)(void* self) = nullptr;
};

}  // namespace uet::ses
