// A route that becomes smaller while packets are under way: two whole stacks over a simulated
// network with a router in front of one or both, simulated time. [LF-141, PDS-250]
#include "fep/engine.h"
#include "fep/parameters.h"

#include "io/frame.h"
#include "io/simnet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace uet::fep {
namespace {

using namespace uet::literals;

constexpr uint64_t kTag = 7;
constexpr uint32_t kPayload = 8192;

FabricAddress address(uint8_t host) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, 0, 0, host};
  return a;
}

// What a host sends through: packets longer than the route carries leave and are gone, and an ICMP
// error says so. What the host's own system believes of the route is in the error, too.
class RoutedIo final : public io::PacketIo {
 public:
  struct Route {
    uint32_t mtu_bytes = 65535;
    uint32_t believed_bytes = 0;  // of the errors; 0: what is true
    bool is_believed = true;
    std::vector<io::PathError> errors;
    uint32_t dropped = 0;
    uint32_t longest = 0;  // IP packet that passed
  };
  RoutedIo(Route& route, std::unique_ptr<io::PacketIo> below)
      : route_(route), below_(std::move(below)) {}
  io::IoCaps caps() const override { return below_->caps(); }
  FabricAddress local_address() const override { return below_->local_address(); }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& p : packets) {
      const uint32_t bytes = p.bytes() + io::header_bytes_of(p.to);
      if (bytes <= route_.mtu_bytes) {
        below_->send({&p, 1});
        route_.longest = std::max(route_.longest, bytes);
        continue;
      }
      p.fate = TxFate::sent;
      ++route_.dropped;
      const uint32_t said = route_.believed_bytes != 0 ? route_.believed_bytes : route_.mtu_bytes;
      route_.errors.push_back({p.to, EMSGSIZE, route_.is_believed ? said : 0});
    }
  }
  std::span<RxDatagram> receive() override { return below_->receive(); }
  std::span<const io::PathError> path_errors() override {
    reported_.clear();
    reported_.swap(route_.errors);
    const auto below = below_->path_errors();
    reported_.insert(reported_.end(), below.begin(), below.end());
    return reported_;
  }
  int wait_fd() const override { return -1; }

 private:
  Route& route_;
  std::unique_ptr<io::PacketIo> below_;
  std::vector<io::PathError> reported_;
};

class PathTest : public ::testing::Test {
 protected:
  struct Host {
    RoutedIo::Route route;
    std::unique_ptr<Engine> engine;
    ses::EndpointId endpoint;
    PeerId other;
    std::vector<ses::Completion> done;
    uint64_t count(const char* name) const {
      uint64_t found = UINT64_MAX;
      engine->fep().for_each_counter([&](const char* counter, uint64_t value) {
        if (std::string(counter) == name) found = value;
      });
      return found;
    }
    uint32_t payload() const { return engine->fep().peers()[other].payload_toward(kPayload); }
  };

