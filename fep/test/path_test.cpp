// A route that becomes smaller while packets are under way. [LF-141, PDS-250]
#include "fep/test/path_fixture.h"

namespace uet::fep::test {
namespace {

class PathTest : public PathFixture {
 protected:
  // The message ends at once, for its own reason, and the next one passes in smaller packets.
  void expect_too_long_then_fine() {
    std::vector<std::byte> lost = pattern(100000, 5);
    std::vector<std::byte> next = pattern(100000, 9);
    std::vector<std::byte> room(100000);
    std::vector<std::byte> later_room(100000);
    receive(b_, room);
    receive(b_, later_room);
    send(a_, lost);
    EXPECT_LT(until_done(a_, 1), 10_ms);
    ASSERT_EQ(a_.done.size(), 1u);
    EXPECT_EQ(a_.done[0].status, ses::Completion::Status::undeliverable);
    EXPECT_EQ(a_.done[0].failure.reason, pds::FailureReason::too_long);
    EXPECT_EQ(a_.payload(), 1024u);
    EXPECT_EQ(a_.count("path_lowered"), 1u);
    EXPECT_GT(a_.count("retx_too_long"), 0u);
    EXPECT_EQ(a_.count("pdc_closed_too_long"), 0u);
    EXPECT_EQ(notices().at(0), "1500: 8192 to 1024");
    a_.done.clear();
    b_.done.clear();
    a_.route.longest = 0;
    const uint32_t dropped = a_.route.dropped;
    send(a_, next);
    EXPECT_LT(until_done(a_, 1), 1_s);
    ASSERT_FALSE(a_.done.empty());
    EXPECT_TRUE(a_.done[0].ok());
    EXPECT_TRUE(room == next || later_room == next);
    EXPECT_EQ(a_.route.dropped, dropped);
    EXPECT_EQ(b_.payload(), kPayload);  // the way back is another route
  }
  // The system reports the limit of the route while packets of a message from A to B are under way.
  void send_and_report(const std::vector<std::byte>& octets, std::vector<std::byte>& room,
                       uint32_t mtu_bytes) {
    receive(b_, room);
    send(a_, octets);
    a_.machine->engine().transmit(now());
    a_.route.errors.push_back({address(2), EMSGSIZE, mtu_bytes});
  }
  // Reports about routes change nothing.
  void expect_untouched() {
    std::vector<std::byte> octets = pattern(100000, 11);
    std::vector<std::byte> room(100000);
    receive(b_, room);
    send(a_, octets);
    EXPECT_LT(until_done(a_, 1), 1_s);
    ASSERT_FALSE(a_.done.empty());
    EXPECT_TRUE(a_.done[0].ok());
    EXPECT_EQ(room, octets);
    EXPECT_EQ(a_.payload(), kPayload);
    EXPECT_EQ(a_.count("path_lowered") + a_.count("retx_too_long"), 0u);
  }
};

// A router says so.
TEST_F(PathTest, TooLongMessagesEndAtOnceAndLaterOnesFit) {
  meet();
  a_.route.mtu_bytes = 1500;
  expect_too_long_then_fine();
  EXPECT_GT(a_.route.dropped, 0u);
}

// The system refuses packets that it knows to be too long.
TEST_F(PathTest, PacketsThatTheSystemRefusesEndAtOnce) {
  meet();
  io::FaultPlan plan;
  plan.mtu_bytes = 1500 - 28;
  net().set_path(address(1), address(2), plan);
  expect_too_long_then_fine();
  EXPECT_GT(net().counters().too_long, 0u);
}

TEST_F(PathTest, ATooLongFirstMessageEndsAtOnce) {
  a_.route.mtu_bytes = 1500;
  expect_too_long_then_fine();
}

// Packets that pass are left alone: the message under way ends well, and later ones use less.
TEST_F(PathTest, MessagesThatStillPassContinue) {
  meet();
  a_.route.mtu_bytes = 4500;
  std::vector<std::byte> room(20000);
  std::vector<std::byte> whole = pattern(20000, 1);
  receive(b_, room);
  send(a_, whole);
  until_done(a_, 1);
  ASSERT_FALSE(a_.done.empty());
  EXPECT_EQ(a_.done[0].failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(a_.payload(), 4096u);
  a_.done.clear();
  const uint64_t ignored = a_.count("path_reports_ignored");
  // Less than the longest headers would need beside 4096 octets, and enough for those in use.
  a_.route.mtu_bytes = 4250;
  send_and_report(whole, room, 4250);
  EXPECT_LT(until_done(a_, 1), 1_s);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_EQ(a_.payload(), 4096u);
  EXPECT_EQ(a_.count("path_reports_ignored"), ignored + 1);
}

// The system reports the size of IP packets: with IPv4 and UDP 28 octets more than the packets of
// PDS.
TEST_F(PathTest, TheLowerHeadersAreSubtractedFromTheMtuOfTheRoute) {
  meet();
  std::vector<std::byte> room(20000);
  std::vector<std::byte> whole = pattern(20000, 1);
  a_.route.longest = 0;
  receive(b_, room);
  send(a_, whole);
  until_done(a_, 1);
  a_.done.clear();
  const uint32_t longest = a_.route.longest;
  EXPECT_GT(longest, kPayload + 28);
  send_and_report(whole, room, longest);
  until_done(a_, 1);
  EXPECT_TRUE(a_.done.at(0).ok()) << "it fits";
  EXPECT_EQ(a_.payload(), kPayload);
  a_.done.clear();
  send_and_report(whole, room, longest - 1);
  until_done(a_, 1);
  EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(a_.payload(), 4096u);
}

// An application that posts again after the error for a too long message has smaller packets
// already.
TEST_F(PathTest, TheRouteIsLookedUpBeforeAMessageEnds) {
  meet();
  io::FaultPlan plan;
  plan.mtu_bytes = 1500 - 28;
  net().set_path(address(1), address(2), plan);
  const std::vector<std::byte> octets = pattern(100000, 5);
  send(a_, octets);
  a_.machine->engine().transmit(now());
  ASSERT_EQ(a_.done.size(), 1u);
  EXPECT_EQ(a_.done[0].failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(a_.payload(), 1024u);
}

// Part of the message has arrived: its receiver gets an error at once, too, and has the next one.
TEST_F(PathTest, AMessageThatHasBegunToArriveEndsAtBothEnds) {
  for (const pds::Mode mode : {pds::Mode::rud, pds::Mode::rod}) {
    mode_ = mode;
    SetUp();
    meet();
    std::vector<std::byte> octets = pattern(4'000'000, 5);
    std::vector<std::byte> room(4'000'000);
    std::vector<std::byte> next_room(4'000'000);
    receive(b_, room);
    receive(b_, next_room);
    send(a_, octets);
    for (int i = 0; i < 4; ++i) step();
    ASSERT_TRUE(a_.done.empty());
    EXPECT_EQ(room[0], octets[0]);
    a_.route.mtu_bytes = 1500;
    EXPECT_LT(until_done(a_, 1), 10_ms);
    EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
    EXPECT_LT(until_done(b_, 1), 1_s);
    EXPECT_FALSE(b_.done.at(0).ok());
    a_.done.clear();
    b_.done.clear();
    send(a_, octets);
    EXPECT_LT(until_done(b_, 1), 5_s);
    EXPECT_TRUE(b_.done.at(0).ok());
    EXPECT_EQ(next_room, octets);
  }
}

// They wait behind a fence, and were cut into the larger packets when they were posted.
TEST_F(PathTest, MessagesThatWaitGoInSmallerPackets) {
  meet();
  a_.route.mtu_bytes = 1500;
  std::vector<std::byte> first = pattern(50000, 1);
  std::vector<std::byte> second = pattern(40000, 2);
  std::vector<std::byte> third = pattern(5000, 3);
  std::vector<std::byte> memory(50000);
  std::vector<std::byte> other(40000);
  std::vector<std::byte> third_memory(5000);
  write(a_, expose(b_, memory, ses::kRemoteWrite), first);
  write(a_, expose(b_, other, ses::kRemoteWrite), second, ses::kOpFence);
  write(a_, expose(b_, third_memory, ses::kRemoteWrite), third);
  EXPECT_LT(until_done(a_, 3), 1_s);
  ASSERT_EQ(a_.done.size(), 3u);
  EXPECT_EQ(a_.done[0].failure.reason, pds::FailureReason::too_long);
  EXPECT_TRUE(a_.done[1].ok());
  EXPECT_TRUE(a_.done[2].ok());
  EXPECT_EQ(other, second);
  EXPECT_EQ(third_memory, third);
}

// The answers are too long: a read changes nothing, so it is repeated with smaller packets, and the
// application does not notice.
TEST_F(PathTest, AReadWhoseAnswersAreTooLongAsksForLess) {
  meet();
  b_.route.mtu_bytes = 1500;
  // The other end learns of its route by the first read, and knows it at the second.
  for (int i = 0; i < 2; ++i) {
    a_.peer().agree_payload(kPayload);
    std::vector<std::byte> memory = pattern(100000, 17);
    std::vector<std::byte> room(100000);
    read(a_, expose(b_, memory, ses::kRemoteRead), room);
    EXPECT_LT(until_done(a_, 1), 2_s);
    ASSERT_EQ(a_.done.size(), 1u);
    EXPECT_TRUE(a_.done[0].ok());
    EXPECT_EQ(room, memory);
    EXPECT_EQ(a_.payload(), 1024u);
    EXPECT_EQ(b_.payload(), 1024u);
    EXPECT_EQ(a_.count("tx_failed") + b_.count("pdc_closed_too_long"), 0u);
    a_.done.clear();
  }
}

// [SES-157] RUDI stores no answers: too long answers are lost once, then the read is refused.
TEST_F(PathTest, AReadOverRudiWhoseAnswersAreTooLongAsksForLess) {
  capabilities_ = ses::kAiBase | ses::kHpc;
  meet();
  b_.route.mtu_bytes = 1500;
  for (const uint32_t bytes : {5000u, 100000u}) {
    a_.peer().agree_payload(kPayload);
    std::vector<std::byte> memory = pattern(bytes, 17);
    std::vector<std::byte> room(bytes);
    read(a_, expose(b_, memory, ses::kRemoteRead), room, ses::kOpRudi);
    EXPECT_LT(until_done(a_, 1), 2_s);
    ASSERT_EQ(a_.done.size(), 1u);
    EXPECT_TRUE(a_.done[0].ok());
    EXPECT_EQ(room, memory);
    EXPECT_EQ(a_.payload(), 1024u);
    EXPECT_EQ(b_.payload(), 1024u);
    a_.done.clear();
  }
  EXPECT_GT(b_.count("rudi_responses_tx"), 0u);
}

// Resent packets of an ended message are short, even if the system only reports that its packets
// are too long: they delay nothing.
TEST_F(PathTest, PacketsRefusedWithoutALimitAreResentShort) {
  meet();
  a_.route.is_believed = false;
  io::FaultPlan plan;
  plan.mtu_bytes = 1500 - 28;
  net().set_path(address(1), address(2), plan);
  std::vector<std::byte> octets = pattern(100000, 5);
  std::vector<std::byte> room(100000);
  receive(b_, room);
  send(a_, octets);
  EXPECT_LT(until_done(a_, 1), 10_ms);
  EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(a_.payload(), kPayload);
  run(1_s);
  EXPECT_TRUE(a_.machine->fep().ses().idle());
}

// A forged error changes nothing while the system keeps the larger MTU for the route.
TEST_F(PathTest, ReportsThatTheSystemDoesNotConfirmAreIgnored) {
  meet();
  a_.route.errors.push_back({address(2), EMSGSIZE, 0});
  expect_untouched();
  EXPECT_EQ(a_.count("path_unknown"), 1u);
  EXPECT_EQ(notices(), std::vector<std::string>{"0: ignored"});
}

// [SES-032] A peer cannot get a payload below the minimum; its packets are sent anyway.
TEST_F(PathTest, ARouteThatIsTooSmallForAnyPayloadCostsNoMoreThanSmallerPackets) {
  meet();
  for (const uint32_t mtu : {1u, 68u, 552u, 1151u}) {
    std::vector<std::byte> octets = pattern(1'000'000, mtu);
    std::vector<std::byte> room(1'000'000);
    send_and_report(octets, room, mtu);
    until_done(a_, 1);
    const bool is_first = mtu == 1;
    EXPECT_EQ(a_.done.at(0).ok(), !is_first) << mtu;
    EXPECT_EQ(room == octets, !is_first);
    EXPECT_EQ(a_.payload(), 1024u);
    until_done(b_, 1);
    a_.done.clear();
    b_.done.clear();
  }
  EXPECT_EQ(a_.count("path_unusable"), 4u);
  EXPECT_EQ(a_.count("path_reports_ignored"), 3u);
}

// A limit that the system already uses, or for a peer without packets under way, or without packets
// that long.
TEST_F(PathTest, AReportThatConcernsNothingUnderWayChangesNothing) {
  meet();
  run(1_s);
  a_.route.errors.push_back({address(2), EMSGSIZE, 1500});
  step();
  EXPECT_EQ(a_.count("path_reports_ignored"), 1u);
  EXPECT_EQ(a_.payload(), kPayload);
  a_.route.errors.push_back({address(77), EMSGSIZE, 1500});  // an unknown address
  step();
  EXPECT_EQ(a_.count("path_reports"), 1u);
  EXPECT_EQ(a_.route.asked, 1u) << "the system, for a peer only";

  std::vector<std::byte> octets = pattern(900, 1);
  std::vector<std::byte> room(900);
  send_and_report(octets, room, 1500);
  until_done(a_, 1);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_EQ(a_.count("path_reports_ignored"), 2u);
  a_.done.clear();
  b_.done.clear();
  expect_untouched();
}

// In the worst case, with a deceived system, a forgery costs the operations under way and makes
// packets smaller; the application gets the larger ones back when it inserts the address again.
TEST_F(PathTest, AForgeryThatTheSystemBelievesCostsSmallerPackets) {
  meet();
  std::vector<std::byte> octets = pattern(100000, 1);
  std::vector<std::byte> room(100000);
  send_and_report(octets, room, 1300);
  until_done(a_, 1);
  EXPECT_EQ(a_.done.at(0).failure.reason, pds::FailureReason::too_long);
  a_.done.clear();
  EXPECT_EQ(a_.payload(), 1024u);
  std::vector<std::byte> next_room(100000);
  receive(b_, next_room);
  send(a_, octets);
  EXPECT_LT(until_done(a_, 1), 1_s);
  EXPECT_TRUE(a_.done.at(0).ok());
  a_.done.clear();
  b_.done.clear();
  a_.peer().agree_payload(kPayload);
  std::vector<std::byte> last_room(100000);
  receive(b_, last_room);
  a_.route.longest = 0;
  send(a_, octets);
  until_done(a_, 1);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_GT(a_.route.longest, 8192u);
}

}  // namespace
}  // namespace uet::fep::test
