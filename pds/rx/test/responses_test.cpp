// The response list of one PDC. [PDS 9]
#include "pds/rx/responses.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace uet::pds {
namespace {

constexpr Psn kFirstRequest(0xFFFFFFFE);  // so that the numbers wrap
const Instant kNow = Instant::from_ns(1'000'000'000);

class ResponsesTest : public testing::Test {
 protected:
  ResponsesTest() { responses_.start(kFirstRequest); }
  ~ResponsesTest() override {
    while (responses_.first() != nullptr) drop(*responses_.first());
  }
  // The client owes the response of the packet that is `offset` after the first one.
  StoredResponse& await(int offset) {
    StoredResponse& entry = memory_[used_++];
    entry.trigger.psn = kFirstRequest + offset;
    responses_.add(entry);
    return entry;
  }
  StoredResponse& keep(int offset) {
    StoredResponse& entry = await(offset);
    responses_.fill(entry);
    return entry;
  }
  void drop(StoredResponse& entry) {
    responses_.drop(entry);
    static_cast<ListNode<StoredTag>&>(entry).unlink();
  }
  // All, in the order in which a clear would take them.
  std::string take_all() {
    std::string all;
    while (StoredResponse* const entry = responses_.first()) {
      all += (all.empty() ? "" : " ") + std::to_string(entry->trigger.psn - kFirstRequest);
      drop(*entry);
    }
    return all;
  }

  std::array<StoredResponse, 8> memory_;
  size_t used_ = 0;
  Responses responses_;
};

// [PDS-102] A clear takes them from the lowest PSN on, whatever order the packets came in.
TEST_F(ResponsesTest, ResponsesStandInTheOrderOfTheirPsns) {
  for (const int offset : {3, 0, 4, 1}) keep(offset);
  EXPECT_EQ(take_all(), "0 1 3 4");
}

// [PDS-102] Before anything was heard, nothing is cleared, not even the first packet.
TEST_F(ResponsesTest, NothingIsClearedAtTheStart) {
  EXPECT_EQ(responses_.cleared(), kFirstRequest - 1);
  responses_.note_cleared(kFirstRequest + 2);
  EXPECT_EQ(responses_.cleared(), kFirstRequest + 2);
}

// [PDS-102] A search can start at a known lower PSN.
TEST_F(ResponsesTest, AResponseStandsBehindALowerOne) {
  keep(6);
  StoredResponse& lower = keep(1);
  keep(2);
  StoredResponse& between = memory_[used_++];
  between.trigger.psn = kFirstRequest + 4;
  responses_.add(between, &lower);
  EXPECT_EQ(take_all(), "1 2 4 6");
}

// [PDS-100] A response that the client owes takes a place, and cannot be sent.
TEST_F(ResponsesTest, OwedAndKeptResponsesAreCountedSeparately) {
  StoredResponse& owed = await(0);
  StoredResponse& kept = keep(1);
  EXPECT_EQ(responses_.awaited(), 1u);
  EXPECT_EQ(responses_.stored(), 1u);
  EXPECT_EQ(responses_.held(), 2u);
  responses_.fill(owed);
  EXPECT_EQ(responses_.awaited(), 0u);
  EXPECT_EQ(responses_.stored(), 2u);
  drop(kept);
  EXPECT_EQ(responses_.stored(), 1u);
  drop(await(2));
  EXPECT_EQ(responses_.held(), 1u);
}

TEST_F(ResponsesTest, TheNewestIsTheHighestGivenResponse) {
  keep(1);
  keep(0);
  await(2);
  EXPECT_EQ(responses_.newest(), kFirstRequest + 1);
}

// [PDS-106] A Clear Request goes only while a response is kept, and not before the interval.
TEST_F(ResponsesTest, AClearRequestWaitsForItsInterval) {
  const Duration interval = Duration::microseconds(100);
  responses_.want_clear();
  EXPECT_TRUE(responses_.is_clear_due());
  EXPECT_FALSE(responses_.take_clear_request(interval, kNow)) << "nothing is kept";
  EXPECT_FALSE(responses_.is_clear_due());

  keep(0);
  responses_.note_clear_request(kNow);
  EXPECT_FALSE(responses_.take_clear_request(interval, kNow + interval / 2));
  EXPECT_TRUE(responses_.take_clear_request(interval, kNow + interval));
}

// [PDS-106] The oldest one that is there counts from when its request came, or from the last Clear
// Request; one that the client owes does not count.
TEST_F(ResponsesTest, AResponseGrowsOldFromItsRequestOrTheLastClearRequest) {
  const Instant later = kNow + Duration::milliseconds(50);
  await(0).trigger.arrival_tick = SentTick::of(kNow);
  keep(1).trigger.arrival_tick = SentTick::of(kNow + Duration::milliseconds(20));
  EXPECT_EQ(responses_.uncleared_for(later).ms(), 30);
  responses_.note_clear_request(kNow + Duration::milliseconds(40));
  EXPECT_EQ(responses_.uncleared_for(later).ms(), 10);
}

}  // namespace
}  // namespace uet::pds
