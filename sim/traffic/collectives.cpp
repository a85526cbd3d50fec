// Rings, trees, halving and doubling, pipelines. Ranks are positions in Collective::hosts.
#include "sim/traffic/collectives.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace uet::sim {

namespace {

// One collective, with the parts that all kinds need: pieces of the vector, and dependencies.
class Ranks {
 public:
  Ranks(const Collective& c, uint32_t pieces) : c_(c), pieces_(pieces) {
    UET_ASSERT(!c.hosts.empty() && (c.after.empty() || c.after.size() == c.hosts.size()));
    if (c.hosts.size() > 1 && c.bytes < pieces) {
      throw TrafficError("bytes of a collective with " + std::to_string(pieces) +
                         " parts must be at least as many, not " + std::to_string(c.bytes));
    }
  }

  uint32_t count() const { return static_cast<uint32_t>(c_.hosts.size()); }
  // The tasks that the rank waits for before it takes part, and these.
  Tasks ready(uint32_t rank, const Tasks& also = {}) const {
    Tasks out = c_.after.empty() ? Tasks{} : c_.after[rank];
    out.insert(out.end(), also.begin(), also.end());
    return out;
  }
  Ends all_ready() const { return c_.after.empty() ? Ends(count()) : c_.after; }

  uint32_t send(uint32_t from, uint32_t to, const Piece& piece, const Tasks& after) const {
    const uint64_t bytes = start_of(piece.first + piece.count) - start_of(piece.first);
    return c_.graph.send(c_.hosts[from], c_.hosts[to], bytes, after, piece);
  }

 private:
  // Parts of almost the same size, the larger ones first.
  uint64_t start_of(uint32_t piece) const {
    return c_.bytes / pieces_ * piece + std::min<uint64_t>(piece, c_.bytes % pieces_);
  }

  const Collective& c_;
  const uint32_t pieces_;
};

void append(Tasks& to, const Tasks& tasks) { to.insert(to.end(), tasks.begin(), tasks.end()); }

}  // namespace

Ends ring_reduce_scatter(const Collective& c) {
  const auto n = static_cast<uint32_t>(c.hosts.size());
  const Ranks ranks(c, n);
  if (n == 1) return ranks.all_ready();
  Tasks received(n), sent(n);  // by the receiver; of the step before
  for (uint32_t step = 0; step < n - 1; ++step) {
    for (uint32_t r = 0; r < n; ++r) {
      const Piece piece{(r + 2 * n - 1 - step) % n, 1, true};
      const Tasks after = step == 0 ? ranks.ready(r) : ranks.ready(r, {received[r]});
      sent[(r + 1) % n] = ranks.send(r, (r + 1) % n, piece, after);
    }
    received = sent;
  }
  Ends ends(n);
  for (uint32_t r = 0; r < n; ++r) ends[r] = ranks.ready(r, {received[r]});
  return ends;
}

Ends ring_all_gather(const Collective& c) {
  const auto n = static_cast<uint32_t>(c.hosts.size());
  const Ranks ranks(c, n);
  Ends ends = ranks.all_ready();
  if (n == 1) return ends;
  Tasks received(n), sent(n);
  for (uint32_t step = 0; step < n - 1; ++step) {
    for (uint32_t r = 0; r < n; ++r) {
      const Piece piece{(r + n - step) % n, 1, false};
      const Tasks after = step == 0 ? ranks.ready(r) : ranks.ready(r, {received[r]});
      sent[(r + 1) % n] = ranks.send(r, (r + 1) % n, piece, after);
    }
    received = sent;
    for (uint32_t r = 0; r < n; ++r) ends[r].push_back(received[r]);
  }
  return ends;
}

Ends ring_all_reduce(const Collective& c) {
  const auto n = static_cast<uint32_t>(c.hosts.size());
  const Ranks ranks(c, n);
  Ends scattered = ring_reduce_scatter(c);
  if (n == 1) return scattered;
  // A rank that forwards a sum has taken part in it: only the first step waits for other tasks.
  Ends ends = scattered;
  Tasks received(n), sent(n);
  for (uint32_t step = 0; step < n - 1; ++step) {
    for (uint32_t r = 0; r < n; ++r) {
      const Piece piece{(r + n - step) % n, 1, false};
      const Tasks after = step == 0 ? scattered[r] : Tasks{received[r]};
      sent[(r + 1) % n] = ranks.send(r, (r + 1) % n, piece, after);
    }
    received = sent;
    for (uint32_t r = 0; r < n; ++r) ends[r].push_back(received[r]);
  }
  return ends;
}

namespace {

// The tree of the labels 0 to n - 1: 0 is the root, below it the largest power of two. A label
// whose lowest bit is b has its children at a distance of b / 2 to both sides, or less where the
// right one would be beyond the end. Labels that are odd are leaves.
struct Tree {
  std::vector<std::vector<uint32_t>> children;
  std::vector<std::optional<uint32_t>> parent;

  explicit Tree(uint32_t n) : children(n), parent(n) {
    if (n > 1) adopt(0, std::bit_floor(n - 1), n);
  }
  // From the leaves to the root.
  std::vector<uint32_t> upwards() const {
    std::vector<uint32_t> order{0};
    for (size_t i = 0; i < order.size(); ++i) {
      order.insert(order.end(), children[order[i]].begin(), children[order[i]].end());
    }
    return {order.rbegin(), order.rend()};
  }
  uint32_t depth(uint32_t label) const { return parent[label] ? 1 + depth(*parent[label]) : 0; }

