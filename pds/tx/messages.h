// The messages that a PDC sends: the one that is being pulled, return data that waits, and the
// number of messages that keep the PDC open until the client ends them. [PDS-015, PDS-167]
#pragma once

#include "pds/client.h"

#include "base/assert.h"
#include "base/intrusive_list.h"

#include <cstdint>
#include <utility>

namespace uet::pds {

// A message of return data in the queue of a PDC. [PDS-167]
struct ReturnMessage : ListNode<struct ReturnTag> {
  MessageHandle message;
  uint32_t bytes = 0;  // octets that are announced of it
};

class Messages {
 public:
  // The message that is being pulled, if any.
  bool has_current() const { return current_ != MessageHandle{}; }
  MessageHandle current() const { return current_; }
  // No message is being pulled, and no return data waits.
  bool empty() const { return !has_current() && returns_.empty(); }
  // The client has not said yet that all messages are done which keep the PDC open.
  bool is_kept() const { return keep_count_ > 0; }

  // A message is pulled from here on. `keeps`: it keeps the PDC open until note_done().
  void start(MessageHandle message, bool keeps) {
    current_ = message;
    if (keeps) ++keep_count_;
  }
  // The same of the oldest return data. Its record is the caller's to free; null: none waits.
  ReturnMessage* start_return() {
    ReturnMessage* const queued = returns_.pop_front();
    if (queued != nullptr) current_ = queued->message;
    return queued;
  }
  // The message that is being pulled has no more packets.
  void finish() { current_ = MessageHandle{}; }
  MessageHandle abort() { return std::exchange(current_, MessageHandle{}); }
  void note_done() {
    UET_ASSERT(keep_count_ > 0);
    --keep_count_;
  }

  void add_return(ReturnMessage& queued) { returns_.push_back(queued); }
  // Gives up the oldest return data that has not begun; null: there is none.
  ReturnMessage* abort_return() { return returns_.pop_front(); }

 private:
  MessageHandle current_;  // 0: none
  uint16_t keep_count_ = 0;
  IntrusiveList<ReturnMessage, ReturnTag> returns_;
};

}  // namespace uet::pds
