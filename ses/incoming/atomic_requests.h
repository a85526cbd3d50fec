// ATOMIC and FETCHING_ATOMIC on registered memory, TSEND_ATOMIC on a matched receive. Everything
// that can be refused is refused before the first element changes. [ses.md 4.3, SES-184]
#pragma once

#include "ses/endpoint.h"
#include "ses/incoming/read_answers.h"
#include "ses/incoming/refusals.h"
#include "ses/incoming/request.h"
#include "ses/incoming/sends.h"
#include "ses/memory/memory_region.h"
#include "ses/receives/receives.h"
#include "ses/resources.h"

namespace uet::ses {

class AtomicRequests {
 public:
  AtomicRequests(Resources& res, const MemoryRegions& memory, Refusals& refusals,
                 Receives& receives, ReadAnswers& answers, Sends& sends)
      : res_(res),
        memory_(memory),
        refusals_(refusals),
        receives_(receives),
        answers_(answers),
        sends_(sends) {}

  pds::Verdict begin(const Endpoint& ep, const Request& q);
  pds::Verdict begin_send(Endpoint& ep, const Request& q);

 private:
  struct Plan;

  Result<RegionId, wire::ReturnCode> authorize(const Request& q, const Plan& plan) const;
  bool prepare_answer(const Request& q, Plan& plan, pds::Verdict& refusal);
  static pds::Verdict answer(const Request& q, Plan& plan);

  Resources& res_;
  const MemoryRegions& memory_;
  Refusals& refusals_;
  Receives& receives_;
  ReadAnswers& answers_;
  Sends& sends_;
};

}  // namespace uet::ses
