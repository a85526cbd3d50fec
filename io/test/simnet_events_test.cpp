// The events of the simulated network: by time, then in the order in which they were added.
#include "io/simnet/parts.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace uet::io::simnet {
namespace {

constexpr auto kArrived = Event::Kind::arrived;

std::vector<uint32_t> take_all(Events& events) {
  std::vector<uint32_t> subjects;
  while (!events.earliest().is_never()) subjects.push_back(events.take().subject);
  return subjects;
}

TEST(SimNetEvents, ComeByTimeThenByOrder) {
  Events events;
  for (const auto& [at, subject] : {std::pair{30, 1}, {10, 2}, {30, 3}, {20, 4}, {10, 5}}) {
    events.add(at, kArrived, static_cast<uint32_t>(subject));
  }
  EXPECT_EQ(events.earliest(), Instant::from_ns(10));
  EXPECT_FALSE(events.is_due(Instant::from_ns(9)));
  EXPECT_TRUE(events.is_due(Instant::from_ns(10)));
  EXPECT_EQ(take_all(events), (std::vector<uint32_t>{2, 5, 4, 1, 3}));
}

// Against a list that is sorted: few and many at once, mostly in order or not at all.
TEST(SimNetEvents, AreTheSameAsFromASortedList) {
  Rng rng(11);
  for (const uint64_t spread : {1u, 5u, 1'000u}) {
    Events events;
    struct Listed {
      int64_t at;
      uint32_t subject;
    };
    std::vector<Listed> list;
    int64_t now = 0;
    for (uint32_t i = 0; i < 20'000; ++i) {
      const bool grows = i % 8'000 < 4'000;
      if (list.empty() || rng.below(10) < (grows ? 7 : 3)) {
        const auto at = now + static_cast<int64_t>(rng.below(spread));
        events.add(at, kArrived, i);
        const auto before = [](int64_t value, const Listed& l) { return value < l.at; };
        list.insert(std::upper_bound(list.begin(), list.end(), at, before), {at, i});
        continue;
      }
      const Event first = events.take();
      ASSERT_EQ(first.subject, list.front().subject);
      ASSERT_EQ(first.at_ns, list.front().at);
      now = first.at_ns;
      list.erase(list.begin());
    }
  }
}

}  // namespace
}  // namespace uet::io::simnet
