// Matching: the Matcher of one endpoint with 1 to 100,000 posted receives or kept messages. One
// iteration finds an entry by its tag, takes it out and puts it in again as the youngest, so the
// number stays the same. [SES-122]
#include "ses/receives/matcher.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/rng.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace uet::ses {
namespace {

constexpr uint32_t kWildcards = 64;
constexpr uint32_t kDrawn = 1 << 18;

enum class Order : uint8_t {
  posted,
  any
};

// Entries with a tag each, and the order in which messages or receives name them.
class Entries {
 public:
  Entries(uint32_t count, Order order, uint32_t wildcards = 0) {
    UET_ASSERT(matcher_.create(arena_, 1).ok());
    matcher_.expect(count + wildcards);
    UET_ASSERT(matcher_.make_room(count + wildcards).ok());
    Rng rng(1, 7);
    for (uint32_t i = 0; i < count; ++i) {
      // Half the tag is drawn, so that they neither lie in a row nor collide.
      tags_.push_back(rng.u64() << 32 | i);
    }
    asked_ = tags_;
    if (order == Order::posted) return;
    // Longer than the queue, so that it is not the order in which they are put in again.
    asked_.resize(kDrawn);
    for (uint64_t& tag : asked_) tag = tags_[rng.below(count)];
  }

  void post_all() {
    receives_ = std::vector<PostedReceive>(tags_.size());
    for (size_t i = 0; i < tags_.size(); ++i) {
      receives_[i].tag = tags_[i];
      post(receives_[i]);
    }
  }
  void keep_all() {
    messages_ = std::vector<UnexpectedMessage>(tags_.size());
    for (size_t i = 0; i < tags_.size(); ++i) {
      messages_[i].envelope.tag = tags_[i];
      matcher_.add_unexpected(messages_[i]);
    }
  }
  // Wildcard receives, which take the tags ~0, ~2, ... and those plus one.
  void post_wildcards(std::vector<PostedReceive>& receives) {
    for (uint64_t i = 0; i < receives.size(); ++i) {
      receives[i].tag = ~(2 * i);
      receives[i].ignore = 1;
      post(receives[i]);
    }
  }

  // The receive stays.
  PostedReceive& match(uint64_t tag) const {
    Envelope envelope;
    envelope.tag = tag;
    PostedReceive* const receive = matcher_.match(envelope);
    UET_ASSERT(receive != nullptr && ((receive->tag ^ tag) & ~receive->ignore) == 0);
    return *receive;
  }
  void match_next() {
    PostedReceive& receive = match(next());
    matcher_.remove(receive);
    post(receive);
  }
  void find_next(bool directed) {
    MatchFilter filter;
    filter.directed = directed;
    filter.tag = next();
    UnexpectedMessage* const message = matcher_.find_unexpected(filter);
    UET_ASSERT(message != nullptr && message->envelope.tag == filter.tag);
    matcher_.remove_unexpected(*message);
    matcher_.add_unexpected(*message);
  }

 private:
  void post(PostedReceive& receive) {
    receive.sequence = sequence_++;
    matcher_.post(receive);
  }
  uint64_t next() {
    const uint64_t tag = asked_[at_];
    at_ = at_ + 1 == asked_.size() ? 0 : at_ + 1;
    return tag;
  }

  Arena arena_;
  Matcher matcher_;
  std::vector<PostedReceive> receives_;
  std::vector<UnexpectedMessage> messages_;
  std::vector<uint64_t> tags_;
  std::vector<uint64_t> asked_;  // tags, again and again
  size_t at_ = 0;
  uint64_t sequence_ = 1;
};

uint32_t count_of(const benchmark::State& state) { return static_cast<uint32_t>(state.range(0)); }

void exact(benchmark::State& state, Order order) {
  Entries entries(count_of(state), order);
  entries.post_all();
  for (auto _ : state) entries.match_next();
  state.SetComplexityN(state.range(0));
}

// The wildcard receives are older and take no message: each match looks at them.
void behind_wildcards(benchmark::State& state, Order order) {
  Entries entries(count_of(state), order, kWildcards);
  std::vector<PostedReceive> wildcards(kWildcards);
  entries.post_wildcards(wildcards);
  entries.post_all();
  for (auto _ : state) entries.match_next();
  state.SetComplexityN(state.range(0));
}

// Wildcard receives alone, the youngest of which takes the message.
void wildcard_scan(benchmark::State& state) {
  std::vector<PostedReceive> wildcards(count_of(state));
  Entries entries(0, Order::posted, count_of(state));
  entries.post_wildcards(wildcards);
  const uint64_t tag = wildcards.back().tag;
  for (auto _ : state) benchmark::DoNotOptimize(&entries.match(tag));
  state.SetComplexityN(state.range(0));
}

void unexpected(benchmark::State& state, Order order, bool directed) {
  Entries entries(count_of(state), order);
  entries.keep_all();
  for (auto _ : state) entries.find_next(directed);
  state.SetComplexityN(state.range(0));
}

// 1, 10, ... 100,000 entries, and how the time grows with their number.
#define UET_MATCH(function, name, grows, ...) \
  BENCHMARK_CAPTURE(function, , __VA_ARGS__)  \
      ->Name("matching/" name)                \
      ->RangeMultiplier(10)                   \
      ->Range(1, 100'000)                     \
      ->Complexity(grows)

UET_MATCH(exact, "exact/in_order", benchmark::o1, Order::posted);
UET_MATCH(exact, "exact/any_order", benchmark::o1, Order::any);
UET_MATCH(behind_wildcards, "behind_64_wildcards/in_order", benchmark::o1, Order::posted);
UET_MATCH(behind_wildcards, "behind_64_wildcards/any_order", benchmark::o1, Order::any);
UET_MATCH(unexpected, "unexpected/in_order", benchmark::o1, Order::posted, false);
UET_MATCH(unexpected, "unexpected/any_order", benchmark::o1, Order::any, false);
UET_MATCH(unexpected, "unexpected_of_one_source/in_order", benchmark::o1, Order::posted, true);
UET_MATCH(unexpected, "unexpected_of_one_source/any_order", benchmark::o1, Order::any, true);
BENCHMARK(wildcard_scan)
    ->Name("matching/wildcard_scan")
    ->RangeMultiplier(10)
    ->Range(1, 100'000)
    ->Complexity(benchmark::oN);

}  // namespace
}  // namespace uet::ses
