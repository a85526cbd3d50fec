// Two domains in one process, for tests that look at such a process from outside: what the first
// one sends the second one receives.
#pragma once

#include "prov/uet/test/node.h"
#include "prov/uet/test/roles.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

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

// A role: a pair of domains; the first sends messages of `octets` octets all the time. Reports 1
// when it is open; ends when it receives a value, and reports the number of messages.
inline void pass_until_told(const Line& line, const char* first, const char* second,
                            size_t octets) {
  Neighbours pair(first, second);
  std::vector<uint8_t> text(octets), room(octets);
  line.tell(1);
  std::atomic<bool> is_over = false;
  std::thread ear([&] {
    line.hear_value();
    is_over = true;
  });
  uint64_t messages = 0;
  while (!is_over && pair.pass(text, room)) ++messages;
  ear.join();
  line.tell(messages);
}

}  // namespace uet::prov::test
