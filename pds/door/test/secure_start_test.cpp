// Stored starts of secured PDCs at both ends. [PDS 4.2]
#include "pds/door/secure_start.h"

#include "pds/pdc/start.h"
#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

constexpr uint32_t kStartsDomain = 77;

// [TSS-067] Floors that no room is left for are forgotten, the longest unused first.
TEST(SecureStartsTest, FloorsAreForgotten) {
  Arena arena;
  SecureStarts starts;
  ASSERT_TRUE(starts.create(arena, 2, 1).ok());
  const auto key = [](uint8_t peer) { return StartKey{address(peer), kStartsDomain, true}; };
  EXPECT_EQ(starts.find(key(1)), nullptr);
  starts.raise(key(1), Psn(500));
  starts.raise(key(1), Psn(400));  // never back
  EXPECT_EQ(starts.find(key(1))->psn, Psn(500));
  starts.raise(key(2), Psn(100));
  EXPECT_FALSE(starts.has_forgotten_floor());
  starts.raise(key(3), Psn(50));  // 1 goes
  EXPECT_EQ(starts.find(key(1)), nullptr);
  EXPECT_TRUE(starts.has_forgotten_floor());
  EXPECT_EQ(starts.find(key(2))->psn, Psn(100));
  EXPECT_EQ(starts.size(), 2u);
}

// [TSS-063, TSS-066] What is higher counts although the numbers go round.
TEST(SecureStartsTest, NumbersGoRound) {
  Arena arena;
  SecureStarts starts;
  ASSERT_TRUE(starts.create(arena, 2, 1).ok());
  const StartKey key{address(1), kStartsDomain, false};
  starts.raise(key, Psn(0xFFFFFFF0));
  EXPECT_EQ(starts.find(key)->psn, Psn(0xFFFFFFF0));
  starts.raise(key, Psn(5));
  EXPECT_EQ(starts.find(key)->psn, Psn(5));
  starts.raise(key, Psn(0xFFFFFFF8));
  EXPECT_EQ(starts.find(key)->psn, Psn(5));
}

// [PDS-053] A PDC may use more PSNs than serial arithmetic can compare. Then its first and last
// PSN do not show how many.
TEST(SecureStartsTest, ALongPdcSpendsTheFloor) {
  Start start;
  start.begin_at(Psn(1000));
  start.note_request(Psn(999));
  start.note_request(Psn(1000) + (Start::kLong - 1));
  EXPECT_FALSE(start.is_long());
  start.note_request(Psn(1000) + Start::kLong);
  start.note_request(Psn(1000) - 5);
  EXPECT_TRUE(start.is_long());

  Arena arena;
  SecureStarts starts;
  ASSERT_TRUE(starts.create(arena, 2, 1).ok());
  const StartKey key{address(1), kStartsDomain, true};
  starts.raise(key, Psn(500), 20);
  EXPECT_FALSE(starts.find(key)->is_spent());
  starts.raise(key, Psn(400), KnownStart::kUsedMax);
  EXPECT_TRUE(starts.find(key)->is_spent());
  EXPECT_EQ(starts.find(key)->psn, Psn(500));
  starts.raise(key, Psn(600), 1);
  EXPECT_TRUE(starts.find(key)->is_spent());
}

}  // namespace
}  // namespace uet::pds::part
