// Queues whose receives belong to an owner outside SES: asks the owner for the receive of a
// message, and reports kept messages to it. The owner is asked only in its own turn, while it holds
// its locks; messages that arrive at other times are kept until the next turn. [LF-159]
//
// message \ event | arrives in turn          | arrives at other times | turn begins
// -               | owner asked: its receive | kept                   | -
//                 | or kept, claimed         |                        |
// kept            | -                        | -                      | owner asked, the same
#pragma once

#include "ses/endpoints.h"
#include "ses/receives/delivery.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/receive_owner.h"
#include "ses/receives/receives.h"
#include "ses/resources.h"

#include "base/intrusive_list.h"

#include <cstdint>

namespace uet::ses {

class OwnedReceives {
 public:
  OwnedReceives(Resources& res, Receives& receives, KeptMessages& kept, Delivery& delivery)
      : res_(res), receives_(receives), kept_(kept), delivery_(delivery) {}

  // The owner takes over a shared queue that has no receives and no messages. It outlives the
  // queue.
  void add(ReceiveQueue& queue, ReceiveOwner& owner);
  // The queue closes.
  void remove(ReceiveQueue& queue);

  // The owners' turn: messages that were kept meanwhile go to them first.
  void begin_turn();
  void end_turn() { is_turn_ = false; }

  // Whether the owner may be asked about a new message: in its turn, if no older one waits.
  bool may_ask(ReceiveQueue& queue, bool tagged) const {
    return is_turn_ && queue.matcher(tagged).oldest_unexpected() == nullptr;
  }
  // The owner's receive for the message, which is not in its Matcher; room for its completion is
  // booked. Null: none; then tell_owner() follows when the message was kept, or not.
  PostedReceive* ask(Endpoint& ep, const Sought& message);
  void tell_owner(ReceiveQueue& queue, bool tagged);

 private:
  // The owner's receive fails with that errno, and the message has none: null.
  PostedReceive* fail(Endpoint& ep, const Sought& message, const ReceiveRequest& request,
                      int error);
  void offer(ReceiveQueue& queue, bool tagged);
  bool claim(ReceiveQueue& queue, UnexpectedMessage& u);

  Resources& res_;
  Receives& receives_;
  KeptMessages& kept_;
  Delivery& delivery_;
  IntrusiveList<ReceiveQueue, OwnedTag> queues_;
  bool is_turn_ = false;
  bool is_told_ = false;  // ask() returned unexpected: keep() or forget() must follow
};

}  // namespace uet::ses
