// Looking at ports and senders.
#include "sim/fabric/samples.h"

#include <algorithm>
#include <utility>

namespace uet::sim::fabric {
namespace {

constexpr size_t kInstants = 256;

// A port updates its queue only when it is read; this computes the rest without an update.
PortSample sample_of(const Port& port, Picoseconds now) {
  PortSample out{port.low_bytes, port.sent, port.sent_bytes};
  const bool works = port.is_up && !port.is_paused && port.serving != kNoPacket;
  if (!works || port.free_at >= now) return out;
  const auto served = static_cast<uint64_t>((now - port.free_at) * 256 / port.octet_time);
  const uint64_t data = served - std::min<uint64_t>(served, port.high_bytes);
  out.data_bytes -= static_cast<uint32_t>(std::min<uint64_t>(data, port.low_bytes));
  return out;
}

// For values that may be reordered.
uint64_t percentile(std::vector<uint64_t>& values, size_t percent) {
  if (values.empty()) return 0;
  const size_t at = (values.size() - 1) * percent / 100;
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(at));
  return values[at];
}

}  // namespace

void Sampler::note(const Fabric& fabric) {
  samples_.at.push_back(next_);
  for (const Port& port : fabric.ports()) samples_.ports.push_back(sample_of(port, next_));
  samples_.windows.push_back(windows());
  if (samples_.at.size() == kInstants) thin(fabric.ports().size());
  next_ = samples_.at.back() + samples_.interval;
}

Samples Sampler::result(Picoseconds end) && {
  const size_t all = samples_.at.size();
  while (!samples_.at.empty() && samples_.at.back() > end) samples_.at.pop_back();
  if (!samples_.at.empty()) samples_.ports.resize(samples_.ports.size() / all * samples_.at.size());
  samples_.windows.resize(samples_.at.size());
  return std::move(samples_);
}

// The first instant stays, and every second one behind it.
void Sampler::thin(size_t ports) {
  const size_t left = kInstants / 2;
  for (size_t i = 1; i < left; ++i) {
    samples_.at[i] = samples_.at[2 * i];
    samples_.windows[i] = samples_.windows[2 * i];
    const auto from = samples_.ports.begin() + static_cast<ptrdiff_t>(2 * i * ports);
    const auto to = samples_.ports.begin() + static_cast<ptrdiff_t>(i * ports);
    std::copy_n(from, ports, to);
  }
  samples_.at.resize(left);
  samples_.windows.resize(left);
  samples_.ports.resize(left * ports);
  samples_.interval *= 2;
}

WindowSample Sampler::windows() const {
  std::vector<uint64_t> windows, round_trips;
  WindowSample out;
  for (const SenderSample& sender : senders_) {
    windows.push_back(sender.window_bytes);
    out.inflight += sender.inflight_bytes;
    if (sender.rtt_ns > 0) round_trips.push_back(sender.rtt_ns);
  }
  out.senders = static_cast<uint32_t>(windows.size());
  if (out.senders != 0) out.inflight /= out.senders;
  out.low = percentile(windows, 10);
  out.median = percentile(windows, 50);
  out.high = percentile(windows, 90);
  out.rtt_ns = percentile(round_trips, 50);
  return out;
}

}  // namespace uet::sim::fabric
