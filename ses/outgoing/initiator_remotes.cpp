// What an initiator knows of remote endpoints, and the flows toward them: found or made when
// something is posted, given back when idle for long, or when the application forgets the peer.
// [PDS-247, SES-134]
#include "ses/outgoing/initiator.h"

namespace uet::ses {

Result<Flow*> Initiator::flow(Endpoint& ep, PeerId peer, pds::Mode mode, JobId job) {
  const FlowKey key{peer, ep.options.tc, mode, job};
  if (Flow** known = flow_by_key_.find(key)) return *known;
  FlowName* const name = names_.alloc();
  if (name == nullptr) return Errc::again;
  const auto id = core_.pds->flow(key.peer, key.tc, key.mode, key.job);
  if (!id.ok()) {
    names_.free(name);
    // Its flow is free a round trip later, when its PDCs are closed.
    if (id.error() == Errc::again) forget_idle_remote(/*is_internal=*/false);
    return id.error();
  }
  Flow** const shared = flow_by_id_.find(id->value());  // jobs may have one in common [PDS-013]
  Flow* const via = shared != nullptr ? *shared : make_flow(*id, peer, mode);
  if (via == nullptr || !flow_by_key_.insert(key, via).ok()) {
    names_.free(name);
    if (via != nullptr && via->users == 0) release_flow(*via);
    return Errc::again;
  }
  name->key = key;
  via->names.push_back(*name);
  return via;
}

// Null: no room, and the id is given back.
Flow* Initiator::make_flow(pds::FlowId id, PeerId peer, pds::Mode mode) {
  Flow* const made = flows_.alloc();
  if (made == nullptr || !flow_by_id_.insert(id.value(), made).ok()) {
    if (made != nullptr) flows_.free(made);
    core_.pds->release(id);
    return nullptr;
  }
  made->id = id;
  made->mode = mode;
  made->peer = peer;
  if (Flow** const first = flow_of_peer_.find(peer)) {
    made->next_of_peer = *first;
    *first = made;
  } else {
    made->is_listed = flow_of_peer_.insert(peer, made).ok();
    return made;
  }
  made->is_listed = true;
  return made;
}

void Initiator::leave_flow(Flow& flow) {
  UET_ASSERT(flow.users != 0);
  if (--flow.users == 0) release_flow(flow);
}

void Initiator::release_flow(Flow& flow) {
  UET_ASSERT(flow.users == 0 && flow.queue.empty() && flow.read_packets == 0);
  while (FlowName* const name = flow.names.pop_front()) {
    flow_by_key_.erase(name->key);
    names_.free(name);
  }
  flow_by_id_.erase(flow.id.value());
  if (flow.is_listed) {
    Flow** const first = flow_of_peer_.find(flow.peer);
    if (*first == &flow && flow.next_of_peer == nullptr) {
      flow_of_peer_.erase(flow.peer);
    } else {
      Flow** link = first;
      while (*link != &flow) link = &(*link)->next_of_peer;
      *link = flow.next_of_peer;
    }
  }
  core_.pds->release(flow.id);
  flows_.free(&flow);
}

Result<Remote*> Initiator::remote(Endpoint& ep, const Destination& to, bool is_internal) {
  const JobId job = to.job.value() != 0 ? to.job : ep.name.job;
  const RemoteKey key{ep.id.value(), to.peer, to.pid, to.ri, to.absolute, job, is_internal};
  if (Remote** known = remote_by_key_.find(key)) {
    (*known)->is_unwanted = false;
    return *known;
  }
  const pds::Mode mode = is_internal ? pds::Mode::rud : ep.options.mode;  // [SES-092]
  uint32_t& count = remote_counts_[is_internal ? 1 : 0];
  const uint32_t limit = is_internal ? internal_operations() : core_.config.remotes;
  if (count == limit && !forget_idle_remote(is_internal)) return Errc::again;
  Flow* const via = UET_TRY(flow(ep, to.peer, mode, job));
  Remote* const made = remotes_.alloc(key);
  if (made == nullptr || !remote_by_key_.insert(key, made).ok()) {
    if (made != nullptr) remotes_.free(made);
    if (via->users == 0) release_flow(*via);
    return Errc::again;
  }
  ++count;
  ++via->users;
  via->remotes.push_back(*made);
  made->flow = via;
  made->is_ordered = mode == pds::Mode::rod;
  made->initiator = to.initiator_id;
  if (!is_internal) (void)remote_by_source_.insert({key.endpoint, key.peer, made->initiator}, made);
  rest(*made);
  return made;
}

// The remote has nothing to do for now.
void Initiator::rest(Remote& remote) {
  if (remote.is_unwanted) return forget(remote);
  remote.idle_since = core_.now;
  idle_remotes_.push_back(remote);
  const Duration limit = core_.config.idle_time;
  if (limit > Duration::zero() && !sweep_.is_armed()) core_.timers.arm(sweep_, core_.now + limit);
}

bool Initiator::forget_idle_remote(bool is_internal) {
  for (Remote& oldest : idle_remotes_) {
    if (oldest.key.is_internal != is_internal) continue;
    forget(oldest);
    return true;
  }
  return false;
}

// The generations learnt are lost with it; the next message learns them again. [SES-134]
void Initiator::forget(Remote& remote) {
  remote_by_key_.erase(remote.key);
  const SourceKey source{remote.key.endpoint, remote.key.peer, remote.initiator};
  Remote** const known = remote_by_source_.find(source);
  if (known != nullptr && *known == &remote) remote_by_source_.erase(source);
  --remote_counts_[remote.key.is_internal ? 1 : 0];
  core_.timers.cancel(remote.timer);
  Flow& via = *remote.flow;
  remotes_.free(&remote);
  leave_flow(via);
}

// Those that were idle for long go; the timer comes again for the next one.
void Initiator::forget_long_idle() {
  while (Remote* const oldest = idle_remotes_.front()) {
    const Instant end = oldest->idle_since + core_.config.idle_time;
    if (end > core_.now) return core_.timers.arm(sweep_, end);
    forget(*oldest);
  }
}

void Initiator::forget_peer(PeerId peer) {
  Flow** const first = flow_of_peer_.find(peer);
  if (first == nullptr) return;
  for (Flow* via = *first; via != nullptr;) {
    Flow* const next = via->next_of_peer;
    ++via->users;  // it must not go in the midst of this
    for (Remote& remote : via->remotes) {
      remote.is_unwanted = true;
      if (remote.is_idle()) forget(remote);
    }
    leave_flow(*via);
    via = next;
  }
}

}  // namespace uet::ses
