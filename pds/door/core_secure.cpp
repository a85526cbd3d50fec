// The start of secured PDCs: the target decides where the PSNs begin, so that nothing recorded
// opens one again. What seals and verifies packets is below; here a packet carries the domain it
// was verified under. [PDS 4.2, PDS-V8]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kRebasesMax = 4;                   // [PDS-051]
constexpr uint32_t kFirstStart = uint32_t{1} << 16;   // of initiators without a stored value:
constexpr uint32_t kBeyondStart = uint32_t{1} << 31;  // low, so that floors do not jump [PDS-050]
}  // namespace

// --- target ---

// Where a new target PDC begins; `pending` when the initiator must be told. Of a source without a
// floor everything is believed, unless a floor was forgotten: it may have been this one's. No
// number could stand for the forgotten ones, because floors of different sources have no order.
// [PDS-T2, PDS-053]
Psn Core::secure_start(const Inbound& in, PeerId peer, bool& pending) {
  pending = false;
  if (in.sdi() == 0) return in.start_psn;
  const Psn* const floor = starts_.find({peers_[peer].address, in.sdi(), true});
  const bool is_unknown = floor == nullptr && starts_.has_forgotten_floor();
  if (is_unknown || config_.start_method == StartMethod::random_1rtt) {
    pending = true;
    return Psn(random_.u32());
  }
  pending = floor != nullptr && in.start_psn.before(*floor);
  return pending ? *floor : in.start_psn;
}

// T5, T6. True: the packet is the first of the agreed PSNs. [PDS-052]
bool Core::leave_pending(Pdc& pdc, const Inbound& in, Instant now) {
  if (in.syn && in.start_psn == pdc.start_psn) {
    pdc.life.change(PdcEvent::start_given);
    pdc.close_at = Instant::never();
    return true;
  }
  if (in.syn) {
    nack(pdc, wire::NackCode::new_start_psn, in.trigger, pdc.start_psn.value(), now);
  } else {
    counters_.add(Count::drop_syn_state);  // [PDS-162]
    if (in.is_control && in.ar) nack_stranger(in, wire::NackCode::unexp_event, now);
  }
  return false;
}

// At the end of a PDC: nothing that was sent on it may open the next one. [PDS-053]
Psn Core::raise_floor(const Pdc& pdc) {
  const Psn received = pdc.rx.max_received();
  const Psn sent = pdc.tx.next() - 1;
  const Psn floor = (sent.after(received) ? sent : received) + 1;
  starts_.raise({peers_[pdc.peer].address, pdc.sdi, true}, floor);
  return floor;
}

// --- initiator ---

// A value that the target told before, else a low random one. [PDS-050]
Psn Core::initial_start(PeerId peer, uint32_t sdi, Psn drawn) {
  if (sdi == 0) return drawn;
  const Psn* const told = starts_.find({peers_[peer].address, sdi, false});
  if (told != nullptr) return *told;
  return Psn(kFirstStart + static_cast<uint32_t>(random_.below(kBeyondStart - kFirstStart)));
}

// The closing ACK says where the next PDC may begin. [PDS-053]
void Core::learn_start(const Pdc& pdc, const wire::Ack& ack) {
  if (pdc.sdi != 0 && ack.has_expected_psn()) {
    starts_.raise({peers_[pdc.peer].address, pdc.sdi, false}, ack.expected_start_psn);
  }
}

// Everything that was sent moves to the new start and goes again. [PDS-051, PDS-I4]
void Core::rebase(Pdc& pdc, const wire::Nack& h, Instant now) {
  const Psn start(h.payload);
  if (start == pdc.start_psn) return counters_.add(Count::drop_nack_code);
  if (++pdc.rebases > kRebasesMax) {
    counters_.add(Count::psn_rebase_limit);
    return fail(pdc, {FailureReason::nack, h.nack_code, false}, Count::pdc_closed_nack, false, now);
  }
  counters_.add(Count::psn_rebased);
  pdc.tx.rebase(start - pdc.start_psn);
  pdc.rx.release(rx_pool_);
  pdc.rx.start(start, config_.tracked_packets());
  pdc.sweep.start(start);
  pdc.start_psn = pdc.rx_next = start;
  pdc.range.start(start, config_.default_mpr);
  pdc.highest_arrived = pdc.cleared = start - 1;
  pdc.lost_from = pdc.tx.base();
  begin_wait(pdc, now);
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr) continue;
    slot->rto_count = slot->nack_count = 0;
    slot->sacked = false;
    if (slot->in_flight) {  // refused for its number, not for its path
      slot->in_flight = false;
      pdc.path->ccc.on_forgotten(slot->bytes);
    }
    mark_lost(pdc, p, *slot, cms::LossKind::inferred, Count::retx_nack, now);
  }
  wake_path(*pdc.path);
}

}  // namespace uet::pds
