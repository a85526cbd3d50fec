// Which SYNs are challenged, and the NACK that does it. [PDS-251]
#include "pds/door/challenger.h"

#include "wire/pds.h"

namespace uet::pds {

// A sealed SYN is not challenged.
SynProof Challenger::judge(const Inbound& in, const FabricAddress& from, Instant now) {
  if (in.sdi() != 0 || res_.config.challenge_above == 0) return SynProof::none;
  if (challenge_.is_answered(from, in.spdcid, in.start_psn, now)) return SynProof::given;
  const bool is_flooded = proofs_.half_open() >= res_.config.challenge_limit();
  if (!challenge_.is_on(is_flooded, now)) return SynProof::none;
  ask(in, from, now);
  return SynProof::challenged;
}

void Challenger::ask(const Inbound& in, const FabricAddress& from, Instant now) {
  if (!challenges_.take(res_.config.challenges_per_second, now)) {
    return res_.counters.add(Count::drop_nack_limited);
  }
  wire::Nack h;
  h.nack_code = wire::NackCode::new_start_psn;
  h.nack_psn = in.psn();
  h.m = in.trigger.ce;
  h.retx = in.trigger.retx;
  h.dpdcid = in.spdcid;
  PeerId id;
  const bool is_known = res_.peers.find(from, id) != nullptr;
  const auto is_taken = [&](Psn start) {
    return is_known && table_.find_tombstone(id, in.spdcid, start) != nullptr;
  };
  h.payload = challenge_.ask(from, in.spdcid, now, is_taken).value();
  res_.counters.add(Count::challenged);
  replies_.queue_nack(h, from, in.trigger.ev, 0);
}

}  // namespace uet::pds
