// How a close goes on, from either side. [PDS 5, 15]
#include "pds/pdc/close_steps.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class CloseStepsPartTest : public AllParts {
 protected:
  void receive(Pdc& pdc, int offset) { pdc.rx.accept(res_.rx_pool, kFirst + offset, false); }
  // A Close command has come, as the PSN at that distance.
  void receive_close(Pdc& pdc, int offset) {
    receive(pdc, offset);
    pdc.life.change(PdcEvent::close_held);
    pdc.end.close_at_psn(kFirst + offset);
  }
  Inbound close_command(int offset) const {
    Inbound in;
    in.is_control = true;
    in.ctl_type = wire::CtlType::close_cmd;
    in.trigger.psn = kFirst + offset;
    return in;
  }
  const Tombstone* grave() const { return table_.find_tombstone(peer_, kPeerId, kFirst); }
};

// [PDS-170] A target sends its Close Request once.
TEST_F(CloseStepsPartTest, ATargetAsksOnce) {
  Pdc& pdc = target();
  closing_.ask_close(pdc, kNow);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(steps_.progress_close(pdc, batch_, kNow));
  EXPECT_EQ(count_of("send Close Request"), 1u);
}

// [PDS-I12, PDS-I13, PDS-171] The Close command goes when all is sent and all is answered.
TEST_F(CloseStepsPartTest, TheCloseCommandFollowsTheLastAnswer) {
  Pdc& pdc = initiator();
  pdc.messages.start(kMessage, true);
  send(pdc, 1);
  closing_.begin_close(pdc);
  steps_.progress_close(pdc, batch_, kNow);
  EXPECT_EQ(pdc.state(), PdcState::quiesce) << "a message is being sent";
  pdc.messages.finish();
  steps_.progress_close(pdc, batch_, kNow);
  EXPECT_EQ(pdc.state(), PdcState::quiesce) << "it waits for return data";
  pdc.messages.note_done();
  steps_.progress_close(pdc, batch_, kNow);
  EXPECT_EQ(pdc.state(), PdcState::ack_wait);
  EXPECT_TRUE(was_called("ask_for_quiet")) << "every answer is needed";
  EXPECT_FALSE(was_called("send Close command"));
  slot(pdc, 0).state.land();
  context_.on_forgotten(pdc, slot(pdc, 0).bytes);
  pdc.tx.complete(kFirst);
  answers().may_send_close = false;
  steps_.progress_close(pdc, batch_, kNow);
  EXPECT_EQ(pdc.state(), PdcState::ack_wait) << "the batch is full";
  answers().may_send_close = true;
  steps_.progress_close(pdc, batch_, kNow);
  EXPECT_EQ(pdc.state(), PdcState::close_ack_wait);
}

// [PDS-I14, PDS-053] The answer of the Close command ends the PDC, and may say where the next one
// begins.
TEST_F(CloseStepsPartTest, AnAnsweredCloseEndsThePdc) {
  Pdc& pdc = held(initiator());
  for (const PdcEvent event :
       {PdcEvent::close_wanted, PdcEvent::messages_sent, PdcEvent::all_answered}) {
    pdc.life.change(event);
  }
  steps_.on_close_answered(pdc, {}, kNow);
  EXPECT_TRUE(was_called("learn_start"));
  EXPECT_EQ(client_.closed, std::vector<bool>{true});
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(grave(), nullptr);
}

// [PDS-I19] The same after a failure, which was no clean end.
TEST_F(CloseStepsPartTest, AnAnsweredCloseAfterAFailureIsNotClean) {
  Pdc& pdc = held(initiator());
  pdc.life.change(PdcEvent::failed);
  steps_.on_close_answered(pdc, {}, kNow);
  EXPECT_EQ(client_.closed, std::vector<bool>{false});
}

// [PDS-T13, PDS-177] A received Close is obeyed when all lower PSNs are there. Its ACK names its
// PSN, and a tombstone stays.
TEST_F(CloseStepsPartTest, AReceivedCloseWaitsForTheGapsBelowIt) {
  Pdc& pdc = held(target());
  receive_close(pdc, 1);
  EXPECT_FALSE(steps_.finish_received_close(pdc, kNow));
  EXPECT_EQ(calls_of("ack"), Calls{});
  receive(pdc, 0);
  EXPECT_TRUE(steps_.finish_received_close(pdc, kNow));
  EXPECT_EQ(calls_of("ack"), Calls{"ack 1001"});
  EXPECT_EQ(client_.closed, std::vector<bool>{true});
  ASSERT_NE(grave(), nullptr);
  EXPECT_EQ(grave()->close_psn, kFirst + 1);
  EXPECT_EQ(grave()->until, kNow + res_.config.tombstone_time);
}

