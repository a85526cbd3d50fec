// Two hosts for tests of the AF_XDP backend; see frame_testing.h. Such tests are skipped where this
// process may not use AF_XDP, with the backend's error text.
#pragma once

#include "io/host/interfaces.h"
#include "io/xdp/xdp_io.h"

#include "io/test/frame_testing.h"

#include <linux/if_packet.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace uet::io {

class XdpTest : public FrameIoTest {
 protected:
  void SetUp() override {
    FrameIoTest::SetUp();
    if (IsSkipped()) return;
    const std::string why = XdpIo::why_refused();
    if (!why.empty()) GTEST_SKIP() << why;
  }

  static std::unique_ptr<XdpIo> open_xdp(const UdpOptions& options) {
    std::string error;
    std::unique_ptr<XdpIo> io = XdpIo::open(options, &error);
    EXPECT_NE(io, nullptr) << error;
    return io;
  }
  // Why it does not open; empty, after a failure, when it does.
  static std::string refusal(const UdpOptions& options) {
    std::string error;
    EXPECT_EQ(XdpIo::open(options, &error), nullptr);
    return error;
  }

  // Whether an XDP program is on this interface of the current host.
  static bool has_program(const std::string& interface = "eth-uet") {
    return TwoHosts::instance().run("ip link show dev " + interface + " | grep -q xdp");
  }
};

// Frames as a test makes them, from host 0 to host 1.
class Wire {
 public:
  Wire() {
    const auto mac_at = [](int host) {
      TwoHosts::enter(host);
      const std::vector<Interface> all = list_interfaces();
      const Interface* const own = find_interface(all, host_address(host, false));
      EXPECT_NE(own, nullptr);
      return own == nullptr ? Interface() : *own;
    };
    to_ = mac_at(1).mac;
    const Interface from = mac_at(0);
    from_ = from.mac;
    socket_ = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    name_.sll_family = AF_PACKET;
    name_.sll_ifindex = static_cast<int>(from.index);
  }

  // An Ethernet header, IPv4 and UDP headers, and a text, which a test may change before put().
  std::vector<std::byte> frame(const FabricAddress& from, const FabricAddress& to,
                               const std::string& text) const {
    const uint32_t headers = kEthernetHeader + header_bytes_of(to);
    std::vector<std::byte> out(headers + text.size());
    std::memcpy(out.data(), to_.data(), 6);
    std::memcpy(out.data() + 6, from_.data(), 6);
    const bool ipv6 = to.family == FabricAddress::Family::ipv6;
    out[12] = std::byte{static_cast<uint8_t>(ipv6 ? 0x86 : 0x08)};
    out[13] = std::byte{static_cast<uint8_t>(ipv6 ? 0xdd : 0x00)};
    put_udp_headers(out.data() + kEthernetHeader, from, to, 0, static_cast<uint32_t>(text.size()));
    std::memcpy(out.data() + headers, text.data(), text.size());
    if (ipv6) put_udp_checksum(std::span(out).subspan(kEthernetHeader));
    return out;
  }
  void put(const std::vector<std::byte>& frame) const {
    EXPECT_EQ(::sendto(socket_.get(), frame.data(), frame.size(), 0,
                       reinterpret_cast<const sockaddr*>(&name_), sizeof name_),
              static_cast<ssize_t>(frame.size()));
  }

 private:
  std::array<uint8_t, 6> to_{};
  std::array<uint8_t, 6> from_{};
  Fd socket_;
  sockaddr_ll name_{};
};

}  // namespace uet::io
