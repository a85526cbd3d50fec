// The simulated network: octets and marks arrive as sent, each fault has its effect and is counted,
// and the same seed gives the same run.
#include "io/simnet/simnet.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

namespace uet::io {
namespace {

using namespace uet::literals;

FabricAddress address(uint8_t host, uint16_t port = kUetPort) {
  return FabricAddress::v4(0x0A000000U | host, port);
}

class SimNetTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kSeed = 7;

  void plan(const char* text) {
    std::string error;
    const auto parsed = parse_fault_plan(text, &error);
    ASSERT_TRUE(parsed.has_value()) << error;
    net_.set_plan(*parsed);
  }
  // One packet of `header` + `payload`; the batch's memory is overwritten right after the send.
  TxPacket send(SimPort& from, const FabricAddress& to, std::string header,
                std::string payload = "", Ecn ecn = Ecn::ect0, uint16_t ev = 0x1234) {
    const IoSlice slice{reinterpret_cast<const std::byte*>(payload.data()), payload.size()};
    TxPacket packet;
    packet.header = reinterpret_cast<std::byte*>(header.data());
    packet.header_bytes = static_cast<uint16_t>(header.size());
    packet.slices = &slice;
    packet.slice_count = payload.empty() ? 0 : 1;
    packet.payload_bytes = static_cast<uint32_t>(payload.size());
    packet.to = to;
    packet.ev = Entropy(ev);
    packet.dscp = 46;
    packet.ecn = ecn;
    from.send({&packet, 1});
    header.assign(header.size(), '?');
    payload.assign(payload.size(), '?');
    return packet;
  }
  // Everything that b can receive now: "octets@arrival_ns " each.
  static std::string drain(SimPort& port) {
    std::string out;
    for (std::span<RxDatagram> batch = port.receive(); !batch.empty(); batch = port.receive()) {
      for (const RxDatagram& d : batch) {
        out.append(reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size());
        out.append("@").append(std::to_string(d.at.ns())).append(" ");
      }
    }
    return out;
  }
  std::string run_to(int64_t ns) {
    net_.advance(Instant::from_ns(ns));
    return drain(*b_);
  }
  // No packet is made or lost without a counter.
  void expect_balance() {
    const SimCounters& c = net_.counters();
    EXPECT_EQ(c.sent + c.duplicated, c.delivered + c.dropped() + net_.in_flight());
  }

  SimNet net_{kSeed};
  std::unique_ptr<SimPort> a_ = net_.attach(address(1));
  std::unique_ptr<SimPort> b_ = net_.attach(address(2));
};

TEST_F(SimNetTest, DeliversOctetsAddressAndMarks) {
  const TxPacket sent = send(*a_, address(2), "head", "body");
  EXPECT_EQ(sent.fate, TxFate::sent);
  EXPECT_EQ(net_.next_event(), Instant::zero());
  net_.advance(Instant::zero());
  EXPECT_TRUE(b_->readable());
  const std::span<RxDatagram> got = b_->receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(got[0].bytes.data()), got[0].bytes.size()),
            "headbody");
  EXPECT_EQ(got[0].from.ip, address(1).ip);
  EXPECT_EQ(got[0].from.port, 0x1234);  // [WIRE-007] the source port is the EV
  EXPECT_EQ(got[0].ev, Entropy(0x1234));
  EXPECT_EQ(got[0].dscp, 46);
  EXPECT_EQ(got[0].ecn, Ecn::ect0);
  EXPECT_FALSE(b_->readable());
  EXPECT_TRUE(net_.next_event().is_never());
  expect_balance();
}

// For runs without checks of payload: a small network for large packets.
TEST_F(SimNetTest, OctetsBeyondTheCarriedOnesCountAndAreNotKept) {
  SimConfig config;
  config.packets_max = 2;
  config.carried_bytes_max = 6;
  SimNet net(kSeed, config);
  const auto from = net.attach(address(1));
  const auto to = net.attach(address(2));
  EXPECT_EQ(send(*from, address(2), "head", "body").fate, TxFate::sent);
  EXPECT_EQ(send(*from, address(2), "HEAD", std::string(9000, 'x')).fate, TxFate::sent);
  net.advance(Instant::zero());
  const std::span<RxDatagram> got = to->receive();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].bytes.size(), 8u);
  EXPECT_EQ(got[1].bytes.size(), 9004u);
  const auto text = [](const RxDatagram& d) {
    return std::string(reinterpret_cast<const char*>(d.bytes.data()), 6);
  };
  EXPECT_EQ(text(got[0]), "headbo");
  EXPECT_EQ(text(got[1]), "HEADxx");
}

