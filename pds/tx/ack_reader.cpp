// Reads ACKs: their reports about each packet, and about the peer. [PDS-090 .. PDS-095]
#include "pds/tx/ack_reader.h"

#include "pds/tx/loss_detector.h"
#include "pds/tx/may_send.h"

#include <algorithm>
#include <array>
#include <optional>

namespace uet::pds {

namespace {
// Queues of one host's several interrupts differ by about as much, however short the round trip.
constexpr Duration kReorderTimeMin = Duration::microseconds(50);
constexpr uint32_t kOvertakenMost = 128;  // packets that overtake one that is not lost
// A service time of "8.4 ms or more" leaves the time of the network unknown. [CMS-036]
constexpr Duration kServiceTimeMost = Duration::nanoseconds(0xFFFF * 128);
// A peer rounds its count of octets up to 256. [CMS-037]
constexpr int64_t kRoundingBytes = 256;

// An ACK of an unproven source must answer something: a sent packet or the outstanding Probe.
// [PDS-252]
bool is_proof(const Pdc& pdc, const wire::Ack& ack) {
  const auto was_sent = [&](Psn psn) {
    return !psn.before(pdc.start.psn()) && psn.before(pdc.tx.next());
  };
  if (ack.p) return pdc.tail.is_answer(ack.probe_opaque);
  return was_sent(ack.cack_psn) || was_sent(ack.ack_psn());
}

// The report about the path of the named packet, once for each packet, even if an earlier ACK has
// answered the packet. The EV comes from our own record, because an ACK may echo a wrong one;
// without a record no EV gets feedback. [PDS-070, PDS 8.1]
void take_mark(const wire::Ack& ack, TxSlot* slot, cms::Acked& sum) {
  sum.ecn = ack.m;
  if (slot == nullptr) return;
  if (!slot->state.tell_mark()) {
    sum.ecn = false;
    return;
  }
  sum.ev = slot->ev;
  sum.ev_valid = true;
}

// Default answers to successive packets, reported to the client together.
class DefaultAnswers {
 public:
  DefaultAnswers(Client& client, Instant arrival, Instant now)
      : client_(client), response_{wire::NextHeader::none, {}, arrival}, now_(now) {}

  void add(const PacketRef& ref) {
    refs_[count_++] = ref;
    // The end of a message is reported before the next packet is retired.
    if (ref.eom || count_ == refs_.size()) tell();
  }
  void tell() {
    if (count_ != 0) client_.on_responses({refs_.data(), count_}, response_, now_);
    count_ = 0;
  }

