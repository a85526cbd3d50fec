// Matching against a reference that searches everything in order. [SES-119..124]
#include "ses/receives/matcher.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace uet::ses {
namespace {

class MatcherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(matcher_.create(arena_, 3).ok());
    matcher_.expect(256);
  }
  PostedReceive& post(uint64_t tag, uint64_t ignore = 0, int source = -1) {
    auto& r = *receives_.emplace_back(std::make_unique<PostedReceive>());
    r.sequence = ++sequence_;
    r.tag = tag;
    r.ignore = ignore;
    r.directed = source >= 0;
    r.from = PeerId(static_cast<uint32_t>(source));
    r.from_initiator = 7;
    EXPECT_TRUE(matcher_.make_room(static_cast<uint32_t>(sequence_)).ok());
    matcher_.post(r);
    return r;
  }
  static Envelope from(int source, uint64_t tag, uint32_t initiator = 7) {
    return {tag, PeerId(static_cast<uint32_t>(source)), initiator};
  }

  Arena arena_;
  Matcher matcher_;
  std::vector<std::unique_ptr<PostedReceive>> receives_;
  uint64_t sequence_ = 0;
};

// [SES-122] Exact, directed and wildcard receives compete by age alone.
TEST_F(MatcherTest, TheOldestMatchOfAnyKindWins) {
  PostedReceive& directed = post(5, 0, 1);
  PostedReceive& wildcard = post(4, 1);
  PostedReceive& exact = post(5);
  EXPECT_EQ(matcher_.match(from(2, 5)), &wildcard);
  EXPECT_EQ(matcher_.match(from(1, 5)), &directed);
  EXPECT_EQ(matcher_.match(from(1, 5, 8)), &wildcard);  // another initiator of that FEP [SES-123]
  matcher_.remove(wildcard);
  EXPECT_EQ(matcher_.match(from(2, 5)), &exact);
  EXPECT_EQ(matcher_.match(from(2, 4)), nullptr);
  matcher_.remove(directed);
  matcher_.remove(exact);
  EXPECT_EQ(matcher_.match(from(1, 5)), nullptr);
}

// [SES-121] A directed wildcard is both.
TEST_F(MatcherTest, ADirectedWildcardTakesAnyTagOfOneSource) {
  PostedReceive& r = post(0, ~uint64_t{0}, 3);
  EXPECT_EQ(matcher_.match(from(2, 9)), nullptr);
  EXPECT_EQ(matcher_.match(from(3, 9)), &r);
}

// [SES-122, SES-123] Whatever came before the first receive from one source, in order of arrival.
TEST_F(MatcherTest, TheFirstDirectedReceiveFindsKeptMessages) {
  std::vector<std::unique_ptr<UnexpectedMessage>> kept;
  for (int i = 0; i < 6; ++i) {
    auto& m = *kept.emplace_back(std::make_unique<UnexpectedMessage>());
    m.envelope = from(i % 2, 5);
    matcher_.add_unexpected(m);
  }
  matcher_.remove_unexpected(*kept[1]);
  const MatchFilter of_one{.tag = 5, .directed = true, .from = PeerId(1), .from_initiator = 7};
  for (const size_t i : {3u, 5u}) {
    UnexpectedMessage* const found = matcher_.find_unexpected(of_one);
    ASSERT_EQ(found, kept[i].get());
    matcher_.remove_unexpected(*found);
  }
  EXPECT_EQ(matcher_.find_unexpected(of_one), nullptr);
  EXPECT_EQ(matcher_.find_unexpected({.tag = 5, .from = {}}), kept[0].get());
  for (const size_t i : {0u, 2u, 4u}) matcher_.remove_unexpected(*kept[i]);
}

// The same receives and messages in plain lists, searched from the front.
class Compared {
 public:
  Compared(Matcher& matcher, Rng& rng) : matcher_(matcher), rng_(rng) {}

  // One operation on both matchers.
  void step() {
    const Envelope e{rng_.below(8), PeerId(uint32_t(rng_.below(3))), uint32_t(rng_.below(2)),
                     JobId(uint32_t(1 + rng_.below(2)))};
    const uint64_t ignore = rng_.chance(0.4) ? rng_.below(8) : 0;
    const bool directed = rng_.chance(0.4);
    const uint32_t job = rng_.chance(0.2) ? e.job.value() : kAnyJob;
    const MatchFilter filter{e.tag, ignore, directed, e.peer, e.initiator, job};
    const auto kind = rng_.below(4);
    if (kind == 0 && posted_.size() < 64) {
      post(filter);
    } else if (kind == 1) {
      match(e);
    } else if (kind == 2) {
      auto u = std::make_unique<UnexpectedMessage>();
      u->envelope = e;
      matcher_.add_unexpected(*u);
      kept_.push_back(std::move(u));
    } else {
      find_kept(filter);
    }
  }

  void clear() {
    for (auto& r : posted_) matcher_.remove(*r);
    for (auto& u : kept_) matcher_.remove_unexpected(*u);
  }

 private:
  void post(const MatchFilter& filter) {
    auto r = std::make_unique<PostedReceive>();
    r->sequence = ++sequence_;
    r->tag = filter.tag;
    r->ignore = filter.ignore;
    r->directed = filter.directed;
    r->from = filter.from;
    r->from_initiator = filter.from_initiator;
    r->by_job = filter.job != kAnyJob;
    r->job = filter.job;
    ASSERT_TRUE(matcher_.make_room(static_cast<uint32_t>(posted_.size()) + 1).ok());
    matcher_.post(*r);
    posted_.push_back(std::move(r));
  }
  void match(const Envelope& e) {
    const auto fits = [&](const auto& r) {
      return ((r->tag ^ e.tag) & ~r->ignore) == 0 &&
             (!r->directed || (r->from == e.peer && r->from_initiator == e.initiator)) &&
             (!r->by_job || r->job == e.job.value());
    };
    const auto expected = std::find_if(posted_.begin(), posted_.end(), fits);
    PostedReceive* got = matcher_.match(e);
    ASSERT_EQ(got, expected == posted_.end() ? nullptr : expected->get());
    if (got == nullptr) return;
    matcher_.remove(*got);
    posted_.erase(expected);
  }
  void find_kept(const MatchFilter& filter) {
    const auto expected =
        std::find_if(kept_.begin(), kept_.end(), [&](const auto& u) { return filter.accepts(*u); });
    UnexpectedMessage* got = matcher_.find_unexpected(filter);
    ASSERT_EQ(got, expected == kept_.end() ? nullptr : expected->get());
    if (got == nullptr) return;
    matcher_.remove_unexpected(*got);
    kept_.erase(expected);
  }

  Matcher& matcher_;
  Rng& rng_;
  std::vector<std::unique_ptr<PostedReceive>> posted_;  // in order
  std::vector<std::unique_ptr<UnexpectedMessage>> kept_;
  uint64_t sequence_ = 0;
};

TEST_F(MatcherTest, RandomOperationsAgreeWithALinearSearch) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Arena arena;
    Matcher matcher;
    ASSERT_TRUE(matcher.create(arena, seed).ok());
    matcher.expect(64);
    Compared compared(matcher, rng);
    for (int i = 0; i < 5000; ++i) ASSERT_NO_FATAL_FAILURE(compared.step());
    compared.clear();
  }
}

}  // namespace
}  // namespace uet::ses
