// Machines at a simulated network: their posts, their time and what their clock does between
// events.
#include "sim/machines/machines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uet::sim {
namespace {

using namespace uet::literals;

constexpr Instant kStart = Instant::from_ns(1'000'000'000);
constexpr Duration kOneWay = 10_us;

class MachinesTest : public ::testing::Test {
 protected:
  MachinesTest() {
    io::FaultPlan plan;
    plan.delay = kOneWay;
    machines_.net().set_plan(plan);
    for (const char* name : {"a", "b"}) {
      MachineSetup setup;
      setup.seed = machines_.size() + 1;
      setup.on_completion = [this, name](const ses::Completion& c) {
        const int64_t after_us = (machines_.now() - kStart).ns() / 1000;
        ends_ +=
            std::string(name) + (c.ok() ? " ok " : " failed ") + std::to_string(after_us) + " us; ";
      };
      machines_.add(setup);
    }
    to_b_ = machines_[0].meet(Machines::address(1), kStart);
  }
  void run() {
    while (machines_.step(kStart + 1_s)) {
    }
  }

  std::vector<std::byte> octets_ = std::vector<std::byte>(100, std::byte{7});
  std::vector<std::byte> room_ = std::vector<std::byte>(100);
  std::string ends_;
  PeerId to_b_;
  Machines machines_{1, kStart, 1_us};
};

TEST_F(MachinesTest, AMessageTakesOneWayAndItsAcknowledgementTheOther) {
  machines_[1].receive(room_, kStart, {.tagged = true, .tag = 5});
  machines_[0].send(to_b_, octets_, kStart, {.tagged = true, .tag = 5});
  run();
  EXPECT_EQ(ends_, "b ok 10 us; a ok 20 us; ");
  EXPECT_EQ(room_, octets_);
  EXPECT_EQ(machines_[0].count("tx_messages"), 1u);
  EXPECT_EQ(machines_[1].count("tx_messages"), 0u);
  EXPECT_EQ(machines_[0].count("no such counter"), UINT64_MAX);
}

TEST_F(MachinesTest, MemoryIsWrittenAndRead) {
  std::vector<std::byte> memory(100);
  const uint64_t key = machines_[1].expose(memory, ses::kRemoteWrite | ses::kRemoteRead);
  machines_[0].write(to_b_, key, octets_, kStart);
  run();
  EXPECT_EQ(memory, octets_);
  machines_[0].read(to_b_, key, room_, machines_.now());
  machines_.wake_all();
  run();
  EXPECT_EQ(room_, octets_);
}

TEST_F(MachinesTest, TimePassesToTheEndOfASpanWithoutEvents) {
  machines_[1].receive(room_, kStart);
  machines_[0].send(to_b_, octets_, kStart);
  machines_.elapse_until(kStart + 15_us);
  EXPECT_EQ(machines_.now(), kStart + 15_us);
  EXPECT_EQ(machines_.net().now(), kStart + 15_us);
  EXPECT_EQ(ends_, "b ok 10 us; ");
  machines_.elapse_until(kStart + 20_us);
  EXPECT_EQ(ends_, "b ok 10 us; a ok 20 us; ");
}

}  // namespace
}  // namespace uet::sim
