// Messages that want a posted receive: matched at first arrival of any packet, placed straight
// into it, or kept until a receive is posted. [SES-020, SES-117, SES-126, ses.md 6]
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

Envelope Target::envelope_of(const Request& q) {
  const uint64_t tag = is_tagged(q.common.opcode) ? q.match_bits : 0;
  return {.tag = tag, .peer = q.peer, .initiator = q.initiator, .job = q.common.job_id};
}

pds::Verdict Target::begin_send(Endpoint& ep, const Request& q) {
  const bool tagged = is_tagged(q.common.opcode);
  const Envelope envelope = envelope_of(q);
  DeferredMessage* deferred = nullptr;
  const bool is_deferrable = wire::is_deferrable_send(q.common.opcode) && may_defer(q);
  if (is_deferrable) {
    deferred = find_deferred(ep, q);
    if (deferred != nullptr && deferred->is_called()) return begin_restarted(ep, *deferred, q);
  }
  PostedReceive* r = nullptr;
  // While kept messages wait for a completion slot, later ones must not overtake them.
  const bool is_claimed = deferred != nullptr && deferred->message->is_claimed;
  if (!is_claimed && !ep.is_held(tagged)) r = ep.matcher(tagged).match(envelope);
  if (r == nullptr) {
    return is_deferrable ? defer(ep, q, envelope, deferred) : begin_unexpected(ep, q, envelope);
  }
  // A multi-receive has room for it after all: others that were called did not come.
  if (deferred != nullptr) forget(*deferred);
  if (!is_allowed(*r, q.common.job_id)) {
    return refuse(q, ReturnCode::bad_job_id, Counter::rx_bad_job);  // [SES-117]
  }
  if (ep.options.reject_truncated && q.request_length > r->room()) {
    return refuse(q, ReturnCode::too_long, Counter::rx_too_long);  // [SES-138]
  }
  return begin_expected(ep, *r, q);
}

pds::Verdict Target::begin_expected(Endpoint& ep, PostedReceive& r, const Request& q) {
  RxMessage* m = nullptr;
  Pull* pull = nullptr;
  if (!q.is_single()) m = track(q);
  if (q.is_rendezvous()) pull = make_pull(q);
  const bool has_slots = (q.is_single() || m != nullptr) && (!q.is_rendezvous() || pull != nullptr);
  const bool has_room = !has_slots || book(ep, r, q.request_length);
  if (!has_slots || !has_room) {
    if (m != nullptr) forget(*m);
    if (pull != nullptr) free(*pull);
    if (!has_room) return no_completion_slot(q);
    return no_message_slot();
  }
  core_.counters.add(Counter::rx_expected);
  const Place at{.begin = r.used, .room = std::min<uint64_t>(r.room(), q.request_length)};
  consume(ep, r, at.room);
  return place(ep, r, q, m, pull, at);
}

// The first packet of a message that a receive has taken.
pds::Verdict Target::place(Endpoint& ep, PostedReceive& r, const Request& q, RxMessage* m,
                           Pull* pull, const Place& at) {
  if (m != nullptr) {
    m->to = RxMessage::To::receive;
    m->pull = pull;
    m->endpoint = ep.id;
    m->receive = &r;
    m->place = at.begin;
    m->room = at.room;
    return continue_send(*m, ep, q);
  }
  // One packet: no state outlives this call.
  r.memory.scatter(at.begin, q.payload.first(std::min<uint64_t>(at.room, q.payload.size())));
  Arrived a;
  a.envelope = {q.match_bits, q.peer, q.initiator, q.common.job_id};
  a.header_data = q.header_data;
  a.has_data = q.has_data;
  a.request_length = q.request_length;
  a.place = at.begin;
  a.room = at.room;
  if (pull == nullptr) {
    complete(ep, r, a);
    return delivered(q, at.room);
  }
  const pds::Verdict verdict = delivered(q, at.room);
  read_rest(ep, *pull, r, a);
  return verdict;
}

