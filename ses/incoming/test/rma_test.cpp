// WRITE and READ at the target, packet by packet. [ses.md 4.2]
#include "ses/incoming/rma.h"

#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

using uet::test::Calls;
using uet::test::calls_of;
using uet::test::was_called;
using wire::SesOpcode;

class RmaTest : public TargetParts {
 protected:
  RmaTest() { memory_.fill(std::byte{0xCD}); }
  Request write(uint32_t message, uint32_t offset, uint32_t length) const {
    return packet(message, offset, length, SesOpcode::write);
  }
  Request read(uint32_t message, uint32_t offset, uint32_t length) const {
    return packet(message, offset, length, SesOpcode::read);
  }
  std::string give(const Request& q) {
    RxMessage* const known = q.is_single() || !q.has_pdc() ? nullptr : arriving_.find(q);
    const bool is_read = q.common.opcode == SesOpcode::read;
    if (known != nullptr) {
      verdict_ =
          is_read ? rma_.continue_read(*known, *ep_, q) : rma_.continue_write(*known, *ep_, q);
    } else {
      verdict_ = is_read ? rma_.begin_read(*ep_, q) : rma_.begin_write(*ep_, q);
    }
    return said(verdict_);
  }

  pds::Verdict verdict_;
};

// [SES-018, SES-023] Each packet goes to its place in the region, counted from where the message
// begins.
TEST_F(RmaTest, AWriteIsPlacedPacketByPacket) {
  Request q = whole(500, SesOpcode::write);
  q.buffer_offset = 100;
  EXPECT_EQ(give(q), "accept");
  for (const uint32_t offset : {1024u, 0u}) {
    Request part = write(1500, offset, offset == 0 ? 1024 : 476);
    part.buffer_offset = 100;
    EXPECT_EQ(give(part), "accept");
  }
  EXPECT_EQ(calls_of("place"),
            (Calls{"place 500 at 100", "place 476 at 1124", "place 1024 at 100"}));
  EXPECT_TRUE(arriving_.idle());
}

// [SES-116, SES-083, SES-077] The whole message must fit, whichever packet comes first.
TEST_F(RmaTest, TheWholeMessageIsAuthorized) {
  Request q = write(1500, 1024, 476);
  q.buffer_offset = 100;
  give(q);
  EXPECT_EQ(answers().use.access, kRemoteWrite);
  EXPECT_EQ(answers().use.offset, 100u);
  EXPECT_EQ(answers().use.length, 1500u);
  EXPECT_FALSE(answers().use.replayable);
  Request replayed = whole(8, SesOpcode::read);
  replayed.mode = pds::Mode::rudi;
  give(replayed);
  EXPECT_EQ(answers().use.access, kRemoteRead);
  EXPECT_TRUE(answers().use.replayable);
  answers().is_region_good = false;
  EXPECT_EQ(give(whole(8, SesOpcode::write)), "BAD_MKEY");
}

// [SES-008] The key of a small header is its index.
TEST_F(RmaTest, ASmallHeaderHasAnIndex) {
  Request q = whole(8, SesOpcode::write);
  q.header = wire::NextHeader::small;
  q.common.resource_index = ResourceIndex(9);
  EXPECT_EQ(give(q), "accept");
  EXPECT_TRUE(was_called("optimized key 9"));
}

// [SES-073] With CQ data the last octet waits for room for the completion, which is reported once.
TEST_F(RmaTest, AWriteWithDataWaitsForItsCompletion) {
  Request first = write(1500, 0, 1024);
  first.has_data = true;
  first.header_data = 7;
  has_room_ = false;
  EXPECT_EQ(give(write(1500, 1024, 476)), "accept");
  EXPECT_EQ(give(first), "nack NO_RESOURCE");
  EXPECT_EQ(calls_of("place").size(), 1u);
  has_room_ = true;
  EXPECT_EQ(give(first), "accept");
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].data, 7u);
  EXPECT_TRUE(arriving_.idle());
}

