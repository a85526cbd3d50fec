// Answers to READs on their way back. [SES-074, T-39]
#include "ses/incoming/read_answers.h"

#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

using Sent = ReadAnswers::Sent;
using wire::ReturnCode;

class ReadAnswersTest : public TargetTest {
 protected:
  // Octets [100, 100 + length) of the region, for the packet at that offset of a read of 3000.
  ReturnMessage answer(uint16_t length = 500) const {
    ReturnMessage back = answer_to(packet(3000, 1024, length, wire::SesOpcode::read), length);
    back.region = region_;
    back.region_offset = 100;
    return back;
  }
  pds::MessageHandle sent(const ReturnMessage& back) {
    EXPECT_EQ(read_answers_.send(kPdc, back), Sent::sent);
    return pds_.returned;
  }
  // The header of the packet, and its payload.
  wire::ResponseData encoded(pds::MessageHandle handle) {
    pds::PacketRef ref;
    ref.message = handle;
    batch_.clear();
    batch_.begin();
    wire::Writer w(header_);
    read_answers_.encode(ref, w, batch_);
    batch_.commit(0, {}, {}, 0, Ecn::not_ect);
    wire::Reader r(header_);
    return wire::ResponseData::read(r);
  }

  std::array<std::byte, 64> header_{};
  TxBatch batch_;
};

// [SES-144, SES-146, SES-147] It names its read, and its octets are those of the region.
TEST_F(ReadAnswersTest, AnAnswerNamesItsRead) {
  const pds::MessageHandle handle = sent(answer());
  EXPECT_TRUE(ReadAnswers::is_one(handle));
  pds::PacketRef ref;
  ASSERT_TRUE(read_answers_.pull(handle, ref));
  EXPECT_TRUE(ref.som && ref.eom);
  EXPECT_EQ(ref.length, 500);
  EXPECT_FALSE(read_answers_.pull(handle, ref)) << "one packet";
  const wire::ResponseData h = encoded(handle);
  EXPECT_EQ(h.common.return_code, ReturnCode::ok);
  EXPECT_EQ(h.read_request_message_id, MessageId(0x55));
  EXPECT_EQ(res_.ids.holder(h.response_message_id), handle.value());
  EXPECT_EQ(h.job_id, kJob);
  EXPECT_EQ(h.payload_length, 500);
  EXPECT_EQ(h.modified_length, 3000u);
  EXPECT_EQ(h.message_offset, 1024u);
  EXPECT_EQ(batch_.packets()[0].slices[0].data, memory_.data() + 100);
  EXPECT_EQ(read_answers_.end(handle).length, 500);
  EXPECT_EQ(res_.ids.holder(h.response_message_id), 0u);
  EXPECT_TRUE(read_answers_.idle());
}

// [WIRE-078] The answer to a short request names it by its PSN.
TEST_F(ReadAnswersTest, AShortRequestIsNamedByItsPsn) {
  Request q = packet(3000, 1024, 500, wire::SesOpcode::read);
  q.header = wire::NextHeader::medium;
  ReturnMessage back = answer_to(q, 500);
  back.region = region_;
  const pds::MessageHandle handle = sent(back);
  encoded(handle);
  wire::Reader r(header_);
  EXPECT_EQ(wire::ResponseDataSmall::read(r).original_request_psn, Psn(100));
  read_answers_.end(handle);
}

