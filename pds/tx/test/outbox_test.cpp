// New packets, resends and control packets of one PDC, as they stand in the batch. [PDS 6, 12, 13]
#include "pds/tx/outbox.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class OutboxPartTest : public AllParts {
 protected:
  // An initiator in the midst of a message with `packets` packets left.
  Pdc& sender(uint32_t packets, Mode mode = Mode::rud) {
    Pdc& pdc = initiator(mode);
    pdc.messages.start(kMessage, false);
    client_.packets = packets;
    return pdc;
  }
  Turn turn(Pdc& pdc) {
    batch_.clear();
    return outbox_.take_turn(pdc, batch_, kNow);
  }
  wire::Request request(uint32_t at) const {
    const TxPacket& packet = batch_.packets()[at];
    wire::Reader in({packet.header, packet.header_bytes});
    return wire::Request::read(in);
  }
  wire::Control control(uint32_t at) const {
    const TxPacket& packet = batch_.packets()[at];
    wire::Reader in({packet.header, packet.header_bytes});
    return *wire::Control::parse(in);
  }
  // The requests of the batch by their distance from the first PSN, with RETX and AR.
  std::string sent() const {
    std::string all;
    for (uint32_t i = 0; i < batch_.size(); ++i) {
      const wire::Request h = request(i);
      if (i > 0) all += ", ";
      all += '+' + std::to_string(h.psn - kFirst) + (h.retx ? " retx" : "") + (h.ar ? " ar" : "");
    }
    return all;
  }
};

// [PDS-064] The packet that ends a message asks for an ACK; those before it do not.
TEST_F(OutboxPartTest, TheLastPacketOfAMessageAsksForAnAck) {
  Pdc& pdc = sender(3);
  turn(pdc);
  EXPECT_EQ(sent(), "+0, +1, +2 ar");
  EXPECT_FALSE(pdc.messages.has_current());
  EXPECT_EQ(request(1).dpdcid, kPeerId);
  EXPECT_EQ(request(1).spdcid, pdc.id);
  EXPECT_EQ(batch_.packets()[1].payload_bytes, client_.payload_bytes);
}

// [PDS-064] A few messages that no operation waits for go without AR, and then one asks for all.
TEST_F(OutboxPartTest, TheWindowOfThePathAsksWhenItIsNearlyFull) {
  Pdc& pdc = sender(3);
  res_.config.tx_window_packets = 2;
  turn(pdc);
  EXPECT_EQ(sent(), "+0, +1 ar") << "its ACK lets the next one go";
}

// [PDS-040] Until the peer has answered, each packet may be the one that opens its end.
TEST_F(OutboxPartTest, EachPacketInSynSaysWhereThePsnsBegin) {
  Pdc& pdc = in_syn();
  pdc.messages.start(kMessage, false);
  client_.packets = 3;
  turn(pdc);
  ASSERT_EQ(batch_.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(request(i).syn);
    EXPECT_EQ(request(i).psn_offset, i);
    EXPECT_EQ(request(i).start_psn(), kFirst);
  }
}

// [PDS-147] What is lost goes first, and new packets wait for the next turn.
TEST_F(OutboxPartTest, LostPacketsGoBeforeNewOnes) {
  Pdc& pdc = sender(2);
  turn(pdc);
  client_.packets = 1;
  pdc.messages.start(kMessage, false);
  loss_.mark_lost(pdc, kFirst, slot(pdc, 0), cms::LossKind::timeout, Count::retx_rto, kNow);
  turn(pdc);
  EXPECT_EQ(sent(), "+0 retx ar");
  EXPECT_EQ(lost(pdc), "");
  turn(pdc);
  EXPECT_EQ(sent(), "+2 ar");
}

