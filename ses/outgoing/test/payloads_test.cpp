// Payloads that are copied when they are posted. [LF-075, LF-136]
#include "ses/outgoing/payloads.h"

#include "ses/outgoing/test/initiator.h"

#include <deque>

namespace uet::ses::test {
namespace {

class PayloadsTest : public InitiatorTest {
 protected:
  PayloadsTest() { EXPECT_TRUE(payloads_.create(Room{2, 2}, 1).ok()); }
  ~PayloadsTest() override {
    for (TxMessage& m : messages_) payloads_.give_back(m);
  }
  TxMessage& make() {
    TxMessage& m = messages_.emplace_back();
    m.endpoint = ep_->id;
    return m;
  }
  Result<void> take(TxMessage& m, uint64_t bytes, uint32_t flags) {
    const IoSlice slice{octets_.data(), bytes};
    return payloads_.take(*ep_, m, {&slice, 1}, flags);
  }
  static const std::byte* place(const TxMessage& m) { return m.memory[0].data; }

  Payloads payloads_{res_, endpoints_};
  std::deque<TxMessage> messages_;
};

// Without a flag the user's memory is sent.
TEST_F(PayloadsTest, UsuallyNothingIsCopied) {
  TxMessage& m = make();
  ASSERT_TRUE(take(m, 5000, 0).ok());
  EXPECT_EQ(place(m), octets_.data());
  EXPECT_EQ(payloads_.tally().now, 0u);
}

// [LF-075] The user may write to its memory at once.
TEST_F(PayloadsTest, AnInjectedPayloadIsACopy) {
  TxMessage& m = make();
  octets_[99] = std::byte{7};
  ASSERT_TRUE(take(m, 100, kOpInject).ok());
  octets_[99] = std::byte{8};
  EXPECT_EQ(m.memory.bytes(), 100u);
  EXPECT_EQ(place(m)[99], std::byte{7});
  EXPECT_FALSE(m.is_retained);
  EXPECT_EQ(payloads_.tally().bytes, 100u);
  payloads_.give_back(m);
  EXPECT_EQ(payloads_.tally().now, 0u);
  EXPECT_EQ(payloads_.tally().bytes, 0u);
  EXPECT_EQ(payloads_.tally().bytes_high, 100u);
  EXPECT_EQ(m.memory.bytes(), 0u);
}

// [LF-075] Short copies have room for each operation, long ones for few; longer ones are refused.
TEST_F(PayloadsTest, LongCopiesAreFew) {
  TxMessage& m = make();
  EXPECT_EQ(take(m, kInjectBytes + 1, kOpInject).error(), Errc::too_long);
  EXPECT_EQ(m.memory.bytes(), 0u);
  ASSERT_TRUE(take(m, kInjectBytes, kOpInject).ok());
  TxMessage& other = make();
  EXPECT_EQ(take(other, kAtomicBytesMax + 1, kOpInject).error(), Errc::again);
  ASSERT_TRUE(take(other, kAtomicBytesMax, kOpInject).ok());
  EXPECT_EQ(payloads_.tally().now, 2u);
  payloads_.give_back(m);
  EXPECT_TRUE(take(make(), kAtomicBytesMax + 1, kOpInject).ok());
}

// [LF-136] A payload that is copied before its time; a longer one goes from the user's memory.
TEST_F(PayloadsTest, ShortPayloadsAreRetained) {
  for (const uint32_t bytes : {1u, kAtomicBytesMax + 1, kRetainBytes}) {
    TxMessage& m = make();
    ASSERT_TRUE(take(m, bytes, kOpRetain).ok());
    EXPECT_TRUE(m.is_retained) << bytes;
    EXPECT_NE(place(m), octets_.data());
    payloads_.give_back(m);
  }
  TxMessage& longer = make();
  ASSERT_TRUE(take(longer, kRetainBytes + 1, kOpRetain).ok());
  EXPECT_FALSE(longer.is_retained);
  EXPECT_EQ(place(longer), octets_.data());
  EXPECT_EQ(res_.counters[Counter::tx_retained], 3u);
}

// [LF-136] One that its target will read waits in the user's memory, as does one without room.
TEST_F(PayloadsTest, WhatCannotBeRetainedStaysWithTheUser) {
  res_.config.rendezvous_bytes = 1000;
  TxMessage& exposed = make();
  ASSERT_TRUE(take(exposed, 1000, kOpRetain).ok());
  EXPECT_FALSE(exposed.is_retained);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(take(make(), 10, kOpRetain).ok());
  TxMessage& third = make();
  ASSERT_TRUE(take(third, 10, kOpRetain).ok());
  EXPECT_FALSE(third.is_retained);
  EXPECT_EQ(res_.counters[Counter::tx_retain_no_room], 1u);
}

// [SES-030] The request length has 32 bits.
TEST_F(PayloadsTest, AMessageHasAGreatestLength) {
  TxMessage& m = make();
  EXPECT_EQ(take(m, kMaxMessageBytes + 1, 0).error(), Errc::too_long);
  EXPECT_EQ(m.memory.bytes(), 0u);
  EXPECT_TRUE(take(m, kMaxMessageBytes, 0).ok());
}

}  // namespace
}  // namespace uet::ses::test
