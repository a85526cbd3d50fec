// Both ends of selective resends.
#include "sim/transports/selective.h"

#include <algorithm>
#include <utility>

namespace uet::sim::transports {

SelectiveSender::SelectiveSender(const FlowSetup& flow, const Network& network,
                                 std::unique_ptr<Control> control, const LossRules& rules,
                                 uint32_t paths, Counts& counts)
    : flow_(flow),
      network_(network),
      control_(std::move(control)),
      rules_(rules),
      counts_(counts),
      paths_(network, flow.flow, paths),
      flight_(packets_of(flow, network)) {}

bool SelectiveSender::next(Picoseconds now, Segment& out) {
  if (!flight_.has_packet() || now < pace_.next_at() || !has_window()) return false;
  const auto [number, is_resent] = flight_.take();
  out = Segment{};
  out.sent_at = now;
  out.flow = flow_.flow;
  out.number = number;
  out.payload_bytes = payload_of(flow_, network_, number);
  out.path = paths_.choose();
  out.is_resent = is_resent;
  flight_.on_sent(number, out.path, now);
  ++counts_.data_sent;
  counts_.data_resent += is_resent ? 1 : 0;
  const uint32_t wire_bytes = out.payload_bytes + network_.header_bytes;
  control_->on_sent(wire_bytes, now);
  pace_.on_sent(network_, *control_, wire_bytes, std::max(rtt_, network_.base_rtt), now);
  return true;
}

void SelectiveSender::on_answer(const Segment& answer, const Telemetry* telemetry,
                                Picoseconds now) {
  ++counts_.acks;
  const bool is_fresh = flight_.on_acked(answer.number);
  rtt_ = now - answer.sent_at;
  paths_.on_rtt(answer.path, rtt_);
  control_->on_ack(
      {rtt_, is_fresh ? 1u : 0u, answer.number, flight_.next(), answer.is_marked, telemetry}, now);
  hear(answer.sent_at);
  bool is_lost = false;
  while (flight_.inflight() > 0 && flight_.oldest_at() + rules_.slack < heard_[2]) {
    lose_oldest();
    is_lost = true;
  }
  if (is_lost) control_->on_loss(now);
}

// Keeps the three latest.
void SelectiveSender::hear(Picoseconds sent_at) {
  for (Picoseconds& known : heard_) {
    if (sent_at > known) std::swap(sent_at, known);
  }
}

void SelectiveSender::lose_oldest() { paths_.on_loss(flight_.lose_oldest(), rules_.timeout); }

Picoseconds SelectiveSender::next_deadline() const {
  Picoseconds next = control_->next_deadline();
  if (flight_.inflight() > 0) next = std::min(next, flight_.oldest_at() + rules_.timeout);
  return flight_.has_packet() && has_window() ? std::min(next, pace_.next_at()) : next;
}

void SelectiveSender::on_deadline(Picoseconds now) {
  if (control_->next_deadline() <= now) control_->on_deadline(now);
  bool is_late = false;
  while (flight_.inflight() > 0 && flight_.oldest_at() + rules_.timeout <= now) {
    lose_oldest();
    is_late = true;
  }
  if (!is_late || now < next_timeout_at_) return;
  next_timeout_at_ = now + rules_.timeout;  // losses at one time are one time-out
  ++counts_.timeouts;
  control_->on_timeout(now);
}

SenderState SelectiveSender::state() const {
  const double full = network_.payload_bytes + network_.header_bytes;
  return {static_cast<uint64_t>(control_->window_packets() * full),
          static_cast<uint64_t>(flight_.inflight() * full), rtt_};
}

void SelectiveReceiver::on_packet(const Segment& packet, Picoseconds, std::vector<Segment>& out) {
  if (packet.is_trimmed) return;
  has_[packet.number] = true;
  while (below_ < has_.size() && has_[below_]) ++below_;
  Segment answer;
  answer.kind = SegmentKind::ack;
  answer.flow = flow_;
  answer.sent_at = packet.sent_at;
  answer.number = packet.number;
  answer.below = below_;
  answer.bits = 1;
  answer.path = packet.path;
  answer.is_marked = packet.is_marked;
  out.push_back(answer);
}

}  // namespace uet::sim::transports
