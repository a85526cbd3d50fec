// Both ends of a flow that its receiver paces, and the queue of flows that wait for credit.
#include "sim/transports/eqds.h"

#include <algorithm>
#include <bit>

namespace uet::sim::transports {

PullQueue::PullQueue(const EqdsConstants& constants, const Network& network)
    : interval_(network.time_of(network.payload_bytes + network.header_bytes,
                                static_cast<double>(network.mbps) * constants.pull_share)) {}

void PullQueue::enlist(EqdsReceiver& receiver, bool is_urgent) {
  bool& is_listed = is_urgent ? receiver.place_.is_urgent : receiver.place_.is_waiting;
  if (is_listed) return;
  is_listed = true;
  (is_urgent ? urgent_ : waiting_).push_back(&receiver);
}

Picoseconds PullQueue::next_deadline() const {
  return urgent_.empty() && waiting_.empty() ? kNever : next_at_;
}

bool PullQueue::take(Picoseconds now, Segment& out) {
  while (next_deadline() <= now) {
    const bool is_urgent = !urgent_.empty();
    std::deque<EqdsReceiver*>& list = is_urgent ? urgent_ : waiting_;
    EqdsReceiver& receiver = *list.front();
    list.pop_front();
    (is_urgent ? receiver.place_.is_urgent : receiver.place_.is_waiting) = false;
    if (receiver.has_all() || !(is_urgent ? receiver.wants_resend() : receiver.wants_more())) {
      continue;  // the missing packet has come otherwise
    }
    out = receiver.pull();
    next_at_ = now + interval_;
    if (receiver.wants_resend()) {
      enlist(receiver, true);
    } else if (receiver.wants_more()) {
      enlist(receiver, false);
    }
    return true;
  }
  return false;
}

EqdsSender::EqdsSender(const FlowSetup& flow, const Network& network,
                       const EqdsConstants& constants, Picoseconds timeout, Counts& counts)
    : flow_(flow),
      network_(network),
      window_bytes_(constants.window * network.bdp_bytes),
      timeout_(timeout),
      counts_(counts),
      spray_(network, flow.flow, static_cast<uint32_t>(constants.paths)),
      flight_(packets_of(flow, network)),
      patience_(timeout) {
  credit_.speculative = window_bytes_;
}

double EqdsSender::backlog() const { return full() * static_cast<double>(flight_.waiting()); }

// The total grant that the flow needs for all its data, but at most a window ahead.
uint64_t EqdsSender::demand() const {
  const double more = std::min(backlog(), window_bytes_) - credit_.left();
  return credit_.granted + static_cast<uint64_t>(std::max(more, 0.0));
}

bool EqdsSender::next(Picoseconds now, Segment& out) {
  const bool may_send = flight_.has_packet() && credit_.left() > 0;
  if (!may_send && !credit_.is_asked) return false;
  out = Segment{};
  out.sent_at = now;
  out.flow = flow_.flow;
  out.path = spray_.choose();
  silent_at_ = now + patience_;
  if (!may_send) {
    out.kind = SegmentKind::request;
    out.credit = credit_.told = demand();
    credit_.is_asked = false;
    return true;
  }
  const auto [number, is_resent] = flight_.take();
  out.number = number;
  out.is_resent = is_resent;
  (credit_.octets > 0 ? credit_.octets : credit_.speculative) -= full();
  out.payload_bytes = payload_of(flow_, network_, number);
  out.credit = credit_.told = demand();
  flight_.on_sent(number, out.path, now);
  ++counts_.data_sent;
  counts_.data_resent += is_resent ? 1 : 0;
  return true;
}

void EqdsSender::on_answer(const Segment& answer, const Telemetry*, Picoseconds now) {
  // The first answer ends the time without grants, except for the rest of a short flow, which has
  // not asked for any.
  const bool is_short = answer.kind != SegmentKind::nack && backlog() <= credit_.speculative;
  if (!is_short) credit_.speculative = std::min(credit_.speculative, 0.0);
  if (answer.kind == SegmentKind::pull) {
    ++counts_.pulls;
    if (answer.credit <= credit_.granted) return;
    const auto more = static_cast<double>(answer.credit - credit_.granted);
    credit_.octets = std::min(credit_.octets + more, window_bytes_);
    credit_.granted = answer.credit;
    return;
  }
  rtt_ = now - answer.sent_at;
  if (answer.kind == SegmentKind::ack) return on_ack(answer);
  ++counts_.nacks;
  spray_.on_bad(answer.path);
  if (!flight_.on_lost(answer.number, answer.sent_at)) return;
  // The grant for it may have come before, on another path, and be used up.
  credit_.is_asked = credit_.is_asked || (credit_.left() <= 0 && demand() > credit_.told);
}

void EqdsSender::on_ack(const Segment& answer) {
  ++counts_.acks;
  patience_ = timeout_;
  if (answer.is_marked) spray_.on_bad(answer.path);
  for (; below_ < answer.below; ++below_) flight_.on_acked(below_);
  for (uint64_t bits = answer.bits; bits != 0; bits &= bits - 1) {
    flight_.on_acked(answer.number + static_cast<uint32_t>(std::countr_zero(bits)));
  }
}

Picoseconds EqdsSender::next_deadline() const {
  if (is_done()) return kNever;
  return flight_.inflight() > 0 ? flight_.oldest_at() + timeout_ : silent_at_;
}

// Missing packets are requested at once; they follow when they are granted.
void EqdsSender::on_deadline(Picoseconds now) {
  bool is_late = flight_.inflight() == 0 && silent_at_ <= now;
  while (flight_.inflight() > 0 && flight_.oldest_at() + timeout_ <= now) {
    flight_.lose_oldest();
    is_late = true;
  }
  if (!is_late) return;
  ++counts_.timeouts;
  patience_ = std::min(2 * patience_, 64 * timeout_);
  silent_at_ = now + patience_;
  credit_.is_asked = true;
}

SenderState EqdsSender::state() const {
  return {static_cast<uint64_t>(window_bytes_), static_cast<uint64_t>(flight_.inflight() * full()),
          rtt_};
}

EqdsReceiver::EqdsReceiver(const FlowSetup& flow, const Network& network,
                           const EqdsConstants& constants, PullQueue& queue)
    : flow_(flow.flow),
      full_bytes_(network.payload_bytes + network.header_bytes),
      ack_packets_(static_cast<uint32_t>(constants.ack_packets)),
      ack_interval_(network.base_rtt),
      queue_(queue),
      has_(packets_of(flow, network)) {}

Segment EqdsReceiver::pull() {
  cut_bytes_ -= std::min<uint64_t>(cut_bytes_, full_bytes_);
  granted_ += full_bytes_;
  Segment out;
  out.kind = SegmentKind::pull;
  out.flow = flow_;
  out.credit = granted_;
  out.path = static_cast<uint16_t>(granted_ / full_bytes_);  // spread, too
  return out;
}

void EqdsReceiver::ask(uint64_t credit) {
  asked_ = std::max(asked_, credit);
  if (wants_more()) queue_.enlist(*this, false);
}

// All packets below, and the 64 packets up to this one.
Segment EqdsReceiver::ack_of(const Segment& packet) const {
  Segment out;
  out.kind = SegmentKind::ack;
  out.flow = flow_;
  out.sent_at = packet.sent_at;
  out.path = packet.path;
  out.is_marked = packet.is_marked;
  out.below = below_;
  out.number = std::max(below_, packet.number < 63 ? 0 : packet.number - 63);
  for (uint32_t i = 0; i < 64 && out.number + i < has_.size(); ++i) {
    if (has_[out.number + i]) out.bits |= uint64_t{1} << i;
  }
  return out;
}

// False: it was there already.
bool EqdsReceiver::accept(uint32_t number) {
  if (has_[number]) return false;
  has_[number] = true;
  while (below_ < has_.size() && has_[below_]) ++below_;
  return true;
}

void EqdsReceiver::on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) {
  if (packet.kind == SegmentKind::request) {
    ask(packet.credit);
    Segment again;  // in case that a grant was lost
    again.kind = SegmentKind::pull;
    again.flow = flow_;
    again.credit = granted_;
    out.push_back(again);
    out.push_back(ack_of(packet));
    return;
  }
  ask(packet.credit);
  const bool is_first = !is_known_;
  is_known_ = true;
  if (packet.is_trimmed && !has_[packet.number]) {
    cut_bytes_ += full_bytes_;
    queue_.enlist(*this, true);
    Segment nack;
    nack.kind = SegmentKind::nack;
    nack.flow = flow_;
    nack.sent_at = packet.sent_at;
    nack.number = packet.number;
    nack.path = packet.path;
    nack.below = below_;
    out.push_back(nack);
    return;
  }
  const bool is_fresh = accept(packet.number);
  ++unacked_;
  const bool is_asked = is_first || packet.is_marked || !is_fresh || has_all();
  if (!is_asked && unacked_ < ack_packets_ && now - acked_at_ < ack_interval_) return;
  unacked_ = 0;
  acked_at_ = now;
  out.push_back(ack_of(packet));
}

}  // namespace uet::sim::transports
