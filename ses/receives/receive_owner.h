// The owner of a queue's receives, outside SES. SES asks it for a receive when a message arrives,
// and reports messages that are kept because there is none. SES stores only receives that
// already have a message. [LF-159]
#pragma once

#include "ses/receives/matcher.h"
#include "ses/types.h"

#include <cstdint>

namespace uet::ses {

// The facts about a message for the owner.
struct Sought {
  Envelope envelope;
  uint32_t bytes = 0;
  bool tagged = false;
};

enum class Asked : uint8_t {
  receive,     // the owner has a receive; the message takes it
  useless,     // the owner's receive has no usable memory: it fails, and the message waits
  unexpected,  // the owner has none: keep() or forget() follows before the next ask()
  later,       // the owner cannot answer now: the message is kept, and the owner is asked again
};

// Called from what PDS reports and from OwnedReceives, only while the owner may be asked; must not
// call back into SES, nor throw.
class ReceiveOwner {
 public:
  // With `receive`, `out` is it; what it refers to stays valid until the next question.
  virtual Asked ask(const Sought& message, ReceiveRequest& out) = 0;
  // The message is kept under that claim until Claims::receive or discard, or until it is lost.
  // False: the owner has no room to remember it, and is asked again in its next turn.
  virtual bool keep(uint32_t claim, const uint64_t* header_data) = 0;
  // The message was refused, not kept: the sender resends it, and ask() is called again.
  virtual void forget() = 0;

 protected:
  ~ReceiveOwner() = default;
};

}  // namespace uet::ses
