// The congestion contexts, one for each (peer, class). [PDS 2]
#pragma once

#include "pds/resources.h"
#include "pds/schedule/flow.h"
#include "pds/schedule/schedule.h"

#include "wire/pds.h"

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/slab.h"

namespace uet::pds {

class Contexts {
 public:
  Contexts(Resources& res, Schedule& schedule) : res_(res), schedule_(schedule) {}

  Result<void> create(Arena& arena, Room room);
  Context* find(ContextKey key) const {
    Context* const* const found = by_key_.find(key);
    return found == nullptr ? nullptr : *found;
  }
  uint32_t size() const { return slab_.size(); }
  // Its place in the order of for_each, which it keeps as long as it exists.
  uint32_t index_of(const Context& context) const { return slab_.handle(&context).index(); }
  template <class Fn>
  void for_each(Fn&& fn) {
    slab_.for_each(fn);
  }

  // The key of a new flow. Each ROD flow toward a peer takes the next lane. [CMS-003, CMS-004]
  ContextKey key_for(PeerId peer, TrafficClass tc, Mode mode) {
    if (mode == Mode::rud) return {peer, tc};
    next_lane_ = next_lane_ == kLanes ? 1 : next_lane_ + 1;
    return {peer, tc, false, next_lane_};
  }
  // The context of that key, with one more reference; null: no memory, or as many as there may be,
  // in all or toward that peer [CMS-006].
  Context* take(ContextKey key);
  // One reference less; the last one frees the context.
  void drop(Context& context);

 private:
  // Contexts of one peer that have different numbers. [CMS-006]
  static constexpr uint32_t kCccIds = 256;
  // Contexts of one peer and class differ by their lane. [CMS-004]
  std::optional<uint32_t> single_number(ContextKey key) const {
    if (key.is_sprayed) return std::nullopt;
    return static_cast<uint32_t>(hash64(key.peer.value(), key.tc.value(), single_seed_)) + key.lane;
  }
  Result<uint8_t> take_ccc_id(Peer& peer) const;
  static constexpr uint8_t kLanes = 255;  // lane 0 is for return data

  Resources& res_;
  Schedule& schedule_;
  Slab<Context> slab_;
  HashMap<ContextKey, Context*> by_key_;
  uint32_t senders_ = 0;  // contexts that have something that they may send
  uint64_t single_seed_ = 0;
  uint8_t next_lane_ = 0;
};

}  // namespace uet::pds