// What a completely placed message is told. [SES-142, SES-137]
pds::Verdict Target::delivered(const Request& q, uint64_t room) {
  if (room == q.request_length) return pds::Verdict::accepted();
  core_.counters.add(Counter::rx_truncated_message);
  return response_ok({.id = q.id,
                      .job = q.common.job_id,
                      .ri_generation = q.common.ri_generation,
                      .list = wire::ListCode::expected,
                      .modified_length = static_cast<uint32_t>(room)});
}

// Keeps the message, or says that nothing matched. It begins when there is room for all of it, and
// takes the room as it arrives; when others were faster meanwhile it waits or comes again, and
// whatever receive it matches takes it at any time. [SES-126, SES-189]
pds::Verdict Target::begin_unexpected(Endpoint& ep, const Request& q, const Envelope& envelope) {
  if (q.mode == pds::Mode::uud ||
      support(core_.config.profiles, Feature::kept_messages) == Support::absent) {
    return no_match(ep, q);  // [SES-129, SES-185]
  }
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = track(q);
    if (m == nullptr) return no_message_slot();
  }
  UnexpectedMessage* const u = make_room_for(q);
  if (u == nullptr) {
    if (m != nullptr) forget(*m);
    return no_match(ep, q);
  }
  if (u->pull != nullptr) u->pull->was_kept = true;
  core_.counters.add(Counter::rx_unexpected);
  keep(ep, *u, q, envelope);
  if (m != nullptr) {
    m->to = RxMessage::To::unexpected;
    m->endpoint = ep.id;
    m->unexpected = u;
    m->pull = u->pull;
    u->arriving = m;
    return continue_send(*m, ep, q);
  }
  const bool is_stored = kept_.store(*u, 0, q.payload, q.is_confirmed);
  UET_ASSERT(is_stored);  // there was room for all of it
  u->has_header_data = q.has_data;
  u->header_data = q.header_data;
  return kept(*u, q);
}

// The message is there for receives to find.
void Target::keep(Endpoint& ep, UnexpectedMessage& u, const Request& q, const Envelope& envelope) {
  u.envelope = envelope;
  u.tagged = is_tagged(q.common.opcode);
  u.request_length = q.request_length;
  u.endpoint = ep.id.value();
  u.ri_generation = q.common.ri_generation;
  u.message_id = q.id;
  ep.matcher(u.tagged).add_unexpected(u);
}

// A record for what comes of a message before a receive does, or null.
UnexpectedMessage* Target::make_room_for(const Request& q) {
  UnexpectedMessage* const u = kept_.admit({q.peer, q.is_confirmed}, q.pushed());
  if (u == nullptr) {
    core_.counters.add(Counter::rx_peer_room_used);
    return nullptr;
  }
  if (!q.is_rendezvous()) return u;
  u->pull = make_pull(q);
  if (u->pull != nullptr) return u;
  kept_.drop(*u);
  return nullptr;
}

// The last octet of a kept message has arrived. With delivery-complete the answer waits for a
// receive. [SES-048, SES-126, SES-148]
pds::Verdict Target::kept(UnexpectedMessage& u, const Request& q) {
  u.is_complete = true;
  u.arriving = nullptr;
  u.token = q.token;
  if (q.common.dc && u.pull == nullptr) {
    u.owes_answer = true;
    note_owed(q.token.pdc);
    return pds::Verdict::deferred();
  }
  return response_ok({.id = u.message_id,
                      .job = u.envelope.job,
                      .ri_generation = u.ri_generation,
                      .list = wire::ListCode::overflow,
                      .modified_length = q.pushed()});
}

// There is no receive for it, and it is not to be kept or all the room for it is in use. On RUD its
// PSN is answered and other messages go on; on ROD its PDC waits, and no other. [SES-126, SES-128,
// SES-132, SES-188]
pds::Verdict Target::no_match(Endpoint& ep, const Request& q) {
  if (q.mode != pds::Mode::rod) return refuse(q, ReturnCode::no_match, Counter::rx_no_match);
  if (!core_.config.disable_index || !q.is_confirmed) {
    core_.counters.add(Counter::rx_no_room);
    return wait_for_application(q);
  }
  Generation& generation = ep.generation(is_tagged(q.common.opcode));
  if (generation.is_enabled) ++ep.queue->disabled;
  generation.is_enabled = false;
  generation.memory_mark = core_.memory.enabled_total();
  generation.room_mark = kept_.released_total();
  return refuse(q, ReturnCode::disabled_gen, Counter::rx_no_match);
}