 private:
  Client& client_;
  RxResponse response_;
  Instant now_;
  uint32_t count_ = 0;
  std::array<PacketRef, 16> refs_;
};
}  // namespace

// In every state of its sender. [PDS-I8, PDS-090 .. PDS-095]
AckEffect AckReader::process_ack(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc,
                                 std::span<const std::byte> ses, const RxDatagram& d, Instant now) {
  const Instant at = d.at;
  const Psn cack = ack.cack_psn;
  const bool names_psn = !ack.p;
  const Psn next = pdc.tx.next();
  // [PDS-090] Nothing below Start_PSN - 1 was ever sent either. [PDS-246]
  const bool beyond = !cack.before(next) || (names_psn && !ack.ack_psn().before(next));
  if (beyond || pdc.range.is_below(cack)) return drop(Count::drop_ack_range);
  if (pdc.is_unverified() && !is_proof(pdc, ack)) return drop(Count::drop_unproven);
  proofs_.confirm(pdc);
  pdc.context->ccc.on_feedback();
  res_.counters.add(cc != nullptr ? Count::ack_cc_rx : Count::acks_rx);
  idle_.touch(pdc, now);
  res_.peers[pdc.peer].note_heard(now);  // an unproven source does not come this far [PDS-256]
  const bool is_first = pdc.state() == PdcState::syn;
  if (is_first) establish(pdc, ack.spdcid);

  AckNews news;
  news.acked.at = at;
  if (names_psn) take_named(pdc, ack, ses, d.ev, news, now);
  take_cumulative(pdc, cack, news, now);
  if (pdc.range.on_cack(cack)) pdc.waiting.begin(now);
  if (cc != nullptr) pdc.range.on_mpr(cack, cc->mpr);
  if (pdc.tx.has_aside()) loss_.resend_tracked(pdc, now);
  pdc.losses.note_arrived(cack);
  if (cc != nullptr) read_sack(pdc, *cc, news, now);
  tell_acked(pdc, cc, news, now);
  const cms::RemoteState& remote = news.acked.remote;
  if (ack.p) {
    if (pdc.tail.is_answer(ack.probe_opaque)) {
      pdc.context->note_base_rtt(pdc.tail.age(at) - remote.service_time);  // [CMS-106]
    }
    probes_.on_probe_answer(pdc, ack, at, now);
  } else {
    probe_base_rtt(pdc);
  }
  const bool counts = remote.valid && !cack.before(pdc.range.cack());
  infer_losses(pdc, counts ? remote.ooo_count : uint16_t{0xFFFF}, now);
  pdc.tail.note_heard();

  if (pdc.is_initiator()) heed(pdc, ack.req, now);
  schedule_.want_send(pdc);
  schedule_.arm_if_held(pdc, now);
  pdc.tx.release_if_empty(res_.tx_pool);
  if (pdc.is_stalled() || proofs_.owes_proof(pdc)) {
    schedule_.arm_by(pdc, now + res_.config.shortest_rto());
  }
  if (pdc.tx.empty() && pdc.state() != PdcState::established) schedule_.want_control(pdc);
  return {is_first, news.closing == SlotKind::close_cmd};
}

// The packet that the ACK names: its answer, and the report about its path.
void AckReader::take_named(Pdc& pdc, const wire::Ack& ack, std::span<const std::byte> ses,
                           Entropy echoed, AckNews& news, Instant now) {
  const Psn psn = ack.ack_psn();
  cms::Acked& sum = news.acked;
  TxSlot* const recent = pdc.tx.recent(psn);
  take_mark(ack, recent, sum);
  if (recent != nullptr && pdc.context->is_strange(echoed, recent->ev)) {
    res_.counters.add(Count::strange_evs);
  }
  TxSlot* const slot = pdc.tx.find(psn);
  if (slot == nullptr) return;
  if (slot->is_rtt_sample(ack.retx, sum.at)) {
    sum.rtt = slot->sent_for(sum.at);
    sum.rtt_valid = true;
    pdc.rtt.on_rtt(sum.rtt);
  }
  pdc.losses.note_arrived(psn);
  if (slot->is_early_timeout(!ack.retx && !slot->state.was_asked())) {
    news.late = true;
    // The first transmission was at least one time-out before the resend. [PDS-254]
    if (!slot->state.is_lost()) pdc.rtt.on_rtt(slot->sent_for(sum.at) + loss_.rto_of(pdc, 0));
  }
  note_answer(pdc, *slot, news, now);
  answered(pdc, psn, *slot, {ack.next_hdr, ses, sum.at}, now);
}

// The packets that the cumulative ACK answers, by PSN. Several are reported to the client at once.
void AckReader::take_cumulative(Pdc& pdc, Psn cack, AckNews& news, Instant now) {
  DefaultAnswers answers(res_.client, news.acked.at, now);
  for (Psn p = pdc.tx.base(); !p.after(cack) && p.before(pdc.tx.next()); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr) continue;
    note_answer(pdc, *slot, news, now);
    const bool is_data = slot->kind == SlotKind::data;
    retire(pdc, p, *slot, now);
    if (is_data) answers.add(slot->ref);
  }
  answers.tell();
}

// What the answer to a packet means for congestion control, and for the end of the PDC.
void AckReader::note_answer(Pdc& pdc, TxSlot& slot, AckNews& news, Instant now) {
  count_arrival(pdc, slot, news, now);
  if (slot.kind != SlotKind::data) news.closing = slot.kind;
  if (slot.is_early_timeout(false)) news.late = true;
}

// A packet that counted as lost and was not sent again is in flight until now: its loss took its
// octets out of the window, and the peer counts them among those received. [CMS-019]
void AckReader::count_arrival(Pdc& pdc, TxSlot& slot, AckNews& news, Instant now) {
  const bool is_flying = slot.state.in_flight();
  if (!is_flying) res_.cells.on_arrived(pdc, slot);
  if (!is_flying && !slot.state.is_to_go_again()) return;
  if (!is_flying) pdc.context->on_still_in_flight(pdc, slot, now);
  news.acked.bytes += slot.bytes;
  ++news.acked.packets;
}

// Other requests of the target. [PDS-094]
void AckReader::heed(Pdc& pdc, wire::AckRequest request, Instant now) {
  if (request == wire::AckRequest::close) closing_.begin_close(pdc);
  if (request != wire::AckRequest::clear) return;
  pdc.clearing.want(now + res_.config.clear_time);
  schedule_.arm_by(pdc, pdc.clearing.at());
}

