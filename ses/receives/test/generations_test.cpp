// Indices that have neither receives nor room, and how they come back. [SES-131..136]
#include "ses/receives/generations.h"

#include "ses/test/answers.h"
#include "ses/test/parts.h"

namespace uet::ses::test {
namespace {

class GenerationsTest : public PartTest {
 protected:
  GenerationsTest() {
    answers() = {};
    EXPECT_TRUE(room_.create(arena_, res_.config, peers_).ok());
    ep_ = &open();
  }

  MemoryRegions memory_;
  KeptRoom room_;
  Generations generations_{memory_, room_};
  Endpoint* ep_ = nullptr;
};

// [SES-131, SES-133]
TEST_F(GenerationsTest, DisabledIndexComesBackUnderTheNextGeneration) {
  generations_.disable(*ep_, false);
  EXPECT_FALSE(generations_.refresh(*ep_, false).is_enabled);
  EXPECT_EQ(ep_->queue->disabled, 1u);
  Generations::enable(*ep_->queue, false);
  const Generation& now = generations_.refresh(*ep_, false);
  EXPECT_TRUE(now.is_enabled);
  EXPECT_EQ(now.value, 1);
  EXPECT_EQ(ep_->queue->disabled, 0u);
}

// [LF-039]
TEST_F(GenerationsTest, RegionEnablesTheUntaggedIndexOnly) {
  generations_.disable(*ep_, false);
  generations_.disable(*ep_, true);
  memory_.enable(*memory_.add({.access = kRemoteWrite}));
  EXPECT_TRUE(generations_.refresh(*ep_, false).is_enabled);
  EXPECT_FALSE(generations_.refresh(*ep_, true).is_enabled);
}

// [SES-133]
TEST_F(GenerationsTest, KeptMessageThatLeavesEnablesTheIndex) {
  UnexpectedMessage* const kept = room_.admit({.peer = peer_}, 100);
  ASSERT_NE(kept, nullptr);
  generations_.disable(*ep_, true);
  room_.drop(*kept);
  EXPECT_TRUE(generations_.refresh(*ep_, true).is_enabled);
}

// [SES-131] Of both classes, each counts for itself; a closing endpoint takes its own away.
TEST_F(GenerationsTest, EachClassIsDisabledForItself) {
  generations_.disable(*ep_, false);
  generations_.disable(*ep_, false);
  EXPECT_TRUE(generations_.refresh(*ep_, true).is_enabled);
  EXPECT_EQ(ep_->queue->disabled, 1u);
  generations_.disable(*ep_, true);
  EXPECT_EQ(ep_->queue->disabled, 2u);
  Generations::leave(*ep_);
  EXPECT_EQ(ep_->queue->disabled, 0u);
}

}  // namespace
}  // namespace uet::ses::test
