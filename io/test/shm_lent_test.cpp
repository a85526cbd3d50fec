// [LF-142] What a call hands out of a ring, and how long it stays; rings of endpoints without UDP.
// [decision 21]
#include "io/test/mapped_rings.h"
#include "io/test/shm_testing.h"

#include <array>
#include <cstring>
#include <vector>

namespace uet::io {
namespace {

// The packets of one call stay valid until the next call, even if their senders have ended and
// other rings are looked at, too.
TEST_F(ShmIoTest, LentPacketsStayWhenTheirSenderHasEnded) {
  b_ = open_shm(ipv4(2));
  std::vector<std::unique_ptr<ShmIo>> senders;
  for (const uint8_t host : std::array<uint8_t, 2>{1, 3}) {
    senders.push_back(open_shm(ipv4(host)));
    agree(*senders.back(), *b_);
  }
  const std::string big(8000, 'b');
  for (const auto& sender : senders) send(*sender, b_->local_address(), big);
  senders.clear();
  b_->on_sleep(true);  // looks at the connections in each call
  size_t seen = 0;
  for (int i = 0; i < 1000 && seen < 2; ++i) {
    for (const RxDatagram& d : b_->receive()) {
      if (d.bytes.size() != big.size()) continue;  // "first", by the socket
      EXPECT_EQ(std::memcmp(d.bytes.data(), big.data(), big.size()), 0);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2u);
  b_->on_sleep(false);
  poll(*b_);
  EXPECT_EQ(test::mapped_rings(), 0u);
}

// [TSS-022] A seal covers the port of the socket. So a sealed packet has that source port in the
// ring, too; a packet in the clear has the port of its entropy value.
TEST_F(ShmIoTest, ASealedPacketComesFromThePortThatItsSealCovers) {
  a_ = open_shm(ipv4(1));
  b_ = open_shm(ipv4(2));
  constexpr uint16_t kEv = 0x1235;
  const auto port_of_next = [&](uint32_t sdi) {
    Outbox out;
    out.add(b_->local_address(), "x", kEv);
    out.packets()[0].sdi = sdi;
    a_->send(out.packets());
    const std::vector<Got> got = receive(*b_, 1);
    return got.empty() ? uint16_t{0} : got[0].from.port;
  };
  const uint16_t by_socket = port_of_next(1);
  EXPECT_EQ(by_socket, a_->source_port(Entropy(kEv)));
  EXPECT_NE(by_socket, kEv);
  EXPECT_EQ(a_->counters().tx_packets, 0u);
  for (int i = 0; i < 100 && a_->counters().rings_out == 0; ++i) {
    poll(*b_);
    poll(*a_);
    ::usleep(1000);
  }
  EXPECT_EQ(port_of_next(1), by_socket);
  EXPECT_EQ(port_of_next(0), kEv);
  EXPECT_EQ(a_->counters().tx_packets, 2u);
}

// [decision 25] One process of an address has UDP, another one an IP protocol: a peer without UDP
// finds the second.
TEST_F(ShmIoTest, WithUdpAndWithoutAreTwo) {
  if (!open_raw_socket(ipv4(9), kProtocol)) GTEST_SKIP() << "raw sockets need CAP_NET_RAW";
  const auto with_udp = open_shm(ipv4(2));
  a_ = open_shm(ipv4(1), Mover::native);
  b_ = open_shm(ipv4(2), Mover::native);
  agree(*a_, *b_);
  send(*a_, b_->local_address(), "through the ring");
  const std::vector<Got> got = receive(*b_, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "through the ring");
  poll(*with_udp);
  EXPECT_EQ(with_udp->counters().rings_in, 0u);
}

}  // namespace
}  // namespace uet::io
