// SES over the real PDS: shows that both keep the same contract, which the scripted PDS cannot
// show.
#include "ses/test/stack.h"

namespace uet::ses::test {
namespace {

class StackTest : public StackFixture, public ::testing::TestWithParam<pds::Mode> {
 protected:
  void SetUp() override { reorders_ = GetParam() == pds::Mode::rud; }

  // `count` tagged sends and writes, and receives; half of the receives are posted late.
  void post(Rng& rng, const Destination& to, uint64_t key, int count, double loss) {
    for (int i = 0; i < count; ++i) {
      Octets& data = payloads_.emplace_back(rng.below(30'000));
      for (std::byte& b : data) b = std::byte(rng.u32());
      const IoSlice slice{data.data(), data.size()};
      SendRequest s;
      s.to = to;
      s.iov = {&slice, 1};
      s.tagged = true;
      s.tag = static_cast<uint64_t>(i);
      s.flags = rng.chance(0.3) ? uint32_t{kOpDeliveryComplete} : 0;
      ASSERT_TRUE(a_->ses->send(a_->ep, s, now()).ok());
      RmaRequest w;
      w.to = to;
      w.iov = {&slice, 1};
      w.key = key;
      w.remote_offset = 0;
      ASSERT_TRUE(a_->ses->rma(a_->ep, w, now()).ok());
    }
    // Half of the receives are posted late.
    for (int i = 0; i < count; ++i) {
      if (i == count / 2) run(rng, loss, 3);
      Octets& room = rooms_.emplace_back(30'000);
      const IoSlice slice{room.data(), room.size()};
      ReceiveRequest r;
      r.iov = {&slice, 1};
      r.tagged = true;
      r.tag = static_cast<uint64_t>(i);
      ASSERT_TRUE(b_->ses->receive(b_->ep, r, now()).ok());
    }
  }
};

TEST_P(StackTest, EveryKindOfMessageSurvivesLossAndReordering) {
  const double loss = 0.05;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    meet(seed, seed + 1000);
    a_->open(GetParam());
    b_->open(GetParam());
    const Destination to = a_->at(b_->self, now());
    Octets memory(100'000);
    const IoSlice whole{memory.data(), memory.size()};
    RegionRequest region;
    region.iov = {&whole, 1};
    region.access = kRemoteRead | kRemoteWrite;
    const RegionId id = *b_->ses->memory().add(region);
    b_->ses->memory().enable(id);

    payloads_.clear();
    rooms_.clear();
    const int count = 12;
    post(rng, to, b_->ses->memory().key(id), count, loss);
    expected_ = 2 * count;
    run(rng, loss, 40'000);
    ASSERT_EQ(a_->done.size(), expected_);
    for (const Completion& c : a_->done) EXPECT_TRUE(c.ok());
    ASSERT_EQ(b_->done.size(), size_t(count));
    for (const Completion& c : b_->done) {
      EXPECT_TRUE(c.ok());
      const Octets& sent = payloads_[c.tag];
      EXPECT_EQ(c.bytes, sent.size());
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), rooms_[c.tag].begin()));
    }
    Octets back(memory.size());
    const IoSlice into{back.data(), back.size()};
    RmaRequest r;
    r.to = to;
    r.read = true;
    r.iov = {&into, 1};
    r.key = b_->ses->memory().key(id);
    ASSERT_TRUE(a_->ses->rma(a_->ep, r, now()).ok());
    ++expected_;
    run(rng, loss, 40'000);
    ASSERT_EQ(a_->done.size(), expected_);
    EXPECT_TRUE(a_->done.back().ok());
    EXPECT_EQ(back, memory);
  }
}

// [PDS-148, decision 4, decision 11] The application over there takes no completions
// for longer than a silent peer would be waited for: that is back-pressure and no error.
TEST_P(StackTest, AFullCompletionQueueIsWaitedForWithoutLimit) {
  Rng rng(1);
  meet(1, 2);
  a_->open(GetParam());
  b_->open(GetParam());
  b_->has_room = false;
  Octets memory(5000);
  const IoSlice whole{memory.data(), memory.size()};
  RegionRequest region;
  region.iov = {&whole, 1};
  region.access = kRemoteWrite;
  const RegionId id = *b_->ses->memory().add(region);
  b_->ses->memory().enable(id);
  const Octets data(5000, std::byte{7});
  const IoSlice slice{data.data(), data.size()};
  RmaRequest w;
  w.to = a_->at(b_->self, now());
  w.iov = {&slice, 1};
  w.key = b_->ses->memory().key(id);
  w.flags = kOpRemoteData;
  ASSERT_TRUE(a_->ses->rma(a_->ep, w, now()).ok());

  const Instant end = now() + pds::Config{}.refusal_patience() * 3;
  while (now() < end) {
    stations_->advance(now() + Duration::milliseconds(10));
    run(rng, 0, 1);
  }
  EXPECT_TRUE(a_->done.empty());
  EXPECT_TRUE(b_->done.empty());
  b_->has_room = true;
  expected_ = 1;
  run(rng, 0, 10'000);
  ASSERT_EQ(a_->done.size(), 1u);
  EXPECT_TRUE(a_->done[0].ok());
  ASSERT_EQ(b_->done.size(), 1u);
  EXPECT_EQ(memory, data);
}

INSTANTIATE_TEST_SUITE_P(Modes, StackTest, ::testing::Values(pds::Mode::rud, pds::Mode::rod));

}  // namespace
}  // namespace uet::ses::test
