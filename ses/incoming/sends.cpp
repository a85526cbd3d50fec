// Messages that want a receive, as they arrive.
#include "ses/incoming/sends.h"

#include "ses/completion_slot.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

Envelope envelope_of(const Request& q) {
  const uint64_t tag = is_tagged(q.common.opcode) ? q.match_bits : 0;
  return {.tag = tag, .peer = q.peer, .initiator = q.initiator, .job = q.common.job_id};
}

pds::Verdict Sends::begin(Endpoint& ep, const Request& q) {
  const bool tagged = is_tagged(q.common.opcode);
  const Envelope envelope = envelope_of(q);
  if (ep.queue->owner != nullptr) return begin_asked(ep, q, envelope);
  DeferredMessage* deferred = nullptr;
  const bool is_deferrable = wire::is_deferrable_send(q.common.opcode) && deferred_.may_defer(q);
  if (is_deferrable) {
    deferred = known_deferred(ep, q);
    if (deferred != nullptr && deferred->is_called()) return begin_restarted(ep, *deferred, q);
  }
  PostedReceive* r = nullptr;
  // While kept messages wait for a completion slot, later ones must not overtake them.
  const bool is_claimed = deferred != nullptr && deferred->message->is_claimed;
  if (!is_claimed && !ep.is_held(tagged)) r = ep.matcher(tagged).match(envelope);
  if (r == nullptr) {
    return is_deferrable ? defer(ep, q, envelope, deferred) : begin_unexpected(ep, q, envelope);
  }
  // A multi-receive has room for the message after all: other called messages did not come.
  if (deferred != nullptr) deferred_.forget(*deferred);
  if (!r->allows(q.common.job_id)) {
    return refusals_.refuse(q, ReturnCode::bad_job_id, Counter::rx_bad_job);  // [SES-117]
  }
  if (ep.options.reject_truncated && q.request_length > r->room()) {
    return refusals_.refuse(q, ReturnCode::too_long, Counter::rx_too_long);  // [SES-138]
  }
  return begin_expected(ep, *r, q);
}

// False: none are left; nothing was taken.
bool Sends::take(const Request& q, Slots& slots) {
  if (!q.is_single()) slots.message = arriving_.track(q);
  if (q.is_rendezvous) slots.pull = pulls_.make(q);
  if ((q.is_single() || slots.message != nullptr) && (!q.is_rendezvous || slots.pull != nullptr)) {
    return true;
  }
  give_back(slots);
  return false;
}

void Sends::give_back(const Slots& slots) {
  if (slots.message != nullptr) arriving_.forget(*slots.message);
  if (slots.pull != nullptr) pulls_.free(*slots.pull);
}

pds::Verdict Sends::begin_expected(Endpoint& ep, PostedReceive& r, const Request& q) {
  Slots slots;
  if (!take(q, slots)) return refusals_.no_message_slot();
  if (receives_.book(ep, r, q.request_length)) return fill(ep, r, q, slots);
  give_back(slots);
  return refusals_.wait_for_application(q);
}

// The owner is asked last, because it cannot take a receive back. Deferrable sends are treated as
// plain sends. [LF-159]
pds::Verdict Sends::begin_asked(Endpoint& ep, const Request& q, const Envelope& envelope) {
  const bool tagged = is_tagged(q.common.opcode);
  if (!owned_.may_ask(*ep.queue, tagged)) return begin_unexpected(ep, q, envelope);
  Slots slots;
  if (!take(q, slots)) return refusals_.no_message_slot();
  if (!reserve(res_, ep)) {
    give_back(slots);
    return refusals_.wait_for_application(q);
  }
  PostedReceive* const r = owned_.ask(ep, {envelope, q.request_length, tagged});
  if (r != nullptr) return fill(ep, *r, q, slots);
  release(ep);
  give_back(slots);
  const pds::Verdict verdict = begin_unexpected(ep, q, envelope);
  owned_.tell_owner(*ep.queue, tagged);
  return verdict;
}

// The receive has the message; room for its completion is booked.
pds::Verdict Sends::fill(Endpoint& ep, PostedReceive& r, const Request& q, const Slots& slots) {
  res_.counters.add(Counter::rx_expected);
  const Place at{.begin = r.used, .room = std::min<uint64_t>(r.room(), q.request_length)};
  receives_.consume(ep, r, at.room);
  return place(ep, r, q, slots.message, slots.pull, at);
}

// The first packet of a message that a receive has taken.
pds::Verdict Sends::place(Endpoint& ep, PostedReceive& r, const Request& q, RxMessage* m,
                          Pull* pull, const Place& at) {
  if (m != nullptr) {
    m->to = RxMessage::To::receive;
    m->pull = pull;
    m->endpoint = ep.id;
    m->receive = &r;
    m->place = at;
    return proceed(*m, ep, q);
  }
  // One packet: no state remains after this call.
  r.memory.scatter(at.begin, q.payload.first(std::min<uint64_t>(at.room, q.payload.size())));
  const Arrived a = arrived(q, at);
  if (pull == nullptr) {
    receives_.complete(ep, r, a);
    return delivered(q, at.room);
  }
  const pds::Verdict verdict = delivered(q, at.room);
  pulls_.read_rest(ep, *pull, r, a);
  return verdict;
}

// The answer to a completely placed message. [SES-142, SES-137]
pds::Verdict Sends::delivered(const Request& q, uint64_t room) {
  if (room == q.request_length) return pds::Verdict::accepted();
  res_.counters.add(Counter::rx_truncated_message);
  return response_ok({.id = q.id,
                      .job = q.common.job_id,
                      .ri_generation = q.common.ri_generation,
                      .list = wire::ListCode::expected,
                      .modified_length = static_cast<uint32_t>(room)});
}

