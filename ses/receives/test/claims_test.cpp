// FI_PEEK, FI_CLAIM and FI_DISCARD by endpoint and by shared queue. [LF-059]
#include "ses/receives/claims.h"

#include "ses/receives/test/kept.h"
#include "wire/ses.h"

namespace uet::ses::test {
namespace {

class ClaimsTest : public ReceivesParts {
 protected:
  ClaimsTest() {
    queue_ = *endpoints_.open_shared(4);
    use(queue_);
  }
  uint32_t claim() { return claims_.peek(ep_->id, {}, true, res_.now).claim; }
  ReceiveRequest into(uint32_t bytes) {
    slice_ = {octets_.data(), bytes};
    ReceiveRequest request;
    request.iov = {&slice_, 1};
    return request;
  }
  // The code of the answer that a sender waited for.
  wire::ReturnCode told() {
    EXPECT_EQ(pds_.take(), "respond");
    wire::Reader r(pds_.responded.response.bytes);
    return wire::Response::read(r).common.return_code;
  }

  ReceiveQueueId queue_;
  IoSlice slice_;
  Claims claims_{endpoints_, kept_, delivery_};
};

// [LF-059] What is claimed can be looked at, and is received once.
TEST_F(ClaimsTest, AClaimIsReceivedOnce) {
  keep(500, 1);
  const uint32_t c = claim();
  EXPECT_FALSE(claims_.peek(ep_->id, {}, false, res_.now).found);
  EXPECT_EQ(claims_.look(queue_, c).bytes, 500u);
  EXPECT_EQ(*claims_.endpoint_of(queue_, c), ep_->id);
  ASSERT_TRUE(claims_.receive(queue_, c, into(1000), res_.now).ok());
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(octets_[499], std::byte{1});
  EXPECT_FALSE(claims_.look(queue_, c).found);
  EXPECT_EQ(claims_.endpoint_of(queue_, c).error(), Errc::not_found);
  EXPECT_EQ(claims_.receive(ep_->id, c, into(1000), res_.now).error(), Errc::not_found);
}

// [LF-059] A shared receive needs room for its completion; without it the claim stays.
TEST_F(ClaimsTest, WithoutRoomTheClaimStays) {
  keep(500, 1);
  const uint32_t c = claim();
  has_room_ = false;
  EXPECT_EQ(claims_.receive(queue_, c, into(1000), res_.now).error(), Errc::again);
  EXPECT_TRUE(claims_.look(queue_, c).found);
  has_room_ = true;
  EXPECT_TRUE(claims_.receive(ep_->id, c, into(1000), res_.now).ok());
}

// [LF-059] A claim is for one message, with a tag or without.
TEST_F(ClaimsTest, AClaimIsReceivedAsItCame) {
  keep(500, 1);
  const uint32_t c = claim();
  ReceiveRequest request = into(1000);
  request.tagged = true;
  EXPECT_EQ(claims_.receive(queue_, c, request, res_.now).error(), Errc::invalid);
  request.tagged = false;
  request.multi = true;
  EXPECT_EQ(claims_.receive(queue_, c, request, res_.now).error(), Errc::invalid);
  EXPECT_TRUE(claims_.discard(queue_, c, res_.now));
}

// [LF-059, LF-159] The sender of a discarded message gets success, that of a refused one an error.
TEST_F(ClaimsTest, ADiscardedMessageWasDelivered) {
  keep(500, 1).owes_answer = true;
  EXPECT_TRUE(claims_.discard(ep_->id, claim(), res_.now));
  EXPECT_EQ(told(), wire::ReturnCode::ok);
  keep(500, 1).owes_answer = true;
  const uint32_t c = claim();
  EXPECT_TRUE(claims_.discard(queue_, c, res_.now));
  EXPECT_EQ(told(), wire::ReturnCode::ok);
  EXPECT_FALSE(claims_.discard(queue_, c, res_.now));
  keep(500, 1).owes_answer = true;
  EXPECT_TRUE(claims_.refuse(queue_, claim(), res_.now));
  EXPECT_EQ(told(), wire::ReturnCode::host_unsuccess_cmpl);
}

}  // namespace
}  // namespace uet::ses::test
