// Common parts of the tests of the UDP backend: unique loopback addresses, packets with memory, and
// waiting for arrivals.
#pragma once

#include "io/udp/udp.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

namespace uet::io {

inline FabricAddress ipv4(uint8_t host) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  // The last octet names the test's host; the third differs between runs side by side.
  a.ip = {127, 77, static_cast<uint8_t>(::getpid() % 250 + 1), host};
  return a;
}

inline FabricAddress ipv6() {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv6;
  a.ip[15] = 1;
  return a;
}

inline std::unique_ptr<UdpIo> open(const UdpOptions& options) {
  std::string error;
  std::unique_ptr<UdpIo> io = UdpIo::open(options, &error);
  EXPECT_NE(io, nullptr) << error;
  return io;
}

inline UdpOptions at(const FabricAddress& local) {
  UdpOptions options;
  options.local = local;
  return options;
}

// How the packets of the UDP backend move. The common tests run with each of them.
enum class Mover {
  calls,
  ring,
  native,  // as a separate IP protocol
};
inline constexpr uint8_t kProtocol = 253;

inline std::string name_of(const ::testing::TestParamInfo<Mover>& info) {
  return info.param == Mover::ring ? "Ring" : info.param == Mover::native ? "Native" : "Calls";
}

// Why this system offers no ring; empty: it does.
inline std::string why_no_ring() {
  std::string error;
  const Fd socket = open_udp_socket(ipv4(9));
  return UdpRing::open(socket, 1, &error) != nullptr ? "" : error;
}

// Options of this mover. A ring is used from the first call on.
inline UdpOptions at(const FabricAddress& local, Mover mover) {
  UdpOptions options = at(local);
  options.ring = mover == Mover::ring;
  options.ip_protocol = mover == Mover::native ? kProtocol : 0;
  options.ring_settled_calls = 1;
  return options;
}

class EachMoverTest : public ::testing::TestWithParam<Mover> {
 protected:
  void SetUp() override {
    if (GetParam() == Mover::native && !open_raw_socket(ipv4(9), kProtocol)) {
      GTEST_SKIP() << "raw sockets need CAP_NET_RAW";
    }
    if (GetParam() != Mover::ring) return;
    const std::string why = why_no_ring();
    if (!why.empty()) GTEST_SKIP() << why;
  }
  static bool is_ring() { return GetParam() == Mover::ring; }
  static bool is_native() { return GetParam() == Mover::native; }
  static UdpOptions at(const FabricAddress& local) { return io::at(local, GetParam()); }
};

// Packets whose memory lives here.
class Outbox {
 public:
  void add(const FabricAddress& to, std::string text, uint16_t ev = 0, uint8_t dscp = 8,
           Ecn ecn = Ecn::ect0) {
    texts_.push_back(std::make_unique<std::string>(std::move(text)));
    std::string& own = *texts_.back();
    const size_t half = std::min<size_t>(own.size() / 2, 100);
    slices_.push_back(std::make_unique<IoSlice>(
        IoSlice{reinterpret_cast<std::byte*>(own.data()) + half, own.size() - half}));
    TxPacket packet;
    packet.header = reinterpret_cast<std::byte*>(own.data());
    packet.header_bytes = static_cast<uint16_t>(half);
    packet.slices = slices_.back().get();
    packet.slice_count = 1;
    packet.payload_bytes = static_cast<uint32_t>(own.size() - half);
    packet.to = to;
    packet.ev = Entropy(ev);
    packet.dscp = dscp;
    packet.ecn = ecn;
    packets_.push_back(packet);
  }
  // The last packet is all header.
  void drop_payload() {
    packets_.back().slice_count = 0;
    packets_.back().payload_bytes = 0;
  }
  std::vector<TxPacket>& packets() { return packets_; }
  // 's', 'l' or 'n' for each packet.
  std::string fates() const {
    std::string out;
    for (const TxPacket& p : packets_) out += "sln"[static_cast<int>(p.fate)];
    return out;
  }

 private:
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<IoSlice>> slices_;
  std::vector<TxPacket> packets_;
};

struct Got {
  std::string text;
  FabricAddress from;
  Entropy ev;
  uint8_t dscp;
  Ecn ecn;
};

// Receives until `count` datagrams came or a second passed without any.
inline std::vector<Got> receive(PacketIo& io, size_t count) {
  std::vector<Got> out;
  while (out.size() < count) {
    const std::span<RxDatagram> batch = io.receive();
    EXPECT_LE(batch.size(), TxBatch::kCapacity);
    for (const RxDatagram& d : batch) {
      out.push_back({std::string(reinterpret_cast<char*>(d.bytes.data()), d.bytes.size()), d.from,
                     d.ev, d.dscp, d.ecn});
    }
    pollfd waiting{io.wait_fd(), POLLIN, 0};
    if (batch.empty() && ::poll(&waiting, 1, 1000) <= 0) break;
  }
  return out;
}

inline std::vector<PathError> errors_within_a_second(PacketIo& io) {
  pollfd waiting{io.wait_fd(), POLLIN, 0};
  if (::poll(&waiting, 1, 1000) <= 0) return {};
  for (int i = 0; i < 100; ++i) {
    const std::span<const PathError> found = io.path_errors();
    if (!found.empty()) return {found.begin(), found.end()};
    ::usleep(1000);  // the error queues are looked at once a clock tick
  }
  return {};
}

}  // namespace uet::io
