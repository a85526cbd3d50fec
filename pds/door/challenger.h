// Challenges the senders of SYNs while too many PDCs are half-open. [PDS-251, T-01]
#pragma once

#include "pds/door/challenge.h"
#include "pds/door/proofs.h"
#include "pds/door/replies.h"
#include "pds/door/token_bucket.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

namespace uet::pds {

// What a SYN shows about its sender.
enum class SynProof : uint8_t {
  none,        // nothing, and it does not have to
  given,       // it answers a challenge: its sender receives our packets
  challenged,  // it was answered with a challenge, within the budget: it opens nothing
};

class Challenger {
 public:
  Challenger(Resources& res, const PdcTable& table, const Proofs& proofs, Replies& replies)
      : res_(res), table_(table), proofs_(proofs), replies_(replies), challenge_(res.randomness) {}

  // Of a SYN without a PDC.
  SynProof judge(const Inbound& in, const FabricAddress& from, Instant now);

 private:
  void ask(const Inbound& in, const FabricAddress& from, Instant now);

  Resources& res_;
  const PdcTable& table_;
  const Proofs& proofs_;
  Replies& replies_;
  Challenge challenge_;     // of SYNs, when there are too many
  TokenBucket challenges_;  // NACKs that it sends
};

}  // namespace uet::pds
