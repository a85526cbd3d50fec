// Multi-packet messages in progress: which state is kept of them, and for how long.
#include "ses/incoming/arriving_messages.h"

#include "ses/test/parts.h"

#include "base/test/instructions.h"

#include <initializer_list>
#include <string>

namespace uet::ses::test {
namespace {

class ArrivingMessagesTest : public PartTest {
 protected:
  ArrivingMessagesTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(arriving_.create(rng).ok());
  }
  Request packet(uint16_t id, uint32_t pdc = 1) const {
    Request q;
    q.peer = peer_;
    q.mode = pds::Mode::rud;
    q.token.pdc = pds::PdcHandle(pdc);
    q.id = MessageId(id);
    q.common.opcode = wire::SesOpcode::send;
    q.common.som = true;
    q.request_length = 3000;
    q.length = 1024;
    return q;
  }
  void elapse(Duration span) { res_.now = res_.now + span; }

  ArrivingMessages arriving_{res_};
};

// [SES-009]
TEST_F(ArrivingMessagesTest, MessageIsNamedByItsPdcAndItsId) {
  RxMessage* const m = arriving_.track(packet(5));
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(arriving_.find(packet(5)), m);
  EXPECT_EQ(arriving_.find(packet(6)), nullptr);
  EXPECT_EQ(arriving_.find(packet(5, /*pdc=*/2)), nullptr);
  arriving_.forget(*m);
  EXPECT_EQ(arriving_.find(packet(5)), nullptr);
  EXPECT_TRUE(arriving_.idle());
}

// [SES-118]
TEST_F(ArrivingMessagesTest, PeerLeavesAsMuchAsItTakes) {
  uint16_t taken = 0;
  while (arriving_.track(packet(static_cast<uint16_t>(taken + 1))) != nullptr) ++taken;
  EXPECT_EQ(taken, 8);  // of 16
  EXPECT_EQ(res_.counters[Counter::rx_peer_slots_used], 1);
}

// [SES-118, T-01] Messages of unproven peers leave a quarter of the places free.
TEST_F(ArrivingMessagesTest, UnconfirmedSourcesLeaveAQuarterOfThePlaces) {
  uint16_t taken = 0;
  Request q = packet(1);
  q.is_confirmed = false;
  for (const uint8_t host : std::initializer_list<uint8_t>{2, 3, 4}) {
    q.peer = another_peer(host);
    do {
      q.id = MessageId(++taken);
    } while (arriving_.track(q) != nullptr);
    --taken;
  }
  EXPECT_EQ(taken, 12);  // of 16
  EXPECT_NE(arriving_.track(packet(99)), nullptr);
}

// [SES-009] Its tables are small at first and grow with the tracked messages.
TEST_F(ArrivingMessagesTest, ManyMessagesAreFoundAgain) {
  res_.config.rx_messages = 1000;
  Rng rng(1, 1);
  ArrivingMessages arriving(res_);
  ASSERT_TRUE(arriving.create(rng).ok());
  for (uint16_t i = 1; i <= 500; ++i) ASSERT_NE(arriving.track(packet(i, /*pdc=*/i)), nullptr);
  for (uint16_t i = 1; i <= 500; ++i) {
    RxMessage* const m = arriving.find(packet(i, /*pdc=*/i));
    ASSERT_NE(m, nullptr);
    EXPECT_TRUE(arriving.has_open(pds::PdcHandle(i)));
    arriving.forget(*m);
    EXPECT_FALSE(arriving.has_open(pds::PdcHandle(i)));
  }
  EXPECT_TRUE(arriving.idle());
}

// [SES-108]
TEST_F(ArrivingMessagesTest, IdleMessageExpiresUnlessOurApplicationHoldsItUp) {
  arriving_.track(packet(5));
  RxMessage* const other = arriving_.track(packet(5, /*pdc=*/2));
  EXPECT_EQ(arriving_.next_deadline(), res_.now + res_.config.partial_message_time);
  elapse(res_.config.partial_message_time - Duration::nanoseconds(1));
  EXPECT_EQ(arriving_.next_expired(), nullptr);
  arriving_.note_held_up(pds::PdcHandle(1));
  elapse(Duration::nanoseconds(1));
  EXPECT_EQ(arriving_.next_expired(), other);
}

// [SES-108, SES-191, PDS-016] Another message began, and everything before that had arrived: no
// refused packet is in front of the rest of the first one, which cannot come any more.
TEST_F(ArrivingMessagesTest, MessageWhoseRestHasPassedIsNotHeldUp) {
  const auto first_at = [&](uint16_t id, uint32_t psn) {
    Request q = packet(id);
    q.token.psn = Psn(psn);
    return q;
  };
  RxMessage* const passed = arriving_.track(first_at(5, /*psn=*/UINT32_MAX));
  RxMessage* const next = arriving_.track(first_at(6, /*psn=*/4));
  arriving_.note_reached(first_at(6, 4).token);
  arriving_.note_reached({pds::PdcHandle(2), Psn(9)});  // of another PDC
  arriving_.note_owed(pds::PdcHandle(1));
  arriving_.note_held_up(pds::PdcHandle(1));
  elapse(res_.config.partial_message_time);
  EXPECT_EQ(arriving_.next_expired(), passed);
  arriving_.forget(*passed);
  EXPECT_EQ(arriving_.next_expired(), nullptr) << "nothing began after it";
  arriving_.note_reached(first_at(7, 5).token);
  elapse(res_.config.partial_message_time);
  EXPECT_EQ(arriving_.next_expired(), next);
}

// [SES-148, SES-191]
TEST_F(ArrivingMessagesTest, AnswerThatWaitsForAReceiveHoldsItsPdcUp) {
  RxMessage* const m = arriving_.track(packet(5));
  arriving_.note_owed(pds::PdcHandle(1));
  elapse(res_.config.partial_message_time);
  EXPECT_EQ(arriving_.next_expired(), nullptr);
  arriving_.note_answered(pds::PdcHandle(1));
  elapse(res_.config.partial_message_time - Duration::nanoseconds(1));
  EXPECT_EQ(arriving_.next_expired(), nullptr);
  elapse(Duration::nanoseconds(1));
  EXPECT_EQ(arriving_.next_expired(), m);
}

// [SES-107, SES-108, SES-191] If the only place were free, the message that takes it would push the
// refused one out, and the last packet of that one would begin a message.
TEST_F(ArrivingMessagesTest, RefusedMessageIsHeldUpLikeAnyOther) {
  RxMessage* const m = arriving_.track(packet(5));
  arriving_.set_error(*m, wire::ReturnCode::no_match);
  arriving_.note_owed(pds::PdcHandle(1));
  elapse(res_.config.partial_message_time);
  EXPECT_EQ(arriving_.next_expired(), nullptr);
  arriving_.note_answered(pds::PdcHandle(1));
  elapse(res_.config.partial_message_time);
  EXPECT_EQ(arriving_.next_expired(), m);
}

// [SES-107]
TEST_F(ArrivingMessagesTest, MessageThatWasGivenUpStaysKnownWithoutAPlace) {
  RxMessage* const m = arriving_.track(packet(5));
  arriving_.set_error(*m, wire::ReturnCode::undeliverable);
  arriving_.give_up(*m);
  EXPECT_TRUE(arriving_.idle());
  EXPECT_FALSE(arriving_.has_open(pds::PdcHandle(1)));
  Request later = packet(5);
  later.common.som = false;
  EXPECT_EQ(arriving_.find(later), m);
  arriving_.close_pdc(pds::PdcHandle(1), [](RxMessage&) { ADD_FAILURE() << "it was given up"; });
  EXPECT_EQ(arriving_.find(later), nullptr);
}

// [SES-107] The messages of a PDC end with it, and no others, in the order in which they began.
TEST_F(ArrivingMessagesTest, MessagesEndWithTheirPdc) {
  for (const uint16_t id : std::initializer_list<uint16_t>{3, 1, 4, 2}) {
    ASSERT_NE(arriving_.track(packet(id)), nullptr);
  }
  ASSERT_NE(arriving_.track(packet(1, /*pdc=*/2)), nullptr);
  arriving_.forget(*arriving_.find(packet(4)));
  std::string ended;
  arriving_.close_pdc(pds::PdcHandle(1),
                      [&](const RxMessage& m) { ended += std::to_string(m.key.id.value()); });
  EXPECT_EQ(ended, "312");
  EXPECT_EQ(arriving_.find(packet(1)), nullptr);
  EXPECT_NE(arriving_.find(packet(1, /*pdc=*/2)), nullptr);
  EXPECT_FALSE(arriving_.has_open(pds::PdcHandle(1)));
  EXPECT_TRUE(arriving_.has_open(pds::PdcHandle(2)));
}

// [SES-107, T-02] What the end of a PDC costs does not depend on the messages of others.
TEST_F(ArrivingMessagesTest, TheEndOfAPdcCostsItsOwnMessages) {
  uint64_t cost[2] = {0, 0};
  for (const bool is_many : {false, true}) {
    res_.config.rx_messages = 2000;
    Rng rng(1, 1);
    ArrivingMessages arriving(res_);
    ASSERT_TRUE(arriving.create(rng).ok());
    const uint16_t others = is_many ? 900 : 10;
    const auto other = [&](uint16_t i) {  // two of each PDC
      return packet(static_cast<uint16_t>(i + 1), /*pdc=*/2u + i / 2);
    };
    for (uint16_t i = 0; i < others; ++i) {
      RxMessage* const m = arriving.track(other(i));
      ASSERT_NE(m, nullptr);
      if (i % 2 != 0) continue;
      arriving.set_error(*m, wire::ReturnCode::undeliverable);
      arriving.give_up(*m);
    }
    ASSERT_NE(arriving.track(packet(1)), nullptr);
    const auto counted = uet::test::instructions_of(
        [&] { arriving.close_pdc(pds::PdcHandle(1), [](RxMessage&) {}); });
    if (!counted) GTEST_SKIP() << "instructions are counted on x86-64 only";
    cost[is_many] = *counted;
    for (uint16_t i = 0; i < others; ++i) {
      arriving.forget(*arriving.find_any(other(i)));
    }
  }
  EXPECT_LE(cost[1], 2 * cost[0]) << "a walk over 900 others costs far more";
}

// [SES-105]
TEST_F(ArrivingMessagesTest, MessageEndsWhereItsSenderSaysThatNoMoreComes) {
  RxMessage* const m = arriving_.track(packet(5));
  arriving_.note(*m, packet(5));
  arriving_.end_at(*m, 2048);
  EXPECT_EQ(arriving_.find(packet(5)), m);  // a packet is still under way
  arriving_.count_last(*m, 1024);
  EXPECT_EQ(arriving_.find(packet(5)), nullptr);
}

}  // namespace
}  // namespace uet::ses::test