// [WIRE-121] A process that does not own 4793 sends from its block of sixteen ports.
TEST_F(SimNetTest, PortsOfABlockCarryTheLowBitsOfTheEv) {
  const auto c = net_.attach(address(1, 16384));
  send(*c, address(2), "x", "", Ecn::ect0, 0x1237);
  net_.advance(Instant::zero());
  const std::span<RxDatagram> got = b_->receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].from.port, 16384 + 7);
  EXPECT_EQ(c->caps().entropy_values, 16u);
}

TEST_F(SimNetTest, SameTimeMeansSameOrder) {
  plan("delay=5us");
  for (const char* text : {"a", "b", "c"}) send(*a_, address(2), text);
  EXPECT_EQ(net_.next_event(), Instant::from_ns(5000));
  EXPECT_EQ(run_to(4999), "");
  EXPECT_EQ(run_to(5000), "a@5000 b@5000 c@5000 ");
}

TEST_F(SimNetTest, BatchesHoldAtMostSixtyFour) {
  for (int i = 0; i < 70; ++i) send(*a_, address(2), "x");
  net_.advance(Instant::zero());
  EXPECT_EQ(b_->receive().size(), 64u);
  EXPECT_EQ(b_->receive().size(), 6u);
  EXPECT_EQ(b_->receive().size(), 0u);
}