// [SES-175, SES-163, SES-157, LF-141] Each encoding of an answer looks up the memory. If it cannot
// be sent, the answer is an error without octets.
TEST_F(ReadAnswersTest, UnreadableMemoryIsAnErrorWithoutOctets) {
  const auto code = [&](const pds::MessageHandle handle) {
    const wire::ResponseData h = encoded(handle);
    if (h.common.return_code != ReturnCode::ok) {
      EXPECT_EQ(h.payload_length + h.modified_length, 0u);
      EXPECT_EQ(batch_.payload_bytes(), 0u);
    }
    return h.common.return_code;
  };
  const pds::MessageHandle first = sent(answer()), second = sent(answer()), third = sent(answer());
  read_answers_.on_unreadable(first);
  EXPECT_EQ(code(first), ReturnCode::host_unsuccess_cmpl);
  pds::PacketRef ref;
  ASSERT_TRUE(read_answers_.pull(second, ref));
  const AnswerEnd cut = read_answers_.cut(second);
  EXPECT_TRUE(cut.is_unsure) << "it has left, so it may have arrived";
  EXPECT_FALSE(cut.has_data);
  EXPECT_EQ(cut.end, 600u);
  EXPECT_EQ(code(second), ReturnCode::unsupported_size);
  EXPECT_EQ(code(third), ReturnCode::ok);
  regions_.remove(region_);
  EXPECT_EQ(code(third), ReturnCode::bad_mkey);
  for (const pds::MessageHandle handle : {first, second, third}) read_answers_.end(handle);
}

// [LF-141] The route carries less: longer ones that PDS does not have yet are cut.
TEST_F(ReadAnswersTest, LongerAnswersAreCut) {
  const pds::MessageHandle pulled = sent(answer(500)), longer = sent(answer(500)),
                           shorter = sent(answer(400));
  pds::PacketRef ref;
  ASSERT_TRUE(read_answers_.pull(pulled, ref));
  int cuts = 0;
  read_answers_.cut_longer(peer_, 400, [&](const AnswerEnd& end) {
    ++cuts;
    EXPECT_FALSE(end.is_unsure);
  });
  EXPECT_EQ(cuts, 1);
  EXPECT_EQ(encoded(longer).common.return_code, ReturnCode::unsupported_size);
  for (const pds::MessageHandle handle : {pulled, longer, shorter}) read_answers_.end(handle);
}

// [T-39] The octets on their way to a peer are limited; a single answer of any length may go.
TEST_F(ReadAnswersTest, APeerHasAQuota) {
  res_.config.read_quota_bytes = 999;
  const pds::MessageHandle first = sent(answer(1000));
  EXPECT_EQ(read_answers_.send(kPdc, answer(1)), Sent::no_slot);
  EXPECT_EQ(res_.counters[Counter::read_quota], 1u);
  read_answers_.end(first);
  sent(answer(499));
  const pds::MessageHandle second = pds_.returned;
  sent(answer(500));
  EXPECT_EQ(read_answers_.send(kPdc, answer(1)), Sent::no_slot);
  read_answers_.end(second);
  read_answers_.end(pds_.returned);
  EXPECT_EQ(peers_[peer_].answers + peers_[peer_].answer_bytes, 0u);
}

// [SES-033] If its PDC is gone, or no message ID is free, the answer leaves no state.
TEST_F(ReadAnswersTest, WhatCannotGoLeavesNothing) {
  pds_.has_pdc = false;
  EXPECT_EQ(read_answers_.send(kPdc, answer()), Sent::pdc_gone);
  pds_.has_pdc = true;
  while (res_.ids.take(1) != MessageId(0)) {
  }
  EXPECT_EQ(read_answers_.send(kPdc, answer()), Sent::no_slot);
  EXPECT_TRUE(read_answers_.idle());
  EXPECT_EQ(peers_[peer_].answers, 0u);
}

// [SES-077] On RUDI no PDC keeps the peer known, and no ID names the answer.
TEST_F(ReadAnswersTest, AHeldAnswerKeepsItsPeer) {
  const uint32_t refs = peers_[peer_].refs;
  const pds::MessageHandle handle = read_answers_.hold(answer());
  EXPECT_EQ(peers_[peer_].refs, refs + 1);
  EXPECT_EQ(encoded(handle).response_message_id, MessageId(0));
  read_answers_.end(handle);
  EXPECT_EQ(peers_[peer_].refs, refs);
  read_answers_.end(handle);
  EXPECT_EQ(res_.counters[Counter::rx_response_stray], 1u);
}

}  // namespace
}  // namespace uet::ses::test
