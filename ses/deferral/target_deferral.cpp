// Deferrable sends at the target: one that finds no receive is told to wait, and remembered by its
// envelope among the unexpected messages. A receive that it fits is set aside for it, and its
// initiator is told to send it again. A multi-receive is set aside for none: whoever comes first
// gets the next place, and the others are told to wait again. [ses.md 4.5]
//
// message \ event | receive posted | comes again       | refused there, silent | cancel of receive
// unknown         | -              | deferred          | -                     | -
// deferred        | called         | deferred, as late | gone                  | -
// called          | -              | gone, placed      | gone, receive offered | gone
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

namespace {

pds::Verdict must_wait(const Request& q) {
  return response_ok({.id = q.id,
                      .job = q.common.job_id,
                      .ri_generation = q.common.ri_generation,
                      .list = wire::ListCode::overflow,
                      .modified_length = 0});  // [SES-095, SES-147]
}

}  // namespace

Result<void> Target::create_deferral(Rng& rng) {
  const Config& config = core_.config;
  const uint64_t wanted = uint64_t{config.deferred_messages} * config.endpoints;
  const auto count =
      static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, config.unexpected_messages));
  UET_CHECK(deferred_.create(*core_.arena, count, Reuse::rested));
  UET_CHECK(deferred_by_key_.create(*core_.arena, count, rng.u64()));
  UET_CHECK(deferred_counts_.create(*core_.arena, count, rng.u64()));
  core_.restarted = {this, [](void* me, uint32_t deferred, const Completion& done) {
                       static_cast<Target*>(me)->on_restart_answered(deferred, done);
                     }};
  return {};
}

// Whether a deferrable send may be told to wait; else it is a plain one. Without a token it could
// not be called back. [SES-103]
bool Target::may_defer(const Request& q) const {
  return q.tokens().initiator != 0 &&
         support(core_.config.profiles, Feature::deferral) != Support::absent;
}

// What is remembered of this very message. A token under which its initiator now sends another one
// stands for the old one no more.
DeferredMessage* Target::find_deferred(Endpoint& ep, const Request& q) {
  DeferredMessage** const found =
      deferred_by_key_.find({ep.id, q.peer, q.initiator, q.tokens().initiator});
  DeferredMessage* d = found == nullptr ? nullptr : *found;
  if (d != nullptr) {
    const UnexpectedMessage& u = *d->message;
    const bool is_same = u.tagged == is_tagged(q.common.opcode) &&
                         u.envelope.job == q.common.job_id &&
                         u.request_length == q.request_length &&
                         u.envelope.tag == (u.tagged ? q.match_bits : 0);
    if (!is_same) {
      give_up(*d);
      d = nullptr;
    }
  }
  const uint32_t given = d == nullptr ? 0 : d->target_token;
  const uint32_t shown = q.tokens().target;
  if (shown != 0 && shown != given) core_.counters.add(Counter::rx_restart_stray);
  return d;
}

// A message that found no receive, or comes again before there is one. [SES-095, SES-127]
pds::Verdict Target::defer(Endpoint& ep, const Request& q, const Envelope& envelope,
                           DeferredMessage* d) {
  if (q.mode != pds::Mode::rud) return no_match(ep, q);  // [SES-100]
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = track(q);
    if (m == nullptr) return no_message_slot();
  }
  if (d == nullptr) d = remember(ep, q, envelope);
  if (d == nullptr) {
    if (m != nullptr) forget(*m);
    return no_match(ep, q);  // [SES-096]
  }
  core_.counters.add(Counter::rx_deferred);
  note_heard(*d);
  if (m == nullptr) {
    note_data(*d, q);
    return must_wait(q);
  }
  m->to = RxMessage::To::deferred;
  m->endpoint = ep.id;
  return continue_deferred(*m, ep, q);
}

// Of the records of an endpoint a peer gets no more than it leaves to the others. [SES-035, T-25]
bool Target::may_remember(const Endpoint& ep, PeerId peer) const {
  const uint32_t limit = core_.config.deferred_messages;
  if (ep.deferred >= limit || deferred_.full()) return false;
  const uint32_t* const held = deferred_counts_.find({ep.id, peer});
  return is_within_share(held == nullptr ? 0 : *held, 1, limit - ep.deferred);
}

// A record for it among the unexpected messages, or null.
DeferredMessage* Target::remember(Endpoint& ep, const Request& q, const Envelope& envelope) {
  if (!may_remember(ep, q.peer)) return nullptr;
  UnexpectedMessage* const u = kept_.admit({q.peer, q.is_confirmed}, 0);
  if (u == nullptr) {
    core_.counters.add(Counter::rx_peer_room_used);
    return nullptr;
  }
  DeferredMessage* const d = deferred_.alloc();
  d->key = {ep.id, q.peer, q.initiator, q.tokens().initiator};
  d->message = u;
  const bool is_new = deferred_by_key_.insert(d->key, d).ok();
  UET_ASSERT(is_new);
  deferred_messages_.push_back(*d);
  ++ep.deferred;
  ++ep.queue->deferred;
  uint32_t* held = deferred_counts_.find({ep.id, q.peer});
  if (held == nullptr) held = *deferred_counts_.insert({ep.id, q.peer}, 0);
  ++*held;
  u->deferred = d;
  keep(ep, *u, q, envelope);
  return d;
}

