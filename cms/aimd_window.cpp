// The increase and decrease rules of AimdWindow.
#include "cms/aimd_window.h"

namespace uet::cms {
namespace {

constexpr uint32_t kMinPackets = 8;  // room for the SACK gap threshold to be crossed [PDS-143]
// Lower limit of the assumed round trip, so that a burst of losses whose ACKs arrive together
// counts once even before there is an RTT sample.
constexpr Duration kShortestRound = Duration::microseconds(50);
// Slow start ends when every round trip of a round took longer than the shortest one by this time,
// and at least twice as long. A window of 1 MiB adds less than that at 10 Gb/s.
constexpr Duration kQueueTime = Duration::milliseconds(1);

}  // namespace

AimdWindow::AimdWindow(const Config& config)
    : window_(0),
      mtu_(config.mtu_bytes),
      min_(config.window_bytes_min ? config.window_bytes_min
                                   : uint64_t{kMinPackets} * config.mtu_bytes),
      max_(std::max<uint64_t>(config.window_bytes_max, min_)),
      threshold_(max_) {
  UET_ASSERT(mtu_ > 0);
  window_ = std::clamp(config.first_window_bytes(), min_, max_);
}

void AimdWindow::on_acked(const Acked& e) {
  leave(e.bytes);
  before_ = {};
  if (e.rtt_valid) {
    srtt_ = srtt_ == Duration::zero() ? e.rtt : srtt_ + (e.rtt - srtt_) / 8;
    shortest_ = shortest_ == Duration::zero() ? e.rtt : std::min(shortest_, e.rtt);
    Duration& of_round = shortest_of_round_;
    of_round = of_round == Duration::zero() ? e.rtt : std::min(of_round, e.rtt);
  }
  if (e.ecn) {
    decrease(window_ / 2, e.at);
    return;
  }
  if (in_use_) grow(e.bytes);  // an application-limited flow proves nothing about a larger window
}

void AimdWindow::grow(uint32_t bytes) {
  const bool doubles = starts_slowly();
  if (doubles) window_ = std::min(window_ + bytes, threshold_);
  credit_ += bytes;
  // A round trip is over when as many octets are acknowledged as the window had at its beginning.
  if (credit_ < window_ - (doubles ? std::min(credit_, window_) : 0)) return;
  credit_ -= std::min(credit_, window_);
  const Duration queue = shortest_of_round_ - shortest_;
  shortest_of_round_ = Duration::zero();
  if (doubles && queue > std::max(shortest_, kQueueTime)) threshold_ = window_;
  if (!doubles) window_ = std::min(window_ + mtu_, max_);
  in_use_ = inflight_ * 2 >= window_;
}

void AimdWindow::on_lost(const Lost& e) {
  leave(e.bytes);
  switch (e.kind) {
    case LossKind::timeout:
      // No answer since the first time-out: the window is already at its minimum. It still doubles
      // up to half of its size at the first one.
      if (window_ == min_ && before_.window != 0) return;
      if (window_ > min_ && may_decrease(e.at)) before_ = {window_, threshold_};
      return decrease(min_, e.at);
    case LossKind::trimmed:
    case LossKind::trimmed_lasthop:
    case LossKind::refused:
      return decrease(window_ / 2, e.at);
    case LossKind::inferred:
      if (has_no_queue()) return shrink(e.bytes / 4);
      return decrease(without_queue(), e.at);
  }
}

// Round trips are about as short as the shortest: no queue overflows, so losses have other causes.
bool AimdWindow::has_no_queue() const {
  return srtt_ != Duration::zero() && srtt_ <= shortest_ * 5 / 4;
}

// The octets that the path holds without its present queue, at least half of the window.
uint64_t AimdWindow::without_queue() const {
  if (srtt_ == Duration::zero()) return window_ / 2;
  const auto share = static_cast<uint64_t>(shortest_.ns());
  return std::max(window_ / 2, window_ * share / static_cast<uint64_t>(srtt_.ns()));
}

void AimdWindow::shrink(uint64_t bytes) {
  window_ = window_ > min_ + bytes ? window_ - bytes : min_;
  threshold_ = std::min(threshold_, window_);
}

void AimdWindow::on_early_timeouts() {
  window_ = std::max(window_, before_.window);
  threshold_ = std::max(threshold_, before_.threshold);
  before_ = {};
}

// Once in a round trip.
bool AimdWindow::may_decrease(Instant at) const {
  return !decreased_ || at - decreased_at_ >= std::max(srtt_, kShortestRound);
}

void AimdWindow::decrease(uint64_t to, Instant at) {
  if (!may_decrease(at)) return;
  decreased_ = true;
  decreased_at_ = at;
  threshold_ = std::max(window_ / 2, min_);
  window_ = std::max(to, min_);
  credit_ = 0;
}

}  // namespace uet::cms