// A message that began to be kept, and whose next octets find no room: what has come of it stays
// for the receive that takes it, or all of it comes again. [SES-189]
pds::Verdict Target::out_of_room(RxMessage& m, const Request& q) {
  core_.counters.add(Counter::rx_peer_room_used);
  if (q.mode == pds::Mode::rod || m.unexpected->is_claimed) {
    core_.counters.add(Counter::rx_no_room);
    count_arrival(m, 0);  // it is we who keep it waiting: it must not expire [SES-108]
    return wait_for_application(q);
  }
  core_.counters.add(Counter::rx_no_match);
  fail(m, Completion::Status::refused, ReturnCode::no_match);
  return repeat_error(m, q);
}

// The packet leaves no trace and is sent again later; its PDC waits for it, for as long as it takes
// the application to take what it was sent. [PDS-112, PDS-148, SES-188]
pds::Verdict Target::wait_for_application(const Request& q) {
  PdcMessages* const of_pdc = q.has_pdc() ? rx_by_pdc_.find(q.token.pdc.value()) : nullptr;
  if (of_pdc != nullptr) of_pdc->held_up = core_.now;
  return pds::Verdict::refused(wire::NackCode::no_resource);
}

pds::Verdict Target::continue_send(RxMessage& m, Endpoint& ep, const Request& q) {
  switch (m.to) {
    case RxMessage::To::receive:
      if (q.offset < m.room) {
        const uint64_t fits = std::min<uint64_t>(q.length, m.room - q.offset);
        m.receive->memory.scatter(m.place + q.offset, q.payload.first(fits));
      }
      break;
    case RxMessage::To::unexpected:
      if (!kept_.store(*m.unexpected, q.offset, q.payload, q.is_confirmed)) {
        return out_of_room(m, q);
      }
      if (q.has_data) {
        m.unexpected->has_header_data = true;
        m.unexpected->header_data = q.header_data;
      }
      break;
    case RxMessage::To::region:
    case RxMessage::To::nowhere:
    case RxMessage::To::deferred:
      break;  // discarded: counted only
  }
  note_packet(m, q);
  if (m.arrived < m.pushed) return pds::Verdict::accepted();
  const pds::Verdict verdict = finish_send(m, ep, q);
  forget(m);
  return verdict;
}

pds::Verdict Target::finish_send(RxMessage& m, Endpoint& ep, const Request& q) {
  if (m.to == RxMessage::To::unexpected) return kept(*m.unexpected, q);
  if (m.to != RxMessage::To::receive) {
    return q.is_rendezvous() ? delivered(q, 0) : pds::Verdict::accepted();  // the rest is not read
  }
  const Arrived a = arrived(m);
  if (m.pull != nullptr) {
    const pds::Verdict verdict = delivered(q, m.room);
    read_rest(ep, *m.pull, *m.receive, a);
    return verdict;
  }
  complete(ep, *m.receive, a);
  return delivered(q, m.room);
}

Arrived Target::arrived(const RxMessage& m) {
  Arrived a;
  a.envelope = {m.match_bits, m.peer, m.initiator, m.job};
  a.header_data = m.header_data;
  a.has_data = m.has_data;
  a.request_length = m.request_length;
  a.place = m.place;
  a.room = m.room;
  return a;
}

// The receive of a message that failed completes in error. [SES-106, SES-108]
void Target::fail_receive(RxMessage& m, Completion::Status status) {
  Endpoint* ep = core_.endpoint(m.endpoint);
  UET_ASSERT(ep != nullptr && m.receive != nullptr);
  Arrived a = arrived(m);
  a.status = status;
  a.code = m.error;
  PostedReceive& r = *m.receive;
  m.receive = nullptr;
  complete(*ep, r, a);
}

}  // namespace uet::ses