TEST_F(SimNetTest, JitterStaysWithinItsRange) {
  plan("delay=10us,jitter=5us");
  for (int i = 0; i < 200; ++i) send(*a_, address(2), "x");
  net_.advance(Instant::from_ns(20'000));
  int64_t low = INT64_MAX, high = 0;
  for (auto batch = b_->receive(); !batch.empty(); batch = b_->receive()) {
    for (const RxDatagram& d : batch) {
      low = std::min(low, d.at.ns());
      high = std::max(high, d.at.ns());
    }
  }
  EXPECT_GE(low, 10'000);
  EXPECT_LT(low, 10'500);
  EXPECT_LE(high, 15'000);
  EXPECT_GT(high, 14'500);
}

TEST_F(SimNetTest, LossDropsItsShare) {
  plan("loss=0.25");
  for (int i = 0; i < 4000; ++i) {
    send(*a_, address(2), "x");
    run_to(i);
  }
  EXPECT_NEAR(static_cast<double>(net_.counters().loss_dropped), 1000, 120);
  EXPECT_EQ(net_.counters().delivered, 4000 - net_.counters().loss_dropped);
  expect_balance();
}

TEST_F(SimNetTest, BurstsDropConsecutivePackets) {
  plan("burst=0.2:5");
  std::string kept;
  for (int i = 0; i < 2000; ++i) {
    send(*a_, address(2), "x");
    kept += run_to(i).empty() ? '.' : 'x';
  }
  ASSERT_GT(net_.counters().burst_dropped, 20u);
  // Every hole between two delivered packets is a whole number of bursts.
  for (size_t at = kept.find("x."); at != kept.npos; at = kept.find("x.", at)) {
    const size_t end = kept.find('x', at + 1);
    if (end == kept.npos) break;
    EXPECT_EQ((end - at - 1) % 5, 0u) << "hole at " << at;
    at = end;
  }
  expect_balance();
}

TEST_F(SimNetTest, DuplicatesAreWholeCopies) {
  plan("dup=1");
  send(*a_, address(2), "twice");
  EXPECT_EQ(run_to(0), "twice@0 twice@0 ");
  EXPECT_EQ(net_.counters().duplicated, 1u);
  expect_balance();
}

TEST_F(SimNetTest, ReorderedPacketsAreOvertaken) {
  plan("reorder=1:1ms");
  send(*a_, address(2), "late");
  plan("");
  net_.advance(Instant::from_ns(1));
  send(*a_, address(2), "early");
  const std::string got = run_to(2'000'000);
  EXPECT_LT(got.find("early"), got.find("late"));
  EXPECT_EQ(net_.counters().reordered, 1u);
}

TEST_F(SimNetTest, CorruptionFlipsOneBit) {
  plan("corrupt=1");
  const std::string zeros(40, '\0');
  send(*a_, address(2), zeros);
  net_.advance(Instant::zero());
  const std::span<RxDatagram> got = b_->receive();
  ASSERT_EQ(got.size(), 1u);
  ASSERT_EQ(got[0].bytes.size(), 40u);
  int bits = 0;
  for (const std::byte octet : got[0].bytes) {
    bits += __builtin_popcount(std::to_integer<unsigned>(octet));
  }
  EXPECT_EQ(bits, 1);
  EXPECT_EQ(net_.counters().corrupted, 1u);
}

TEST_F(SimNetTest, CorruptedPacketsCanBeDroppedAsByAChecksum) {
  plan("corrupt=1,corrupt_delivered=0");
  send(*a_, address(2), "x");
  EXPECT_EQ(run_to(0), "");
  EXPECT_EQ(net_.counters().corrupted, 1u);
  EXPECT_EQ(net_.counters().corrupt_dropped, 1u);
  expect_balance();
}

TEST_F(SimNetTest, TooLongIsRefusedAtOnce) {
  plan("mtu=8");
  EXPECT_EQ(a_->caps().max_datagram_bytes, 8u);
  EXPECT_EQ(send(*a_, address(2), "12345678").fate, TxFate::sent);
  const TxPacket refused = send(*a_, address(2), "1234", "56789");
  EXPECT_EQ(refused.fate, TxFate::never);
  EXPECT_EQ(refused.error, EMSGSIZE);
  EXPECT_EQ(run_to(0), "12345678@0 ");
  EXPECT_EQ(net_.counters().too_long, 1u);
  EXPECT_EQ(net_.counters().sent, 1u);
}

TEST_F(SimNetTest, BlackholeSwallowsItsWindowOnly) {
  plan("blackhole=10ns-20ns");
  for (int64_t at : {9, 10, 19, 20}) {
    net_.advance(Instant::from_ns(at));
    send(*a_, address(2), "x");
  }
  EXPECT_EQ(run_to(20), "x@9 x@20 ");
  EXPECT_EQ(net_.counters().blackhole_dropped, 2u);
  expect_balance();
}

TEST_F(SimNetTest, PartitionCutsBothDirectionsAndHeals) {
  const auto c = net_.attach(address(3));
  net_.set_partitioned(address(1), address(2), true);
  send(*a_, address(2), "cut");
  send(*b_, address(1), "cut");
  send(*c, address(2), "whole");
  EXPECT_EQ(run_to(0), "whole@0 ");
  EXPECT_EQ(drain(*a_), "");
  net_.set_partitioned(address(1), address(2), false);
  send(*a_, address(2), "healed");
  EXPECT_EQ(run_to(0), "healed@0 ");
  EXPECT_EQ(net_.counters().partition_dropped, 2u);
  expect_balance();
}

TEST_F(SimNetTest, APathHasItsOwnPlanInOneDirection) {
  plan("delay=1us");
  net_.set_path(address(1), address(2), *parse_fault_plan("delay=9us"));
  send(*a_, address(2), "slow");
  send(*b_, address(1), "fast");
  EXPECT_EQ(run_to(9000), "slow@9000 ");
  EXPECT_EQ(drain(*a_), "fast@1000 ");
}

// 8 bits at 8 Mb/s are 1 us: 100 octets take 100 us on the uplink and again on the downlink.
TEST_F(SimNetTest, RateSerialisesOnBothLinks) {
  plan("rate=8m,delay=5us");
  send(*a_, address(2), std::string(100, 'a'));
  send(*a_, address(2), std::string(50, 'b'));
  EXPECT_EQ(run_to(1'000'000),
            std::string(100, 'a') + "@205000 " + std::string(50, 'b') + "@255000 ");
}

TEST_F(SimNetTest, QueueDropsAtTheTailAndMarksAboveItsThreshold) {
  // Only b's link is slow: at 8 Mb/s one octet takes one microsecond.
  net_.set_link(address(2), *parse_fault_plan("rate=8m,queue=40,ecn=15"));
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    send(*a_, address(2), std::string(10, name[0]));
  }
  net_.advance(Instant::from_ns(1'000'000));
  std::string marks;
  for (const RxDatagram& d : b_->receive()) {
    marks += static_cast<char>(d.bytes[0]);
    marks += d.ecn == Ecn::ce ? '!' : '.';
  }
  // Queued before each: 0, 10, 20, 30 octets; the fifth would make 50.
  EXPECT_EQ(marks, "1.2.3!4!");
  EXPECT_EQ(net_.counters().queue_dropped, 1u);
  EXPECT_EQ(net_.counters().ce_marked, 2u);
  expect_balance();
}

// [WIRE-019, WIRE-016] The tail is removed, the class changes, and the rest overtakes the queue.
TEST_F(SimNetTest, TrimmablePacketsAreCutInsteadOfDropped) {
  FaultPlan slow = *parse_fault_plan("rate=8m,queue=20,trim=2");
  slow.trimmable_dscp = 46;  // what send() uses
  slow.trimmed_dscp = 16;
  net_.set_link(address(2), slow);
  for (const char* name : {"1", "2", "3"}) send(*a_, address(2), std::string(10, name[0]));
  send(*a_, address(2), "44");  // as short as a trimmed one: nothing to cut
  net_.advance(Instant::from_ns(1'000'000));
  std::string picture;
  for (const RxDatagram& d : b_->receive()) {
    picture += std::to_string(d.bytes.size()) + "x" + static_cast<char>(d.bytes[0]) + "/" +
               std::to_string(d.dscp) + "@" + std::to_string(d.at.ns()) + " ";
  }
  EXPECT_EQ(picture, "2x3/16@2000 10x1/46@10000 10x2/46@20000 ");
  EXPECT_EQ(net_.counters().trimmed, 1u);
  EXPECT_EQ(net_.counters().queue_dropped, 1u);
  expect_balance();
}

// [WIRE-016, WIRE-019] Packets of any other class are dropped as a whole.
TEST_F(SimNetTest, OtherClassesAreNotTrimmed) {
  FaultPlan slow = *parse_fault_plan("rate=8m,queue=20,trim=2");
  slow.trimmable_dscp = 8;  // send() uses 46
  net_.set_link(address(2), slow);
  for (const char* name : {"1", "2", "3"}) send(*a_, address(2), std::string(10, name[0]));
  EXPECT_EQ(run_to(1'000'000), "1111111111@10000 2222222222@20000 ");
  EXPECT_EQ(net_.counters().trimmed, 0u);
  EXPECT_EQ(net_.counters().queue_dropped, 1u);
}

TEST_F(SimNetTest, PacketsWithoutEctAreNeverMarked) {
  net_.set_link(address(2), *parse_fault_plan("rate=8m,ecn=1"));
  for (int i = 0; i < 3; ++i) send(*a_, address(2), "0123456789", "", Ecn::not_ect);
  net_.advance(Instant::from_ns(1'000'000));
  for (const RxDatagram& d : b_->receive()) EXPECT_EQ(d.ecn, Ecn::not_ect);
  EXPECT_EQ(net_.counters().ce_marked, 0u);
}

class SimNetLimitsTest : public SimNetTest {
 protected:
  static SimConfig limits() {
    SimConfig config;
    config.packets_max = 4;
    config.datagram_bytes_max = 100;
    config.inbox_bytes_max = 30;
    config.send_queue_bytes_max = 25;
    return config;
  }
  SimNet small_{kSeed, limits()};
  std::unique_ptr<SimPort> c_ = small_.attach(address(1));
  std::unique_ptr<SimPort> d_ = small_.attach(address(2));
};

TEST_F(SimNetLimitsTest, AFullUplinkPushesBackAndSaysWhenToReturn) {
  small_.set_link(address(1), *parse_fault_plan("rate=8m"));
  const std::string ten(10, 'x');
  EXPECT_EQ(send(*c_, address(2), ten).fate, TxFate::sent);
  EXPECT_EQ(send(*c_, address(2), ten).fate, TxFate::sent);
  EXPECT_EQ(send(*c_, address(2), ten).fate, TxFate::later);
  EXPECT_EQ(small_.counters().pushed_back, 1u);
  EXPECT_EQ(small_.counters().sent, 2u);
  // Half of 25 octets left in the queue: 20 us of octets, less 12 us.
  EXPECT_EQ(small_.next_event(), Instant::from_ns(8'000));
  small_.advance(Instant::from_ns(8'000));
  EXPECT_EQ(small_.take_touched(), c_->index());
  EXPECT_EQ(small_.take_touched(), SimNet::kNoPort);
  EXPECT_EQ(send(*c_, address(2), ten).fate, TxFate::sent);
}

TEST_F(SimNetLimitsTest, AReceiverThatDoesNotReadLosesPackets) {
  for (int i = 0; i < 4; ++i) send(*c_, address(2), "0123456789");
  small_.advance(Instant::zero());
  EXPECT_EQ(small_.counters().inbox_dropped, 1u);
  EXPECT_EQ(d_->receive().size(), 3u);
}

TEST_F(SimNetLimitsTest, ThePoolIsBounded) {
  for (int i = 0; i < 6; ++i) send(*c_, address(2), "x");
  EXPECT_EQ(small_.counters().pool_dropped, 2u);
  small_.advance(Instant::zero());
  EXPECT_EQ(d_->receive().size(), 4u);
  // Lent packets come back with the next receive, not before.
  EXPECT_EQ(send(*c_, address(2), "x").fate, TxFate::sent);
  EXPECT_EQ(small_.counters().pool_dropped, 3u);
  EXPECT_EQ(d_->receive().size(), 0u);
  send(*c_, address(2), "x");
  small_.advance(Instant::zero());
  EXPECT_EQ(d_->receive().size(), 1u);
}

TEST_F(SimNetTest, AMissingReceiverIsReportedOnce) {
  EXPECT_EQ(send(*a_, address(9), "x").fate, TxFate::sent);
  send(*a_, address(9), "x");
  const std::span<const PathError> errors = a_->path_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].to, address(9));
  EXPECT_EQ(errors[0].error, EHOSTUNREACH);
  EXPECT_TRUE(a_->path_errors().empty());
  EXPECT_EQ(net_.counters().no_port_dropped, 2u);
}

TEST_F(SimNetTest, ALeftPortRefusesAndARestartReceivesAgain) {
  plan("delay=1us");
  send(*a_, address(2), "lost");
  b_.reset();
  net_.advance(Instant::from_ns(1000));
  EXPECT_EQ(net_.take_touched(), a_->index());
  const std::span<const PathError> errors = a_->path_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].to, address(2));
  EXPECT_EQ(errors[0].error, ECONNREFUSED);
  send(*a_, address(2), "kept");
  b_ = net_.attach(address(2));
  EXPECT_EQ(run_to(2000), "kept@2000 ");
  expect_balance();
}

TEST_F(SimNetTest, LeavingWithPacketsWaitingLeaksNothing) {
  for (int i = 0; i < 100; ++i) send(*a_, address(2), "x");
  net_.advance(Instant::zero());
  EXPECT_EQ(b_->receive().size(), 64u);
  b_.reset();
  EXPECT_EQ(net_.counters().no_port_dropped, 36u);
  EXPECT_EQ(net_.in_flight(), 0u);
  expect_balance();
}

TEST_F(SimNetTest, TouchedPortsComeOnceInOrderOfEvent) {
  const auto c = net_.attach(address(3));
  send(*a_, address(3), "x");
  send(*a_, address(2), "x");
  send(*a_, address(3), "x");
  net_.advance(Instant::zero());
  EXPECT_EQ(net_.take_touched(), c->index());
  const auto d = net_.attach(address(4));  // the ring grows with an entry waiting
  EXPECT_EQ(net_.take_touched(), b_->index());
  EXPECT_EQ(net_.take_touched(), SimNet::kNoPort);
}

// One run under every fault, as text: arrivals, times, marks.
std::string story(uint64_t seed) {
  SimNet net(seed);
  const auto a = net.attach(address(1));
  const auto b = net.attach(address(2));
  net.set_plan(
      *parse_fault_plan("loss=0.1,burst=0.01:3,dup=0.1,reorder=0.2,corrupt=0.1,delay=9us,"
                        "jitter=7us,rate=1g,queue=2k,ecn=400"));
  std::string out;
  for (int64_t i = 0; i < 300; ++i) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "packet %d", static_cast<int>(i));
    TxPacket packet;
    packet.header = reinterpret_cast<std::byte*>(text);
    packet.header_bytes = static_cast<uint16_t>(length);
    packet.to = address(2);
    packet.ev = Entropy(static_cast<uint16_t>(i));
    packet.ecn = Ecn::ect0;
    a->send({&packet, 1});
    net.advance(Instant::from_ns(i * 100));
    for (const RxDatagram& d : b->receive()) {
      out.append(reinterpret_cast<char*>(d.bytes.data()), d.bytes.size());
      out.append("@").append(std::to_string(d.at.ns()));
      out.append(d.ecn == Ecn::ce ? "! " : " ");
    }
  }
  return out;
}

TEST(SimNetDeterminismTest, SameSeedSameRun) {
  for (uint64_t seed = 1; seed <= 50; ++seed) EXPECT_EQ(story(seed), story(seed)) << seed;
  EXPECT_NE(story(1), story(2));
}

}  // namespace
}  // namespace uet::io
