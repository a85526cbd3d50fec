// A destination of RCCC and its sources, for tests. By hand, with 100 Gb/s and 12 us: MaxWnd has
// 225,000 octets, 879 units; a source may wait for that and two packets of 4,240, 233,480 octets or
// 913 units. A grant has 4 times 4,096 octets, 64 units, and takes 16,384 * 8 / 99 = 1,323.96 ns at
// 0.99 of the link.
#pragma once

#include "cms/credit_pacer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace uet::cms::credit_pacer {

using namespace uet::literals;

inline const Instant kStart = Instant::from_ns(1'000'000'000);
inline constexpr Duration kTimeout = 300_us;
inline constexpr Duration kTurn = 1324_ns;  // of 64 units, rounded up

inline Config config() {
  Config c;
  c.algorithm = Algorithm::rccc;
  c.mtu_bytes = 4240;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  c.credit.timeout = kTimeout;
  return c;
}

class CreditPacerTest : public ::testing::Test {
 protected:
  void SetUp() override { create(config(), {{4, 16}, {4, 32}}); }
  void create(const Config& c, const CreditRoom& room) {
    pacer_.emplace();
    ASSERT_TRUE(pacer_->create(arena_, c, room, 7).ok());
  }
  DemandNews ask(uint32_t peer, uint32_t target, AskedBy by = AskedBy::packet, uint8_t id = 0) {
    return pacer_->on_demand({peer, id}, target, by, now_);
  }
  // From an unproven address.
  DemandNews ask_unproven(uint32_t peer, uint32_t target) {
    return pacer_->on_demand({peer, 0}, target, AskedBy::packet, now_, {.is_proven = false});
  }
  void hear(uint32_t peer, const Received& e = {}) {
    Received at = e;
    at.at = now_;
    pacer_->on_received({peer, 0}, at);
  }
  // The grants of `count` turns, each taken when due: "PEER+UNITS" or "PEER/ID+UNITS".
  std::string turns(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      if (pacer_->deadline().is_never()) return out + "-";
      if (pacer_->deadline() > now_) now_ = pacer_->deadline();
      const auto g = pacer_->next_grant(now_);
      if (!g) return out + "-";
      uint32_t& last = last_[g->key.peer][g->key.ccc_id];
      out += std::to_string(g->key.peer);
      if (g->key.ccc_id != 0) out += "/" + std::to_string(g->key.ccc_id);
      out += "+" + std::to_string(credit_ahead(g->credit, last)) + " ";
      last = g->credit;
    }
    return out;
  }
  uint32_t backlog(uint32_t peer, uint8_t id = 0) { return pacer_->backlog_units({peer, id}); }

  Instant now_ = kStart;
  Arena arena_;
  std::optional<CreditPacer> pacer_;
  uint32_t last_[4096][256] = {};
};

}  // namespace uet::cms::credit_pacer
