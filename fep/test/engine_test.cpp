// The engine over a scripted backend: what happens to packets that the network does not take.
#include "fep/engine.h"

#include "fep/derive.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace uet::fep {
namespace {

using namespace uet::literals;

FabricAddress address(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

// Takes, refuses or delays packets as the test has set; keeps the octets of taken packets.
class ScriptedIo final : public io::PacketIo {
 public:
  struct Script {
    TxFate fate = TxFate::sent;
    int error = 0;
    std::vector<io::PathError> path_errors;
    std::vector<std::string> taken;
    int sends = 0;
    std::deque<std::vector<uint32_t>> arrivals;  // octets of the datagrams of each receive()
    std::vector<std::byte> packet;               // arrives before these, if it is not empty
    int receives = 0;
    std::vector<io::DomainNews> news;
  };
  explicit ScriptedIo(Script& script) : script_(script) {}
  io::IoCaps caps() const override { return {}; }
  FabricAddress local_address() const override { return address(1); }
  void send(std::span<TxPacket> packets) override {
    ++script_.sends;
    for (TxPacket& p : packets) {
      p.fate = script_.fate;
      p.error = script_.error;
      if (p.fate != TxFate::sent) continue;
      std::string payload;
      for (uint32_t i = 0; i < p.slice_count; ++i) {
        payload.append(reinterpret_cast<const char*>(p.slices[i].data), p.slices[i].length);
      }
      script_.taken.push_back(payload);
    }
  }
  std::span<RxDatagram> receive() override {
    ++script_.receives;
    received_.clear();
    if (!script_.packet.empty()) {
      packet_.swap(script_.packet);
      script_.packet.clear();
      RxDatagram& d = received_.emplace_back();
      d.bytes = packet_;
      d.from = address(2);
      return received_;
    }
    if (script_.arrivals.empty()) return {};
    for (const uint32_t octets : script_.arrivals.front()) {
      RxDatagram& d = received_.emplace_back();
      d.bytes = {noise_.data(), octets};
      d.from = address(2);
    }
    script_.arrivals.pop_front();
    return received_;
  }
  std::span<const io::PathError> path_errors() override {
    reported_.swap(script_.path_errors);
    script_.path_errors.clear();
    return reported_;
  }
  std::span<const io::DomainNews> domain_news() override {
    told_.swap(script_.news);
    script_.news.clear();
    return told_;
  }
  int wait_fd() const override { return -1; }

 private:
  Script& script_;
  std::vector<io::DomainNews> told_;
  std::vector<io::PathError> reported_;
  std::vector<RxDatagram> received_;
  std::vector<std::byte> packet_;
  std::vector<std::byte> noise_ = std::vector<std::byte>(8192);
};

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(Config config) {
    derive(config);
    auto fep = FabricEndpoint::create(config, address(1), 7);
    ASSERT_TRUE(fep.ok());
    engine_ = std::make_unique<Engine>(std::move(*fep), std::make_unique<ScriptedIo>(script_));
    endpoint_ = open_endpoint(engine_->fep());
    peer_ = *engine_->fep().peers().find_or_add(address(2), now_);
  }
  ses::EndpointId open_endpoint(FabricEndpoint& fep) {
    ses::CompletionSink sink;
    sink.owner = this;
    sink.complete = [](void* owner, const ses::Completion& c) {
      static_cast<EngineTest*>(owner)->completions_.push_back(c);
    };
    sink.reserve = [](void*) { return true; };
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = fep.ses().open_endpoint(name, {}, sink, sink);
    EXPECT_TRUE(endpoint.ok());
    return *endpoint;
  }
  void send(JobId job = JobId(0)) { send(engine_->fep(), endpoint_, peer_, job); }
  void send(FabricEndpoint& fep, ses::EndpointId from, PeerId to, JobId job = JobId(0)) {
    const IoSlice slice{reinterpret_cast<const std::byte*>(message_.data()), message_.size()};
    ses::SendRequest request;
    request.to = {to, PidOnFep(1), ResourceIndex(1), 1, false};
    request.to.job = job;
    request.iov = {&slice, 1};
    ASSERT_TRUE(fep.ses().send(from, request, now_).ok());
  }
  // The packet of a message that the peer sends to us.
  std::vector<std::byte> packet_of_peer() {
    Config config;
    derive(config);
    const auto fep = FabricEndpoint::create(config, address(2), 8);
    EXPECT_TRUE(fep.ok());
    send(**fep, open_endpoint(**fep), *(*fep)->peers().find_or_add(address(1), now_));
    TxBatch batch;
    EXPECT_EQ((*fep)->transmit(batch, now_), 1u);
    const TxPacket& packet = batch.packets().front();
    std::vector<std::byte> octets(packet.header, packet.header + packet.header_bytes);
    octets.insert(octets.end(), packet.slices[0].data,
                  packet.slices[0].data + packet.slices[0].length);
    return octets;
  }

  ScriptedIo::Script script_;
  std::unique_ptr<Engine> engine_;
  ses::EndpointId endpoint_;
  PeerId peer_;
  std::string message_ = "the octets as they were posted";
  std::vector<ses::Completion> completions_;
  Instant now_ = Instant::from_ns(1'000'000'000);
};

TEST_F(EngineTest, AMessageLeavesInTheCallThatTransmits) {
  send();
  EXPECT_TRUE(engine_->has_backlog());
  engine_->transmit(now_);
  EXPECT_EQ(script_.taken, std::vector<std::string>{message_});
  EXPECT_FALSE(engine_->has_backlog());
}

// The peer waits for the message, and not for the ACK of its own one.
TEST_F(EngineTest, PayloadLeavesBeforeAcks) {
  script_.packet = packet_of_peer();
  EXPECT_TRUE(engine_->collect(now_));
  EXPECT_TRUE(engine_->has_backlog(Work::pressing)) << "the ACK";
  send();
  engine_->transmit(now_);
  ASSERT_GE(script_.taken.size(), 2u);
  EXPECT_EQ(script_.taken[0], message_);
}

// A long message does not hold them up until its end.
TEST_F(EngineTest, OfALongMessage128KiBLeaveBeforeAcks) {
  Config config;
  config.cms.algorithm = cms::Algorithm::fixed;
  config.cms.initial_window_packets = 200;
  start(config);
  script_.packet = packet_of_peer();
  engine_->collect(now_);
  message_.assign(400 * 1024, 'a');
  send();
  engine_->transmit(now_);
  size_t before = 0;
  for (const std::string& payload : script_.taken) {
    if (payload.empty()) break;
    before += payload.size();
  }
  EXPECT_GE(before, 128u * 1024);
  EXPECT_LT(before, 256u * 1024);
}

// While a stream arrives, ACKs leave before own messages: its sender waits for them.
TEST_F(EngineTest, AcksLeadWhileAStreamArrives) {
  script_.packet = packet_of_peer();
  engine_->collect(now_);
  send();
  script_.arrivals.push_back(std::vector<uint32_t>(64, 8192));
  engine_->collect(now_);
  ASSERT_GE(script_.taken.size(), 2u);
  EXPECT_EQ(script_.taken[0], "");
}

// What the backend did not take is offered again, with the octets of the time it was posted: once
// the call returned, a completion may be reported and the memory be used for something else.
TEST_F(EngineTest, PacketsThatWaitReferToNoUserMemory) {
  script_.fate = TxFate::later;
  send();
  engine_->transmit(now_);
  EXPECT_TRUE(engine_->has_backlog());
  const std::string posted = message_;
  message_.assign(message_.size(), '?');
  script_.fate = TxFate::sent;
  engine_->transmit(now_);
  EXPECT_EQ(script_.taken, std::vector<std::string>{posted});
  EXPECT_FALSE(engine_->has_backlog());
}

TEST_F(EngineTest, AFullBackendIsAskedOncePerRound) {
  script_.fate = TxFate::later;
  send();
  EXPECT_TRUE(engine_->progress(now_));
  EXPECT_EQ(script_.sends, 1);
}

// A further receive costs a system call: after few packets no more is expected, but in a stream
// more may wait, and one ACK answers all of it.
TEST_F(EngineTest, ReceivesAgainOnlyInAStream) {
  script_.arrivals = {{64}};
  engine_->collect(now_);
  EXPECT_EQ(script_.receives, 1);
  script_.receives = 0;
  script_.arrivals = {{8192, 8192, 8192}, {8192, 8192}, {64}, {64}};
  engine_->collect(now_);
  EXPECT_EQ(script_.receives, 3);
  EXPECT_EQ(script_.arrivals.size(), 1u);
}

// Memory that the system cannot read ends its message, and no other.
TEST_F(EngineTest, ARefusedPacketEndsItsMessageInFault) {
  script_.fate = TxFate::never;
  script_.error = EFAULT;
  send();
  engine_->transmit(now_);
  ASSERT_EQ(completions_.size(), 1u);
  EXPECT_EQ(completions_[0].status, ses::Completion::Status::fault);
  EXPECT_EQ(completions_[0].local_error, EFAULT);
  script_.fate = TxFate::sent;
  message_ = "another";
  send();
  engine_->transmit(now_);
  ASSERT_FALSE(script_.taken.empty());
  EXPECT_EQ(script_.taken.back(), "another");
}

// Two seconds of ICMP errors without a packet end the operations to that address.
TEST_F(EngineTest, AnUnreachablePeerFailsItsOperations) {
  send();
  const Instant end = now_ + 3_s;
  while (now_ < end && completions_.empty()) {
    script_.path_errors = {{address(2), ECONNREFUSED}};
    engine_->progress(now_);
    now_ = now_ + 10_ms;
  }
  ASSERT_EQ(completions_.size(), 1u);
  EXPECT_EQ(completions_[0].status, ses::Completion::Status::undeliverable);
  EXPECT_EQ(completions_[0].failure.reason, pds::FailureReason::unreachable);
}

// [PDS-182] The end of a stack whose peers do not agree to a close.
TEST_F(EngineTest, AbortingEverythingReportsEachOperationAndSendsNothing) {
  send();
  engine_->transmit(now_);
  EXPECT_FALSE(engine_->fep().idle());
  script_.taken.clear();
  engine_->fep().close_all(true, now_);
  ASSERT_EQ(completions_.size(), 1u);
  EXPECT_EQ(completions_[0].failure.reason, pds::FailureReason::aborted);
  engine_->progress(now_);
  EXPECT_TRUE(script_.taken.empty());
  EXPECT_TRUE(engine_->fep().idle());
}

// [PDS-013] Messages of two jobs to one peer use one PDC each or, if so configured, one for both.
TEST_F(EngineTest, JobsMayShareAPdc) {
  for (const bool is_shared : {false, true}) {
    Config config;
    config.pds.pdc_per_job = !is_shared;
    start(config);
    script_.taken.clear();
    send(JobId(1));
    send(JobId(2));
    engine_->transmit(now_);
    EXPECT_EQ(script_.taken, std::vector<std::string>(2, message_));
    EXPECT_EQ(engine_->fep().pds().open_pdcs(), is_shared ? 1u : 2u);
  }
}

// Arrivals go to the application first, with a limit.
TEST_F(EngineTest, ErrorsAreSeenWhilePacketsKeepArriving) {
  int seen = 0;
  for (int round = 0; round < 16; ++round) {
    script_.arrivals.push_back({100});
    script_.path_errors = {{address(2), ECONNREFUSED}};
    EXPECT_TRUE(engine_->collect(now_));
    if (script_.path_errors.empty()) ++seen;
  }
  EXPECT_EQ(seen, 2);
  EXPECT_FALSE(engine_->collect(now_));
  EXPECT_TRUE(script_.path_errors.empty());
}

TEST_F(EngineTest, ErrorsOfOtherKindsAndAddressesHaveNoEffect) {
  send();
  const Instant end = now_ + 3_s;
  while (now_ < end) {
    script_.path_errors = {{address(2), EMSGSIZE}, {address(9), ECONNREFUSED}};
    engine_->progress(now_);
    now_ = now_ + 10_ms;
  }
  EXPECT_TRUE(completions_.empty());
}

// [LF-142] The room of a ring to a peer limits the octets in flight to it.
TEST_F(EngineTest, NoMoreIsInFlightThanTheWayHolds) {
  const auto sent = [&] {
    message_ = std::string(1 << 20, 'm');
    send();
    engine_->transmit(now_);
    size_t octets = 0;
    for (const std::string& payload : script_.taken) octets += payload.size();
    return octets;
  };
  script_.path_errors = {{address(2), 0, 64 * 1024}};
  (void)engine_->progress(now_);
  const size_t limited = sent();
  EXPECT_LE(limited, 64u * 1024);
  EXPECT_GT(limited, 48u * 1024);
  // The ring is gone.
  script_.path_errors = {{address(2), 0, 0}};
  (void)engine_->progress(now_);
  EXPECT_GT(sent(), 80u * 1024);
}

// [TSS-146] What the backend says of secure domains reaches their PDCs, also while packets keep
// arriving.
TEST_F(EngineTest, DomainsCloseWhenTheBackendReportsIt) {
  Arena arena;
  tss::JobTable jobs;
  ASSERT_TRUE(jobs.create(arena, 4, 1).ok());
  ASSERT_TRUE(jobs.bind(JobId(1), 7).ok());
  engine_->fep().secure(jobs);
  send();
  engine_->transmit(now_);
  EXPECT_EQ(script_.taken.size(), 1u);
  script_.news = {{8, true}, {7, false}};
  (void)engine_->progress(now_);
  EXPECT_TRUE(script_.news.empty());
  EXPECT_EQ(engine_->fep().pds().open_pdcs(), 1u) << "its message is not answered";
  script_.news = {{7, true}};
  for (int round = 0; round < 8 && !script_.news.empty(); ++round) {
    script_.arrivals.push_back({100});
    (void)engine_->progress(now_);
  }
  ASSERT_EQ(completions_.size(), 1u);
  EXPECT_EQ(completions_[0].failure.reason, pds::FailureReason::no_key);
  EXPECT_EQ(engine_->fep().pds().open_pdcs(), 0u);
}

}  // namespace
}  // namespace uet::fep
