// Messages for posted receives: matched at the first arrival of any packet, placed straight into
// the receive, or kept until a receive is posted, or deferred. [SES-020, SES-117, SES-126, ses.md
// 6]
#pragma once

#include "ses/deferral/deferred_messages.h"
#include "ses/endpoint.h"
#include "ses/incoming/arriving_messages.h"
#include "ses/incoming/refusals.h"
#include "ses/incoming/request.h"
#include "ses/receives/delivery.h"
#include "ses/receives/generations.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/owned_receives.h"
#include "ses/receives/receives.h"
#include "ses/rendezvous/pulls.h"
#include "ses/resources.h"

#include <cstdint>

namespace uet::ses {

// The fields of a request by which receives are matched.
Envelope envelope_of(const Request& q);

class Sends {
 public:
  Sends(Resources& res, ArrivingMessages& arriving, Refusals& refusals, Receives& receives,
        KeptMessages& kept, Generations& generations, Delivery& delivery, Pulls& pulls,
        DeferredMessages& deferred)
      : res_(res),
        arriving_(arriving),
        refusals_(refusals),
        receives_(receives),
        kept_(kept),
        generations_(generations),
        delivery_(delivery),
        owned_(res, receives, kept, delivery),
        pulls_(pulls),
        deferred_(deferred) {}

  // Queues whose receives belong to an owner outside SES. [LF-159]
  OwnedReceives& owned() { return owned_; }

  pds::Verdict begin(Endpoint& ep, const Request& q);
  pds::Verdict proceed(RxMessage& m, Endpoint& ep, const Request& q);
  // The last packet of a deferred message before its restart. [SES-097]
  pds::Verdict on_deferral_end(RxMessage& m, const Request& q);

  // The message has no receive, and it cannot be kept or the room is used up.
  pds::Verdict no_match(Endpoint& ep, const Request& q);
  // The answer to a completely placed message, of which `room` octets fitted. [SES-142, SES-137]
  pds::Verdict delivered(const Request& q, uint64_t room);

 private:
  // The records that a message needs once a receive has it.
  struct Slots {
    RxMessage* message = nullptr;
    Pull* pull = nullptr;
  };

  bool take(const Request& q, Slots& slots);
  void give_back(const Slots& slots);
  pds::Verdict begin_expected(Endpoint& ep, PostedReceive& r, const Request& q);
  pds::Verdict begin_asked(Endpoint& ep, const Request& q, const Envelope& envelope);
  pds::Verdict fill(Endpoint& ep, PostedReceive& r, const Request& q, const Slots& slots);
  pds::Verdict place(Endpoint& ep, PostedReceive& r, const Request& q, RxMessage* m, Pull* pull,
                     const Place& at);
  pds::Verdict begin_unexpected(Endpoint& ep, const Request& q, const Envelope& envelope);
  UnexpectedMessage* make_room_for(const Request& q);
  pds::Verdict out_of_room(RxMessage& m, const Request& q);
  pds::Verdict finish(RxMessage& m, Endpoint& ep, const Request& q);

  DeferredMessage* known_deferred(const Endpoint& ep, const Request& q);
  pds::Verdict defer(Endpoint& ep, const Request& q, const Envelope& envelope, DeferredMessage* d);
  pds::Verdict continue_deferred(RxMessage& m, const Endpoint& ep, const Request& q);
  pds::Verdict begin_restarted(Endpoint& ep, DeferredMessage& d, const Request& q);

  Resources& res_;
  ArrivingMessages& arriving_;
  Refusals& refusals_;
  Receives& receives_;
  KeptMessages& kept_;
  Generations& generations_;
  Delivery& delivery_;
  OwnedReceives owned_;
  Pulls& pulls_;
  DeferredMessages& deferred_;
};

}  // namespace uet::ses
