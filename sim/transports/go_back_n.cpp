// Both ends of go-back-N.
#include "sim/transports/go_back_n.h"

#include "base/hash.h"

#include <algorithm>
#include <utility>

namespace uet::sim::transports {

GoBackNSender::GoBackNSender(const FlowSetup& flow, const Network& network,
                             std::unique_ptr<Control> control, Picoseconds timeout, Counts& counts)
    : flow_(flow),
      network_(network),
      control_(std::move(control)),
      timeout_(timeout),
      counts_(counts),
      count_(packets_of(flow, network)),
      path_(static_cast<uint16_t>(hash64(flow.flow, network.seed, 0x726f6365))) {}

bool GoBackNSender::next(Picoseconds now, Segment& out) {
  if (next_ == count_ || now < pace_.next_at() || !has_window()) return false;
  out = Segment{};
  out.sent_at = now;
  out.flow = flow_.flow;
  out.number = next_;
  out.payload_bytes = payload_of(flow_, network_, next_);
  out.path = path_;
  out.is_resent = next_ < highest_;
  ++next_;
  highest_ = std::max(highest_, next_);
  ++counts_.data_sent;
  counts_.data_resent += out.is_resent ? 1 : 0;
  const uint32_t wire_bytes = out.payload_bytes + network_.header_bytes;
  control_->on_sent(wire_bytes, now);
  pace_.on_sent(network_, *control_, wire_bytes, std::max(rtt_, network_.base_rtt), now);
  if (silent_at_ == kNever) silent_at_ = now + timeout_;
  return true;
}

void GoBackNSender::on_answer(const Segment& answer, const Telemetry* telemetry, Picoseconds now) {
  if (answer.kind == SegmentKind::cnp) {
    ++counts_.cnps;
    return control_->on_cnp(now);
  }
  const uint32_t fresh = answer.below > acked_ ? answer.below - acked_ : 0;
  acked_ += fresh;
  next_ = std::max(next_, acked_);
  if (fresh > 0) silent_at_ = is_done() ? kNever : now + timeout_;
  rtt_ = now - answer.sent_at;
  if (answer.kind == SegmentKind::nack) {
    ++counts_.nacks;
    if (next_ > acked_) go_back(now);
    return;
  }
  ++counts_.acks;
  control_->on_ack({rtt_, fresh, answer.number, next_, answer.is_marked, telemetry}, now);
}

void GoBackNSender::go_back(Picoseconds now) {
  ++counts_.go_backs;
  next_ = acked_;
  control_->on_loss(now);
}

Picoseconds GoBackNSender::next_deadline() const {
  const Picoseconds timer = std::min(silent_at_, control_->next_deadline());
  return next_ == count_ || !has_window() ? timer : std::min(timer, pace_.next_at());
}

void GoBackNSender::on_deadline(Picoseconds now) {
  if (control_->next_deadline() <= now) control_->on_deadline(now);
  if (silent_at_ > now) return;
  ++counts_.timeouts;
  silent_at_ = now + timeout_;
  control_->on_timeout(now);
  go_back(now);
}

SenderState GoBackNSender::state() const {
  SenderState out;
  const double full = network_.payload_bytes + network_.header_bytes;
  const double by_rate = control_->rate_mbps() * 1e-6 / 8 * static_cast<double>(network_.base_rtt);
  out.window_bytes = static_cast<uint64_t>(std::min(control_->window_packets() * full, by_rate));
  out.inflight_bytes = static_cast<uint64_t>(full * (next_ - acked_));
  out.rtt = rtt_;
  return out;
}

void InOrderReceiver::on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) {
  Segment answer;
  answer.flow = flow_;
  answer.sent_at = packet.sent_at;
  answer.number = packet.number;
  answer.path = packet.path;
  answer.is_marked = packet.is_marked;
  is_marked_ |= packet.is_marked;
  if (is_marked_ && cnp_interval_ > 0 && now >= cnp_at_) {
    is_marked_ = false;
    cnp_at_ = now + cnp_interval_;
    answer.kind = SegmentKind::cnp;
    out.push_back(answer);
  }
  if (packet.number > expected_ || packet.is_trimmed) {
    if (std::exchange(has_asked_, true)) return;
    answer.kind = SegmentKind::nack;
    answer.below = answer.number = expected_;
    out.push_back(answer);
    return;
  }
  if (packet.number == expected_) {
    ++expected_;
    has_asked_ = false;
  }
  answer.kind = SegmentKind::ack;
  answer.below = expected_;
  out.push_back(answer);
}

}  // namespace uet::sim::transports