 private:
  void adopt(uint32_t above, uint32_t label, uint32_t n) {
    children[above].push_back(label);
    parent[label] = above;
    uint32_t distance = (label & (0 - label)) / 2;
    if (distance == 0) return;
    adopt(label, label - distance, n);
    while (distance > 0 && label + distance >= n) distance /= 2;
    if (distance > 0) adopt(label, label + distance, n);
  }
};

// The rank of a label: in the first tree the same; in the second one odd ranks have even labels, by
// counting from the end, or, where that would not change odd and even, by a shift.
uint32_t rank_of(uint32_t label, uint32_t n, bool is_second) {
  if (!is_second) return label;
  return n % 2 == 0 ? n - 1 - label : (label + 1) % n;
}

void reduce_in_tree(const Ranks& ranks, const Tree& tree, bool is_second, uint32_t piece,
                    Ends& ends) {
  const uint32_t n = ranks.count();
  const auto rank = [&](uint32_t label) { return rank_of(label, n, is_second); };
  const std::vector<uint32_t> upwards = tree.upwards();
  Ends from_children(n);  // by label
  for (const uint32_t label : upwards) {
    if (!tree.parent[label]) continue;
    from_children[*tree.parent[label]].push_back(
        ranks.send(rank(label), rank(*tree.parent[label]), {piece, 1, true},
                   ranks.ready(rank(label), from_children[label])));
  }
  Ends from_parent(n);
  from_parent[0] = ranks.ready(rank(0), from_children[0]);
  for (auto label = upwards.rbegin(); label != upwards.rend(); ++label) {
    for (const uint32_t child : tree.children[*label]) {
      from_parent[child] = {
          ranks.send(rank(*label), rank(child), {piece, 1, false}, from_parent[*label])};
    }
    append(ends[rank(*label)], from_parent[*label]);
  }
}

}  // namespace

Ends double_tree_all_reduce(const Collective& c, uint32_t chunks) {
  UET_ASSERT(chunks > 0);
  const Ranks ranks(c, 2 * chunks);
  if (ranks.count() == 1) return ranks.all_ready();
  const Tree tree(ranks.count());
  Ends ends(ranks.count());
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    reduce_in_tree(ranks, tree, false, chunk, ends);
    reduce_in_tree(ranks, tree, true, chunks + chunk, ends);
  }
  return ends;
}

uint32_t tree_depth(uint32_t n) {
  const Tree tree(n);
  uint32_t deepest = 0;
  for (uint32_t label = 0; label < n; ++label) deepest = std::max(deepest, tree.depth(label));
  return deepest;
}

uint32_t tree_sends(uint32_t n) {
  const Tree tree(n);
  std::vector<uint32_t> sends(n);
  for (uint32_t label = 0; label < n; ++label) {
    const auto here =
        static_cast<uint32_t>(tree.children[label].size() + (tree.parent[label] ? 1 : 0));
    sends[rank_of(label, n, false)] += here;
    sends[rank_of(label, n, true)] += here;
  }
  return *std::max_element(sends.begin(), sends.end());
}

Ends halving_doubling_all_reduce(const Collective& c) {
  const auto n = static_cast<uint32_t>(c.hosts.size());
  const uint32_t core = std::bit_floor(n), surplus = n - core;
  const Ranks ranks(c, core);
  Ends ends = ranks.all_ready();  // of the core: what its next step waits for
  if (n == 1) return ends;
  // Of the first 2 * surplus ranks the even ones leave their part to the next one.
  const auto rank = [surplus](uint32_t member) {
    return member < surplus ? 2 * member + 1 : member + surplus;
  };
  const Piece all{0, core, true};
  for (uint32_t r = 0; r < 2 * surplus; r += 2) {
    ends[r + 1].push_back(ranks.send(r, r + 1, all, ranks.ready(r)));
  }
  // Both ends of an exchange go on when both directions are done.
  const auto exchange = [&](uint32_t mask, auto piece_of) {
    for (uint32_t a = 0; a < core; ++a) {
      const uint32_t b = a ^ mask;
      if (a > b) continue;
      const uint32_t to_b = ranks.send(rank(a), rank(b), piece_of(a, b), ends[rank(a)]);
      const uint32_t to_a = ranks.send(rank(b), rank(a), piece_of(b, a), ends[rank(b)]);
      ends[rank(a)] = ends[rank(b)] = {to_b, to_a};
    }
  };
  for (uint32_t mask = core / 2; mask > 0; mask /= 2) {  // the receiver keeps its half
    exchange(mask, [mask](uint32_t, uint32_t to) { return Piece{to & ~(mask - 1), mask, true}; });
  }
  for (uint32_t mask = 1; mask < core; mask *= 2) {
    exchange(mask, [mask](uint32_t from, uint32_t) {
      return Piece{from & ~(mask - 1), mask, false};
    });
  }
  for (uint32_t r = 0; r < 2 * surplus; r += 2) {
    ends[r] = {ranks.send(r + 1, r, {0, core, false}, ends[r + 1])};
  }
  return ends;
}

Ends pipeline_broadcast(const Collective& c, uint32_t chunks) {
  UET_ASSERT(chunks > 0);
  const Ranks ranks(c, chunks);
  Ends ends = ranks.all_ready();
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    Tasks received;
    for (uint32_t r = 0; r + 1 < ranks.count(); ++r) {
      received = {ranks.send(r, r + 1, {chunk, 1, false}, ranks.ready(r, received))};
      append(ends[r + 1], received);
      if (r == 0) append(ends[0], received);  // its vector may be changed again
    }
  }
  return ends;
}

}  // namespace uet::sim