// I3: the peer's PDCID is known, SYN is over. [PDS-042]
void AckReader::establish(Pdc& pdc, Pdcid peer_id) {
  pdc.peer_id = peer_id;
  pdc.life.change(PdcEvent::first_ack);
  // The peer may not have trusted the demand in the first packets. [T-34]
  if (cms::CreditSource* const credit = pdc.context->ccc.credit()) credit->on_established();
  if (pdc.life.close_asked()) closing_.begin_close(pdc);  // [PDS-I22]
}

// State of the destination's receiving side; invalid when the ACK has none. [PDS 19.3]
cms::RemoteState AckReader::take_cc_state(Pdc& pdc, const wire::AckCc& cc, uint32_t acked,
                                          Instant now) {
  if (cc.ack.type != wire::PdsType::ack_cc || cc.state == 0) return {};
  if (cc.cc_type == wire::CcType::credit) {
    schedule_.on_credit(pdc, wire::CreditState::unpack(cc.state).credit, now);
    return {};
  }
  if (cc.cc_type != wire::CcType::nscc) return {};
  const wire::NsccState s = wire::NsccState::unpack(cc.state);
  cms::RemoteState r;
  r.service_time = Duration::nanoseconds(int64_t{s.service_time} * 128);
  r.ooo_count = s.ooo_count;
  r.rcv_cwnd_pend = s.rcv_cwnd_pend;
  r.restore_cwnd = s.rc;
  if (r.rcv_cwnd_pend != 0) res_.counters.add(Count::acks_ask_less);
  r.valid = true;
  // No more than is in flight, or lost and perhaps not, and the rounding of both counts.
  const int64_t sent = int64_t{pdc.heard.balance()} +
                       int64_t{pdc.losses.lost()} * pdc.context->limits.packet_bytes_max +
                       kRoundingBytes;
  const int64_t most = std::max<int64_t>(sent, acked);
  const std::optional<uint32_t> reported = pdc.heard.on_rcvd_units(
      s.rcvd_bytes, static_cast<uint32_t>(std::min<int64_t>(most, UINT32_MAX)));
  if (!reported) res_.counters.add(Count::rcvd_impossible);
  r.newly_received_bytes = reported ? *reported : pdc.heard.on_acked_instead(acked);
  return r;
}

// The packet is answered for good: exactly one on_response. [PDS-092, PDS-093]
void AckReader::answered(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, Instant now) {
  const PacketRef ref = slot.ref;
  const SlotKind kind = slot.kind;
  retire(pdc, psn, slot, now);
  if (kind == SlotKind::data) res_.client.on_response(ref, response, now);
}

// The window waits for it no more.
void AckReader::retire(Pdc& pdc, Psn psn, TxSlot& slot, Instant now) {
  pdc.context->clear_marks(pdc, slot);
  slot.state.land();
  pdc.waiting.begin(now);
  pdc.tx.complete(psn);
}

// One report for each ACK, of everything that it acknowledges and reports. [CMS-019]
void AckReader::tell_acked(Pdc& pdc, const wire::AckCc* cc, AckNews& news, Instant now) {
  cms::Acked& acked = news.acked;
  if (cc != nullptr) acked.remote = take_cc_state(pdc, *cc, acked.bytes, now);
  acked.received_bytes =
      acked.remote.valid ? acked.remote.newly_received_bytes : pdc.heard.on_acked(acked.bytes);
  if (acked.rtt_valid) {
    acked.rtt = std::max(acked.rtt - acked.remote.service_time, Duration::zero());  // [CMS-071]
    acked.rtt_valid = acked.remote.service_time < kServiceTimeMost;
    if (acked.rtt_valid) pdc.context->base_rtt.is_known = true;
  }
  if (news.late) loss_.take_back_timeouts(pdc, now);
  if (news.is_any()) {
    pdc.context->on_acked(news);
    schedule_.wake_context(*pdc.context);
  }
  if (!pdc.tx.empty()) return;
  Context& context = *pdc.context;
  context.correct_inflight(pdc);
  const bool is_idle = context.ccc.inflight_bytes() == 0 && !context.is_wanted();  // [CMS-011]
  cms::Nscc* const nscc = context.ccc.nscc();
  if (nscc == nullptr || !is_idle || has_new(pdc)) return;
  nscc->on_idle();
  context.base_rtt.idle_since = now;
}

