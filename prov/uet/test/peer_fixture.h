// A node with objects of another provider, and one that sends to it, for tests.
#pragma once

#include "prov/uet/test/peer_owner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace uet::prov::test {

inline constexpr fi_addr_t kNameOfA = 0x4242;  // as b's owner calls it

// `a` is an ordinary node, `b` has what another provider owns.
class PeerTest : public ::testing::Test {
 protected:
  explicit PeerTest(uint64_t binding = 0, bool counts = false)
      : a(NodeOptions{}), b(owner, binding, counts) {
    to_b = a.insert(b.name());
    to_a = b.insert(a.name(), kNameOfA);
  }

  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit = kPatience) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      fi_cq_read(a.rx_cq, nullptr, 0);
      b.run();
    }
    return true;
  }
  // The next completion of the owner.
  Done next() {
    EXPECT_TRUE(run_until([&] { return !owner.done.empty(); })) << "no completion came";
    if (owner.done.empty()) return {};
    const Done done = owner.done.front();
    owner.done.pop_front();
    return done;
  }
  void wait_for_queued(size_t count) {
    EXPECT_TRUE(run_until([&] { return owner.queued() == count; })) << owner.queued();
  }
  const std::vector<uint8_t>& sent(std::vector<uint8_t> octets) {
    return kept_.emplace_back(std::move(octets));
  }
  const std::vector<uint8_t>& send(size_t bytes, uint32_t seed = 1) {
    const auto& data = sent(pattern(bytes, seed));
    EXPECT_EQ(fi_send(a.ep, data.data(), bytes, nullptr, to_b, nullptr), 0);
    return data;
  }
  const std::vector<uint8_t>& tsend(size_t bytes, uint64_t tag, uint32_t seed = 1) {
    const auto& data = sent(pattern(bytes, seed));
    EXPECT_EQ(fi_tsend(a.ep, data.data(), bytes, nullptr, to_b, tag, nullptr), 0);
    return data;
  }
  // Completes when the target has accepted the message.
  void send_to_nobody(void* context) {
    static char text[] = "nobody";
    const iovec iov{text, sizeof text};
    fi_msg_tagged msg{};
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.addr = to_a;
    msg.tag = 5;
    msg.context = context;
    ASSERT_EQ(fi_tsendmsg(b.ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION), 0);
  }
  void expect_received(const std::vector<uint8_t>& room, const std::vector<uint8_t>& data,
                       uint64_t kind) {
    const Done done = next();
    EXPECT_EQ(done.err, 0);
    EXPECT_EQ(done.context, room.data());
    EXPECT_EQ(done.flags, FI_RECV | kind);
    EXPECT_EQ(done.len, data.size());
    EXPECT_EQ(done.buf, room.data());
    EXPECT_EQ(done.from, kNameOfA);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), room.begin()));
  }
  // After which nothing may be open any more.
  void TearDown() override {
    EXPECT_EQ(owner.seen.out_of_turn, 0u);
    EXPECT_EQ(owner.open_entries(), 0u);
    EXPECT_TRUE(owner.done.empty());
  }

  std::deque<std::vector<uint8_t>> kept_;  // outlives the nodes, whose engines read it
  PeerOwner owner;
  Node a;
  PeerNode b;
  fi_addr_t to_a = FI_ADDR_UNSPEC;
  fi_addr_t to_b = FI_ADDR_UNSPEC;
};

}  // namespace uet::prov::test
