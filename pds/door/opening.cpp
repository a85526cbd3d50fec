// Targets: opened, entered and counted. [PDS 4]
#include "pds/door/opening.h"

namespace uet::pds {

Result<Pdc*, wire::NackCode> Opening::make(const Inbound& in, const Source& source, Instant now) {
  Context* const to_peer =
      contexts_.take({source.peer, res_.config.return_class, in.mode == Mode::rud});
  if (to_peer == nullptr) return wire::NackCode::no_ccc_avail;
  Pdc* const pdc = in.use_rsv_pdc ? table_.allocate_reserved(res_.randomness)
                                  : table_.allocate(false, res_.randomness);
  if (pdc == nullptr || !enter(*pdc, in, source, *to_peer, now)) {
    contexts_.drop(*to_peer);
    res_.counters.add(Count::pdc_alloc_fail);
    return wire::NackCode::no_pdc_avail;
  }
  account(*pdc, source.is_proven, now);
  return pdc;
}

// Opens it as the SYN says, and enters it in the tables by peer. False: the system has no memory,
// and the PDC is free again.
bool Opening::enter(Pdc& pdc, const Inbound& in, const Source& source, Context& context,
                    Instant now) {
  bool pending = false;
  const Psn start = secure_psn_.secure_start(in, source.peer, pending);
  pdc.open_as({.event = pending ? PdcEvent::start_needed : PdcEvent::opened,
               .mode = in.mode,
               .peer = source.peer,
               .sdi = in.sdi(),
               .start = start,
               .context = &context,
               .peer_id = in.spdcid,
               .job = source.job},
              res_.config, now);
  if (table_.bind_peer(pdc)) return true;
  table_.free(pdc);
  return false;
}

// All that its end takes back, and its deadlines.
void Opening::account(Pdc& pdc, bool is_proven, Instant now) {
  res_.peers.add_ref(pdc.peer);
  idle_.add(pdc);
  schedule_.arm_by(pdc, now + res_.config.idle_time);
  if (is_proven) {
    pdc.proof.confirm();
  } else {
    pdc.tail.start(static_cast<uint16_t>(res_.randomness.u32()));  // no forger knows it
  }
  counts_.begin(pdc);
  res_.counters.add(Count::pdc_opened_target);
  if (pdc.state() == PdcState::pending) {
    pdc.start.note_assigned();
    pdc.end.wait_until(now + res_.config.new_pdc_time);
    schedule_.arm_by(pdc, pdc.end.at());
  }
}

}  // namespace uet::pds