void Target::note_heard(DeferredMessage& d) {
  d.last_heard = core_.now;
  static_cast<ListNode<DeferredTag>&>(d).unlink();
  deferred_messages_.push_back(d);
}

// The header data comes with the first packet only; a peek shows it. [SES-015, LF-059]
void Target::note_data(DeferredMessage& d, const Request& q) {
  if (!q.has_data) return;
  d.message->has_header_data = true;
  d.message->header_data = q.header_data;
}

// What was already under way of a message that must wait. Each packet is told so: any answer may be
// the one that arrives first.
pds::Verdict Target::continue_deferred(RxMessage& m, Endpoint& ep, const Request& q) {
  DeferredMessage** const d =
      deferred_by_key_.find({ep.id, m.peer, m.initiator, q.tokens().initiator});
  if (d != nullptr) note_data(**d, q);
  note_packet(m, q);
  if (m.arrived >= m.end) forget(m);
  return must_wait(q);
}

// The packet of no octets after which no more comes of a message that waits. [SES-097]
bool Target::is_deferral_end(const Request& q) {
  return wire::is_deferrable_send(q.common.opcode) && !q.common.som && q.common.eom &&
         q.length == 0 && q.payload.empty();
}

pds::Verdict Target::on_deferral_end(RxMessage& m, const Request& q) {
  if (m.msg_error_seen || q.common.opcode != m.opcode || q.offset > m.pushed) {
    core_.counters.add(Counter::rx_msg_error_misused);
    if (m.error == ReturnCode::null) {
      fail(m, Completion::Status::refused, ReturnCode::op_violation);
    }
    return response(q, ReturnCode::op_violation, q.common.ri_generation);
  }
  const pds::Verdict verdict = m.error == ReturnCode::null ? must_wait(q) : stored_error(m, q);
  m.msg_error_seen = true;
  m.end = q.offset;
  if (m.arrived >= m.end) forget(m);
  return verdict;
}

// A receive that is not in its Matcher, or is about to leave it, is for a message that waits.
// False: no room for its completion; nothing was changed.
bool Target::set_aside(Endpoint& ep, PostedReceive& r, DeferredMessage& d) {
  if (!book(ep, r, d.message->request_length)) return false;
  d.room = std::min<uint64_t>(r.room(), d.message->request_length);
  consume(ep, r, d.room);
  r.called = &d;
  d.receive = &r;
  call(ep, d);
  return true;
}

// Its initiator will be told to send it again. [SES-098]
void Target::call(Endpoint& ep, DeferredMessage& d) {
  UnexpectedMessage& u = *d.message;
  if (!u.is_claimed) ep.matcher(u.tagged).remove_unexpected(u);
  while (d.is_called() && d.target_token == 0) d.target_token = core_.rng.u32();  // [SES-034, T-28]
  note_heard(d);
  uncalled_.push_back(d);
  send_calls();
}

