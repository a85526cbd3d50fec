// The posts of both ends, and the oracles for their results: a completion belongs to an open post
// of that end and ends it once, no octet is written beyond the given room, and without forged
// identities the received octets equal the sent ones. [architecture 8]
#pragma once

#include "fuzz/stack/room.h"

#include "ses/memory/memory_region.h"
#include "ses/types.h"

#include <array>
#include <cstdint>
#include <deque>

namespace uet::fuzz {

inline constexpr uint32_t kNodes = 2;
inline constexpr uint32_t kRegions = 4;
inline constexpr uint32_t kSharingSlots = 2;  // where receives are shared: by the first endpoints

// Memory of one end that the other may reach. The order is that of the rights.
enum class RegionUse : uint8_t {
  source,   // read only; RUDI reads it too
  target,   // written and read, also by RUDI
  ordered,  // written and read, never by RUDI
  closed,   // registered without any right
};

struct Region {
  Room room;
  ses::RegionId id;
  uint64_t key = 0;
  uint32_t pattern = 0;     // the owner of its first octets
  uint32_t generation = 0;  // counts registrations
  uint32_t claimed = 0;     // octets that writes were given as their own
  bool is_shared = false;   // writes overlap: the result is undefined
};

using Regions = std::array<Region, kRegions>;

// One accepted operation or receive.
struct Post {
  uint32_t id = 0;       // 1...; a sender's octets are those of its id
  uint32_t node = 0;     // its node
  uint32_t slot = 0;     // endpoint of the node
  uint32_t to = kNodes;  // destination node; kNodes: none
  ses::OpKind kind{};
  bool is_open = true;
  bool is_injected = false;
  bool is_multi = false;
  bool is_shared = false;  // a receive of all endpoints that share theirs
  bool is_datagram = false;
  bool was_delivered = false;
  Room room;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  uint32_t region = 0;  // RMA: where, and when that was registered
  uint32_t region_generation = 0;
  uint64_t offset = 0;

  bool is_receive() const { return kind == ses::OpKind::recv || kind == ses::OpKind::tagged_recv; }
};

class Ledger {
 public:
  // `exact`: no forging, so contents are checked too.
  Ledger(bool exact, const std::array<Regions, kNodes>& regions)
      : exact_(exact), regions_(regions) {}

  Post& open(uint32_t node, ses::OpKind kind, uint32_t bytes);
  // The post was refused; it must not complete.
  void withdraw(Post& post);
  void on_completion(uint32_t node, const ses::Completion& c);
  // The endpoint is closed, or the whole node gone: all its operations have ended. Shared receives
  // do not belong to the endpoint.
  void check_closed(uint32_t node, uint32_t slot) const;
  void lose(uint32_t node);
  // Call when the calls that ended operations are over: checks the guards around the memory of
  // these operations and frees it, since it belongs to the application again.
  void release_ended();

  // The n-th post from the end that is open at that node, or null.
  Post* find_open(uint32_t node, uint32_t n);
  uint32_t open_count() const { return open_count_; }
  bool has_open_operation() const;
  void check_guards() const;
  // Completion slots reserved for operations without a post.
  bool reserve(uint32_t node) {
    ++reserved_[node];
    return true;
  }
  bool exact() const { return exact_; }
  // Everything that was ever posted; the index is id - 1.
  std::deque<Post>& posts() { return posts_; }

 private:
  void end(Post& post);
  void judge_sender(const Post& post, const ses::Completion& c) const;
  void judge_receive(Post& post, const ses::Completion& c);
  void judge_message(const Post& receive, const ses::Completion& c, uint64_t at);

  bool exact_;
  const std::array<Regions, kNodes>& regions_;
  std::deque<Post> posts_;
  std::deque<Post*> ended_;  // since release_ended()
  uint32_t open_count_ = 0;
  std::array<uint64_t, kNodes> reserved_{};
  std::array<uint64_t, kNodes> unasked_{};  // completions that took such a slot
};

}  // namespace uet::fuzz
