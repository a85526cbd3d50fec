// Faults of the network under the UDP backend, in each way to move packets: an interface that goes
// down, a queue without room. In a separate network namespace; skipped without the privilege.
#include "io/test/frame_testing.h"
#include "io/udp/udp.h"

#include <cerrno>

namespace uet::io {
namespace {

class UdpFaultsTest : public NamespaceTest, public ::testing::WithParamInterface<Mover> {
 protected:
  UdpFaultsTest()
      : NamespaceTest(
            "ip link set lo up && ip link add uet0 mtu 9000 type veth peer name uet1 mtu 9000 && "
            "ip link set uet1 arp off up && ip link set uet0 arp off up && "
            "ip addr add 10.47.94.1/24 dev uet0") {}
  void SetUp() override {
    if (GetParam() == Mover::ring && !why_no_ring().empty()) GTEST_SKIP() << why_no_ring();
    NamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    io_ = open(at(host_address(0, false), GetParam()));
    ASSERT_NE(io_, nullptr);
    (void)io_->receive();
  }
  // Two packets on each of `evs` EVs, in turn.
  Outbox packets(uint16_t evs) const {
    Outbox out;
    for (int i = 0; i < 2; ++i) {
      for (uint16_t ev = 0; ev < evs; ++ev) {
        // Other marks, so that the second does not join the first.
        out.add(host_address(1, false), std::string(1000, 'x'), ev, i == 0 ? 8 : 46);
      }
    }
    return out;
  }
  std::unique_ptr<UdpIo> io_;
};

INSTANTIATE_TEST_SUITE_P(Each, UdpFaultsTest, ::testing::Values(Mover::calls, Mover::ring),
                         name_of);

TEST_P(UdpFaultsTest, AnInterfaceMayGoDownAndComeBack) {
  Outbox before = packets(3);
  io_->send(before.packets());
  EXPECT_EQ(before.fates(), "ssssss");
  EXPECT_EQ(io_->failure(), 0);

  ASSERT_TRUE(run("ip link set uet0 down"));
  Outbox meanwhile = packets(3);
  io_->send(meanwhile.packets());
  EXPECT_EQ(meanwhile.fates(), "nnnnnn");
  EXPECT_EQ(meanwhile.packets()[0].error, ENETUNREACH);
  EXPECT_EQ(meanwhile.packets()[5].error, ENETUNREACH);
  EXPECT_EQ(io_->failure(), ENETDOWN);

  ASSERT_TRUE(run("ip link set uet0 up"));
  Outbox after = packets(3);
  io_->send(after.packets());
  EXPECT_EQ(after.fates(), "ssssss");
  EXPECT_EQ(io_->failure(), 0);
}

// ENOBUFS reports a full queue of the device. No packet of a socket overtakes one that stays
// behind.
TEST_P(UdpFaultsTest, PacketsThatFindTheQueueFullStayInTheBatch) {
  // One leaves at once, three fit, and no other packet moves for a second.
  ASSERT_TRUE(run("tc qdisc replace dev uet0 root tbf rate 8kbit burst 2kb limit 3500"));
  Outbox out = packets(3);
  io_->send(out.packets());
  EXPECT_EQ(io_->tx_counters().later, 2u);
  EXPECT_EQ(io_->tx_counters().never, 0u);
  const std::string fates_of = out.fates();
  for (size_t ev = 0; ev < 3; ++ev) {
    const std::string fates = {fates_of[ev], fates_of[ev + 3]};
    EXPECT_TRUE(fates == "ss" || fates == "sl" || fates == "ll") << fates;
  }
  ASSERT_TRUE(run("tc qdisc del dev uet0 root"));
  io_->send(out.packets());
  EXPECT_EQ(out.fates(), "ssssss");
}

}  // namespace
}  // namespace uet::io
