// Sealed packets over a port that cuts what its queue has no room for: the target asks for each of
// them again, and all arrives long before a time-out would have brought it.
#include "sim/machines/machines.h"
#include "sim/secured_host.h"

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
constexpr Instant kStart = Instant::from_ns(10'000'000'000);

class SecuredTrimTest : public ::testing::Test {
 protected:
  struct Host {
    std::unique_ptr<SecuredHost> keys;
    Machine* machine = nullptr;
    PeerId target;
    std::vector<ses::Completion> done;

    std::map<std::string, uint64_t> counters() const {
      std::map<std::string, uint64_t> all;
      const auto add = [&](const char* name, uint64_t value) { all[name] = value; };
      machine->fep().for_each_counter(add);
      machine->engine().io().report_counters(add);
      return all;
    }
  };

  void open_all() {
    for (Host* const host : {&a_, &b_, &target_}) open(*host);
    for (Host* const host : {&a_, &b_})
      host->target = host->machine->meet(Machines::address(2), now());
  }
  void open(Host& host) {
    const uint32_t number = machines_.size() + 1;
    const FabricAddress address = Machines::address(machines_.size());
    host.keys = std::make_unique<SecuredHost>(address, 0, number, [this] { return now(); });
    MachineSetup setup;
    setup.config.pds.has_domains = true;
    setup.config.ses.payload_mtu = 4096;
    setup.config.ses.rendezvous_bytes = UINT32_MAX;
    setup.config.cms.algorithm = algorithm_;
    setup.config.cms.window_bytes_max = 256 * 1024;  // more than the queue holds
    setup.seed = number;
    setup.jobs = &host.keys->jobs();
    setup.around = [&host](std::unique_ptr<io::PacketIo> port) {
      return host.keys->around(std::move(port), kCutDscps);
    };
    setup.on_completion = [&host](const ses::Completion& c) { host.done.push_back(c); };
    host.machine = &machines_[machines_.add(setup)];
  }
  Instant now() const { return machines_.now(); }
  // Until all that was posted has ended; at most a second.
  Duration until_done(size_t count) {
    const Instant begin = now();
    const auto is_done = [&] {
      return target_.done.size() >= 2 * count && a_.done.size() >= count && b_.done.size() >= count;
    };
    while (!is_done() && machines_.step(begin + 1_s)) {
    }
    return now() - begin;
  }
  // Both send the octets to the target at the same time.
  Duration transfer(const std::vector<std::byte>& octets) {
    rooms_ = {std::vector<std::byte>(octets.size()), std::vector<std::byte>(octets.size())};
    for (std::vector<std::byte>& room : rooms_) target_.machine->receive(room, now());
    machines_.wake_all();
    for (Host* host : {&a_, &b_}) host->machine->send(host->target, octets, now());
    return until_done(a_.done.size() + 1);
  }

  std::array<std::vector<std::byte>, 2> rooms_;
  cms::Algorithm algorithm_ = cms::Algorithm::fixed;
  Host a_, b_, target_;
  Machines machines_{4, kStart, 1_us};
};

// [TSS-081, PDS-131, CMS-169]
TEST_F(SecuredTrimTest, TrimmedPacketsAreResentAtOnce) {
  open_all();
  transfer(std::vector<std::byte>(10));  // opens the PDCs, and makes the keys ready
  io::FaultPlan plan;
  plan.delay = 5_us;
  plan.rate_bps = 10'000'000'000;
  plan.queue_bytes = 60'000;
  plan.trim_bytes = 64;
  plan.trimmable_dscp = 0;
  machines_.net().set_plan(plan);
  std::vector<std::byte> octets(kBytes);
  for (size_t i = 0; i < kBytes; ++i) octets[i] = static_cast<std::byte>(i * 31 >> 3);
  const Duration took = transfer(octets);
  ASSERT_EQ(target_.done.size(), 4u);
  for (const ses::Completion& c : target_.done) EXPECT_TRUE(c.ok());
  for (const std::vector<std::byte>& room : rooms_) EXPECT_EQ(room, octets);
  const uint64_t cut = machines_.net().counters().trimmed;
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
  open_all();
  io::FaultPlan plan;
  plan.delay = 5_us;
  plan.rate_bps = 10'000'000'000;
  plan.queue_bytes = 1'000'000;
  plan.ecn_mark_bytes = 1;
  machines_.net().set_plan(plan);
  std::vector<std::byte> octets(kBytes, std::byte{0x5A});
  transfer(octets);
  ASSERT_EQ(target_.done.size(), 2u);
  for (const std::vector<std::byte>& room : rooms_) EXPECT_EQ(room, octets);
  EXPECT_GT(machines_.net().counters().ce_marked, 100u);
}

}  // namespace
}  // namespace uet::sim
