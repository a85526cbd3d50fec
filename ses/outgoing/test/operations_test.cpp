// The records of operations: made, reported once, and freed. [SES-010, SES-075]
#include "ses/outgoing/operations.h"

#include "ses/outgoing/test/initiator.h"

namespace uet::ses::test {
namespace {

using State = TxMessage::State;

class OperationsTest : public InitiatorParts {
 protected:
  OperationsTest() : InitiatorParts(few()) {}
  static Config few() {
    Config c = small();
    c.operations = 2;
    c.rendezvous_reads = 2;
    c.restarts = 1;
    return c;
  }
  // A send that is posted and started, as far as these records are concerned.
  TxMessage& started(OpKind kind = OpKind::send) {
    TxMessage& m = **operations_.make(*ep_, remote(), memory(100), 0);
    m.kind = kind;
    m.opcode = wire::SesOpcode::send;
    operations_.enrol(*ep_, m);
    order_.post(m);
    EXPECT_TRUE(operations_.begin_attempt(m, kPdc));
    order_.start(m);
    pds_.take();
    return m;
  }
  void end(TxMessage& m, Completion::Status status) {
    operations_.report(m, status);
    order_.leave(m);
    operations_.free(m);
  }
};

// A record knows its peer's payload, its endpoint and its remote.
TEST_F(OperationsTest, ARecordIsMadeForItsRemote) {
  peers_[peer_].lower_payload(512);
  TxMessage& m = **operations_.make(*ep_, remote(), memory(100), 0);
  EXPECT_EQ(m.mtu, 512);
  EXPECT_EQ(m.segment_length, 100u);
  EXPECT_EQ(m.push_length, 100u);
  EXPECT_EQ(m.remote, &remote());
  EXPECT_EQ(m.job, kJob);
  EXPECT_EQ(operations_.find(pds::MessageHandle(m.handle)), &m);
  EXPECT_FALSE(operations_.is_empty());
  operations_.free(m);
  EXPECT_TRUE(operations_.is_empty());
}

// What the stack itself does for peers has room that users cannot take.
TEST_F(OperationsTest, TheStackHasRoomOfItsOwn) {
  TxMessage& first = started();
  EXPECT_TRUE(operations_.has_room());
  TxMessage& second = started();
  EXPECT_FALSE(operations_.has_room());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(operations_.make_internal(*ep_, remote(), {}).ok());
  EXPECT_EQ(operations_.make_internal(*ep_, remote(), {}).error(), Errc::again);
  end(first, Completion::Status::ok);
  end(second, Completion::Status::ok);
}

// A record that could not get its memory leaves nothing behind.
TEST_F(OperationsTest, WithoutMemoryThereIsNoRecord) {
  for (int i = 0; i < 10; ++i) {
    const IoSlice too_long{octets_.data(), kMaxMessageBytes + 1};
    EXPECT_EQ(operations_.make(*ep_, remote(), {&too_long, 1}, 0).error(), Errc::too_long);
  }
  EXPECT_TRUE(operations_.is_empty());
}

// [SES-010, SES-033] An attempt has an ID for as long as it lasts; datagrams and messages with a
// short header have none.
TEST_F(OperationsTest, AnAttemptHasAMessageId) {
  TxMessage& m = started();
  const MessageId id = m.id;
  EXPECT_EQ(res_.ids.holder(id), m.handle);
  operations_.end_attempt(m);
  EXPECT_EQ(res_.ids.holder(id), 0u);
  m.header = wire::NextHeader::medium;
  EXPECT_TRUE(operations_.begin_attempt(m, kPdc));
  EXPECT_EQ(m.id, MessageId(0));
  m.header = wire::NextHeader::standard;
  m.opcode = wire::SesOpcode::datagram_send;
  EXPECT_TRUE(operations_.begin_attempt(m, kPdc));
  EXPECT_EQ(m.id, MessageId(0));
  end(m, Completion::Status::ok);
}

// [SES-033] If all message IDs are taken, no message begins; when one is free, the flows that found
// none are asked again.
TEST_F(OperationsTest, WithoutAnIdNothingBegins) {
  TxMessage& m = started();
  TxMessage& waits = **operations_.make(*ep_, remote(), memory(1), 0);
  operations_.enrol(*ep_, waits);
  order_.post(waits);
  while (res_.ids.take(1) != MessageId(0)) {
  }
  EXPECT_FALSE(operations_.begin_attempt(waits, kPdc));
  EXPECT_EQ(waits.pdc, pds::PdcHandle(0));
  flows_.note_starved();
  pds_.take();
  operations_.end_attempt(m);
  EXPECT_EQ(pds_.take(), "ready 1");
  end(m, Completion::Status::ok);
  operations_.report(waits, Completion::Status::cancelled);
  order_.withdraw(waits);
  operations_.free(waits);
}

// [SES-075] A read keeps its PDC until it has ended; on RUDI it has no PDC.
TEST_F(OperationsTest, AReadGivesItsPdcBack) {
  TxMessage& m = started(OpKind::read);
  EXPECT_TRUE(m.owes_message_done);
  operations_.end_attempt(m);
  EXPECT_EQ(pds_.take(), "message_done");
  m.flow->mode = pds::Mode::rudi;
  EXPECT_TRUE(operations_.begin_attempt(m, kPdc));
  EXPECT_FALSE(m.owes_message_done);
  end(m, Completion::Status::ok);
}

// [SES-134] Each class of messages carries the last generation that was learnt for it.
TEST_F(OperationsTest, AnAttemptHasTheGenerationOfItsClass) {
  remote().generations = {4, 5};
  TxMessage& m = started(OpKind::tagged_send);
  EXPECT_EQ(m.ri_generation, 5);
  m.kind = OpKind::write;
  operations_.end_attempt(m);
  EXPECT_TRUE(operations_.begin_attempt(m, kPdc));
  EXPECT_EQ(m.ri_generation, 4);
  end(m, Completion::Status::ok);
}

// An operation is reported once, with what its user must know, and takes no more of its queue.
TEST_F(OperationsTest, TheUserIsToldOnce) {
  TxMessage& m = started(OpKind::tagged_send);
  m.match_bits = 0x99;
  m.context = {&m, 5};
  EXPECT_EQ(ep_->tx_open, 1u);
  operations_.report(m, Completion::Status::ok);
  EXPECT_EQ(m.state, State::ended);
  EXPECT_EQ(m.memory.bytes(), 0u);
  EXPECT_EQ(ep_->tx_open, 0u);
  order_.leave(m);
  operations_.free(m);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].bytes, 100u);
  EXPECT_EQ(done_[0].tag, 0x99u);
  EXPECT_EQ(done_[0].context.user, 5u);
  EXPECT_EQ(done_[0].peer, peer_);
  TxMessage& failed = started();
  failed.code = wire::ReturnCode::bad_mkey;
  end(failed, Completion::Status::refused);
  EXPECT_EQ(done_[1].bytes, 0u);
  EXPECT_EQ(done_[1].code, wire::ReturnCode::bad_mkey);
  EXPECT_EQ(res_.counters[Counter::tx_completed], 1u);
  EXPECT_EQ(res_.counters[Counter::tx_failed], 1u);
}