  void SetUp() override {
    notices().clear();
    a_ = {};
    b_ = {};
    open(a_, 1);
    open(b_, 2);
    a_.other = *a_.engine->fep().peers().find_or_add(address(2), now_);
    b_.other = *b_.engine->fep().peers().find_or_add(address(1), now_);
    a_.engine->fep().peers().list(a_.other);
    b_.engine->fep().peers().list(b_.other);
  }
  void open(Host& host, uint8_t number) {
    Config config;
    config.ses.payload_mtu = kPayload;
    settle(config);
    auto fep = FabricEndpoint::create(config, address(number), number);
    ASSERT_TRUE(fep.ok());
    host.engine = std::make_unique<Engine>(
        std::move(*fep), std::make_unique<RoutedIo>(host.route, net_.attach(address(number))));
    host.engine->tell_of_paths([](const Engine::PathNotice& n) {
      notices().push_back(std::to_string(n.mtu_bytes) + ": " +
                          (n.change == nullptr ? std::string("ignored")
                                               : std::to_string(n.change->before) + " to " +
                                                     std::to_string(n.change->after)));
    });
    ses::CompletionSink sink;
    sink.owner = &host;
    sink.complete = [](void* owner, const ses::Completion& c) {
      static_cast<Host*>(owner)->done.push_back(c);
    };
    sink.reserve = [](void*) { return true; };
    ses::EndpointOptions options;
    options.mode = mode_;
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = host.engine->fep().ses().open_endpoint(name, options, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    host.endpoint = *endpoint;
  }
  static ses::Destination to(const Host& host) {
    return {host.other, PidOnFep(1), ResourceIndex(1), 1, false};
  }
  void send(Host& host, const std::vector<std::byte>& octets, uint32_t flags = 0) {
    const IoSlice slice{octets.data(), octets.size()};
    ses::SendRequest request;
    request.to = to(host);
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    request.flags = flags;
    ASSERT_TRUE(host.engine->fep().ses().send(host.endpoint, request, now_).ok());
  }
  void receive(Host& host, std::vector<std::byte>& room) {
    const IoSlice slice{room.data(), room.size()};
    ses::ReceiveRequest request;
    request.iov = {&slice, 1};
    request.tagged = true;
    request.tag = kTag;
    ASSERT_TRUE(host.engine->fep().ses().receive(host.endpoint, request, now_).ok());
  }
  uint64_t expose(Host& host, std::vector<std::byte>& memory, uint32_t access) {
    const IoSlice slice{memory.data(), memory.size()};
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = access;
    request.idempotent_safe = true;
    auto& regions = host.engine->fep().ses().memory();
    const auto region = regions.add(request);
    EXPECT_TRUE(region.ok());
    regions.enable(*region);
    return regions.key(*region);
  }
  void rma(Host& host, bool is_read, uint64_t key, std::vector<std::byte>& local,
           uint32_t flags = 0) {
    const IoSlice slice{local.data(), local.size()};
    ses::RmaRequest request;
    request.to = to(host);
    request.read = is_read;
    request.key = key;
    request.iov = {&slice, 1};
    request.flags = flags;
    ASSERT_TRUE(host.engine->fep().ses().rma(host.endpoint, request, now_).ok());
  }
  void step() {
    for (Host* host : {&a_, &b_}) {
      host->engine->progress(now_);
      host->engine->progress(now_);
    }
    now_ = now_ + 100_us;
    net_.advance(now_);
  }
  void run(Duration time) {
    for (const Instant end = now_ + time; now_ < end;) step();
  }
  // Simulated time until so many operations of the host have ended; at most ten seconds.
  Duration until_done(Host& host, size_t count) {
    const Instant begin = now_;
    while (host.done.size() < count && now_ - begin < 10_s) step();
    EXPECT_EQ(host.done.size(), count);
    return now_ - begin;
  }
  static std::vector<std::byte> pattern(size_t size, uint32_t seed) {
    std::vector<std::byte> octets(size);
    for (size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>((i + seed) * 31 >> 3);
    return octets;
  }
  // One message each way, on PDCs that stay open.
  void meet() {
    std::vector<std::byte> hello = pattern(30000, 3);
    std::vector<std::byte> room_a(30000);
    std::vector<std::byte> room_b(30000);
    receive(b_, room_b);
    send(a_, hello);
    until_done(a_, 1);
    receive(a_, room_a);
    send(b_, hello);
    until_done(b_, 2);
    until_done(a_, 2);
    ASSERT_EQ(room_b, hello);
    ASSERT_EQ(a_.route.dropped + b_.route.dropped, 0u);
    a_.done.clear();
    b_.done.clear();
  }
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
  // Nothing of what is said of routes changes anything.
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

  static std::vector<std::string>& notices() {
    static std::vector<std::string> all;
    return all;
  }
  pds::Mode mode_ = pds::Mode::rud;
  io::SimNet net_{4};
  Instant now_ = Instant::from_ns(1'000'000'000);
  Host a_;
  Host b_;
};

// A router says so.
TEST_F(PathTest, WhatIsTooLongEndsAtOnceAndLaterMessagesFit) {
  meet();
  a_.route.mtu_bytes = 1500;
  expect_too_long_then_fine();
  EXPECT_GT(a_.route.dropped, 0u);
}

// The system refuses what it knows to be too long.
TEST_F(PathTest, SoItDoesWhenTheSystemRefusesThePackets) {
  meet();
  io::FaultPlan plan;
  plan.mtu_bytes = 1500 - 28;
  net_.set_path(address(1), address(2), plan);
  expect_too_long_then_fine();
  EXPECT_GT(net_.counters().too_long, 0u);
}

TEST_F(PathTest, TheFirstMessageToAPeerEndsTheSameWay) {
  a_.route.mtu_bytes = 1500;
  expect_too_long_then_fine();
}

// Packets that pass are left alone: the message under way ends well, and later ones use less.
TEST_F(PathTest, WhatStillPassesGoesOn) {
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
  receive(b_, room);
  send(a_, whole);
  a_.engine->transmit(now_);
  a_.route.errors.push_back({address(2), EMSGSIZE, 4250});
  EXPECT_LT(until_done(a_, 1), 1_s);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_EQ(a_.payload(), 4096u);
  EXPECT_EQ(a_.count("path_reports_ignored"), ignored + 1);
}

// Part of the message has arrived: its receiver is told at once, too, and has the next one.
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

// Behind a fence, and cut when they were posted for the larger packets.
TEST_F(PathTest, MessagesThatWaitGoInSmallerPackets) {
  meet();
  a_.route.mtu_bytes = 1500;
  std::vector<std::byte> first = pattern(50000, 1);
  std::vector<std::byte> second = pattern(40000, 2);
  std::vector<std::byte> third = pattern(5000, 3);
  std::vector<std::byte> memory(50000);
  std::vector<std::byte> other(40000);
  std::vector<std::byte> third_memory(5000);
  rma(a_, false, expose(b_, memory, ses::kRemoteWrite), first);
  rma(a_, false, expose(b_, other, ses::kRemoteWrite), second, ses::kOpFence);
  rma(a_, false, expose(b_, third_memory, ses::kRemoteWrite), third);
  EXPECT_LT(until_done(a_, 3), 1_s);
  ASSERT_EQ(a_.done.size(), 3u);
  EXPECT_EQ(a_.done[0].failure.reason, pds::FailureReason::too_long);
  EXPECT_TRUE(a_.done[1].ok());
  EXPECT_TRUE(a_.done[2].ok());
  EXPECT_EQ(other, second);
  EXPECT_EQ(third_memory, third);
}

// The answers are too long: a read is harmless, so it is made again for less, and nobody notices.
TEST_F(PathTest, AReadWhoseAnswersAreTooLongAsksForLess) {
  meet();
  b_.route.mtu_bytes = 1500;
  // The other end learns of its route by the first read, and knows it at the second.
  for (int i = 0; i < 2; ++i) {
    a_.engine->fep().peers()[a_.other].agree_payload(kPayload);
    std::vector<std::byte> memory = pattern(100000, 17);
    std::vector<std::byte> room(100000);
    rma(a_, true, expose(b_, memory, ses::kRemoteRead), room);
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

// A forged error changes nothing while the system keeps the larger MTU for the route.
TEST_F(PathTest, WhatTheSystemDoesNotConfirmIsIgnored) {
  meet();
  a_.route.errors.push_back({address(2), EMSGSIZE, 0});
  expect_untouched();
  EXPECT_EQ(a_.count("path_unknown"), 1u);
  EXPECT_EQ(notices(), std::vector<std::string>{"0: ignored"});
}

// The smallest payload is the least that a peer can come to; packets of it are sent all the same.
TEST_F(PathTest, ARouteThatIsTooSmallForAnyPayloadCostsNoMoreThanSmallerPackets) {
  meet();
  for (const uint32_t mtu : {1u, 68u, 552u, 1151u}) {
    std::vector<std::byte> octets = pattern(100000, mtu);
    std::vector<std::byte> room(100000);
    receive(b_, room);
    send(a_, octets);
    a_.engine->transmit(now_);  // packets are under way
    a_.route.errors.push_back({address(2), EMSGSIZE, mtu});
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

// One that the system believes, of a peer that nothing is under way to, or nothing that long.
TEST_F(PathTest, AReportThatConcernsNothingUnderWayChangesNothing) {
  meet();
  run(1_s);
  a_.route.errors.push_back({address(2), EMSGSIZE, 1500});
  step();
  EXPECT_EQ(a_.count("path_reports_ignored"), 1u);
  EXPECT_EQ(a_.payload(), kPayload);
  a_.route.errors.push_back({address(77), EMSGSIZE, 1500});  // nobody we know
  step();
  EXPECT_EQ(a_.count("path_reports"), 1u);

  std::vector<std::byte> octets = pattern(900, 1);
  std::vector<std::byte> room(900);
  receive(b_, room);
  send(a_, octets);
  a_.engine->transmit(now_);
  a_.route.errors.push_back({address(2), EMSGSIZE, 1500});
  until_done(a_, 1);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_EQ(a_.count("path_reports_ignored"), 2u);
  a_.done.clear();
  b_.done.clear();
  expect_untouched();
}

// At its worst, with the system deceived, a forgery costs the operations under way and smaller
// packets; the application gets the larger ones back by inserting the address anew.
TEST_F(PathTest, AForgeryThatTheSystemBelievesCostsSmallerPackets) {
  meet();
  std::vector<std::byte> octets = pattern(100000, 1);
  std::vector<std::byte> room(100000);
  receive(b_, room);
  send(a_, octets);
  a_.engine->transmit(now_);
  a_.route.errors.push_back({address(2), EMSGSIZE, 1300});
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
  a_.engine->fep().peers()[a_.other].agree_payload(kPayload);
  std::vector<std::byte> last_room(100000);
  receive(b_, last_room);
  a_.route.longest = 0;
  send(a_, octets);
  until_done(a_, 1);
  EXPECT_TRUE(a_.done.at(0).ok());
  EXPECT_GT(a_.route.longest, 8192u);
}

}  // namespace
}  // namespace uet::fep
