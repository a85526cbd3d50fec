// Messages that wait for an answer of their PDC.
#include "ses/outgoing/awaiting.h"

#include "base/test/instructions.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace uet::ses::test {
namespace {

class AwaitingTest : public ::testing::Test {
 protected:
  AwaitingTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(awaiting_.create(arena_, 1024, rng).ok());
  }
  ~AwaitingTest() override {
    for (TxMessage& m : messages_) awaiting_.remove(m);
  }
  TxMessage& wait(uint32_t pdc) {
    TxMessage& m = messages_.emplace_back();
    m.sequence = messages_.size();
    m.pdc = pds::PdcHandle(pdc);
    awaiting_.add(m);
    return m;
  }
  // The numbers of the messages that end with the PDC.
  std::string end(uint32_t pdc) {
    std::string out;
    while (TxMessage* const m = awaiting_.first(pds::PdcHandle(pdc))) {
      out += std::to_string(m->sequence);
      awaiting_.remove(*m);
    }
    return out;
  }

  Arena arena_;
  Awaiting awaiting_;
  std::deque<TxMessage> messages_;
};

// [SES-145] The end of a PDC concerns what waits for it, in the order in which it began to.
TEST_F(AwaitingTest, EndsWithItsPdc) {
  for (const uint32_t pdc : {1U, 2U, 1U, 3U, 1U}) wait(pdc);
  awaiting_.remove(messages_[2]);
  awaiting_.remove(messages_[2]);
  EXPECT_EQ(end(1), "15");
  EXPECT_EQ(end(1), "");
  EXPECT_EQ(end(3), "4");
  EXPECT_EQ(end(2), "2");
  wait(1);
  EXPECT_EQ(end(1), "6");
}

// [SES-145, T-02]
TEST_F(AwaitingTest, TheEndOfAPdcCostsOnlyItsOwnMessages) {
  uint64_t cost[2] = {0, 0};
  for (const bool is_many : {false, true}) {
    for (uint32_t pdc = 2; pdc < (is_many ? 800U : 12U); ++pdc) wait(pdc);
    wait(1);
    const auto counted = uet::test::instructions_of([&] { end(1); });
    if (!counted) GTEST_SKIP() << "instructions are counted on x86-64 only";
    cost[is_many] = *counted;
  }
  EXPECT_LE(cost[1], cost[0] + cost[0] / 4 + 200) << cost[0] << " among few";
}

}  // namespace
}  // namespace uet::ses::test
