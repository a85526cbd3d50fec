// Owns the deferred messages of a target: the envelope of each is among the kept messages. A
// matching receive is set aside for the message, and its initiator is asked to send it again. A
// multi-receive is not set aside: the first message that comes gets the next place, and the others
// are deferred again. [ses.md 4.5]
//
// message \ event | receive posted | comes again       | refused there, silent | cancel of receive
// unknown         | -              | deferred          | -                     | -
// deferred        | called         | deferred, as late | gone                  | -
// called          | -              | gone, placed      | gone, receive offered | gone
#pragma once

#include "ses/backoff.h"
#include "ses/deferral/deferred_message.h"
#include "ses/endpoints.h"
#include "ses/incoming/request.h"
#include "ses/outgoing/posting.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/receives.h"
#include "ses/resources.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class DeferredMessages {
 public:
  DeferredMessages(Resources& res, const Endpoints& endpoints, Receives& receives,
                   KeptMessages& kept, Posting& posting)
      : res_(res), endpoints_(endpoints), receives_(receives), kept_(kept), posting_(posting) {}
  Result<void> create(Rng& rng);

  // Whether a deferrable send may be deferred; else it counts as a plain send.
  bool may_defer(const Request& q) const;
  // The deferred message with that token, or null.
  DeferredMessage* find(const Endpoint& ep, const Request& q);
  // Whether it is of this very message.
  static bool is_same(const DeferredMessage& d, const Request& q);
  // Remembers a new one. Null: no room.
  DeferredMessage* remember(Endpoint& ep, const Request& q, const Envelope& envelope);
  // A packet about the message arrived.
  void note_heard(DeferredMessage& d);
  // The fields of its packet besides the envelope.
  static void note_data(DeferredMessage& d, const Request& q);
  void forget(DeferredMessage& d);

  // A receive that is not in its Matcher, or is about to leave it, is for that message. False: no
  // room for its completion; nothing was changed.
  bool set_aside(Endpoint& ep, PostedReceive& r, DeferredMessage& d);
  // Its initiator will be asked to send it again, and it is then dropped. [LF-059]
  void discard(DeferredMessage& d);
  // The same for a multi-receive, which calls for as much as it has room for.
  void call_for(PostedReceive& r, DeferredMessage& d);

  // The message will not come: the receive that was set aside for it, and its endpoint.
  struct Lost {
    PostedReceive* receive = nullptr;  // null: nothing
    bool was_claimed = false;          // the receive was for this message alone
    Endpoint* endpoint = nullptr;
    Arrived arrived;
  };
  Lost give_up(DeferredMessage& d, Completion::Status status);
  // A ready-to-restart was answered. Returns the message if it will not come, or null.
  DeferredMessage* on_end(const InternalEnd& done);
  // The next message that was silent for long, or null. [SES-101]
  DeferredMessage* next_expired();
  // Calls fn(DeferredMessage&) for the messages of the endpoint; fn may forget the message.
  template <class Fn>
  void for_each_of(const Endpoint& ep, Fn&& fn) {
    deferred_.for_each([&](DeferredMessage& d) {
      if (d.key.endpoint == ep.id) fn(d);
    });
  }

  // Sends the ready-to-restarts for which there are places.
  void send_calls();
  // The same, if it is time to try again.
  void retry() {
    if (again_.is_due(res_.now)) send_calls();
  }
  Instant next_deadline() const;

 private:
  static DeferredKey key_of(const Endpoint& ep, const Request& q) {
    return {ep.id, q.peer, q.initiator, q.tokens().initiator};
  }
  bool may_remember(const Endpoint& ep, PeerId peer) const;
  void call(DeferredMessage& d);
  bool send_call(DeferredMessage& d);

  Resources& res_;
  const Endpoints& endpoints_;
  Receives& receives_;
  KeptMessages& kept_;
  Posting& posting_;
  Slab<DeferredMessage> deferred_;
  HashMap<DeferredKey, DeferredMessage*> by_key_;
  HashMap<DeferrerKey, uint32_t> counts_;
  IntrusiveList<DeferredMessage, DeferredTag> messages_;  // longest silent first
  IntrusiveList<DeferredMessage, AskTag> uncalled_;       // find no place or slot yet
  Backoff again_;
  uint32_t calls_ = 0;  // ready-to-restarts under way
};

}  // namespace uet::ses
