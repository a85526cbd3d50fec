// Message IDs of the requests of one FEP: one space, 1 .. 65534, and which message holds each.
// First freed, last reused, so that a late answer hardly ever names a new message. [SES-010, 033]
#pragma once

#include "base/arena.h"
#include "base/serial.h"
#include "base/sparse_array.h"

#include <cstdint>

namespace uet::ses {

class MessageIds {
 public:
  static constexpr uint32_t kCount = 65534;

  // Memory is taken as IDs are used for the first time. The arena must outlive this object.
  void create(Arena& arena) {
    holders_.create(arena, kCount + 1);
    next_free_.create(arena, kCount + 1);
  }

  // An ID for the message with this handle word, not 0; MessageId(0) when all are taken, or
  // there is no memory. O(1).
  MessageId take(uint32_t holder) {
    UET_ASSERT(holder != 0);
    if (exhausted()) return MessageId(0);
    uint16_t id = first_free_;
    if (unused_ <= kCount) {
      if (!holders_.reserve(unused_) || !next_free_.reserve(unused_)) return MessageId(0);
      id = static_cast<uint16_t>(unused_++);
    } else {
      first_free_ = next_free_[id];
    }
    holders_.set(id, holder);
    return MessageId(id);
  }
  void give_back(MessageId id) {
    UET_ASSERT(id.value() != 0 && id.value() <= kCount && holders_[id.value()] != 0);
    holders_.set(id.value(), 0);
    next_free_.set(id.value(), 0);
    if (first_free_ == 0) {
      first_free_ = id.value();
    } else {
      next_free_.set(last_free_, id.value());
    }
    last_free_ = id.value();
  }
  // The handle word of the message with that ID; 0 when there is none. Any value is allowed.
  uint32_t holder(MessageId id) const { return holders_[id.value()]; }
  bool exhausted() const { return unused_ > kCount && first_free_ == 0; }

 private:
  SparseArray<uint32_t, 256> holders_;    // by ID
  SparseArray<uint16_t, 256> next_free_;  // of a free ID the one freed after it; 0: the last
  uint16_t first_free_ = 0;               // 0: none
  uint16_t last_free_ = 0;
  uint32_t unused_ = 1;  // this one and all above were never taken
};

}  // namespace uet::ses
