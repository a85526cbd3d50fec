// Deferrable sends, as they arrive: deferred, or placed when they come again. [ses.md 4.5]
#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

using uet::test::Calls;
using uet::test::calls_of;
using uet::test::was_called;

class DeferrableSendsTest : public SendsTest {
 protected:
  DeferrableSendsTest() {
    answers().deferred = &record_of_it_;
    record_of_it_.message = &record_;
    record_of_it_.key.token = 0x11;
  }
  Request part(uint32_t message, uint32_t offset, uint32_t length) const {
    Request q = packet(message, offset, length, wire::SesOpcode::deferrable_send);
    q.buffer_offset = wire::RestartTokens{0x11, 0}.pack();
    return q;
  }
  // The answer that defers: RESPONSE OK of the overflow list and no octet. [SES-095, SES-147]
  static bool must_wait(const pds::Verdict& v) {
    return said(v) == "OK" && response_of(v).common.list == wire::ListCode::overflow &&
           response_of(v).modified_length == 0 &&
           response_of(v).common.opcode == wire::ResponseOpcode::response;
  }

  DeferredMessage record_of_it_;
};

// [SES-094] A deferrable send with a receive is placed like a plain send.
TEST_F(DeferrableSendsTest, WithAReceiveItIsAPlainSend) {
  post_receive(1000);
  EXPECT_EQ(said(give(part(500, 0, 500))), "accept");
  EXPECT_EQ(calls_of("complete"), Calls{"complete 500"});
}

// [SES-095, SES-127] Without a receive it is deferred, each time that it comes.
TEST_F(DeferrableSendsTest, WithoutAReceiveItMustWait) {
  EXPECT_TRUE(must_wait(give(part(500, 0, 500))));
  EXPECT_TRUE(must_wait(give(part(500, 0, 500))));
  EXPECT_EQ(calls_of("note_heard").size(), 2u);
  EXPECT_EQ(res_.counters[Counter::rx_deferred], 2u);
  EXPECT_EQ(calls_of("store"), Calls{});
}

// [SES-095] Any answer may arrive first, so each packet gets that one.
TEST_F(DeferrableSendsTest, EachOfItsPacketsIsTold) {
  EXPECT_TRUE(must_wait(give(part(2500, 0, 1024))));
  EXPECT_TRUE(must_wait(give(part(2500, 1024, 1024))));
  EXPECT_TRUE(must_wait(give(part(2500, 2048, 452))));
  EXPECT_TRUE(arriving_.idle());
}

// [SES-096, SES-100, SES-127] Without room to remember it, or on ROD, the answer is that no receive
// matched.
TEST_F(DeferrableSendsTest, WhatCannotBeRememberedFindsNoMatch) {
  answers().may_remember = false;
  EXPECT_EQ(said(give(part(2500, 0, 1024))), "NO_MATCH");
  answers().may_remember = true;
  Request in_order = part(500, 0, 500);
  in_order.mode = pds::Mode::rod;
  EXPECT_EQ(said(give(in_order)), "nack NO_RESOURCE");
  EXPECT_FALSE(answers().is_deferred);
}

// [SES-097] Its initiator sends no more of it, but for a packet that says so.
TEST_F(DeferrableSendsTest, APacketEndsWhatMustWait) {
  give(part(2500, 0, 1024));
  RxMessage& m = *arriving_.find(part(2500, 1024, 1024));
  EXPECT_TRUE(must_wait(sends_.on_deferral_end(m, part(2500, 1024, 0))));
  EXPECT_TRUE(arriving_.idle());
}

// [SES-097, SES-106] The end of a deferral ends a message once, and only its own.
TEST_F(DeferrableSendsTest, AnEndThatDoesNotFitIsRefused) {
  give(part(2500, 0, 1024));
  RxMessage& m = *arriving_.find(part(2500, 1024, 1024));
  Request other = part(2500, 1024, 0);
  other.common.opcode = wire::SesOpcode::deferrable_tsend;
  EXPECT_EQ(said(sends_.on_deferral_end(m, other)), "OP_VIOLATION");
  EXPECT_EQ(res_.counters[Counter::rx_msg_error_misused], 1u);
}

// [SES-099] When the send comes again it takes the receive that was set aside for it, and no other.
TEST_F(DeferrableSendsTest, ItComesAgainForItsReceive) {
  answers().is_deferred = true;
  receive_.memory.assign(IoSlice{octets_.data(), 1000});
  record_of_it_.receive = &receive_;
  record_of_it_.room = 400;
  EXPECT_EQ(response_of(give(part(500, 0, 500))).modified_length, 400u);
  EXPECT_TRUE(was_called("forget deferred"));
  EXPECT_EQ(octets_[399], std::byte{0xAB});
  EXPECT_EQ(octets_[400], std::byte{0});
  EXPECT_EQ(res_.counters[Counter::rx_restarted], 1u);
}

// [SES-138] It is too long for the receive that was set aside for it.
TEST_F(DeferrableSendsTest, ARestartedSendThatDoesNotFitIsRefused) {
  answers().is_deferred = true;
  ep_->options.reject_truncated = true;
  record_of_it_.receive = &receive_;
  record_of_it_.room = 400;
  EXPECT_EQ(said(give(part(500, 0, 500))), "TOO_LONG");
  EXPECT_TRUE(was_called("give_up"));
}

// [LF-059] The application has discarded the message: it is accepted, and its octets are dropped.
TEST_F(DeferrableSendsTest, ARestartedSendThatWasDiscardedIsDropped) {
  answers().is_deferred = true;
  record_of_it_.receive = nullptr;
  record_of_it_.is_discarded = true;
  EXPECT_EQ(said(give(part(2500, 0, 1024))), "accept");
  EXPECT_EQ(said(give(part(2500, 1024, 1024))), "accept");
  EXPECT_EQ(said(give(part(2500, 2048, 452))), "accept");
  EXPECT_EQ(calls_of("complete"), Calls{});
  EXPECT_EQ(octets_[0], std::byte{0});
}

// Another message under the token: the first one will not come. [SES-099]
TEST_F(DeferrableSendsTest, AnotherMessageUnderTheTokenReplacesTheFirst) {
  answers().is_deferred = true;
  record_of_it_.key.token = 0x12;  // so it is not the same
  EXPECT_TRUE(must_wait(give(part(500, 0, 500))));
  EXPECT_TRUE(was_called("give_up"));
}

}  // namespace
}  // namespace uet::ses::test