// [PDS-146] A resend has the octets of the first transmission.
TEST_F(OutboxPartTest, AResendIsEncodedFromTheRecordOfItsPacket) {
  Pdc& pdc = sender(2);
  turn(pdc);
  const auto ses_of = [&](uint32_t at) {
    const TxPacket& packet = batch_.packets()[at];
    return std::vector<std::byte>(packet.header + wire::Request::kSize,
                                  packet.header + packet.header_bytes);
  };
  const auto first = ses_of(1);
  ASSERT_EQ(first.size(), 8u);
  loss_.mark_lost(pdc, kFirst + 1, slot(pdc, 1), cms::LossKind::timeout, Count::retx_rto, kNow);
  turn(pdc);
  EXPECT_EQ(sent(), "+1 retx ar");
  EXPECT_EQ(ses_of(0), first);
  EXPECT_EQ(client_.pulled, 2u) << "nothing was pulled for it";
}

// [PDS-063] The mode of a PDC is the type of its requests.
TEST_F(OutboxPartTest, ARequestHasTheTypeOfItsMode) {
  turn(sender(1, Mode::rud));
  EXPECT_EQ(request(0).type, wire::PdsType::rud_request);
  turn(sender(1, Mode::rod));
  EXPECT_EQ(request(0).type, wire::PdsType::rod_request);
}

// [PDS-102] A request clears all that is answered below it, and nothing above; a resend clears what
// is answered by then.
TEST_F(OutboxPartTest, ARequestClearsUpToTheLastAnsweredPacket) {
  Pdc& pdc = sender(3);
  turn(pdc);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(request(i).clear_psn(), kFirst - 1) << i;
  pdc.tx.complete(kFirst);
  pdc.tx.complete(kFirst + 2);
  loss_.mark_lost(pdc, kFirst + 1, slot(pdc, 1), cms::LossKind::timeout, Count::retx_rto, kNow);
  turn(pdc);
  ASSERT_EQ(sent(), "+1 retx ar");
  EXPECT_EQ(request(0).clear_psn(), kFirst) << "+1 has no answer yet";
}

// [PDS-244] A turn ends with a burst, however much there is to send.
TEST_F(OutboxPartTest, ATurnIsOneBurst) {
  res_.config.packets_per_entropy = 2;
  Pdc& pdc = sender(6);
  EXPECT_TRUE(turn(pdc).has_sent);
  EXPECT_EQ(sent(), "+0, +1");
  EXPECT_TRUE(was_called("want_send")) << "the rest waits for another turn";
  turn(pdc);
  EXPECT_EQ(sent(), "+2, +3");
}

// [PDS-147] The window of the context holds resends back, too.
TEST_F(OutboxPartTest, AFullPathBlocksNewPacketsAndResends) {
  Pdc& pdc = sender(1);
  turn(pdc);
  loss_.mark_lost(pdc, kFirst, slot(pdc, 0), cms::LossKind::timeout, Count::retx_rto, kNow);
  context_.ccc.on_sent({.bytes = 64 * kPacketBytes, .at = kNow});
  const Turn blocked = turn(pdc);
  EXPECT_EQ(blocked.end, Step::blocked);
  EXPECT_FALSE(blocked.has_sent);
  EXPECT_EQ(lost(pdc), "+0");
  context_.ccc.on_forgotten(64 * kPacketBytes);
  turn(pdc);
  EXPECT_EQ(sent(), "+0 retx ar");
}

// [PDS-035] No more PSNs than the peer tracks are outstanding.
TEST_F(OutboxPartTest, NothingNewGoesBeyondTheRangeOfThePeer) {
  Pdc& pdc = sender(PeerRange::kUnit + 5);
  pdc.range.on_refused();
  for (int i = 0; i < 20; ++i) turn(pdc);
  EXPECT_EQ(pdc.tx.size(), PeerRange::kUnit);
  EXPECT_EQ(turn(pdc).end, Step::idle);
}

// [PDS-015] A PDC takes its next message from its flow when it has pulled the last one.
TEST_F(OutboxPartTest, TheNextMessageComesFromTheFlow) {
  Pdc& pdc = initiator();
  EXPECT_FALSE(outbox_.next_message(pdc, kNow)) << "the flow has none";
  flow_.ready = true;
  client_.waiting = 1;
  EXPECT_TRUE(outbox_.next_message(pdc, kNow));
  EXPECT_EQ(pdc.messages.current(), MessageHandle(1));
  EXPECT_FALSE(flow_.ready) << "the client said that nothing waits behind it";
  EXPECT_TRUE(outbox_.next_message(pdc, kNow));
  EXPECT_EQ(client_.started, 1u);
}

