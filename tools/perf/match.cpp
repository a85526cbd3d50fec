// Matching by itself: the Matcher of one endpoint, no packets.
#include "tools/perf/match.h"

#include "ses/receives/matcher.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/rng.h"

#include <memory>
#include <utility>

namespace uet::perf {
namespace {

constexpr uint32_t kWildcards = 64;

// A queue of receives or messages with a tag each, and the order in which they are asked for.
class Queue {
 public:
  Queue(uint32_t count, bool shuffled, uint64_t seed)
      : receives_(new ses::PostedReceive[count + kWildcards]),
        messages_(new ses::UnexpectedMessage[count]),
        count_(count) {
    UET_ASSERT(matcher_.create(arena_, seed).ok());
    matcher_.expect(count + kWildcards);
    UET_ASSERT(matcher_.make_room(count + kWildcards).ok());
    Rng rng(seed, 7);
    for (uint32_t i = 0; i < count; ++i) {
      // Half the tag is drawn, so that they neither lie in a row nor collide.
      receives_[i].tag = messages_[i].envelope.tag = rng.u64() << 32 | i;
      asked_.push_back(receives_[i].tag);
    }
    for (uint32_t i = count; shuffled && i > 1; --i) {
      std::swap(asked_[i - 1], asked_[rng.below(i)]);
    }
  }

  // Wildcard receives older than all others, none of which takes a message: each match looks at
  // them.
  void post_wildcards() {
    for (uint32_t i = 0; i < kWildcards; ++i) {
      ses::PostedReceive& w = receives_[count_ + i];
      w.tag = ~uint64_t{i};
      w.ignore = 1;
      w.sequence = sequence_++;
      matcher_.post(w);
    }
  }
  void post() {
    for (uint32_t i = 0; i < count_; ++i) {
      receives_[i].sequence = sequence_++;
      matcher_.post(receives_[i]);
    }
  }
  uint64_t match_all() {
    ses::Envelope envelope;
    for (const uint64_t tag : asked_) {
      envelope.tag = tag;
      ses::PostedReceive* found = matcher_.match(envelope);
      UET_ASSERT(found != nullptr && found->tag == tag);
      matcher_.remove(*found);
    }
    return count_;
  }

  void keep() {
    for (uint32_t i = 0; i < count_; ++i) matcher_.add_unexpected(messages_[i]);
  }
  uint64_t find_all(bool directed) {
    ses::MatchFilter filter;
    filter.directed = directed;
    for (const uint64_t tag : asked_) {
      filter.tag = tag;
      ses::UnexpectedMessage* found = matcher_.find_unexpected(filter);
      UET_ASSERT(found != nullptr && found->envelope.tag == tag);
      matcher_.remove_unexpected(*found);
    }
    return count_;
  }

 private:
  Arena arena_;
  ses::Matcher matcher_;
  std::unique_ptr<ses::PostedReceive[]> receives_;
  std::unique_ptr<ses::UnexpectedMessage[]> messages_;
  std::vector<uint64_t> asked_;  // tags
  uint32_t count_;
  uint64_t sequence_ = 1;
};

}  // namespace

std::vector<MatchFigure> match_figures(const Timer& timer, uint64_t seed) {
  std::vector<MatchFigure> out;
  for (const uint32_t count : {1'000u, 10'000u, 100'000u}) {
    for (const bool shuffled : {false, true}) {
      const std::string order = shuffled ? ", any order" : ", in order";
      Queue exact(count, shuffled, seed);
      out.push_back({"exact receive" + order, count,
                     timer([&] { exact.post(); }, [&] { return exact.match_all(); })});
      Queue behind(count, shuffled, seed);
      behind.post_wildcards();
      out.push_back({"behind 64 wildcards" + order, count,
                     timer([&] { behind.post(); }, [&] { return behind.match_all(); })});
      Queue kept(count, shuffled, seed);
      out.push_back({"unexpected message" + order, count,
                     timer([&] { kept.keep(); }, [&] { return kept.find_all(false); })});
      Queue directed(count, shuffled, seed);
      out.push_back({"unexpected, of one source" + order, count,
                     timer([&] { directed.keep(); }, [&] { return directed.find_all(true); })});
    }
  }
  return out;
}

}  // namespace uet::perf
