// What follows when an attempt to send is over. [ses.md 7]
#include "ses/outgoing/settling.h"

#include "ses/outgoing/test/initiator.h"

namespace uet::ses::test {
namespace {

using State = TxMessage::State;
using Status = Completion::Status;
using wire::ReturnCode;

class SettlingTest : public InitiatorParts {
 protected:
  // An operation with `packets` packets in flight. Here SES pulls them by itself.
  TxMessage& sent(OpKind kind = OpKind::send, uint32_t packets = 1) {
    TxMessage& m = **operations_.make(*ep_, remote(), memory(packets * 1024), 0);
    m.kind = kind;
    m.opcode = kind == OpKind::read ? wire::SesOpcode::read : wire::SesOpcode::send;
    operations_.enrol(*ep_, m);
    order_.post(m);
    start(m);
    return m;
  }
  void start(TxMessage& m) {
    ASSERT_TRUE(operations_.begin_attempt(m, kPdc));
    order_.start(m);
    m.pulled_packets = (m.segment_length + m.mtu - 1) / m.mtu;
    m.is_fully_pulled = true;
    m.announced = 0;
  }
  void answer(TxMessage& m, const Answer& a = {}) {
    ++m.answered_packets;
    settling_.note_answer(m, a);
    settling_.settle(m);
  }
  void refuse(TxMessage& m, ReturnCode code, uint8_t generation = 0) {
    Answer a;
    a.kind = Answer::Kind::error;
    a.code = code;
    a.ri_generation = generation;
    answer(m, a);
  }
  void fail(TxMessage& m, const pds::Failure& failure) {
    settling_.note_failure(m, failure);
    ++m.failed_packets;
    settling_.settle(m);
  }
  void pass(Duration time) {
    elapse(time, [&](TimerNode& node) {
      if (node.kind() == Remote::kRemoteTimer) return order_.on_timer(remote());
      settling_.on_timer(owner_of(node, &TxMessage::timer));
    });
  }
  // How the only operation ended; ok, if it has not.
  Status end() const { return done_.empty() ? Status::ok : done_.back().status; }
  static pds::Failure closed(bool not_delivered) {
    return {pds::FailureReason::closed, wire::NackCode::closing_in_err, not_delivered};
  }
};

// [SES-149] All packets are answered, and one answer said OK.
TEST_F(SettlingTest, AMessageIsOverWhenAllItsPacketsAreAnswered) {
  TxMessage& m = sent(OpKind::send, 2);
  answer(m);
  EXPECT_EQ(done_.size(), 0u);
  answer(m);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].ok());
  EXPECT_TRUE(operations_.is_empty());
  EXPECT_TRUE(remote().is_idle());
}

// [SES-149, SES-075] A read ends when its data is there. Without data it fails after
// retry_patience.
TEST_F(SettlingTest, AReadWaitsForItsData) {
  TxMessage& m = sent(OpKind::read);
  answer(m);
  EXPECT_EQ(done_.size(), 0u);
  pass(res_.config.retry_patience + Duration::microseconds(2));
  EXPECT_EQ(end(), Status::undeliverable);
  EXPECT_EQ(done_[0].failure.reason, pds::FailureReason::timeout);
}

// [SES-145] The answer comes later, if it does.
TEST_F(SettlingTest, AnAnswerToComeIsWaitedFor) {
  TxMessage& m = sent();
  Answer later;
  later.kind = Answer::Kind::none;
  answer(m, later);
  pass(res_.config.retry_patience * 4);
  EXPECT_EQ(done_.size(), 0u);
  settling_.note_answer(m, {});
  settling_.settle(m);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].ok());
  TxMessage& in_vain = sent();
  answer(in_vain, later);
  pass(res_.config.retry_patience * 5 + Duration::microseconds(2));
  EXPECT_EQ(end(), Status::undeliverable);
}

// [SES-145, PDS-119] No answer comes on a PDC that has closed; it concerns what waits for that PDC.
TEST_F(SettlingTest, WithItsPdcEndsWhatWaits) {
  TxMessage& m = sent();
  TxMessage& out = sent();
  Answer later;
  later.kind = Answer::Kind::none;
  answer(m, later);
  settling_.on_pdc_closed(pds::PdcHandle(6));
  EXPECT_EQ(done_.size(), 0u);
  settling_.on_pdc_closed(kPdc);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(end(), Status::undeliverable) << "it may have been executed";
  EXPECT_EQ(out.state, State::started);
  answer(out);
}

