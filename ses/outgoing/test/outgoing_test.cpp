// Operations from the post to the completion, with the answers that a test gives. [ses.md 4.1, 7]
#include "ses/outgoing/outgoing.h"

#include "ses/outgoing/test/initiator.h"
#include "wire/ses.h"

#include <array>
#include <vector>

namespace uet::ses::test {
namespace {

using uet::test::was_called;

class OutgoingPartTest : public InitiatorTest {
 protected:
  OutgoingPartTest() { EXPECT_TRUE(outgoing_.create(3).ok()); }
  Result<Taken> send(uint32_t bytes, uint32_t flags = 0) {
    const auto iov = memory(bytes);
    SendRequest request;
    request.to = to_peer();
    request.iov = iov;
    request.flags = flags;
    return outgoing_.posting().send(*ep_, request);
  }
  Result<Taken> read(uint32_t bytes) {
    const auto iov = memory(bytes);
    RmaRequest request;
    request.to = to_peer();
    request.read = true;
    request.iov = iov;
    request.key = 9;
    return outgoing_.posting().rma(*ep_, request);
  }
  // PDS takes the next message of the flow, and all its packets.
  std::vector<pds::PacketRef> pull(uint32_t flow = 1) {
    std::vector<pds::PacketRef> packets;
    pds::StartedMessage started;
    if (!outgoing_.start(pds::FlowId(flow), kPdc, started)) return packets;
    pds::PacketRef ref;
    while (outgoing_.pull(started.message, ref)) packets.push_back(ref);
    return packets;
  }
  void answer(const pds::PacketRef& ref) { outgoing_.on_responses({&ref, 1}, {}); }
  void answer_with(const pds::PacketRef& ref, wire::ReturnCode code, uint8_t generation = 0) {
    wire::Response h;
    h.ri_generation = generation;
    h.common.opcode = wire::ResponseOpcode::response;
    h.common.return_code = code;
    std::array<std::byte, 64> octets{};
    wire::Writer w(octets);
    h.emit(w);
    pds::RxResponse response;
    response.next_hdr = wire::NextHeader::response;
    response.ses = std::span(octets).first(w.position());
    outgoing_.on_responses({&ref, 1}, response);
  }
  wire::StandardRequest encoded(const pds::PacketRef& ref) {
    std::array<std::byte, 64> octets{};
    wire::Writer w(octets);
    TxBatch batch;
    batch.begin();
    outgoing_.encode(ref, w, batch);
    wire::Reader r(w.written());
    return wire::StandardRequest::read(r);
  }
  static pds::Failure lost(bool not_delivered) {
    return {pds::FailureReason::nack, wire::NackCode::pdc_mode_mismatch, not_delivered};
  }

  static constexpr pds::PdcHandle kPdc{5};

  MemoryRegions memory_;
  Outgoing outgoing_{res_, endpoints_, memory_};
};

// [SES-016] A message is cut into packets of the MTU. It is complete when all of them are answered.
TEST_F(OutgoingPartTest, AMessageIsCompleteWhenAllPacketsAreAnswered) {
  ASSERT_TRUE(send(2500).ok());
  EXPECT_EQ(pds_.take(), "ready 1");
  const auto packets = pull();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_TRUE(packets[0].som && packets[2].eom);
  EXPECT_FALSE(packets[1].som || packets[1].eom);
  EXPECT_EQ(packets[2].offset, 2048u);
  EXPECT_EQ(packets[2].length, 452u);
  for (const int i : {2, 0}) answer(packets[static_cast<size_t>(i)]);
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_FALSE(outgoing_.idle());
  answer(packets[1]);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].ok());
  EXPECT_EQ(done_[0].bytes, 2500u);
  EXPECT_TRUE(outgoing_.idle());
}

// [PDS-146] A packet is encoded again from the same record: the same octets.
TEST_F(OutgoingPartTest, APacketIsEncodedAgainWithTheSameOctets) {
  ASSERT_TRUE(send(2500).ok());
  const auto packets = pull();
  std::array<std::array<std::byte, 64>, 2> headers{};
  uint32_t payload = 0;
  TxBatch batch;
  for (auto& header : headers) {
    batch.clear();
    batch.begin();
    wire::Writer w(header);
    outgoing_.encode(packets[1], w, batch);
    batch.commit(0, {}, {}, 0, Ecn::not_ect);
    payload = batch.payload_bytes();
  }
  EXPECT_EQ(headers[0], headers[1]);
  EXPECT_EQ(payload, 1024u);
}