// Of the places for ready-to-restarts one peer gets no more than it leaves free: it may let them
// wait for their answers. What finds no place goes when an answer frees one; what finds no slot or
// flow is tried again later, and keeps nobody else from being called. [T-25]
void Target::send_calls() {
  bool is_refused = false;
  PeerId refused;
  for (DeferredMessage& d : uncalled_) {
    const uint32_t places = core_.config.restarts;
    if (calls_ >= places) break;
    pds::Peer& peer = (*core_.peers)[d.key.peer];
    pds::Host& host = core_.peers->host_of(peer);
    if (!is_within_shares(peer.calls, host.calls, 1, places - calls_, places)) continue;
    if (is_refused && d.key.peer == refused) continue;
    Endpoint* ep = core_.endpoint(d.key.endpoint);
    UET_ASSERT(ep != nullptr);  // close() forgets its messages
    const Restart order{.peer = d.key.peer,
                        .job = d.message->envelope.job,
                        .initiator = d.key.initiator,
                        .tokens = {d.key.token, d.target_token}};
    const uint32_t handle = deferred_.handle(&d).word();
    if (!initiator_.send_restart(*ep, order, ep->name.absolute, handle).ok()) {
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
  call_again_.note(is_refused, core_.config.retry_time_cap, core_.now);
}

void Target::on_restart_answered(uint32_t handle, const Completion& done) {
  pds::Peer& peer = (*core_.peers)[done.peer];
  UET_ASSERT(calls_ != 0 && peer.calls != 0);
  --calls_;
  --peer.calls;
  --core_.peers->host_of(peer).calls;
  if (done.status == Completion::Status::aborted) {  // its endpoint closes, and others wait
    return call_again_.note(!uncalled_.empty(), core_.config.retry_time_cap, core_.now);
  }
  DeferredMessage* const d = deferred_.get(Handle<DeferredMessage>::from_word(handle));
  if (d != nullptr && done.ok()) note_heard(*d);  // it will come
  if (d != nullptr && !done.ok()) give_up(*d);    // it was cancelled there, or nobody is there
  send_calls();
}

// It comes again and its place is ready. [SES-099]
pds::Verdict Target::begin_restarted(Endpoint& ep, DeferredMessage& d, const Request& q) {
  PostedReceive* const r = d.receive;
  if (r != nullptr && ep.options.reject_truncated && q.request_length > d.room) {
    give_up(d);
    return refuse(q, ReturnCode::too_long, Counter::rx_too_long);  // [SES-138]
  }
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = track(q);
    if (m == nullptr) return no_message_slot();
    m->endpoint = ep.id;
  }
  core_.counters.add(Counter::rx_restarted);
  const uint64_t room = d.room;
  forget(d);
  if (r != nullptr) return place(ep, *r, q, m, nullptr, {.begin = 0, .room = room});
  if (m == nullptr) return pds::Verdict::accepted();  // discarded
  m->to = RxMessage::To::nowhere;
  return continue_send(*m, ep, q);
}

// It will not come: the receive that was set aside is for others again, behind those that were
// posted meanwhile. A claim was for this message alone.
void Target::give_up(DeferredMessage& d, Completion::Status status) {
  Endpoint& ep = *core_.endpoint(d.key.endpoint);
  PostedReceive* const r = d.receive;
  const UnexpectedMessage& u = *d.message;
  Arrived lost;
  lost.envelope = u.envelope;
  lost.request_length = u.request_length;
  lost.status = status;
  const bool was_claimed = u.is_claimed;
  forget(d);
  if (r == nullptr) return;
  if (was_claimed) return complete(ep, *r, lost);
  if (ep.queue->is_shared) release(ep);
  take_back(*r);
  r->sequence = ep.queue->next_sequence++;
  offer(*ep.queue, *r);
}

// As it was before it was set aside.
void Target::take_back(PostedReceive& r) {
  r.used = 0;  // no multi-receive is set aside
  r.open_messages = 0;
  r.is_used_up = false;
}

void Target::forget(DeferredMessage& d) {
  Endpoint& ep = *core_.endpoint(d.key.endpoint);
  UnexpectedMessage& u = *d.message;
  const bool is_queued = static_cast<ListNode<ArrivalTag>&>(u).is_linked();
  if (d.receive != nullptr) d.receive->called = nullptr;
  UET_ASSERT(ep.deferred != 0);
  --ep.deferred;
  --ep.queue->deferred;
  const DeferrerKey deferrer{d.key.endpoint, d.key.peer};
  if (--*deferred_counts_.find(deferrer) == 0) deferred_counts_.erase(deferrer);
  deferred_by_key_.erase(d.key);
  deferred_.free(&d);
  u.deferred = nullptr;
  if (is_queued) ep.matcher(u.tagged).remove_unexpected(u);
  free(u);
}

// Nothing was heard of it for long: its initiator begins anew if it lives. [SES-101]
void Target::expire_deferred() {
  while (DeferredMessage* d = deferred_messages_.front()) {
    if (d->last_heard + core_.config.deferral_time * 2 > core_.now) return;
    core_.counters.add(Counter::rx_deferred_expired);
    give_up(*d);
  }
}

// Receives of its own end with it; shared ones are for others again.
void Target::close_deferred(const Endpoint& ep) {
  deferred_.for_each([&](DeferredMessage& d) {
    if (d.key.endpoint != ep.id) return;
    if (ep.queue->is_shared) {
      give_up(d, Completion::Status::aborted);
    } else {
      forget(d);
    }
  });
}

// A ready-to-restart of a peer, for a send of ours. What it says of process and index is not looked
// at: the token says all. [SES-098, SES-099, SES-102]
pds::Verdict Target::on_restart(const Request& q) {
  if (q.common.ie) return refuse(q, ReturnCode::initiator_err, Counter::rx_initiator_error);
  const bool is_legal = q.is_single() && q.payload.empty() && q.has_pdc();
  const Restart order{.peer = q.peer,
                      .job = q.common.job_id,
                      .initiator = q.initiator,
                      .tokens = wire::RestartTokens::unpack(q.match_bits)};
  if (is_legal && initiator_.restart(order)) return pds::Verdict::accepted();
  core_.counters.add(Counter::rx_restart_refused);
  return response(q, ReturnCode::op_violation, q.common.ri_generation);
}

}  // namespace uet::ses
