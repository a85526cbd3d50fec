// Posted receives: how messages use them up, and their reports.
#include "ses/receives/receives.h"

#include "ses/test/parts.h"

#include <array>
#include <vector>

namespace uet::ses::test {
namespace {

class ReceivesTest : public PartTest {
 protected:
  ReceivesTest() {
    EXPECT_TRUE(receives_.create().ok());
    ep_ = &open();
    ep_->rx.owner = this;
    ep_->rx.complete = [](void* me, const Completion& c) {
      static_cast<ReceivesTest*>(me)->done_.push_back(c);
    };
    ep_->rx.reserve = [](void* me) { return static_cast<ReceivesTest*>(me)->has_room_; };
  }
  PostedReceive& post(bool multi = false) {
    const IoSlice slice{octets_.data(), octets_.size()};
    ReceiveRequest request;
    request.iov = {&slice, 1};
    request.multi = multi;
    request.multi_min = 100;
    PostedReceive& r = **receives_.make(*ep_->queue, request);
    ep_->queue->untagged.post(r);
    return r;
  }
  // A message of `length` octets takes room and is complete.
  void take(PostedReceive& r, uint32_t length) {
    Arrived a;
    a.request_length = length;
    a.place = {.begin = r.used, .room = std::min<uint64_t>(r.room(), length)};
    receives_.consume(*ep_, r, a.place.room);
    receives_.complete(*ep_, r, a);
  }

  Receives receives_{res_};
  Endpoint* ep_ = nullptr;
  bool has_room_ = true;
  std::vector<Completion> done_;
  std::array<std::byte, 1000> octets_{};
};

// [SES-137]
TEST_F(ReceivesTest, LongerMessageIsCutAndReportsTheMissingOctets) {
  take(post(), 1200);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::truncated);
  EXPECT_EQ(done_[0].bytes, 1000u);
  EXPECT_EQ(done_[0].truncated_bytes, 200u);
  EXPECT_EQ(ep_->queue->open, 0u);
}

// [LF-096]
TEST_F(ReceivesTest, MultiReceiveIsUsedInPlaceUntilTooLittleIsLeft) {
  PostedReceive& r = post(/*multi=*/true);
  EXPECT_FALSE(Receives::will_be_used_up(r, 900));
  EXPECT_TRUE(Receives::will_be_used_up(r, 901));
  take(r, 600);
  take(r, 350);
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_FALSE(done_[0].multi_done);
  EXPECT_EQ(done_[1].buffer, octets_.data() + 600);
  EXPECT_TRUE(done_[1].multi_done);
}

// [LF-096] Messages lie in it one after the other, so it is one piece.
TEST_F(ReceivesTest, MultiReceiveIsOnePieceOfMemory) {
  const std::array<IoSlice, 2> halves{IoSlice{octets_.data(), 500},
                                      IoSlice{octets_.data() + 500, 500}};
  ReceiveRequest request;
  request.iov = halves;
  EXPECT_TRUE(receives_.make(*ep_->queue, request).ok());
  request.multi = true;
  EXPECT_EQ(receives_.make(*ep_->queue, request).error(), Errc::invalid);
}

// [decision 11]
TEST_F(ReceivesTest, OnlyTheLastMessageOfAMultiReceiveHasItsRoomBooked) {
  PostedReceive& r = post(/*multi=*/true);
  has_room_ = false;
  EXPECT_FALSE(receives_.book(*ep_, r, 10));
  EXPECT_TRUE(receives_.book(*ep_, r, 950));
  EXPECT_EQ(res_.counters[Counter::rx_no_completion_slot], 1);
}

TEST_F(ReceivesTest, ReceiveThatWasSetAsideComesBehindLaterOnes) {
  PostedReceive& r = post();
  const uint64_t later = post().sequence;
  receives_.consume(*ep_, r, 10);
  Receives::post_again(*ep_->queue, r);
  EXPECT_EQ(r.room(), 1000u);
  EXPECT_GT(r.sequence, later);
}

}  // namespace
}  // namespace uet::ses::test
