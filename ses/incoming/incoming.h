// The target half of SES: owns its parts and routes requests to them, in the order that Checks
// finds. [ses.md 5]
#pragma once

#include "ses/deferral/deferred_messages.h"
#include "ses/endpoints.h"
#include "ses/incoming/arriving_messages.h"
#include "ses/incoming/atomic_requests.h"
#include "ses/incoming/checks.h"
#include "ses/incoming/read_answers.h"
#include "ses/incoming/refusals.h"
#include "ses/incoming/request.h"
#include "ses/incoming/rma.h"
#include "ses/incoming/sends.h"
#include "ses/outgoing/outgoing.h"
#include "ses/receives/delivery.h"
#include "ses/receives/generations.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/receives.h"
#include "ses/rendezvous/pulls.h"
#include "ses/resources.h"
#include "ses/snapshot.h"

#include "base/prefetch.h"

#include <cstdint>
#include <optional>

namespace uet::ses {

class Incoming {
 public:
  Incoming(Resources& res, const Endpoints& endpoints, MemoryRegions& memory, ReadAnswers& answers,
           Outgoing& outgoing)
      : res_(res),
        outgoing_(outgoing),
        arriving_(res),
        receives_(res),
        kept_(res, endpoints, arriving_),
        generations_(memory, kept_.room()),
        pulls_(res, endpoints, receives_, outgoing.posting()),
        deferred_(res, endpoints, receives_, kept_, outgoing.posting()),
        delivery_(res, endpoints, receives_, kept_, arriving_, pulls_, deferred_),
        checks_(res, endpoints, memory, generations_),
        refusals_(res, arriving_),
        sends_(res, arriving_, refusals_, receives_, kept_, generations_, delivery_, pulls_,
               deferred_),
        rma_(res, memory, arriving_, refusals_, delivery_, answers, outgoing),
        atomics_(res, memory, refusals_, receives_, answers, sends_) {}
  Result<void> create(uint64_t seed);

  // Where receives are posted, and where messages wait for them.
  Delivery& delivery() { return delivery_; }
  KeptMessages& kept() { return kept_; }
  OwnedReceives& owned() { return sends_.owned(); }

  pds::Verdict on_request(const pds::RxRequest& rx);
  // An operation that a part of this half posted is over.
  void on_end(const InternalEnd& done);
  bool has_open_message(pds::PdcHandle pdc) const { return arriving_.has_open(pdc); }
  // Messages of the PDC are not idle: their packets come, and find no place. [SES-108, SES-191]
  void on_no_place(pds::PdcHandle pdc) { arriving_.note_held_up(pdc); }
  void on_pdc_closed(pds::PdcHandle pdc);

  void advance();
  Instant next_deadline() const;
  void prefetch() const {
    prefetch_between(this, &receives_);
    prefetch_between(&pulls_, &refusals_);
    uet::prefetch(&rma_, sizeof(Rma));
  }
  void prefetch_message() const { arriving_.prefetch_oldest(); }
  bool idle() const { return arriving_.idle() && pulls_.idle(); }
  void snapshot(Snapshot& out, Instant now);

 private:
  static pds::Verdict malformed(const pds::RxRequest& rx);
  // Empty: the job takes packets of that secure domain, or clear ones.
  std::optional<pds::Verdict> judge_domain(const Request& q);
  pds::Verdict go_on(const Request& q);
  pds::Verdict begin(const Request& q);
  pds::Verdict resume(RxMessage& m, const Request& q, const pds::RxRequest& rx);
  pds::Verdict proceed(RxMessage& m, Endpoint& ep, const Request& q);
  pds::Verdict on_msg_error(const Request& q);
  pds::Verdict on_msg_error(RxMessage& m, const Request& q);
  pds::Verdict on_no_op(const Request& q);
  pds::Verdict on_restart(const Request& q);

  Resources& res_;
  Outgoing& outgoing_;
  ArrivingMessages arriving_;
  Receives receives_;
  KeptMessages kept_;
  Generations generations_;
  Pulls pulls_;
  DeferredMessages deferred_;
  Delivery delivery_;
  Checks checks_;
  Refusals refusals_;
  Sends sends_;
  Rma rma_;
  AtomicRequests atomics_;
};

}  // namespace uet::ses
