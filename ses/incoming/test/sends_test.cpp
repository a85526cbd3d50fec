// Messages that want a receive, as they arrive. [SES-020, SES-117, SES-126, ses.md 6]
#include "ses/incoming/sends.h"

#include "ses/incoming/test/target.h"

namespace uet::ses::test {
namespace {

using uet::test::calls;
using uet::test::Calls;
using uet::test::calls_of;
using uet::test::was_called;

class SendsPartTest : public SendsTest {};

// [SES-117, SES-142] Its octets go into the receive, and nothing else is answered.
TEST_F(SendsPartTest, AMessageGoesIntoItsReceive) {
  post_receive(1000);
  EXPECT_EQ(said(give(whole(500))), "accept");
  EXPECT_EQ(calls(), Calls{"complete 500"});
  EXPECT_EQ(octets_[499], std::byte{0xAB});
  EXPECT_EQ(octets_[500], std::byte{0});
}

// [SES-137, SES-147] The message is cut to the receive, and the answer carries the placed length.
TEST_F(SendsPartTest, ALongerMessageIsCut) {
  post_receive(300);
  const pds::Verdict v = give(whole(500));
  EXPECT_EQ(response_of(v).modified_length, 300u);
  EXPECT_EQ(response_of(v).common.list, wire::ListCode::expected);
  EXPECT_EQ(octets_[299], std::byte{0xAB});
  EXPECT_EQ(octets_[300], std::byte{0});
}

// [SES-018, SES-137, SES-023] The same of several packets, in any order.
TEST_F(SendsPartTest, LaterPacketsGoToTheirPlace) {
  post_receive(1500);
  EXPECT_EQ(said(give(packet(2500, 2048, 452))), "accept");
  EXPECT_EQ(octets_[0], std::byte{0});
  EXPECT_EQ(said(give(packet(2500, 1024, 1024))), "accept");
  EXPECT_EQ(octets_[1023], std::byte{0});
  EXPECT_EQ(octets_[1024], std::byte{0xAB});
  EXPECT_EQ(octets_[1500], std::byte{0});
  EXPECT_EQ(calls_of("complete"), Calls{});
  EXPECT_EQ(response_of(give(packet(2500, 0, 1024))).modified_length, 1500u);
  EXPECT_EQ(calls_of("complete"), Calls{"complete 1500"});
  EXPECT_TRUE(arriving_.idle());
}

// [SES-138] An endpoint may want messages whole.
TEST_F(SendsPartTest, ALongerMessageMayBeRefused) {
  ep_->options.reject_truncated = true;
  post_receive(300);
  EXPECT_EQ(said(give(whole(301))), "TOO_LONG");
  EXPECT_TRUE(receive_.is_matchable);
  EXPECT_EQ(said(give(whole(300))), "accept");
}

// [SES-117] The receive that matches is for another job.
TEST_F(SendsPartTest, AReceiveOfAnotherJobRefuses) {
  receive_.job = 9;
  post_receive(300);
  EXPECT_EQ(said(give(whole(100))), "BAD_JOB_ID");
  EXPECT_TRUE(receive_.is_matchable);
}

// [SES-071, SES-124] An untagged message has no tag to match by.
TEST_F(SendsPartTest, TaggedAndUntaggedAreApart) {
  receive_.tag = 7;
  post_receive(300, true);
  Request q = whole(100);
  q.match_bits = 7;
  EXPECT_EQ(envelope_of(q).tag, 0u);
  EXPECT_EQ(said(give(q)), "NO_MATCH");
  q.common.opcode = wire::SesOpcode::tagged_send;
  EXPECT_EQ(said(give(q)), "accept");
}

// [PDS-112] The application has no room for a completion: nothing has happened.
TEST_F(SendsPartTest, AMessageWaitsForTheApplication) {
  post_receive(3000);
  answers().may_book = false;
  EXPECT_EQ(said(give(packet(2500, 0, 1024))), "nack NO_RESOURCE");
  EXPECT_TRUE(arriving_.idle());
  EXPECT_TRUE(receive_.is_matchable);
}

// [SES-126, SES-050] Without a receive it is kept, with its header data.
TEST_F(SendsPartTest, AMessageWithoutAReceiveIsKept) {
  answers().kept = &record_;
  Request q = whole(500);
  q.has_data = true;
  q.header_data = 7;
  EXPECT_EQ(said(give(q)), "accept");
  EXPECT_EQ(calls(), (Calls{"keep", "store 500", "complete kept"}));
  EXPECT_EQ(record_.header_data, 7u);
  EXPECT_TRUE(record_.has_data);
  Request first = packet(2500, 0, 1024);
  first.has_data = true;
  first.header_data = 8;
  give(packet(2500, 1024, 1024));
  give(first);
  EXPECT_EQ(said(give(packet(2500, 2048, 452))), "accept");
  EXPECT_EQ(record_.header_data, 8u);
}

// [SES-128, SES-129, SES-185] Nothing is kept of a datagram, without room, or by a profile that
// keeps nothing.
TEST_F(SendsPartTest, WhatCannotBeKeptFindsNoMatch) {
  EXPECT_EQ(said(give(whole(500))), "NO_MATCH") << "no room";
  answers().kept = &record_;
  Request datagram = whole(500, wire::SesOpcode::datagram_send);
  datagram.mode = pds::Mode::uud;
  EXPECT_EQ(said(give(datagram)), "NO_MATCH");
  res_.config.profiles = kAiBase;
  EXPECT_EQ(said(give(whole(500))), "NO_MATCH");
  EXPECT_EQ(calls(), Calls{});
}

// [SES-188, SES-132] On ROD its PDC waits, or the index is disabled.
TEST_F(SendsPartTest, OnRodAMessageWithoutRoomWaits) {
  Request q = whole(500);
  q.mode = pds::Mode::rod;
  EXPECT_EQ(said(give(q)), "nack NO_RESOURCE");
  EXPECT_FALSE(was_called("disable"));
  res_.config.disable_index = true;
  EXPECT_EQ(said(give(q)), "DISABLED_GEN");
  EXPECT_TRUE(was_called("disable"));
  q.is_confirmed = false;
  EXPECT_EQ(said(give(q)), "nack NO_RESOURCE") << "a source that may be forged disables nothing";
}

// [SES-189] The room ends within a message. On ROD its next packet is refused until a receive is
// posted; on RUD the whole message is refused and sent again.
TEST_F(SendsPartTest, RoomMayEndWithinAMessage) {
  answers().kept = &record_;
  EXPECT_EQ(said(give(packet(2500, 0, 1024))), "accept");
  answers().may_store = false;
  Request in_order = packet(2500, 1024, 1024);
  in_order.mode = pds::Mode::rod;
  EXPECT_EQ(said(give(in_order)), "nack NO_RESOURCE");
  EXPECT_EQ(calls_of("fail"), Calls{});
  EXPECT_EQ(said(give(packet(2500, 1024, 1024))), "NO_MATCH");
  EXPECT_EQ(calls_of("fail"), Calls{"fail NO_MATCH"});
}

}  // namespace
}  // namespace uet::ses::test
