// Message IDs of the requests of one FEP: one space, 1 .. 65534, and which message holds each.
// First freed, last reused, so that a late answer hardly ever names a new message. [SES-010, 033]
#pragma once

#include "base/arena.h"
#include "base/result.h"
#include "base/ring.h"
#include "base/serial.h"

#include <cstdint>
#include <span>

namespace uet::ses {

class MessageIds {
 public:
  static constexpr uint32_t kCount = 65534;

  Result<void> create(Arena& arena) {
    holders_ = arena.make_span<uint32_t>(kCount + 1);
    if (holders_.empty()) return Errc::no_memory;
    return free_.create(arena, kCount);
  }

  // An ID for the message with this handle word, not 0; MessageId(0) when all are taken. O(1).
  MessageId take(uint32_t holder) {
    UET_ASSERT(holder != 0);
    if (exhausted()) return MessageId(0);
    const uint16_t id = unused_ <= kCount ? static_cast<uint16_t>(unused_++) : free_.pop_front();
    holders_[id] = holder;
    return MessageId(id);
  }
  void give_back(MessageId id) {
    UET_ASSERT(id.value() != 0 && id.value() <= kCount && holders_[id.value()] != 0);
    holders_[id.value()] = 0;
    free_.push(id.value());
  }
  // The handle word of the message with that ID; 0 when there is none. Any value is allowed.
  uint32_t holder(MessageId id) const { return id.value() > kCount ? 0 : holders_[id.value()]; }
  bool exhausted() const { return unused_ > kCount && free_.empty(); }

 private:
  std::span<uint32_t> holders_;
  uint32_t unused_ = 1;  // this ID and all above were never taken
  Ring<uint16_t> free_;
};

}  // namespace uet::ses
