// Answers that refuse, and what is remembered of a refused message. [ses.md 7.1]
#include "ses/incoming/refusals.h"

#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

using wire::ReturnCode;

class RefusalsTest : public TargetTest {
 protected:
  std::string refuse(const Request& q, ReturnCode code) {
    return said(refusals_.refuse(q, code, Counter::rx_bad_pid));
  }
};

// [SES-143] Of a message of one packet nothing remains.
TEST_F(RefusalsTest, AMessageOfOnePacketIsAnsweredOnly) {
  EXPECT_EQ(refuse(whole(100), ReturnCode::bad_pid), "BAD_PID");
  EXPECT_EQ(res_.counters[Counter::rx_bad_pid], 1u);
  EXPECT_TRUE(arriving_.idle());
}

// [SES-107] Each packet of a refused message gets the same answer. With the last one it is gone.
TEST_F(RefusalsTest, EachPacketOfAMessageGetsItsCode) {
  EXPECT_EQ(refuse(packet(2500, 0, 1024), ReturnCode::bad_pid), "BAD_PID");
  RxMessage* const m = arriving_.find(packet(2500, 1024, 1024));
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(said(refusals_.repeat(*m, packet(2500, 2048, 452))), "BAD_PID");
  EXPECT_EQ(said(refusals_.repeat(*m, packet(2500, 1024, 1024))), "BAD_PID");
  EXPECT_EQ(res_.counters[Counter::rx_repeated_error], 2u);
  EXPECT_TRUE(arriving_.idle());
}

// [SES-134] The present generation comes with BAD_GENERATION, that of the request with all others.
TEST_F(RefusalsTest, OnlyAnOldGenerationIsToldTheNewOne) {
  refusals_.refuse(packet(2500, 0, 1024), ReturnCode::bad_generation, Counter::rx_bad_generation,
                   9);
  RxMessage& m = *arriving_.find(packet(2500, 1024, 1024));
  EXPECT_EQ(response_of(Refusals::stored(m, packet(2500, 1024, 1024))).ri_generation, 9);
  m.error = ReturnCode::bad_pid;
  EXPECT_EQ(response_of(Refusals::stored(m, packet(2500, 1024, 1024))).ri_generation, 3);
}

// [SES-118] No record is free: the initiator tries again, and nothing was refused for good.
TEST_F(RefusalsTest, WithoutARecordTheInitiatorTriesAgain) {
  Request other = packet(2500, 0, 1024);
  do {
    other.id = MessageId(static_cast<uint16_t>(other.id.value() + 1));
  } while (arriving_.track(other) != nullptr);
  EXPECT_EQ(refuse(packet(2500, 0, 1024), ReturnCode::bad_pid), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(res_.counters[Counter::rx_bad_pid], 0u);
  EXPECT_EQ(res_.counters[Counter::rx_no_message_slot], 1u);
}

// [SES-116, SES-170, SES-171, SES-175, SES-176] Why a region was not found.
TEST_F(RefusalsTest, EachReasonOfARegionHasItsCounter) {
  const auto counter = [&](ReturnCode code, Counter why) {
    EXPECT_EQ(said(refusals_.refuse_key(whole(8), code)), wire::name(code));
    return res_.counters[why];
  };
  EXPECT_EQ(counter(ReturnCode::perm_violation, Counter::rx_no_permission), 1u);
  EXPECT_EQ(counter(ReturnCode::op_violation, Counter::rx_wrong_access), 1u);
  EXPECT_EQ(counter(ReturnCode::bad_addr, Counter::rx_bad_address), 1u);
  EXPECT_EQ(counter(ReturnCode::bad_mkey, Counter::rx_bad_key), 1u);
}

// [PDS-112, SES-191] Our application is late: no message of the PDC expires meanwhile. [SES-108]
TEST_F(RefusalsTest, WhileTheApplicationIsLateNothingExpires) {
  arriving_.track(packet(2500, 0, 1024));
  res_.now = res_.now + res_.config.partial_message_time;
  EXPECT_EQ(said(refusals_.wait_for_application(packet(2500, 1024, 1024))), "nack NO_RESOURCE");
  EXPECT_EQ(arriving_.next_expired(), nullptr);
  res_.now = res_.now + res_.config.partial_message_time;
  EXPECT_NE(arriving_.next_expired(), nullptr);
}

}  // namespace
}  // namespace uet::ses::test