// Of operations of SES itself no user hears: their ends are asked for, the oldest first.
TEST_F(OperationsTest, EndsOfTheStacksOperationsAreKept) {
  for (const uint32_t pull : {7u, 8u}) {
    TxMessage& m = **operations_.make_internal(*ep_, remote(), memory(10));
    m.pull = pull;
    operations_.enrol(*ep_, m);
    operations_.report(m, Completion::Status::refused);
    operations_.free(m);
  }
  EXPECT_EQ(ep_->tx_open, 0u);
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_EQ(operations_.next_end()->pull, 7u);
  const auto second = operations_.next_end();
  EXPECT_EQ(second->pull, 8u);
  EXPECT_EQ(second->peer, peer_);
  EXPECT_FALSE(second->ok());
  EXPECT_FALSE(operations_.next_end());
}

// [PDS-119] Nothing of an attempt counts in the next one.
TEST_F(OperationsTest, AnAttemptIsForgotten) {
  TxMessage& m = started();
  m.next_offset = m.pulled_packets = m.answered_packets = m.failed_packets = m.data_bytes = 1;
  m.is_stopped = m.is_fully_pulled = m.has_semantic_answer = m.was_aborted = true;
  m.all_undelivered = false;
  m.code = wire::ReturnCode::no_match;
  operations_.forget_attempt(m);
  EXPECT_EQ(m.next_offset + m.pulled_packets + m.done_packets() + m.data_bytes, 0u);
  EXPECT_FALSE(m.is_stopped || m.is_fully_pulled || m.has_semantic_answer || m.was_aborted);
  EXPECT_TRUE(m.all_undelivered);
  EXPECT_EQ(m.code, wire::ReturnCode::null);
  EXPECT_EQ(m.pdc, pds::PdcHandle(0));
  EXPECT_EQ(m.id, MessageId(0));
  end(m, Completion::Status::ok);
}

}  // namespace
}  // namespace uet::ses::test
