// Finds the posted receive for a message, and the kept message for a new receive. One Matcher for
// the untagged and one for the tagged messages of a queue. [SES-119..124]
//
// Exact receives are found by hash, wildcard ones by scanning an array in posting order; the older
// of the two wins, so posting order holds across both. [SES-122] Cost: exact 2 cache misses
// whatever is posted; a wildcard entry 16 octets of a linear scan.
#pragma once

#include "ses/iov.h"
#include "ses/receives/keyed_queues.h"
#include "ses/receives/unexpected_pool.h"
#include "ses/types.h"

#include "base/arena.h"
#include "base/intrusive_list.h"
#include "base/result.h"

#include <cstdint>
#include <span>

namespace uet::ses {

struct RxMessage;
struct DeferredMessage;
struct Pull;

// A receive that waits for its message.
struct PostedReceive : ListNode<struct PostedTag>, KeyedNode<struct ExactTag> {
  uint64_t sequence = 0;  // posting order within the queue
  uint64_t tag = 0;
  uint64_t ignore = 0;  // bits of the tag that do not matter
  PeerId from;
  uint32_t from_initiator = 0;
  uint32_t wildcard_slot = 0;
  uint32_t job = kAnyJob;  // the source whose messages it may take [SES-117]
  bool by_job = false;     // messages of other sources skip it [SES-119]
  bool directed = false;
  bool tagged = false;
  bool multi = false;
  bool is_matchable = false;  // it is in its Matcher
  bool is_used_up = false;    // no further message
  bool is_cancelled = false;  // multi: ends as cancelled when its last message has
  uint32_t multi_min = 0;
  uint32_t open_messages = 0;  // multi: matched, not complete
  uint64_t used = 0;           // multi: octets given to messages so far
  uint64_t called_bytes = 0;   // multi: of deferred messages that were requested for it
  Iov memory;
  OpContext context;
  DeferredMessage* called = nullptr;  // it is set aside for that message

  uint64_t room() const { return memory.bytes() - used; }
  // The filter is a key for a look-up: all other filters look at each message.
  bool is_exact() const { return ignore == 0 && !by_job; }
  bool accepts_sender(const struct Envelope& e) const;
  // A match of another job is refused, not skipped. [SES-117]
  bool allows(JobId of) const { return job == kAnyJob || job == of.value(); }
};

// The envelope of a message, as matching sees it.
struct Envelope {
  uint64_t tag = 0;
  PeerId peer;
  uint32_t initiator = 0;
  JobId job{};
};

inline bool PostedReceive::accepts_sender(const Envelope& e) const {
  return (!directed || (from == e.peer && from_initiator == e.initiator)) &&
         (!by_job || job == e.job.value());
}

// A message that came before its receive. Finding one by its tag and taking it out touches only its
// first cache line and that of its neighbours. [SES-126]
struct alignas(64) UnexpectedMessage : ListNode<struct ArrivalTag>,
                                       KeyedNode<struct ByTag>,
                                       KeyedNode<struct BySource> {
  Envelope envelope;
  uint64_t header_data = 0;
  bool has_data = false;  // header_data
  bool tagged = false;
  bool is_complete = false;
  bool is_claimed = false;   // taken out of the queues by a peek [LF-059]
  bool owes_answer = false;  // delivery-complete: `token` is answered when placed [SES-148]
  uint32_t request_length = 0;
  uint32_t endpoint = 0;  // EndpointId
  uint8_t ri_generation = 0;
  MessageId message_id;
  pds::RxToken token;
  RxMessage* arriving = nullptr;        // the rest of the message is under way
  Pull* pull = nullptr;                 // rendezvous: the pages hold the pushed octets
  DeferredMessage* deferred = nullptr;  // deferred: only this record is kept
  // Puts an odd number of lines between the first ones, which then spread over all sets of a cache.
  alignas(64) PageList pages;
};
inline const Envelope& envelope_of(const UnexpectedMessage& m) { return m.envelope; }

static_assert(sizeof(ListNode<ArrivalTag>) + sizeof(KeyedNode<ByTag>) == 64);
static_assert(sizeof(UnexpectedMessage) / 64 % 2 == 1);

// The filter of a receive or a peek.
struct MatchFilter {
  uint64_t tag = 0;
  uint64_t ignore = 0;
  bool directed = false;
  PeerId from;
  uint32_t from_initiator = 0;
  uint32_t job = kAnyJob;

  bool accepts(const UnexpectedMessage& m) const {
    const Envelope& e = m.envelope;
    return ((e.tag ^ tag) & ~ignore) == 0 &&
           (!directed || (e.peer == from && e.initiator == from_initiator)) &&
           (job == kAnyJob || job == e.job.value());
  }
};

class Matcher {
 public:
  // Call once before anything else. Tables grow with their contents, from an arena that outlives
  // this object; no memory is returned.
  Result<void> create(Arena& arena, uint64_t seed);
  // No more receives than this will be posted at once: how large the tables may get.
  void expect(uint32_t receives);
  // Room for `receives` receives, any of which may be a wildcard one. Errc::no_memory: unchanged.
  Result<void> make_room(uint32_t receives) {
    if (receives <= capacity_) return {};
    return grow(receives);
  }

  // There is room for it. Posting order is the order of `sequence`, which grows from call to call.
  void post(PostedReceive& receive);
  // Takes it out, because it was used up or cancelled.
  void remove(PostedReceive& receive);
  // The first receive in posting order that takes the message, or null. It stays posted.
  PostedReceive* match(const Envelope& envelope) const;

  void add_unexpected(UnexpectedMessage& message);
  void remove_unexpected(UnexpectedMessage& message);
  // The first message in arrival order that the filter accepts, or null. It stays.
  UnexpectedMessage* find_unexpected(const MatchFilter& filter);
  // In arrival order; null after the last.
  UnexpectedMessage* oldest_unexpected() { return unexpected_.front(); }
  UnexpectedMessage* next_unexpected(const UnexpectedMessage& m) { return unexpected_.next(m); }

 private:
  // Fields that every scan reads, apart from fields that only a hit reads.
  struct Pattern {
    uint64_t tag;
    uint64_t care;  // bits that must agree
  };
  struct Wildcard {
    uint64_t sequence;       // of the receive
    PostedReceive* receive;  // null: removed
  };

  Result<void> grow(uint32_t receives);
  void compact_into(std::span<Pattern> patterns, std::span<Wildcard> wildcards);
  uint32_t next_hit(uint64_t tag, uint32_t i, uint32_t end) const;
  void index_sources();

  KeyedQueues<PostedReceive, ExactTag> exact_;
  uint32_t directed_count_ = 0;  // of the receives in exact_
  // Both in posting order, with the same holes. Twice as long as capacity_, so that holes are
  // squeezed out only once per capacity_ posts.
  std::span<Pattern> patterns_;
  std::span<Wildcard> wildcards_;
  uint32_t wildcard_begin_ = 0;
  uint32_t wildcard_end_ = 0;
  uint32_t wildcard_count_ = 0;

  IntrusiveList<UnexpectedMessage, ArrivalTag> unexpected_;
  KeyedQueues<UnexpectedMessage, ByTag> unexpected_by_tag_;
  // Kept from the first request for messages of one source on: endpoints that never make one have a
  // queue less to maintain. The first look-up builds it, once.
  KeyedQueues<UnexpectedMessage, BySource> unexpected_by_source_;
  bool has_sources_ = false;
  uint32_t capacity_ = 0;  // wildcard receives
  uint32_t capacity_max_ = 0;
  Arena* arena_ = nullptr;
};

}  // namespace uet::ses
