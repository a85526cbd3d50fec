// WRITE and READ at the target. The region is looked up for every packet, so one that was removed
// in the middle of a message is not touched again. [ses.md 4.2]
#pragma once

#include "ses/endpoint.h"
#include "ses/incoming/arriving_messages.h"
#include "ses/incoming/read_answers.h"
#include "ses/incoming/refusals.h"
#include "ses/incoming/request.h"
#include "ses/memory/memory_region.h"
#include "ses/outgoing/outgoing.h"
#include "ses/receives/delivery.h"
#include "ses/resources.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

class Rma {
 public:
  Rma(Resources& res, const MemoryRegions& memory, ArrivingMessages& arriving, Refusals& refusals,
      Delivery& delivery, ReadAnswers& answers, Outgoing& outgoing)
      : res_(res),
        memory_(memory),
        arriving_(arriving),
        refusals_(refusals),
        delivery_(delivery),
        answers_(answers),
        outgoing_(outgoing) {}

  pds::Verdict begin_write(const Endpoint& ep, const Request& q);
  pds::Verdict continue_write(RxMessage& m, const Endpoint& ep, const Request& q);
  pds::Verdict begin_read(const Endpoint& ep, const Request& q);
  pds::Verdict continue_read(RxMessage& m, const Endpoint& ep, const Request& q);

 private:
  Result<RegionId, wire::ReturnCode> authorize(const Request& q, Access access);
  pds::Verdict serve_read(const Endpoint& ep, const Request& q, RegionId region);
  pds::Verdict answer_read(const Request& q, RegionId region);
  pds::Verdict read_in_ack(const Request& q, RegionId region);
  pds::Verdict read_on_rudi(const ReturnMessage& back);
  // The rest of the message cannot be placed or read any more.
  pds::Verdict lose_region(RxMessage& m, const Request& q);
  void note_read_begun(const Request& q, RegionId region);

  Resources& res_;
  const MemoryRegions& memory_;
  ArrivingMessages& arriving_;
  Refusals& refusals_;
  Delivery& delivery_;
  ReadAnswers& answers_;
  Outgoing& outgoing_;
};

}  // namespace uet::ses