// [PDS-T15] Packets of ROD that wait for their turn are below the Close as well.
TEST_F(CloseStepsPartTest, AReceivedCloseWaitsForPacketsOutOfOrder) {
  Pdc& pdc = held(target(Mode::rod));
  receive(pdc, 0);
  receive_close(pdc, 1);
  ReorderedPacket packet;
  packet.trigger.psn = kFirst;
  pdc.order.keep(packet);
  EXPECT_FALSE(steps_.finish_received_close(pdc, kNow));
}

// [PDS-T14] Return packets are owed: the peer hears that it closed too early.
TEST_F(CloseStepsPartTest, ACloseOverReturnDataEndsInError) {
  Pdc& pdc = held(target());
  send(pdc, 1);
  receive_close(pdc, 0);
  EXPECT_TRUE(steps_.finish_received_close(pdc, kNow));
  EXPECT_EQ(calls_of("nack"), Calls{"nack CLOSING_IN_ERR psn 1000"});
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_EQ(client_.closed, std::vector<bool>{false});
}

// [PDS-176] Without a tombstone a late copy could execute again: the Close waits for one.
TEST_F(CloseStepsPartTest, ACloseWaitsForATombstone) {
  for (int i = 0; i < 4; ++i) {
    Pdc& pdc = held(target());
    pdc.peer_id = Pdcid(static_cast<uint16_t>(100 + i));
    receive_close(pdc, 0);
    EXPECT_TRUE(steps_.finish_received_close(pdc, kNow));
  }
  Pdc& pdc = held(target());
  receive_close(pdc, 0);
  EXPECT_FALSE(steps_.finish_received_close(pdc, kNow));
  EXPECT_EQ(counted(Count::close_waits), 1u);
  table_.expire_tombstones(kNow + res_.config.tombstone_time);
  EXPECT_TRUE(steps_.finish_received_close(pdc, kNow));
}

// [PDS-T14] The peer has the return data most likely, and its ACK was lost: it is asked, once.
TEST_F(CloseStepsPartTest, ACloseThatComesBeforeTheLastAckAsksForIt) {
  Pdc& pdc = target();
  EXPECT_FALSE(steps_.is_close_early(pdc, close_command(0), kNow)) << "nothing is owed";
  send(pdc, 2);
  EXPECT_FALSE(steps_.is_close_early(pdc, close_command(1), kNow)) << "a gap lies before it";
  EXPECT_TRUE(steps_.is_close_early(pdc, close_command(0), kNow));
  EXPECT_EQ(calls_of("ask_for"), Calls{"ask_for 1001"});
  slot(pdc, 1).state.note_asked();
  EXPECT_TRUE(steps_.is_close_early(pdc, close_command(0), kNow));
  EXPECT_EQ(count_of("ask_for 1001"), 1u);
  res_.config.patience = Patience::retries;
  EXPECT_FALSE(steps_.is_close_early(pdc, close_command(0), kNow)) << "row T14 without exception";
}

// [PDS-T12] The peer does not close: the target ends in error, but not while it owes an answer, and
// not before a slow peer had its time.
TEST_F(CloseStepsPartTest, ACloseRequestExpires) {
  Pdc& pdc = held(target());
  closing_.ask_close(pdc, kNow);
  EXPECT_FALSE(steps_.close_request_expired(pdc, kNow + res_.config.close_req));
  const Instant late = kNow + res_.config.peer_timeout;
  StoredResponse owed;
  owed.trigger.psn = kFirst;
  pdc.responses.add(owed);
  EXPECT_FALSE(steps_.close_request_expired(pdc, late));
  pdc.responses.drop(owed);
  static_cast<ListNode<StoredTag>&>(owed).unlink();
  EXPECT_TRUE(steps_.close_request_expired(pdc, late));
  EXPECT_EQ(calls_of("nack"), Calls{"nack CLOSING_IN_ERR psn 1000"});
  EXPECT_EQ(table_.size(), 0u);
}

// [PDS-120] The peer has closed it, and all that was sent is answered.
TEST_F(CloseStepsPartTest, ADrainedTargetGoes) {
  Pdc& pdc = held(target());
  pdc.life.change(PdcEvent::peer_done);
  EXPECT_FALSE(steps_.progress_close(pdc, batch_, kNow));
  EXPECT_EQ(table_.size(), 0u);
}

}  // namespace
}  // namespace uet::pds::part
