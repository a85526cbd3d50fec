// Owns the flows of this FEP: which FlowId serves which peer, class, mode and job, and the queue of
// operations of each. A flow without users is given back to PDS.
#pragma once

#include "ses/outgoing/remote.h"
#include "ses/resources.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class Flows {
 public:
  explicit Flows(Resources& res) : res_(res) {}
  Result<void> create(Rng& rng);

  // Result of a look-up.
  struct Found {
    Flow* flow = nullptr;  // null: `why`
    Errc why{};
    bool is_full_below = false;  // PDS has no flow left, until one is given back
  };
  // Finds or makes the flow of that key. A new one has no users yet.
  Found get(const FlowKey& key);
  Flow* find(pds::FlowId id) {
    Flow** const found = by_id_.find(id.value());
    return found == nullptr ? nullptr : *found;
  }
  // The flows toward a peer: the first one, and Flow::next_of_peer.
  Flow* first_of(PeerId peer) {
    Flow** const found = of_peer_.find(peer);
    return found == nullptr ? nullptr : *found;
  }

  void enter(Flow& flow) { ++flow.users; }
  void leave(Flow& flow);
  // Gives back a flow that was never entered.
  void drop_unused(Flow& flow) {
    if (flow.users == 0) release(flow);
  }

  // A flow found no message ID: all flows are asked again when one is free.
  void note_starved() { is_starved_ = true; }
  void wake_starved() {
    if (is_starved_) wake_all();
  }

 private:
  Flow* make(pds::FlowId id, const FlowKey& key);
  void release(Flow& flow);
  void wake_all();

  Resources& res_;
  Slab<Flow> flows_;
  Slab<FlowName> names_;
  HashMap<FlowKey, Flow*> by_key_;
  HashMap<uint32_t, Flow*> by_id_;
  HashMap<PeerId, Flow*> of_peer_;  // the first of each, see Flow::next_of_peer
  bool is_starved_ = false;
};

}  // namespace uet::ses
