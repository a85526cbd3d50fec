// Owns posted receives: makes them, gives their room to messages, and reports their ends.
#pragma once

#include "ses/endpoint.h"
#include "ses/receives/arrived.h"
#include "ses/receives/matcher.h"
#include "ses/receives/receive_queue.h"
#include "ses/resources.h"

#include "base/slab.h"

#include <algorithm>
#include <cstdint>

namespace uet::ses {

// The fields of the receive as a filter for kept messages.
MatchFilter filter_of(const PostedReceive& r);
MatchFilter filter_of(const ReceiveRequest& request);

class Receives {
 public:
  explicit Receives(Resources& res) : res_(res) {}
  Result<void> create() {
    const uint32_t most = res_.config.receives;
    return receives_.create(*res_.arena, Room{std::min(most, 64U), most});
  }

  // Whether make() finds a record.
  bool has_slot() const { return receives_.size() < receives_.capacity(); }
  // A receive that is not yet in its Matcher. Errors as of Ses::receive.
  Result<PostedReceive*> make(ReceiveQueue& queue, const ReceiveRequest& request);

  // Whether a message of that length is the last one of the receive. [LF-096]
  static bool will_be_used_up(const PostedReceive& r, uint64_t bytes) {
    return !r.multi || r.room() - std::min(r.room(), bytes) < r.multi_min;
  }
  // Room for the completion of a message of that length, before it gets the receive. False: the
  // application has to read first.
  bool book(const Endpoint& ep, const PostedReceive& r, uint64_t bytes);
  // Gives `bytes` of the receive to a message.
  void consume(Endpoint& ep, PostedReceive& r, uint64_t bytes);
  // Undoes that it was set aside for a message.
  static void take_back(PostedReceive& r);
  // The same, behind receives that were posted meanwhile.
  static void post_again(ReceiveQueue& queue, PostedReceive& r) {
    take_back(r);
    r.sequence = queue.next_sequence++;
  }

  // A message of the receive is complete, or failed.
  void complete(const Endpoint& ep, PostedReceive& r, const Arrived& a);
  // The receive is over: the stack does not touch its memory after this.
  void end(const Endpoint& ep, PostedReceive& r, Completion::Status status);
  // The same without a report.
  void free(ReceiveQueue& queue, PostedReceive& r);

 private:
  static Completion completion_of(const PostedReceive& r, const Arrived& a);
  void end(const Endpoint& ep, PostedReceive& r, const Completion& last);

  Resources& res_;
  Slab<PostedReceive> receives_;
};

}  // namespace uet::ses