// [SES-152, SES-154, SES-155, SES-180] These codes pass; with all others the operation is over.
TEST_F(SettlingTest, FourCodesAreTriedAgain) {
  for (unsigned code = 2; code <= 0x24; ++code) {
    const auto c = static_cast<ReturnCode>(code);
    const bool passes = c == ReturnCode::bad_generation || c == ReturnCode::disabled_gen ||
                        c == ReturnCode::no_match || c == ReturnCode::uncor_trnsnt;
    TxMessage& m = sent();
    done_.clear();
    refuse(m, c);
    EXPECT_EQ(done_.empty(), passes) << code;
    if (!passes) {
      EXPECT_EQ(done_.at(0).code, c);
      continue;
    }
    EXPECT_EQ(m.state, c == ReturnCode::bad_generation ? State::queued : State::waiting) << code;
    settling_.stop(m, Status::cancelled);
  }
}

// [SES-134, SES-152] The value that came goes with the next attempt, at once, and with all later
// messages of the class.
TEST_F(SettlingTest, ANewGenerationIsKept) {
  TxMessage& m = sent();
  refuse(m, ReturnCode::bad_generation, 7);
  EXPECT_EQ(m.state, State::queued);
  start(m);
  EXPECT_EQ(m.ri_generation, 7);
  EXPECT_EQ(remote().generations[1], 0);
  answer(m);
  EXPECT_EQ(sent(OpKind::write).ri_generation, 7);
  EXPECT_EQ(sent(OpKind::tagged_send).ri_generation, 0);
}

// [SES-105] The first error counts, and nothing more of the message is sent.
TEST_F(SettlingTest, TheFirstErrorCounts) {
  TxMessage& m = sent(OpKind::send, 2);
  m.is_fully_pulled = false;
  refuse(m, ReturnCode::perm_violation);
  EXPECT_TRUE(m.is_stopped);
  m.is_fully_pulled = true;
  refuse(m, ReturnCode::no_match);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].code, ReturnCode::perm_violation);
}

// [SES-135] A refused message waits, longer each time, up to a cap.
TEST_F(SettlingTest, TheDelayGrows) {
  TxMessage& m = sent();
  const Config& c = res_.config;
  for (int i = 0; i < 4; ++i) {
    refuse(m, ReturnCode::no_match);
    const Duration delay = m.timer.deadline() - res_.now;
    EXPECT_GE(delay, std::min(c.retry_time_min * (1 << i), c.retry_time_cap)) << i;
    EXPECT_LE(delay,
              std::min(c.retry_time_max * (1 << i), c.retry_time_cap) + Duration::microseconds(2))
        << i;
    pass(delay);
    ASSERT_EQ(m.state, State::queued);
    start(m);
  }
  answer(m);
}

// [SES-191] Only a refusal that no application can end is given up.
TEST_F(SettlingTest, PatienceEndsWithRefusalsThatNothingCanEnd) {
  const Duration patience = res_.config.retry_patience * 5;
  TxMessage& m = sent();
  refuse(m, ReturnCode::uncor_trnsnt);
  pass(patience - Duration::seconds(1));
  start(m);
  refuse(m, ReturnCode::no_match);  // the target lives
  pass(Duration::seconds(2));
  start(m);
  refuse(m, ReturnCode::uncor_trnsnt);
  EXPECT_EQ(done_.size(), 0u);
  pass(patience);
  start(m);
  refuse(m, ReturnCode::uncor_trnsnt);
  EXPECT_EQ(end(), Status::refused);
}

// [PDS-119, PDS-149, PDS-190] What was certainly not executed goes again, and so does a read.
TEST_F(SettlingTest, WhatWasNotExecutedGoesAgain) {
  const auto goes_again = [&](OpKind kind, const pds::Failure& failure, bool has_answer) {
    done_.clear();
    TxMessage& m = sent(kind, 2);
    has_answer ? answer(m) : fail(m, failure);
    fail(m, failure);
    if (!done_.empty()) return false;
    settling_.stop(m, Status::cancelled);
    return true;
  };
  EXPECT_TRUE(goes_again(OpKind::send, closed(true), false));
  EXPECT_FALSE(goes_again(OpKind::send, closed(false), false));
  EXPECT_FALSE(goes_again(OpKind::send, closed(true), true)) << "a part of it was";
  EXPECT_FALSE(goes_again(OpKind::fetching_atomic, closed(false), false));
  EXPECT_TRUE(goes_again(OpKind::read, closed(false), true));
  const pds::Failure lost{pds::FailureReason::nack, wire::NackCode::inv_dpdcid, true};
  EXPECT_TRUE(goes_again(OpKind::send, lost, true)) << "and is gone with the peer's PDC";
  const pds::Failure silent{pds::FailureReason::timeout, {}, true};
  EXPECT_FALSE(goes_again(OpKind::read, silent, false));
}

