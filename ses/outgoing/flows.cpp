// Finding, making and giving back flows. [PDS-247]
#include "ses/outgoing/flows.h"

#include "ses/outgoing/tx_message.h"

#include <algorithm>

namespace uet::ses {

Result<void> Flows::create(Rng& rng) {
  const Room room{std::min(res_.config.flows, 16U), res_.config.flows};
  UET_CHECK(flows_.create(*res_.arena, room));
  UET_CHECK(names_.create(*res_.arena, room));
  UET_CHECK(by_key_.create(*res_.arena, room, rng.u64()));
  UET_CHECK(by_id_.create(*res_.arena, room, rng.u64()));
  return of_peer_.create(*res_.arena, room, rng.u64());
}

Flows::Found Flows::get(const FlowKey& key) {
  if (Flow** known = by_key_.find(key)) return {.flow = *known};
  if (res_.jobs != nullptr && res_.jobs->is_cut_off(key.job)) return {.why = Errc::permission};
  FlowName* const name = names_.alloc();
  if (name == nullptr) return {.why = Errc::again};
  const uint32_t sdi = res_.jobs == nullptr ? 0 : res_.jobs->domain_of(key.job);
  const auto id = res_.pds->flow(key.peer, key.tc, key.mode, key.job, sdi);
  if (!id.ok()) {
    names_.free(name);
    return {.why = id.error(), .is_full_below = id.error() == Errc::again};
  }
  Flow* const shared = find(*id);  // jobs may have one in common [PDS-013]
  Flow* const via = shared != nullptr ? shared : make(*id, key);
  if (via == nullptr || !by_key_.insert(key, via).ok()) {
    names_.free(name);
    if (via != nullptr) drop_unused(*via);
    return {.why = Errc::again};
  }
  name->key = key;
  via->names.push_back(*name);
  return {.flow = via};
}

// Null: no room, and the id is given back.
Flow* Flows::make(pds::FlowId id, const FlowKey& key) {
  Flow* const made = flows_.alloc();
  if (made == nullptr || !by_id_.insert(id.value(), made).ok()) {
    if (made != nullptr) flows_.free(made);
    res_.pds->release(id);
    return nullptr;
  }
  made->id = id;
  made->mode = key.mode;
  made->peer = key.peer;
  if (Flow** const first = of_peer_.find(key.peer)) {
    made->next_of_peer = *first;
    *first = made;
    made->is_listed = true;
  } else {
    made->is_listed = of_peer_.insert(key.peer, made).ok();
  }
  return made;
}

void Flows::leave(Flow& flow) {
  UET_ASSERT(flow.users != 0);
  if (--flow.users == 0) release(flow);
}

void Flows::release(Flow& flow) {
  UET_ASSERT(flow.users == 0 && flow.queue.empty() && flow.read_packets == 0);
  while (FlowName* const name = flow.names.pop_front()) {
    by_key_.erase(name->key);
    names_.free(name);
  }
  by_id_.erase(flow.id.value());
  if (flow.is_listed) {
    Flow** const first = of_peer_.find(flow.peer);
    if (*first == &flow && flow.next_of_peer == nullptr) {
      of_peer_.erase(flow.peer);
    } else {
      Flow** link = first;
      while (*link != &flow) link = &(*link)->next_of_peer;
      *link = flow.next_of_peer;
    }
  }
  res_.pds->release(flow.id);
  flows_.free(&flow);
}

void Flows::wake_all() {
  is_starved_ = false;
  flows_.for_each([&](Flow& flow) {
    if (!flow.queue.empty()) res_.pds->ready(flow.id, 0);
  });
}

}  // namespace uet::ses
