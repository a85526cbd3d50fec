// Two Ses of AI Full: long messages of A are deferrable sends, B has them wait for their receive.
#pragma once

#include "ses/test/target_fixture.h"

#include <cstdio>
#include <string>

namespace uet::ses::test {

class DeferralTest : public TargetTest {
 protected:
  void SetUp() override {
    config_.profiles = kAiBase | kAiFull;
    config_.defer_bytes = 1000;
    config_.deferred_messages = 16;  // of one peer half
    config_.deferrable_sends = 32;
    TargetTest::SetUp();
  }
  SendRequest deferrable(const Octets& data, uintptr_t context = 1, uint64_t tag = 0) const {
    SendRequest s = send_request(data, context);
    s.to.capabilities = kAiBase | kAiFull;
    s.to.initiator_id = 101;  // of B
    s.tagged = tag != 0;
    s.tag = tag;
    return s;
  }
  void send(const SendRequest& s) { ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok()); }
  void receive(Octets& room, uintptr_t context = 2, uint64_t tag = 0) {
    ReceiveRequest r = receive_request(room, context);
    r.tagged = tag != 0;
    r.tag = tag;
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  }
  bool cancel(Node& node, uintptr_t context) {
    return node.ses->cancel(node.ep, reinterpret_cast<void*>(context), now_);
  }
  // Neither side has a record of any message.
  bool is_forgotten() const {
    return a_->ses->idle() && b_->ses->idle() && b_->next_deadline().is_never() &&
           a_->next_deadline().is_never();
  }
  static uint32_t word(const Octets& octets, size_t at) {
    uint32_t out = 0;
    for (size_t i = at; i < at + 4; ++i) out = out << 8 | std::to_integer<uint32_t>(octets.at(i));
    return out;
  }
  static std::string hex(const Octets& octets) {
    std::string out;
    char two[3];
    for (const std::byte b : octets) {
      std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(b));
      out += two;
    }
    return out;
  }
};

}  // namespace uet::ses::test