// [SES-141] On RUDI each packet has had its only answer.
TEST_F(SettlingTest, OnRudiNoSecondAnswerComes) {
  TxMessage& m = sent(OpKind::read);
  m.flow->mode = pds::Mode::rudi;
  answer(m);
  EXPECT_EQ(end(), Status::undeliverable);
}

// [LF-131] A read of several messages: the next one begins where the last one ended.
TEST_F(SettlingTest, TheNextPartOfAReadFollows) {
  TxMessage& m = sent(OpKind::read, 3);
  m.segment_length = 2048;
  m.data_bytes = 2048;
  m.answered_packets = m.pulled_packets;
  m.has_semantic_answer = true;
  settling_.settle(m);
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_EQ(m.state, State::queued);
  EXPECT_EQ(m.segment_start, 2048u);
  EXPECT_EQ(m.segment_length, 1024u);
  EXPECT_EQ(m.data_bytes, 0u);
}

// [SES-157, LF-131] A peer that cannot answer with that much data is asked for less at a time.
TEST_F(SettlingTest, AReadThatIsTooLargeAsksForLess) {
  res_.config.payload_mtu = 4096;
  TxMessage& m = sent(OpKind::read, 4);
  ASSERT_EQ(m.mtu, 4096);
  refuse(m, ReturnCode::unsupported_size);
  EXPECT_EQ(m.state, State::queued);
  EXPECT_EQ(m.segment_length, 2048u);
  EXPECT_EQ(res_.payload_toward(peer_), 2048);
  TxMessage& write = sent(OpKind::write, 1);
  refuse(write, ReturnCode::unsupported_size);
  EXPECT_EQ(end(), Status::refused);
}

// [SES-095, SES-097, SES-101] The rest of a deferred send is not sent. It is sent again as a whole.
TEST_F(SettlingTest, ADeferredSendWaits) {
  Deferral deferral;
  TxMessage& m = sent(OpKind::send, 2);
  m.deferral = &deferral;
  m.is_fully_pulled = false;
  Answer waits;
  waits.is_default = false;
  waits.list = wire::ListCode::overflow;
  answer(m, waits);
  EXPECT_TRUE(m.is_stopped);
  m.is_fully_pulled = true;
  answer(m);
  EXPECT_EQ(m.state, State::deferred);
  pass(res_.config.deferral_time + Duration::microseconds(2));
  EXPECT_EQ(m.state, State::queued);
  EXPECT_EQ(done_.size(), 0u);
}

// [LF-058] The user hears at once. Packets that are out are answered yet.
TEST_F(SettlingTest, AStoppedOperationIsReportedAtOnce) {
  TxMessage& m = sent();
  settling_.stop(m, Status::cancelled);
  EXPECT_EQ(end(), Status::cancelled);
  EXPECT_FALSE(operations_.is_empty());
  answer(m);
  EXPECT_TRUE(operations_.is_empty());
  EXPECT_EQ(done_.size(), 1u);
}

// [LF-141] Before it begins, a message takes what the route carries; a datagram cannot be cut.
TEST_F(SettlingTest, AMessageFitsTheRoute) {
  TxMessage& m = sent(OpKind::send, 2);
  refuse(m, ReturnCode::no_match);
  m.header = wire::NextHeader::medium;
  peers_[peer_].lower_payload(512);
  settling_.fit(m);
  EXPECT_EQ(m.mtu, 512);
  EXPECT_EQ(m.header, wire::NextHeader::standard);
  m.opcode = wire::SesOpcode::datagram_send;
  peers_[peer_].lower_payload(256);
  settling_.fit(m);
  EXPECT_EQ(done_.at(0).failure.reason, pds::FailureReason::too_long);
}

}  // namespace
}  // namespace uet::ses::test