// [PDS-I10] A PDC that closes takes no more messages.
TEST_F(OutboxPartTest, AClosingPdcTakesNoMessage) {
  Pdc& pdc = initiator();
  flow_.ready = true;
  client_.waiting = 1;
  pdc.life.change(PdcEvent::close_wanted);
  EXPECT_FALSE(outbox_.next_message(pdc, kNow));
  EXPECT_EQ(client_.started, 0u);
}

// [PDS-036] The PSNs come to an end: the PDC closes while its message has enough of them left.
TEST_F(OutboxPartTest, APdcThatHasUsedItsPsnsCloses) {
  Pdc& pdc = sender(4);
  res_.config.psn_range_packets = 2u * pdc.range.packets() + 2;
  res_.config.packets_per_entropy = 2;
  turn(pdc);
  EXPECT_FALSE(was_called("begin_close"));
  turn(pdc);
  EXPECT_TRUE(was_called("begin_close"));
}

// [PDS-104] The target waits for a clear, and no request carries it.
TEST_F(OutboxPartTest, AClearCommandNamesTheLastAnsweredPacket) {
  Pdc& pdc = sender(2);
  turn(pdc);
  batch_.clear();
  pdc.tx.complete(kFirst);
  pdc.clearing.want_now();
  EXPECT_TRUE(outbox_.flush_control(pdc, batch_, kNow));
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(control(0).ctl_type, wire::CtlType::clear_cmd);
  EXPECT_EQ(control(0).payload, kFirst.value());
  EXPECT_FALSE(pdc.clearing.is_due());
}

// [PDS-L6] A packet that arrived and was not answered is asked for, without its data.
TEST_F(OutboxPartTest, AnAckRequestNamesThePacket) {
  Pdc& pdc = sender(2);
  turn(pdc);
  batch_.clear();
  loss_.ask_for(pdc, kFirst + 1, slot(pdc, 1));
  EXPECT_TRUE(outbox_.flush_ack_requests(pdc, batch_, kNow));
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(control(0).ctl_type, wire::CtlType::ack_req);
  EXPECT_EQ(control(0).psn, kFirst + 1);
  EXPECT_TRUE(control(0).ar);
  EXPECT_FALSE(pdc.losses.has_asked());
}

// [PDS-252] A packet that may not go to an unproven source counts as lost.
TEST_F(OutboxPartTest, NoControlPacketGoesToAnUnprovenSourceWithoutOctets) {
  Pdc& pdc = target(Mode::rud, false);
  wire::Control h;
  h.ctl_type = wire::CtlType::noop;
  answers().may_spend = false;
  EXPECT_FALSE(outbox_.emit_control(pdc, h, Entropy(1), batch_));
  EXPECT_TRUE(batch_.empty());
  answers().may_spend = true;
  EXPECT_TRUE(outbox_.emit_control(pdc, h, Entropy(1), batch_));
  EXPECT_EQ(batch_.packets()[0].dscp, res_.config.control_dscp);
}

// [PDS-172] A Close command takes a PSN, and is outstanding like a packet with data.
TEST_F(OutboxPartTest, ACloseCommandTakesAPsn) {
  Pdc& pdc = initiator();
  EXPECT_TRUE(outbox_.send_closing_packet(pdc, SlotKind::close_cmd, batch_, kNow));
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(control(0).ctl_type, wire::CtlType::close_cmd);
  EXPECT_EQ(control(0).psn, kFirst);
  EXPECT_EQ(pdc.tx.size(), 1u);
  EXPECT_EQ(pdc.end.psn(), kFirst);
  EXPECT_TRUE(slot(pdc, 0).state.in_flight());
}

}  // namespace
}  // namespace uet::pds::part
