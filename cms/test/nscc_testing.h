// Common parts of the tests of NSCC: an ACK with its round trip, and the window of a stack in
// software, counted in packets of 8,192 octets: 16 in the first window, 256 in the largest.
#pragma once

#include "cms/nscc.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace uet::cms {

enum class Mark : uint8_t {
  none,
  ecn
};

// An ACK that reports `received_bytes` octets as received, after that round trip.
inline Acked ack_of(uint32_t received_bytes, Duration rtt, Mark mark, Instant at) {
  Acked e;
  e.received_bytes = received_bytes;
  e.rtt = rtt;
  e.rtt_valid = true;
  e.ecn = mark == Mark::ecn;
  e.at = at;
  return e;
}

class NsccInSoftware : public ::testing::Test {
 protected:
  static constexpr uint32_t kPacket = 8192;

  static Config software_config() {
    Config c = Config::software();
    c.mtu_bytes = kPacket;
    c.initial_window_packets = 16;
    return c;
  }
  explicit NsccInSoftware(const Config& config) : nscc_(config) {}

  void send(uint32_t packets) { nscc_.on_sent({.bytes = packets * kPacket, .at = now_}); }
  void ack(uint32_t packets, Duration rtt, Mark mark = Mark::none) {
    Acked e = ack_of(packets * kPacket, rtt, mark, now_);
    e.remote.service_time = service_time_;
    nscc_.on_acked(e);
  }
  // All of the window is sent and arrives.
  void round(Duration rtt) {
    const auto packets = static_cast<uint32_t>(window() / kPacket);
    send(packets);
    now_ = now_ + rtt;
    ack(packets, rtt);
  }
  uint64_t window() const { return nscc_.window_bytes(); }

  Instant now_ = Instant::from_ns(1'000'000'000);
  Duration service_time_{};  // as the destination reports it; zero: it does not
  Nscc nscc_;
};

}  // namespace uet::cms
