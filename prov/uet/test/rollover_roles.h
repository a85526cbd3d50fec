// Two processes that send messages both ways while their keys are replaced: none is lost, and no
// packet either.
#pragma once

#include "prov/uet/test/secured_roles.h"

#include <array>

namespace uet::prov::test {

// UET_ROLLOVERS says how often keys are replaced, UET_ROLLOVER_MS how long each takes.
class SecuredRolloverTest : public SecuredRolesTest {
 protected:
  SecuredRolloverTest() { over_ = path("over"); }

  static int setting(const char* name, int usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : std::atoi(text);
  }
  // The key files of rollover i, one after the other: both keys, both and the next one is sent
  // with, the next one alone.
  static std::array<std::string, 3> rollover(int i) {
    constexpr char kDigits[] = "123456789abcdef";
    const bool an = i % 2 == 0;  // of the next key
    const std::string before = key_text(!an, kDigits[i % 15]);
    const std::string next = key_text(an, kDigits[(i + 1) % 15]);
    const auto transmit = [](bool with) { return "transmit = " + std::to_string(with) + "\n"; };
    return {domain_text(before + next, transmit(!an)), domain_text(before + next, transmit(an)),
            domain_text(next, transmit(an))};
  }
  static void end_talk() { std::ofstream(over_) << "1"; }

  // Sends and receives one message after the other until end_talk().
  static void talk(const Line& line, bool is_first) {
    NodeOptions options;
    options.address = is_first ? "127.0.49.2" : "127.0.49.3";
    Node node(options);
    line.tell(node.name());
    const fi_addr_t peer = node.insert(line.hear());
    std::vector<uint8_t> got(20000);
    uint64_t messages = 0;
    bool is_over = false;
    while (!is_over) {
      std::vector<uint8_t> mine = pattern(got.size(), static_cast<uint32_t>(messages));
      if (is_first) mine[0] = std::filesystem::exists(over_) ? 1 : 0;
      ASSERT_EQ(fi_recv(node.ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
      ASSERT_EQ(fi_send(node.ep, mine.data(), mine.size(), nullptr, peer, nullptr), 0);
      const Done sent = await(node.tx_cq), taken = await(node.rx_cq);
      ASSERT_EQ(sent.err, 0) << sent.text;
      ASSERT_EQ(taken.err, 0) << taken.text;
      is_over = (is_first ? mine[0] : got[0]) == 1;
      const std::vector<uint8_t> expected = pattern(got.size(), static_cast<uint32_t>(messages));
      ASSERT_TRUE(std::equal(got.begin() + 1, got.end(), expected.begin() + 1));
      ++messages;
    }
    for (const char* const name :
         {"tss_in_invalid_sa", "tss_in_auth_fail_pkts", "tss_out_errored_pkts",
          "tss_out_invoke_fail", "tss_key_reload_failures", "drop_sdi"}) {
      EXPECT_EQ(counter(node, name), 0u) << name;
    }
    EXPECT_GE(counter(node, "tss_key_reloads"), 3u) << "one for each rollover";
    EXPECT_EQ(counter(node, "tss_key_agent_lost"), agent_losses_);
    EXPECT_GT(messages, 50u);
    line.tell(counter(node, "tss_key_derive"));
    EXPECT_NE(line.hear_value(), 0u);
  }
  inline static uint64_t agent_losses_ = 0;  // that both expect

 private:
  inline static std::string over_;  // a file that ends the talk
};

}  // namespace uet::prov::test