// SACK says "arrived", which is not "answered". [PDS-093]
void AckReader::read_sack(Pdc& pdc, const wire::AckCc& cc, AckNews& news, Instant now) {
  const Psn base = cc.sack_base();
  bool any = false;
  for (uint64_t bits = cc.sack_bitmap; bits != 0; bits &= bits - 1) {
    const Psn psn = base + __builtin_ctzll(bits);
    if (!psn.before(pdc.tx.next())) {  // never sent: the rest of the bitmap is invalid, too [T-06]
      res_.counters.add(Count::sack_beyond);
      break;
    }
    TxSlot* const slot = pdc.tx.find(psn);
    if (slot == nullptr || slot->state.has_arrived()) continue;
    any = true;
    if (slot->is_early_timeout(false)) news.late = true;
    count_arrival(pdc, *slot, news, now);
    slot->state.arrive();
    pdc.context->unmark(pdc, *slot);
    if (slot->state.land()) pdc.context->on_feedback(slot->ev, cms::PathFeedback::good, now);
    pdc.tx.requeue(psn);
    pdc.losses.note_arrived(psn);
    // A ROD packet may still wait there for its turn, and be dropped instead of delivered.
    if (slot->ref.sack_completes && slot->kind == SlotKind::data && pdc.mode == Mode::rud) {
      answered(pdc, psn, *slot, {wire::NextHeader::none, {}, now}, now);
    }
  }
  if (!any) return;
  pdc.waiting.begin(now);
  res_.counters.add(Count::sack_rx);
}

// A packet that arrived proves an earlier one lost, on any path, if it was sent later by this time:
// 1.5 round trips, which correspond to 1.5 windows in packets. [PDS-143]
Duration AckReader::reorder_time(const Pdc& pdc) const {
  const Duration srtt = pdc.rtt.smoothed();
  return srtt == Duration::zero() ? srtt : std::max(srtt * 3 / 2, kReorderTimeMin);
}

// The first answer on a new context: a Probe measures the round trip beside the queues, unless it
// is known from before, or little is left to send. [CMS-106, CMS-107]
void AckReader::probe_base_rtt(Pdc& pdc) {
  Context& context = *pdc.context;
  if (context.base_rtt.is_asked) return;
  context.base_rtt.is_asked = true;
  const bool is_wanted = res_.cms.base_rtt_probe && context.ccc.nscc() != nullptr &&
                         pdc.state() == PdcState::established && may_probe(res_, pdc) &&
                         has_new(pdc) && res_.peers[pdc.peer].base_rtt_ns == 0;
  if (!is_wanted || pdc.tail.is_pending()) return;
  pdc.tail.want();
  schedule_.want_control(pdc);
}

void AckReader::infer_losses(Pdc& pdc, uint16_t ooo_count, Instant now) {
  if (pdc.tx.empty() || pdc.losses.highest_arrived().before(pdc.tx.base())) return;
  pdc.losses.limit_arrived(pdc.tx.next() - 1);
  ReorderRules rules;
  if (ooo_count != 0xFFFF) rules.reported_packets = ooo_count;  // [PDS-L3]
  // An ordered PDC whose EV has changed has two paths until packets of the first one are answered.
  const TxSlot* const oldest = pdc.tx.find(pdc.tx.base());
  const bool is_ordered =
      pdc.mode == Mode::rod && (oldest == nullptr || oldest->ev == pdc.burst.ev());
  const bool single_path = is_ordered || res_.cms.entropy_values <= 1;
  // max(5, min(1.5 cwnd, window) / packet size), and never more than can be reached: the PDC may
  // have a part of the window only, of CMS and of PSNs. More than kOvertakenMost only delay a
  // resend. [PDS-143, PDS-144]
  const uint64_t packets =
      pdc.context->ccc.window_bytes() * 3 / 2 / pdc.context->limits.packet_bytes_max;
  const uint64_t reachable = std::max(std::min(res_.config.tx_window_packets / 2, kOvertakenMost),
                                      res_.config.ooo_packets_min);
  rules.threshold_packets = single_path ? res_.config.ooo_packets_single_path
                                        : static_cast<uint32_t>(std::clamp<uint64_t>(
                                              packets, res_.config.ooo_packets_min, reachable));
  // Where switches trim, a NACK reports each packet that found no room, and packets on short queues
  // overtake many others. So only the time since one was overtaken shows a loss.
  if (res_.cms.trimming && !single_path) rules.threshold_packets = UINT32_MAX;
  rules.time = reorder_time(pdc);
  LossDetector::infer(
      pdc.tx, pdc.losses.highest_arrived(), rules, now,
      [&](Psn psn, TxSlot& slot, LossCause cause) {
        const Count count = cause == LossCause::ev_order ? Count::retx_ev : Count::retx_ooo;
        pdc.context->on_feedback(slot.ev, cms::PathFeedback::timeout, now);  // [CMS-021]
        loss_.mark_lost(pdc, psn, slot, cms::LossKind::inferred, count, now);
      });
}

}  // namespace uet::pds