// [SES-015, PDS-146] Headers in the middle of a message are written from the one before, which may
// be of another message, or of an earlier attempt with another generation.
TEST_F(OutgoingPartTest, EachPacketHasTheHeaderOfItsOwnMessage) {
  ASSERT_TRUE(send(5000).ok() && send(4500).ok());
  auto first = pull(), second = pull();
  const auto check = [&](const pds::PacketRef& ref, uint32_t bytes, uint8_t generation) {
    const wire::StandardRequest h = encoded(ref);
    EXPECT_EQ(h.request_length, bytes);
    EXPECT_EQ(h.message_offset, ref.offset);
    EXPECT_EQ(h.payload_length, ref.som ? 0 : ref.length);
    EXPECT_EQ(h.common.som, ref.som);
    EXPECT_EQ(h.common.eom, ref.eom);
    EXPECT_EQ(h.common.ri_generation, generation);
  };
  for (const auto& ref : first) check(ref, 5000, 0);
  for (const auto& ref : second) check(ref, 4500, 0);
  for (const size_t i : {2u, 1u, 3u}) {
    check(first[i], 5000, 0);
    check(second[i], 4500, 0);
  }
  for (const auto& ref : second) answer_with(ref, wire::ReturnCode::bad_generation, 7);
  second = pull();
  ASSERT_EQ(second.size(), 5u);
  for (const auto& ref : second) check(ref, 4500, 7);
}

// [SES-049] Packets of a message that its user cancelled say so when they are sent again, though
// the header before was one of the same message.
TEST_F(OutgoingPartTest, APacketOfACancelledMessageSaysSoWhenItGoesAgain) {
  ASSERT_TRUE(send(5000).ok());
  pds::StartedMessage started;
  ASSERT_TRUE(outgoing_.start(pds::FlowId(1), kPdc, started));
  std::array<pds::PacketRef, 3> packets;
  for (pds::PacketRef& ref : packets) {
    ASSERT_TRUE(outgoing_.pull(started.message, ref));
    EXPECT_FALSE(encoded(ref).common.ie);
  }
  EXPECT_TRUE(outgoing_.cancel(*ep_, nullptr));
  const wire::StandardRequest again = encoded(packets[1]);
  EXPECT_TRUE(again.common.ie);
  EXPECT_EQ(again.message_offset, 1024u);
}

// [SES-142, PDS-092] Answers that come together complete a message like single ones.
TEST_F(OutgoingPartTest, AnswersThatComeTogetherCompleteAMessage) {
  ASSERT_TRUE(send(5000).ok());
  const auto packets = pull();
  const std::span all(packets);
  outgoing_.on_responses(all.first(3), {});
  EXPECT_EQ(done_.size(), 0u);
  outgoing_.on_responses(all.subspan(3), {});
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].ok());
  EXPECT_TRUE(outgoing_.idle());
}

// [SES-149, SES-152] An error of the target ends the operation with its code.
TEST_F(OutgoingPartTest, AnErrorOfTheTargetIsReported) {
  ASSERT_TRUE(send(100).ok());
  answer_with(pull().at(0), wire::ReturnCode::perm_violation);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::refused);
  EXPECT_EQ(done_[0].code, wire::ReturnCode::perm_violation);
}

// [SES-154] A target without a receive: the operation goes again after a while.
TEST_F(OutgoingPartTest, AMessageWithoutAReceiveGoesAgain) {
  ASSERT_TRUE(send(100).ok());
  answer_with(pull().at(0), wire::ReturnCode::no_match);
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_EQ(pull().size(), 0u) << "not yet";
  res_.now = res_.now + Duration::seconds(1);
  res_.timers.expire(res_.now, [&](TimerNode& node) { outgoing_.on_timer(node); });
  const auto again = pull();
  ASSERT_EQ(again.size(), 1u);
  answer(again[0]);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].ok());
}

