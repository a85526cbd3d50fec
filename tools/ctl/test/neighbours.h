// Two domains in one process, for tests that look at such a process from outside: what the first
// one sends the second one receives.
#pragma once

#include "prov/uet/test/node.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace uet::prov::test {

class Neighbours {
 public:
  Neighbours(const char* first, const char* second) : a_(at(first)), b_(at(second)) {
    to_b_ = a_.insert(b_.name());
    b_.insert(a_.name());
  }

  // Sends `octets` and waits until they are in `room` and both completions are read. False, and the
  // test has failed, when that does not come.
  bool pass(std::span<const uint8_t> octets, std::span<uint8_t> room) {
    EXPECT_EQ(fi_recv(b_.ep, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(fi_send(a_.ep, octets.data(), octets.size(), nullptr, to_b_, nullptr), 0);
    Done sent, received;
    bool is_sent = false, is_received = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!(is_sent && is_received) && std::chrono::steady_clock::now() < end) {
      is_sent = is_sent || read_one(a_.tx_cq, sent);
      is_received = is_received || read_one(b_.rx_cq, received);
    }
    EXPECT_TRUE(is_sent && is_received) << "messages stopped";
    EXPECT_EQ(received.len, octets.size());
    return is_sent && is_received;
  }

 private:
  static NodeOptions at(const char* address) {
    NodeOptions options;
    options.address = address;
    return options;
  }

  Node a_;
  Node b_;
  fi_addr_t to_b_ = FI_ADDR_UNSPEC;
};

}  // namespace uet::prov::test
