// Deferrable sends at the target.
#include "ses/deferral/deferred_messages.h"

#include "pds/share.h"

#include <algorithm>

namespace uet::ses {

Result<void> DeferredMessages::create(Rng& rng) {
  const Config& config = res_.config;
  const uint64_t wanted = uint64_t{config.deferred_messages} * config.endpoints;
  const auto count =
      static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, config.unexpected_messages));
  UET_CHECK(deferred_.create(*res_.arena, count, Reuse::rested));
  UET_CHECK(by_key_.create(*res_.arena, count, rng.u64()));
  return counts_.create(*res_.arena, count, rng.u64());
}

// Without a token it could not be called back. [SES-103]
bool DeferredMessages::may_defer(const Request& q) const {
  return q.tokens().initiator != 0 &&
         support(res_.config.profiles, Feature::deferral) != Support::absent;
}

DeferredMessage* DeferredMessages::find(const Endpoint& ep, const Request& q) {
  DeferredMessage** const found = by_key_.find(key_of(ep, q));
  return found == nullptr ? nullptr : *found;
}

bool DeferredMessages::is_same(const DeferredMessage& d, const Request& q) {
  const UnexpectedMessage& u = *d.message;
  return u.tagged == is_tagged(q.common.opcode) && u.envelope.job == q.common.job_id &&
         u.request_length == q.request_length && u.envelope.tag == (u.tagged ? q.match_bits : 0);
}

// A peer gets at most as many records of an endpoint as it leaves to others. [SES-035, T-25]
bool DeferredMessages::may_remember(const Endpoint& ep, PeerId peer) const {
  const uint32_t limit = res_.config.deferred_messages;
  if (ep.deferred >= limit || deferred_.full()) return false;
  const uint32_t* const held = counts_.find({ep.id, peer});
  return pds::is_within_share(held == nullptr ? 0 : *held, 1, limit - ep.deferred);
}

DeferredMessage* DeferredMessages::remember(Endpoint& ep, const Request& q,
                                            const Envelope& envelope) {
  if (!may_remember(ep, q.peer)) return nullptr;
  DeferredMessage* const d = deferred_.alloc();
  if (d == nullptr) return nullptr;  // the system has no memory
  UnexpectedMessage* const u = kept_.room().admit({q.peer, q.is_confirmed}, 0);
  if (u == nullptr) {
    deferred_.free(d);
    res_.counters.add(Counter::rx_peer_room_used);
    return nullptr;
  }
  d->key = key_of(ep, q);
  d->message = u;
  const bool is_new = by_key_.insert(d->key, d).ok();
  UET_ASSERT(is_new);
  messages_.push_back(*d);
  ++ep.deferred;
  ++ep.queue->deferred;
  uint32_t* held = counts_.find({ep.id, q.peer});
  if (held == nullptr) held = *counts_.insert({ep.id, q.peer}, 0);
  ++*held;
  u->deferred = d;
  KeptMessages::keep(ep, *u, q, envelope);
  return d;
}

void DeferredMessages::note_heard(DeferredMessage& d) {
  d.last_heard = res_.now;
  static_cast<ListNode<DeferredTag>&>(d).unlink();
  messages_.push_back(d);
}

// The header data comes with the first packet only; a peek shows it. [SES-015, LF-059]
void DeferredMessages::note_data(DeferredMessage& d, const Request& q) {
  if (!q.has_data) return;
  d.message->has_data = true;
  d.message->header_data = q.header_data;
}

bool DeferredMessages::set_aside(Endpoint& ep, PostedReceive& r, DeferredMessage& d) {
  if (!receives_.book(ep, r, d.message->request_length)) return false;
  d.room = std::min<uint64_t>(r.room(), d.message->request_length);
  receives_.consume(ep, r, d.room);
  r.called = &d;
  d.receive = &r;
  call(d);
  return true;
}

void DeferredMessages::discard(DeferredMessage& d) {
  d.is_discarded = true;
  call(d);
}

void DeferredMessages::call_for(PostedReceive& r, DeferredMessage& d) {
  if (r.called_bytes >= r.room()) return;
  r.called_bytes += d.message->request_length;
  call(d);
}

// A ready-to-restart will ask its initiator to send it again. [SES-098]
void DeferredMessages::call(DeferredMessage& d) {
  kept_.hide(*d.message);
  while (d.is_called() && d.target_token == 0) d.target_token = res_.rng.u32();  // [SES-034, T-28]
  note_heard(d);
  uncalled_.push_back(d);
  send_calls();
}