// [SES-105] After an error no further packets are made but one that ends the message.
TEST_F(OutgoingPartTest, AMessageThatWasRefusedEndsWithAMessageError) {
  ASSERT_TRUE(send(2500).ok());
  pds::StartedMessage started;
  ASSERT_TRUE(outgoing_.start(pds::FlowId(1), kPdc, started));
  pds::PacketRef first, end, none;
  ASSERT_TRUE(outgoing_.pull(started.message, first));
  answer_with(first, wire::ReturnCode::perm_violation);
  ASSERT_TRUE(outgoing_.pull(started.message, end));
  EXPECT_TRUE(end.eom);
  EXPECT_EQ(end.length, 0u);
  EXPECT_FALSE(outgoing_.pull(started.message, none));
  EXPECT_EQ(done_.size(), 0u);
  answer(end);
  EXPECT_EQ(done_.size(), 1u);
}

// [PDS-119] Packets that were certainly not executed are sent again on another PDC; all others
// fail.
TEST_F(OutgoingPartTest, APacketThatWasNotExecutedGoesAgain) {
  ASSERT_TRUE(send(100).ok());
  outgoing_.on_failed(pull().at(0), lost(true));
  EXPECT_EQ(done_.size(), 0u);
  const auto again = pull();
  ASSERT_EQ(again.size(), 1u);
  outgoing_.on_failed(again[0], lost(false));
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::undeliverable);
}

// [LF-058] A message that has not begun is cancelled at once. One with packets out ends when these
// are answered, and its user hears at once.
TEST_F(OutgoingPartTest, ACancelledOperationIsReportedAtOnce) {
  ASSERT_TRUE(send(100).ok());
  EXPECT_TRUE(outgoing_.cancel(*ep_, nullptr));
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::cancelled);
  EXPECT_TRUE(outgoing_.idle());
  EXPECT_FALSE(outgoing_.cancel(*ep_, nullptr));
}

// [SES-075] A read is complete when its data is there, and it keeps its PDC until then.
TEST_F(OutgoingPartTest, AReadWaitsForItsData) {
  ASSERT_TRUE(read(500).ok());
  pds::StartedMessage started;
  ASSERT_TRUE(outgoing_.start(pds::FlowId(1), kPdc, started));
  EXPECT_TRUE(started.keep_pdc);
  pds::PacketRef ref;
  ASSERT_TRUE(outgoing_.pull(started.message, ref));
  EXPECT_TRUE(ref.asks);
  answer(ref);
  EXPECT_EQ(done_.size(), 0u);
  outgoing_.on_pdc_closed(kPdc);
  EXPECT_EQ(pull().size(), 1u) << "its data will not come, and it changes nothing to ask again";
  EXPECT_EQ(done_.size(), 0u);
}

// [SES-104] A datagram is one packet, whatever becomes of it.
TEST_F(OutgoingPartTest, ADatagramIsOnePacket) {
  use(pds::Mode::uud);
  EXPECT_EQ(send(1025).error(), Errc::too_long);
  ASSERT_TRUE(send(1024).ok());
  const auto packets = pull();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].next_hdr, wire::NextHeader::standard);
}

// [LF-158] An endpoint has at most tx_size operations at once; posting one more changes nothing.
TEST_F(OutgoingPartTest, AnEndpointHasALimitOfOperations) {
  ep_->options.tx_size = 2;
  EXPECT_TRUE(send(1).ok() && send(1).ok());
  EXPECT_EQ(send(1).error(), Errc::again);
  answer(pull().at(0));
  EXPECT_TRUE(send(1).ok());
}

// [SES-088] Long sends are offered to the rendezvous, short ones are not.
TEST_F(OutgoingPartTest, OnlyLongSendsAreOfferedToTheRendezvous) {
  res_.config.rendezvous_bytes = 2000;
  ASSERT_TRUE(send(1999).ok());
  EXPECT_FALSE(was_called("expose"));
  ASSERT_TRUE(send(2000).ok());
  EXPECT_TRUE(was_called("expose"));
}

// [LF-141] The route carries less: a message that has not begun is cut into shorter packets.
TEST_F(OutgoingPartTest, AMessageThatHasNotBegunFitsTheShorterRoute) {
  ASSERT_TRUE(send(2048).ok());
  peers_[peer_].lower_payload(512);
  outgoing_.on_path_lowered(peer_);
  EXPECT_EQ(pull().size(), 4u);
}

}  // namespace
}  // namespace uet::ses::test
