// The flows of a FEP: look-up by key and by id. A flow is given back by its client; it stays until
// its last PDC is gone, and can be taken up again until then. [PDS-013, PDS-247]
#pragma once

#include "pds/schedule/flow.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/result.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::pds {

class FlowTable {
 public:
  // Memory is taken as flows come.
  Result<void> create(Arena& arena, uint32_t most, uint64_t seed) {
    const Room room{most < kFirst ? most : kFirst, most};
    UET_CHECK(flows_.create(arena, room));
    return by_key_.create(arena, room, seed);
  }

  // The flow of that key; a released one is in use again. Null: there is none.
  Flow* find(const FlowKey& key) {
    Flow* const* const found = by_key_.find(key);
    if (found == nullptr) return nullptr;
    Flow& flow = **found;
    flow.is_released = false;
    static_cast<ListNode<ReleasedFlowTag>&>(flow).unlink();
    return &flow;
  }
  // A new one; null: as many are in use as there may be.
  Flow* make(const FlowKey& key) {
    Flow* const flow = flows_.alloc(key);
    if (flow == nullptr) return nullptr;
    if (!by_key_.insert(key, flow).ok()) {
      flows_.free(flow);
      return nullptr;
    }
    flow->id = FlowId(flows_.handle(flow).word());
    return flow;
  }
  Flow* get(FlowId id) { return flows_.get(Handle<Flow>::from_word(id.value())); }

  // The client is done with it: next_released() gives it.
  void release(Flow& flow) {
    flow.is_released = true;
    flow.ready = false;
    note_idle(flow);
  }
  // The last PDC of a flow is gone.
  void note_idle(Flow& flow) {
    const ListNode<ReleasedFlowTag>& node = flow;
    if (flow.is_released && !node.is_linked()) released_.push_back(flow);
  }
  bool has_released() const { return !released_.empty(); }
  Flow* next_released() { return released_.pop_front(); }
  // The flow must have no PDC and be in no list but the list of released flows.
  void free(Flow& flow) {
    by_key_.erase(flow.key);
    flows_.free(&flow);
  }

  uint32_t size() const { return flows_.size(); }
  template <class Fn>
  void for_each(Fn&& fn) {
    flows_.for_each(fn);
  }

 private:
  static constexpr uint32_t kFirst = 64;

  Slab<Flow> flows_;
  HashMap<FlowKey, Flow*> by_key_;
  IntrusiveList<Flow, ReleasedFlowTag> released_;
};

}  // namespace uet::pds