// Keeps the message, or answers that nothing matched. Keeping begins if there is room for all of
// it, and takes the room as the octets arrive; if other messages took the room meanwhile, it waits
// or comes again, and a matching receive takes it at any time. [SES-126, SES-189]
pds::Verdict Sends::begin_unexpected(Endpoint& ep, const Request& q, const Envelope& envelope) {
  if (q.mode == pds::Mode::uud ||
      support(res_.config.profiles, Feature::kept_messages) == Support::absent) {
    return no_match(ep, q);  // [SES-129, SES-185]
  }
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = arriving_.track(q);
    if (m == nullptr) return refusals_.no_message_slot();
  }
  UnexpectedMessage* const u = make_room_for(q);
  if (u == nullptr) {
    if (m != nullptr) arriving_.forget(*m);
    return no_match(ep, q);
  }
  if (u->pull != nullptr) u->pull->was_kept = true;
  res_.counters.add(Counter::rx_unexpected);
  KeptMessages::keep(ep, *u, q, envelope);
  if (m != nullptr) {
    m->to = RxMessage::To::unexpected;
    m->endpoint = ep.id;
    m->unexpected = u;
    m->pull = u->pull;
    u->arriving = m;
    return proceed(*m, ep, q);
  }
  const bool is_stored = kept_.room().store(*u, 0, q.payload, q.is_confirmed);
  UET_ASSERT(is_stored);  // there was room for the whole message
  u->has_data = q.has_data;
  u->header_data = q.header_data;
  return kept_.complete(*u, q);
}

// A record for the part of a message that arrives before a receive is posted, or null.
UnexpectedMessage* Sends::make_room_for(const Request& q) {
  UnexpectedMessage* const u = kept_.room().admit({q.peer, q.is_confirmed}, q.pushed());
  if (u == nullptr) {
    res_.counters.add(Counter::rx_peer_room_used);
    return nullptr;
  }
  if (!q.is_rendezvous) return u;
  u->pull = pulls_.make(q);
  if (u->pull != nullptr) return u;
  kept_.room().drop(*u);
  return nullptr;
}

// On RUD its PSN is answered and other messages continue; on ROD its PDC waits, and no other PDC.
// [SES-126, SES-128, SES-132, SES-188]
pds::Verdict Sends::no_match(Endpoint& ep, const Request& q) {
  if (q.mode != pds::Mode::rod) {
    return refusals_.refuse(q, ReturnCode::no_match, Counter::rx_no_match);
  }
  // An owner does not report new receives, so the sender must retry.
  if (!res_.config.disable_index || !q.is_confirmed || ep.queue->owner != nullptr) {
    res_.counters.add(Counter::rx_no_room);
    return refusals_.wait_for_application(q);
  }
  generations_.disable(ep, is_tagged(q.common.opcode));
  return refusals_.refuse(q, ReturnCode::disabled_gen, Counter::rx_no_match);
}

// A message that is being kept, and whose next octets find no room: its received part stays for the
// receive that takes it, or all of it comes again. [SES-189]
pds::Verdict Sends::out_of_room(RxMessage& m, const Request& q) {
  res_.counters.add(Counter::rx_peer_room_used);
  if (q.mode == pds::Mode::rod || m.unexpected->is_claimed) {
    res_.counters.add(Counter::rx_no_room);
    arriving_.count(m, 0);  // this target delays the message, so it must not expire [SES-108]
    return refusals_.wait_for_application(q);
  }
  res_.counters.add(Counter::rx_no_match);
  delivery_.fail(m, Completion::Status::refused, ReturnCode::no_match);
  return refusals_.repeat(m, q);
}

pds::Verdict Sends::proceed(RxMessage& m, Endpoint& ep, const Request& q) {
  switch (m.to) {
    case RxMessage::To::receive:
      if (q.offset < m.place.room) {
        const uint64_t fits = std::min<uint64_t>(q.length, m.place.room - q.offset);
        m.receive->memory.scatter(m.place.begin + q.offset, q.payload.first(fits));
      }
      break;
    case RxMessage::To::unexpected:
      if (!kept_.room().store(*m.unexpected, q.offset, q.payload, q.is_confirmed)) {
        return out_of_room(m, q);
      }
      if (q.has_data) {
        m.unexpected->has_data = true;
        m.unexpected->header_data = q.header_data;
      }
      break;
    case RxMessage::To::deferred:
      return continue_deferred(m, ep, q);
    case RxMessage::To::region:
    case RxMessage::To::nowhere:
      break;  // discarded: counted only
  }
  arriving_.note(m, q);
  if (m.arrived < m.pushed) return pds::Verdict::accepted();
  const pds::Verdict verdict = finish(m, ep, q);
  arriving_.forget(m);
  return verdict;
}

pds::Verdict Sends::finish(RxMessage& m, Endpoint& ep, const Request& q) {
  if (m.to == RxMessage::To::unexpected) return kept_.complete(*m.unexpected, q);
  if (m.to != RxMessage::To::receive) {
    return q.is_rendezvous ? delivered(q, 0) : pds::Verdict::accepted();  // the rest is not read
  }
  const Arrived a = arrived(m, m.place);
  if (m.pull != nullptr) {
    const pds::Verdict verdict = delivered(q, m.place.room);
    pulls_.read_rest(ep, *m.pull, *m.receive, a);
    return verdict;
  }
  receives_.complete(ep, *m.receive, a);
  return delivered(q, m.place.room);
}

}  // namespace uet::ses
