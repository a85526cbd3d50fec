// Sealed packets over a port that cuts what its queue has no room for: the target asks for each of
// them again, and all arrives long before a time-out would have brought it.
#include "sim/secured_host.h"
#include "sim/world/world.h"

#include "fep/derive.h"
#include "fep/engine.h"
#include "io/simnet/simnet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace uet::sim {
namespace {

using namespace uet::literals;

constexpr uint64_t kCutDscps = uint64_t{1} << 16 | uint64_t{1} << 18;
constexpr size_t kBytes = 400'000;
constexpr uint8_t kTarget = 3;
constexpr Instant kStart = Instant::from_ns(10'000'000'000);

FabricAddress address(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

class SecuredTrimTest : public ::testing::Test {
 protected:
  struct Host {
    std::unique_ptr<SecuredHost> keys;
    std::unique_ptr<fep::Engine> engine;
    ses::EndpointId endpoint;
    PeerId other;
    std::vector<ses::Completion> done;

    std::map<std::string, uint64_t> counters() const {
      std::map<std::string, uint64_t> all;
      const auto add = [&](const char* name, uint64_t value) { all[name] = value; };
      engine->fep().for_each_counter(add);
      engine->io().report_counters(add);
      return all;
    }
  };

  void open(Host& host, uint8_t number) {
    fep::Config config;
    config.pds.has_domains = true;
    config.ses.payload_mtu = 4096;
    config.ses.rendezvous_bytes = UINT32_MAX;
    config.cms.algorithm = algorithm_;
    config.cms.window_bytes_max = 256 * 1024;  // more than the queue holds
    fep::derive(config);
    host.keys =
        std::make_unique<SecuredHost>(address(number), 0, number, [this] { return world_.now(); });
    auto fep = fep::FabricEndpoint::create(config, address(number), number);
    ASSERT_TRUE(fep.ok());
    (*fep)->secure(host.keys->jobs());
    host.engine = std::make_unique<fep::Engine>(
        std::move(*fep), host.keys->around(net_.attach(address(number)), kCutDscps));
    ses::CompletionSink sink;
    sink.owner = &host;
    sink.complete = [](void* owner, const ses::Completion& c) {
      static_cast<Host*>(owner)->done.push_back(c);
    };
    sink.reserve = [](void*) { return true; };
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = host.engine->fep().ses().open_endpoint(name, {}, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    host.endpoint = *endpoint;
    host.other = *host.engine->fep().peers().find_or_add(address(kTarget), now());
    host.engine->fep().peers().add_ref(host.other);
    hosts_.push_back(&host);
    world_.wake(world_.add(), kStart);
  }
  Instant now() const { return world_.now(); }
  // Until all that was posted has ended; at most a second.
  Duration until_done(size_t count) {
    const Instant begin = now();
    const auto is_done = [&] {
      return target_.done.size() >= 2 * count && a_.done.size() >= count && b_.done.size() >= count;
    };
    const auto visit = [this](uint32_t host) {
      fep::Engine& engine = *hosts_[host]->engine;
      const bool is_busy = engine.progress(now());
      const Instant next = engine.next_deadline();
      return is_busy ? std::min(next, now() + 1_us) : next;
    };
    while (!is_done() && world_.step(begin + 1_s, visit)) {
    }
    return now() - begin;
  }
  // Both send the octets to the target at the same time.
  Duration transfer(const std::vector<std::byte>& octets) {
    rooms_ = {std::vector<std::byte>(octets.size()), std::vector<std::byte>(octets.size())};
    for (std::vector<std::byte>& room : rooms_) {
      const IoSlice to{room.data(), room.size()};
      ses::ReceiveRequest taken;
      taken.iov = {&to, 1};
      EXPECT_TRUE(target_.engine->fep().ses().receive(target_.endpoint, taken, now()).ok());
    }
    const IoSlice from{octets.data(), octets.size()};
    for (uint32_t i = 0; i < hosts_.size(); ++i) world_.wake(i, now());
    for (Host* host : {&a_, &b_}) {
      ses::SendRequest sent;
      sent.to = {host->other, PidOnFep(1), ResourceIndex(1), 1, false};
      sent.iov = {&from, 1};
      EXPECT_TRUE(host->engine->fep().ses().send(host->endpoint, sent, now()).ok());
    }
    return until_done(a_.done.size() + 1);
  }

  std::array<std::vector<std::byte>, 2> rooms_;
  cms::Algorithm algorithm_ = cms::Algorithm::fixed;
  io::SimNet net_{4};
  World<io::SimNet> world_{net_, kStart};
  Host a_, b_, target_;
  std::vector<Host*> hosts_;  // by actor
};

// [TSS-081, PDS-131, CMS-169]
TEST_F(SecuredTrimTest, TrimmedPacketsAreResentAtOnce) {
  open(a_, 1);
  open(b_, 2);
  open(target_, kTarget);
  transfer(std::vector<std::byte>(10));  // opens the PDCs, and makes the keys ready
  io::FaultPlan plan;
  plan.delay = 5_us;
  plan.rate_bps = 10'000'000'000;
  plan.queue_bytes = 60'000;
  plan.trim_bytes = 64;
  plan.trimmable_dscp = 0;
  net_.set_plan(plan);
  std::vector<std::byte> octets(kBytes);
  for (size_t i = 0; i < kBytes; ++i) octets[i] = static_cast<std::byte>(i * 31 >> 3);
  const Duration took = transfer(octets);
  ASSERT_EQ(target_.done.size(), 4u);
  for (const ses::Completion& c : target_.done) EXPECT_TRUE(c.ok());
  for (const std::vector<std::byte>& room : rooms_) EXPECT_EQ(room, octets);
  const uint64_t cut = net_.counters().trimmed;
  EXPECT_GT(cut, 5u);
  auto at_target = target_.counters(), at_a = a_.counters(), at_b = b_.counters();
  EXPECT_EQ(at_target["tss_in_trim_unauth"], cut);
  EXPECT_EQ(at_target["trimmed_rx"], cut);
  EXPECT_GT(at_target["nack_tx_trimmed"], cut / 2);
  EXPECT_EQ(at_a["nack_rx_trimmed"] + at_b["nack_rx_trimmed"], at_target["nack_tx_trimmed"]);
  EXPECT_EQ(at_target["tss_in_auth_fail_pkts"], 0u);
  EXPECT_EQ(at_a["retx_rto"] + at_b["retx_rto"], 0u);
  EXPECT_LT(took, 5_ms) << "640 us are the port's";
}

// [T-36, TSS-082] Marks are not authenticated: with one on every packet everything continues.
TEST_F(SecuredTrimTest, MarksOnAllPacketsStopNothing) {
  algorithm_ = cms::Algorithm::nscc;
  open(a_, 1);
  open(b_, 2);
  open(target_, kTarget);
  io::FaultPlan plan;
  plan.delay = 5_us;
  plan.rate_bps = 10'000'000'000;
  plan.queue_bytes = 1'000'000;
  plan.ecn_mark_bytes = 1;
  net_.set_plan(plan);
  std::vector<std::byte> octets(kBytes, std::byte{0x5A});
  transfer(octets);
  ASSERT_EQ(target_.done.size(), 2u);
  for (const std::vector<std::byte>& room : rooms_) EXPECT_EQ(room, octets);
  EXPECT_GT(net_.counters().ce_marked, 100u);
}

}  // namespace
}  // namespace uet::sim
