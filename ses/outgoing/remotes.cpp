// Remote endpoints: found or made when something is posted, given back when idle for long, or when
// the application forgets the peer. [PDS-247, SES-134]
#include "ses/outgoing/remotes.h"

#include "ses/outgoing/tx_message.h"

#include <algorithm>

namespace uet::ses {

Result<void> Remotes::create(uint32_t internal, Rng& rng) {
  internal_max_ = internal;
  const uint32_t remotes = res_.config.remotes + internal;
  const Room room{std::min(remotes, 16U), remotes};
  UET_CHECK(remotes_.create(*res_.arena, room));
  UET_CHECK(by_key_.create(*res_.arena, room, rng.u64()));
  return by_source_.create(*res_.arena, room, rng.u64());
}

Result<Flow*> Remotes::flow(const Endpoint& ep, PeerId peer, pds::Mode mode, JobId job) {
  const Flows::Found found = flows_.get({peer, ep.options.tc, mode, job});
  if (found.flow != nullptr) return found.flow;
  // Its flow is free a round trip later, when its PDCs are closed.
  if (found.is_full_below) forget_idle(/*is_internal=*/false);
  return found.why;
}

Result<Remote*> Remotes::get(Endpoint& ep, const Destination& to, bool is_internal) {
  const JobId job = to.job.value() != 0 ? to.job : ep.name.job;
  const RemoteKey key{ep.id.value(), to.peer, to.pid, to.ri, to.absolute, job, is_internal};
  if (Remote** known = by_key_.find(key)) {
    (*known)->is_unwanted = false;
    return *known;
  }
  const pds::Mode mode = is_internal ? pds::Mode::rud : ep.options.mode;  // [SES-092]
  const uint32_t limit = is_internal ? internal_max_ : res_.config.remotes;
  if (counts_[is_internal ? 1 : 0] == limit && !forget_idle(is_internal)) return Errc::again;
  Flow* const via = UET_TRY(flow(ep, to.peer, mode, job));
  return make(key, to.initiator_id, *via);
}

Result<Remote*> Remotes::make(const RemoteKey& key, uint32_t initiator, Flow& via) {
  Remote* const made = remotes_.alloc(key);
  if (made == nullptr || !by_key_.insert(key, made).ok()) {
    if (made != nullptr) remotes_.free(made);
    flows_.drop_unused(via);
    return Errc::again;
  }
  ++counts_[key.is_internal ? 1 : 0];
  flows_.enter(via);
  via.remotes.push_back(*made);
  made->flow = &via;
  made->is_ordered = via.mode == pds::Mode::rod;
  made->initiator = initiator;
  if (!key.is_internal) (void)by_source_.insert({key.endpoint, key.peer, initiator}, made);
  rest(*made);
  return made;
}

const Remote* Remotes::of_source(EndpointId ep, PeerId peer, uint32_t initiator) const {
  Remote* const* const known = by_source_.find({ep.value(), peer, initiator});
  return known == nullptr ? nullptr : *known;
}

void Remotes::rest(Remote& remote) {
  if (remote.is_unwanted) return forget(remote);
  remote.idle_since = res_.now;
  idle_.push_back(remote);
  const Duration limit = res_.config.idle_time;
  if (limit > Duration::zero() && !sweep_.is_armed()) res_.timers.arm(sweep_, res_.now + limit);
}

bool Remotes::forget_idle(bool is_internal) {
  for (Remote& oldest : idle_) {
    if (oldest.key.is_internal != is_internal) continue;
    forget(oldest);
    return true;
  }
  return false;
}

// The generations learnt are lost with it; the next message learns them again. [SES-134]
void Remotes::forget(Remote& remote) {
  by_key_.erase(remote.key);
  const SourceKey source{remote.key.endpoint, remote.key.peer, remote.initiator};
  Remote** const known = by_source_.find(source);
  if (known != nullptr && *known == &remote) by_source_.erase(source);
  --counts_[remote.key.is_internal ? 1 : 0];
  res_.timers.cancel(remote.timer);
  Flow& via = *remote.flow;
  remotes_.free(&remote);
  flows_.leave(via);
}

// Forgets those that were idle for long; the timer is set for the next one.
void Remotes::sweep() {
  while (Remote* const oldest = idle_.front()) {
    const Instant end = oldest->idle_since + res_.config.idle_time;
    if (end > res_.now) return res_.timers.arm(sweep_, end);
    forget(*oldest);
  }
}

void Remotes::forget_peer(PeerId peer) {
  for (Flow* via = flows_.first_of(peer); via != nullptr;) {
    Flow* const next = via->next_of_peer;
    flows_.enter(*via);  // it must not go in the midst of this
    for (Remote& remote : via->remotes) {
      remote.is_unwanted = true;
      if (remote.is_idle()) forget(remote);
    }
    flows_.leave(*via);
    via = next;
  }
}

}  // namespace uet::ses
