// Rendezvous sends whose route becomes smaller: the target reads the rest in smaller packets, and
// send and receive both complete. [LF-141, SES-089]
#include "fep/test/path_fixture.h"

namespace uet::fep::test {
namespace {

class PathRendezvousTest : public PathFixture {
 protected:
  PathRendezvousTest() {
    rendezvous_bytes_ = 9000;
    capabilities_ = ses::kAiBase | ses::kHpc;
  }
  void meet() {
    PathFixture::meet();
    // Both have inserted the other's address.
    a_.peer().agree_payload(kPayload);
    b_.peer().agree_payload(kPayload);
    EXPECT_EQ(a_.count("tx_rendezvous"), 1u);
  }
  // Completes in full at both ends.
  void expect_passes(const std::vector<std::byte>& octets, const std::vector<std::byte>& room) {
    until_done(a_, 1);
    until_done(b_, 1);
    ASSERT_EQ(a_.done.size() + b_.done.size(), 2u);
    EXPECT_TRUE(a_.done[0].ok());
    EXPECT_TRUE(b_.done[0].ok());
    EXPECT_EQ(room, octets);
    a_.done.clear();
    b_.done.clear();
  }
};

// The pushed part shows the new limit, and the rest is requested in packets of that size.
TEST_F(PathRendezvousTest, LaterMessagesPassOverTheSmallerRoute) {
  meet();
  a_.route.mtu_bytes = 1500;
  std::vector<std::byte> octets = pattern(100000, 5);
  std::vector<std::byte> room(100000);
  std::vector<std::byte> later_room(100000);
  receive(b_, room);
  send(a_, octets);
  until_done(a_, 1);
  EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(a_.payload(), 1024u);
  run(1_s);
  a_.done.clear();
  if (!b_.done.empty()) receive(b_, room);
  b_.done.clear();
  const uint32_t dropped = a_.route.dropped;
  send(a_, octets);
  expect_passes(octets, room);
  EXPECT_EQ(a_.route.dropped, dropped);
  EXPECT_EQ(b_.payload(), kPayload);  // the way back is another route
}

// The rest is being read: packets that are too long are requested again, in halves until they fit.
TEST_F(PathRendezvousTest, ARestThatIsBeingReadIsAskedForInSmallerPackets) {
  for (const uint32_t mtu : {4500u, 1500u}) {
    SetUp();
    meet();
    std::vector<std::byte> octets = pattern(4'000'000, 5);
    std::vector<std::byte> room(4'000'000);
    receive(b_, room);
    send(a_, octets);
    for (int i = 0; i < 6; ++i) step();
    ASSERT_TRUE(a_.done.empty());
    EXPECT_EQ(room[8192], octets[8192]);
    a_.route.mtu_bytes = mtu;
    expect_passes(octets, room);
    EXPECT_GT(a_.route.dropped, 0u);
    EXPECT_EQ(b_.payload(), mtu == 4500 ? 4096u : 1024u);
  }
}

// Everything has arrived when the report comes, but not the acknowledgements.
TEST_F(PathRendezvousTest, ARestThatHadArrivedIsNotReportedAsLost) {
  meet();
  std::vector<std::byte> octets = pattern(20000, 5);
  std::vector<std::byte> room(20000);
  receive(b_, room);
  send(a_, octets);
  until_done(b_, 1);
  ASSERT_TRUE(a_.done.empty());
  EXPECT_EQ(room, octets);
  a_.route.is_deaf = true;
  a_.route.mtu_bytes = 1500;
  a_.route.errors.push_back({address(2), EMSGSIZE, 1500});
  run(1_ms);
  EXPECT_EQ(a_.payload(), 1024u);
  EXPECT_TRUE(a_.done.empty());
  a_.route.is_deaf = false;
  EXPECT_LT(until_done(a_, 1), 1_s);
  ASSERT_EQ(a_.done.size(), 1u);
  EXPECT_TRUE(a_.done[0].ok());
}

// No size passes: the receive ends, and so does the send, for its own reason.
TEST_F(PathRendezvousTest, IfNothingPassesBothEndsGetAnError) {
  meet();
  std::vector<std::byte> octets = pattern(20000, 5);
  std::vector<std::byte> room(20000);
  receive(b_, room);
  send(a_, octets);
  run(kRoundTrip / 2);  // the target asks for the rest
  ASSERT_TRUE(a_.done.empty() && b_.done.empty());
  a_.peer().lower_payload(512);  // no read asks for so little
  until_done(b_, 1);
  EXPECT_EQ(b_.done.at(0).code, wire::ReturnCode::unsupported_size);
  until_done(a_, 1);
  EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
}

}  // namespace
}  // namespace uet::fep::test