// A peer gets at most as many places for ready-to-restarts as it leaves free: it may never answer
// them. A ready-to-restart without a place goes when an answer frees one; one without a slot or
// flow is tried again later, and delays no other. [T-25]
void DeferredMessages::send_calls() {
  bool is_refused = false;
  PeerId refused;
  for (DeferredMessage& d : uncalled_) {
    const uint32_t places = res_.config.restarts;
    if (calls_ >= places) break;
    pds::Peer& peer = (*res_.peers)[d.key.peer];
    pds::Host& host = res_.peers->host_of(peer);
    if (!pds::is_within_shares(peer.calls, host.calls, 1, places - calls_, places)) continue;
    if (is_refused && d.key.peer == refused) continue;
    if (!send_call(d)) {
      is_refused = true;
      refused = d.key.peer;
      continue;
    }
    ++calls_;
    ++host.calls;
    ++peer.calls;  // its flow keeps it known until the answer
    static_cast<ListNode<AskTag>&>(d).unlink();
    if (!d.is_called()) forget(d);  // nothing is set aside for it
  }
  again_.note(is_refused, res_.config.retry_time_cap, res_.now);
}

bool DeferredMessages::send_call(DeferredMessage& d) {
  Endpoint* ep = endpoints_.get(d.key.endpoint);
  UET_ASSERT(ep != nullptr);  // close() forgets its messages
  const Restart order{.peer = d.key.peer,
                      .job = d.message->envelope.job,
                      .initiator = d.key.initiator,
                      .tokens = {d.key.token, d.target_token}};
  return posting_.send_restart(*ep, order, deferred_.handle(&d).word()).ok();
}

DeferredMessage* DeferredMessages::on_end(const InternalEnd& done) {
  pds::Peer& peer = (*res_.peers)[done.peer];
  UET_ASSERT(calls_ != 0 && peer.calls != 0);
  --calls_;
  --peer.calls;
  --res_.peers->host_of(peer).calls;
  if (done.status == Completion::Status::aborted) {  // its endpoint closes, and other messages wait
    again_.note(!uncalled_.empty(), res_.config.retry_time_cap, res_.now);
    return nullptr;
  }
  DeferredMessage* const d = deferred_.get(Handle<DeferredMessage>::from_word(done.restart));
  if (d == nullptr || !done.ok()) return d;  // the initiator cancelled it, or is gone
  note_heard(*d);                            // it will come
  return nullptr;
}

// The receive is free for other messages again, unless it was claimed for this message alone.
DeferredMessages::Lost DeferredMessages::give_up(DeferredMessage& d, Completion::Status status) {
  const UnexpectedMessage& u = *d.message;
  Lost lost;
  lost.receive = d.receive;
  lost.was_claimed = u.is_claimed;
  lost.endpoint = endpoints_.get(d.key.endpoint);
  lost.arrived = arrived(u, {});
  lost.arrived.has_data = false;  // a peek shows it, no completion
  lost.arrived.status = status;
  forget(d);
  return lost;
}

void DeferredMessages::forget(DeferredMessage& d) {
  Endpoint& ep = *endpoints_.get(d.key.endpoint);
  UnexpectedMessage& u = *d.message;
  const bool is_queued = static_cast<ListNode<ArrivalTag>&>(u).is_linked();
  if (d.receive != nullptr) d.receive->called = nullptr;
  UET_ASSERT(ep.deferred != 0);
  --ep.deferred;
  --ep.queue->deferred;
  const DeferrerKey deferrer{d.key.endpoint, d.key.peer};
  if (--*counts_.find(deferrer) == 0) counts_.erase(deferrer);
  by_key_.erase(d.key);
  deferred_.free(&d);
  u.deferred = nullptr;
  if (is_queued) ep.matcher(u.tagged).remove_unexpected(u);
  kept_.room().drop(u);
}

// The message was silent for long: a live initiator starts it again.
DeferredMessage* DeferredMessages::next_expired() {
  DeferredMessage* const d = messages_.front();
  if (d == nullptr || d->last_heard + res_.config.deferral_time * 2 > res_.now) return nullptr;
  res_.counters.add(Counter::rx_deferred_expired);
  return d;
}

Instant DeferredMessages::next_deadline() const {
  const DeferredMessage* const d = messages_.front();
  if (d == nullptr) return again_.deadline();
  return std::min(d->last_heard + res_.config.deferral_time * 2, again_.deadline());
}

}  // namespace uet::ses