// [SES-077] On RUDI nothing is tracked: each packet is placed by itself.
TEST_F(RmaTest, OnRudiNothingIsTracked) {
  Request q = write(1500, 0, 1024);
  q.mode = pds::Mode::rudi;
  EXPECT_EQ(give(q), "accept");
  EXPECT_TRUE(arriving_.idle());
  EXPECT_EQ(calls_of("place").size(), 1u);
}

// [SES-116, SES-107] The region goes within the message: its rest is refused.
TEST_F(RmaTest, AMessageLosesItsRegion) {
  EXPECT_EQ(give(write(2500, 0, 1024)), "accept");
  answers().is_region_good = false;
  EXPECT_EQ(give(write(2500, 1024, 1024)), "BAD_MKEY");
  EXPECT_EQ(calls_of("fail"), Calls{"fail BAD_MKEY"});
}

// [SES-074] A short read is answered by the ACK, with the octets of the region.
TEST_F(RmaTest, AShortReadIsAnsweredInTheAck) {
  memory_[101] = std::byte{0xEE};
  Request q = whole(16, SesOpcode::read);
  q.buffer_offset = 100;
  ep_->rx.all_remote = true;
  EXPECT_EQ(give(q), "OK");
  EXPECT_EQ(verdict_.response.next_hdr, wire::NextHeader::response_data);
  EXPECT_EQ(verdict_.response.length, wire::ResponseData::kSize + 16);
  EXPECT_EQ(verdict_.response.bytes[wire::ResponseData::kSize], std::byte{0xCD});
  EXPECT_EQ(verdict_.response.bytes[wire::ResponseData::kSize + 1], std::byte{0xEE});
  EXPECT_TRUE(read_answers_.idle());
  EXPECT_EQ(done_.size(), 1u);
}

// [SES-074] A longer one by messages of their own, one for each packet. All go one way.
TEST_F(RmaTest, ALongerReadIsAnsweredByMessages) {
  EXPECT_EQ(give(whole(17, SesOpcode::read)), "accept");
  EXPECT_FALSE(read_answers_.idle());
  ep_->rx.all_remote = true;
  EXPECT_EQ(give(read(1030, 0, 1024)), "accept");
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_EQ(give(read(1030, 1024, 6)), "accept") << "of so few octets, yet by a message";
  EXPECT_EQ(done_.size(), 1u);
  EXPECT_TRUE(arriving_.idle());
}

// [SES-118, PDS-112] No place for the answer: the request was not received, and comes again.
TEST_F(RmaTest, AReadWaitsForAPlaceForItsAnswer) {
  res_.config.read_quota_bytes = 1024;
  EXPECT_EQ(give(read(2500, 0, 1024)), "accept");
  EXPECT_EQ(give(read(2500, 1024, 1024)), "nack NO_SES_MSG_AVAIL");
  pds_.has_pdc = false;
  res_.config.read_quota_bytes = 4096;
  EXPECT_EQ(give(read(2500, 1024, 1024)), "drop") << "its PDC is about to go";
  pds_.has_pdc = true;
  EXPECT_EQ(give(read(2500, 1024, 1024)), "accept");
  EXPECT_EQ(give(read(2500, 2048, 452)), "accept");
  EXPECT_TRUE(arriving_.idle());
}

// [SES-077] On RUDI the answer is held until PDS sends it.
TEST_F(RmaTest, OnRudiTheAnswerIsHeld) {
  Request q = whole(500, SesOpcode::read);
  q.mode = pds::Mode::rudi;
  give(q);
  EXPECT_EQ(verdict_.kind, pds::Verdict::Kind::respond);
  EXPECT_TRUE(ReadAnswers::is_one(verdict_.answer));
  read_answers_.end(verdict_.answer);
}

// [SES-092] The source of a rendezvous send is for its target alone.
TEST_F(RmaTest, OnlyItsTargetReadsASource) {
  answers().exposed = 5;
  EXPECT_EQ(give(whole(8, SesOpcode::read)), "BAD_MKEY");
  EXPECT_EQ(give(whole(8, SesOpcode::write)), "accept") << "authorize() judges that";
}

}  // namespace
}  // namespace uet::ses::test
