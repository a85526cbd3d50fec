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
      packets_(packets_of(flow, network)) {}

bool SelectiveSender::next(Picoseconds now, Segment& out) {
  while (!lost_.empty() && packets_[lost_.front()].state != State::lost) lost_.pop_front();
  if (!has_packet() || now < pace_.next_at() || !has_window()) return false;
  uint32_t number = next_;
  if (lost_.empty()) {
    ++next_;
  } else {
    number = lost_.front();
    lost_.pop_front();
  }
  PacketState& packet = packets_[number];
  packet.is_resent = packet.state == State::lost;
  packet.state = State::in_flight;
  packet.sent_at = now;
  packet.path = paths_.choose();
  sent_.push_back({number, now});
  ++inflight_;
  out = Segment{};
  out.sent_at = now;
  out.flow = flow_.flow;
  out.number = number;
  out.payload_bytes = payload_of(flow_, network_, number);
  out.path = packet.path;
  out.is_resent = packet.is_resent;
  ++counts_.data_sent;
  counts_.data_resent += out.is_resent ? 1 : 0;
  const uint32_t wire_bytes = out.payload_bytes + network_.header_bytes;
  control_->on_sent(wire_bytes, now);
  pace_.on_sent(network_, *control_, wire_bytes, std::max(rtt_, network_.base_rtt), now);
  return true;
}

void SelectiveSender::on_answer(const Segment& answer, const Telemetry* telemetry,
                                Picoseconds now) {
  ++counts_.acks;
  PacketState& packet = packets_[answer.number];
  const bool is_fresh = packet.state != State::acked;
  if (packet.state == State::in_flight) --inflight_;
  acked_ += is_fresh ? 1 : 0;
  packet.state = State::acked;
  rtt_ = now - answer.sent_at;
  paths_.on_rtt(answer.path, rtt_);
  control_->on_ack({rtt_, is_fresh ? 1u : 0u, answer.number, next_, answer.is_marked, telemetry},
                   now);
  hear(answer.sent_at);
  bool is_lost = false;
  for (drop_known(); !sent_.empty() && sent_.front().at + rules_.slack < heard_[2]; drop_known()) {
    take_for_lost(sent_.front().number);
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

// Those at the front that nothing is to be heard of any more.
void SelectiveSender::drop_known() {
  const auto is_known = [this](const Sent& sent) {
    const PacketState& packet = packets_[sent.number];
    return packet.state != State::in_flight || packet.sent_at != sent.at;
  };
  while (!sent_.empty() && is_known(sent_.front())) sent_.pop_front();
}

void SelectiveSender::take_for_lost(uint32_t number) {
  PacketState& packet = packets_[number];
  packet.state = State::lost;
  --inflight_;
  lost_.push_back(number);
  paths_.on_loss(packet.path, rules_.timeout);
}

Picoseconds SelectiveSender::next_deadline() const {
  Picoseconds next = control_->next_deadline();
  if (!sent_.empty()) next = std::min(next, sent_.front().at + rules_.timeout);
  return has_packet() && has_window() ? std::min(next, pace_.next_at()) : next;
}

void SelectiveSender::on_deadline(Picoseconds now) {
  if (control_->next_deadline() <= now) control_->on_deadline(now);
  bool is_late = false;
  for (drop_known(); !sent_.empty() && sent_.front().at + rules_.timeout <= now; drop_known()) {
    take_for_lost(sent_.front().number);
    is_late = true;
  }
  if (!is_late || now < next_timeout_at_) return;
  next_timeout_at_ = now + rules_.timeout;  // what was lost at one time is one time-out
  ++counts_.timeouts;
  control_->on_timeout(now);
}

SenderState SelectiveSender::state() const {
  const double full = network_.payload_bytes + network_.header_bytes;
  return {static_cast<uint64_t>(control_->window_packets() * full),
          static_cast<uint64_t>(inflight_ * full), rtt_};
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
