// Matches receives with messages that wait: a new receive gets kept messages, and early ends are
// reported. Owns the list of endpoints whose kept messages wait for room in a completion queue.
#pragma once

#include "ses/deferral/deferred_messages.h"
#include "ses/endpoints.h"
#include "ses/incoming/arriving_messages.h"
#include "ses/receives/generations.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/receives.h"
#include "ses/rendezvous/pulls.h"
#include "ses/resources.h"

#include "base/intrusive_list.h"

#include <cstdint>

namespace uet::ses {

class Delivery {
 public:
  Delivery(Resources& res, const Endpoints& endpoints, Receives& receives, KeptMessages& kept,
           ArrivingMessages& arriving, Pulls& pulls, DeferredMessages& deferred)
      : res_(res),
        endpoints_(endpoints),
        receives_(receives),
        kept_(kept),
        arriving_(arriving),
        pulls_(pulls),
        deferred_(deferred) {}

  // Calls of the user, see Ses.
  Result<void> receive(ReceiveQueue& queue, const ReceiveRequest& request);
  Result<void> cancel(ReceiveQueue& queue, void* op_context);
  Result<void> receive_claimed(ReceiveQueue& queue, uint32_t claim, const ReceiveRequest& request);
  bool discard_claimed(ReceiveQueue& queue, uint32_t claim, wire::ReturnCode code);

  // Lets a receive take a kept message. False: no room for its completion; nothing was changed.
  bool give(PostedReceive& r, UnexpectedMessage& u);

  // A message will never be complete: its receive ends with that status, or its kept part is
  // dropped. Later packets are counted and answered with the code. [SES-107]
  void fail(RxMessage& m, Completion::Status status, wire::ReturnCode code);
  // A deferred message will not be sent again: its receive ends with that status.
  void give_up(DeferredMessage& d, Completion::Status status);

  // The endpoint closes: all that is for it ends.
  void close(Endpoint& ep);
  // Shared receives, when no endpoint uses them any more.
  void close(ReceiveQueue& queue);

  // Delivers kept messages to their receives if the completion queue has room again.
  void drain();
  // The same for endpoints whose completion queue has room again. Then a walk over kept messages
  // delivers at least one of them, so a peer cannot cause useless walks by its packets.
  void drain_where_room();
  bool is_stalled() const { return !stalled_.empty(); }

 private:
  void offer(ReceiveQueue& queue, PostedReceive& r);
  bool offer_each(ReceiveQueue& queue, PostedReceive& r, const MatchFilter& filter);
  void hand_over(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u);
  void copy(const UnexpectedMessage& u, const PostedReceive& r, const Place& at) const;
  Result<void> cancel(ReceiveQueue& queue, PostedReceive& r);
  void fail_receive(RxMessage& m, Completion::Status status);
  void drop(UnexpectedMessage& u, wire::ReturnCode code);
  void free(UnexpectedMessage& u);
  void stall(Endpoint& ep);
  void unstall(Endpoint& ep);
  void drain(Endpoint& ep);
  bool drain(Endpoint& ep, Matcher& matcher);

  Resources& res_;
  const Endpoints& endpoints_;
  Receives& receives_;
  KeptMessages& kept_;
  ArrivingMessages& arriving_;
  Pulls& pulls_;
  DeferredMessages& deferred_;
  IntrusiveList<Endpoint, StalledTag> stalled_;
};

}  // namespace uet::ses
