// Receives: posting, meeting kept messages, multi-receive, peek and claim, cancel, completion.
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

namespace {

MatchFilter filter_of(const PostedReceive& r) {
  return {.tag = r.tag,
          .ignore = r.ignore,
          .directed = r.directed,
          .from = r.from,
          .from_initiator = r.from_initiator,
          .job = r.job};
}

MatchFilter filter_of(const ReceiveRequest& request) {
  return {.tag = request.tagged ? request.tag : 0,
          .ignore = request.tagged ? request.ignore : 0,
          .directed = request.directed,
          .from = request.from,
          .from_initiator = request.from_initiator,
          .job = request.job};
}

}  // namespace

Result<PostedReceive*> Target::make(ReceiveQueue& queue, const ReceiveRequest& request) {
  if (queue.open >= queue.size) return Errc::again;
  // A multi-receive is consumed in place, so it is one piece. [LF-096]
  if (request.multi && request.iov.size() != 1) return Errc::invalid;
  if (request.multi && request.tagged) return Errc::unsupported;
  // Wildcards are an HPC feature. [LF-067, SES-185]
  if (request.tagged && request.ignore != 0 &&
      support(core_.config.profiles, Feature::tag_wildcards) == Support::absent) {
    return Errc::invalid;
  }
  UET_CHECK(queue.matcher(request.tagged).make_room(queue.open + 1));
  PostedReceive* r = receives_.alloc();
  if (r == nullptr) return Errc::again;
  const Result<void> taken = r->memory.assign(request.iov, core_.long_iovs);
  if (!taken.ok()) {
    receives_.free(r);
    return taken.error();
  }
  const MatchFilter filter = filter_of(request);
  r->sequence = queue.next_sequence++;
  r->tagged = request.tagged;
  r->tag = filter.tag;
  r->ignore = filter.ignore;
  r->directed = request.directed;
  r->from = request.from;
  r->from_initiator = request.from_initiator;
  r->job = request.job;
  r->by_job = request.by_job;
  r->multi = request.multi;
  r->multi_min = std::max<uint32_t>(request.multi_min, 1);
  r->context = request.context;
  queue.receives.push_back(*r);
  ++queue.open;
  return r;
}

Result<void> Target::receive(ReceiveQueue& queue, const ReceiveRequest& request) {
  PostedReceive* r = UET_TRY(make(queue, request));
  enable(queue, request.tagged);  // [SES-133]
  offer(queue, *r);
  return {};
}

// Of a kept message. It goes with its endpoint.
Endpoint& Target::endpoint_of(const UnexpectedMessage& u) const {
  Endpoint* const ep = core_.endpoint(EndpointId(u.endpoint));
  UET_ASSERT(ep != nullptr);
  return *ep;
}

// Lets a receive have what was kept for it; if it wants more it waits among the others.
void Target::offer(ReceiveQueue& queue, PostedReceive& r) {
  Matcher& matcher = queue.matcher(r.tagged);
  const bool some_stalled = queue.stalled != 0 && (queue.is_shared || !r.tagged);
  if (some_stalled && !queue.is_shared) return matcher.post(r);  // behind the one that is stalled
  const MatchFilter filter = filter_of(r);
  if (some_stalled || (r.multi && queue.deferred != 0)) {
    if (!offer_each(queue, r, filter)) matcher.post(r);
    return;
  }
  while (UnexpectedMessage* u = matcher.find_unexpected(filter)) {
    const bool is_last = will_be_used_up(r, u->request_length);
    if (!give(r, *u)) {
      stall(endpoint_of(*u));
      if (queue.is_shared && offer_each(queue, r, filter)) return;
      break;
    }
    if (is_last) return;
  }
  matcher.post(r);
}

// Looks at one kept message after the other: those of an endpoint that is stalled are passed by,
// and of messages that were told to wait no more are called than would fill a multi-receive. True:
// it is used up.
bool Target::offer_each(ReceiveQueue& queue, PostedReceive& r, const MatchFilter& filter) {
  Matcher& matcher = queue.matcher(r.tagged);
  UnexpectedMessage* u = matcher.oldest_unexpected();
  while (u != nullptr) {
    UnexpectedMessage* const later = matcher.next_unexpected(*u);
    Endpoint& ep = endpoint_of(*u);
    const bool is_its = filter.accepts(*u) && !ep.is_held(r.tagged);
    if (is_its && r.multi && u->deferred != nullptr) {
      call_for(ep, r, *u);
    } else if (is_its) {
      const bool is_last = will_be_used_up(r, u->request_length);
      const bool is_given = give(r, *u);
      if (!is_given) stall(ep);
      if (!is_given && !queue.is_shared) return false;
      if (is_given && is_last) return true;
    }
    u = later;
  }
  return false;
}

// A multi-receive is set aside for none: it calls for what it has room for.
void Target::call_for(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u) {
  if (r.called_bytes >= r.room()) return;
  r.called_bytes += u.request_length;
  call(ep, *u.deferred);
}

void Target::stall(Endpoint& ep) {
  if (ep.is_stalled()) return;
  stalled_.push_back(ep);
  ++ep.queue->stalled;
}

void Target::unstall(Endpoint& ep) {
  if (!ep.is_stalled()) return;
  stalled_.erase(ep);
  --ep.queue->stalled;
}

// Resources are there again: messages may come under the next generation. [SES-133]
void Target::enable(Endpoint& ep, bool tagged) {
  Generation& generation = ep.generation(tagged);
  if (generation.is_enabled) return;
  ++generation.value;
  generation.is_enabled = true;
  --ep.queue->disabled;
}

// A receive is posted, and any of its endpoints may get the message for it.
void Target::enable(ReceiveQueue& queue, bool tagged) {
  if (queue.disabled == 0) return;
  for (Endpoint& ep : queue.endpoints) enable(ep, tagged);
}

// A disabled index also comes back when a region was enabled, or when kept messages left the room
// for want of which it was disabled. [LF-039, SES-133]
void Target::refresh(Endpoint& ep, bool tagged) {
  const Generation& generation = ep.generation(tagged);
  if (generation.is_enabled) return;
  const bool has_regions = !tagged && generation.memory_mark != core_.memory.enabled_total();
  if (has_regions || generation.room_mark != kept_.released_total()) enable(ep, tagged);
}

// Whether a message of that length is the last one of the receive. [LF-096]
bool Target::will_be_used_up(const PostedReceive& r, uint64_t bytes) const {
  return !r.multi || r.room() - std::min(r.room(), bytes) < r.multi_min;
}

// Room for the completion of a message of that length, before it gets the receive. What is posted
// at an endpoint has the room of its last message already; a shared receive has none until it is
// known whose completion it will be. False: the application has to read first.
bool Target::book(Endpoint& ep, const PostedReceive& r, uint64_t bytes) {
  return (!ep.queue->is_shared && will_be_used_up(r, bytes)) || reserve(ep);
}

// Gives `bytes` of the receive to a message.
void Target::consume(Endpoint& ep, PostedReceive& r, uint64_t bytes) {
  const bool is_used_up = will_be_used_up(r, bytes);
  r.used += bytes;
  ++r.open_messages;
  if (is_used_up) {
    r.is_used_up = true;
    if (r.is_matchable) ep.matcher(r.tagged).remove(r);
  }
}

// Lets a receive take a kept message. False: no room for its completion; nothing was changed.
bool Target::give(PostedReceive& r, UnexpectedMessage& u) {
  Endpoint& ep = endpoint_of(u);
  if (u.deferred != nullptr) {
    if (!r.multi) return set_aside(ep, r, *u.deferred);
    call_for(ep, r, u);
    return true;
  }
  if (!book(ep, r, u.request_length)) return false;
  hand_over(ep, r, u);
  return true;
}

void Target::hand_over(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u) {
  if (!u.is_claimed) ep.matcher(u.tagged).remove_unexpected(u);
  const uint64_t place = r.used;
  const uint64_t room = std::min<uint64_t>(r.room(), u.request_length);
  consume(ep, r, room);
  const auto copy = [&](uint32_t offset, uint32_t length) {
    if (offset >= room) return;
    uint64_t to = place + offset;
    kept_.read(u, offset, std::min<uint64_t>(length, room - offset),
               [&](std::span<const std::byte> piece) {
                 r.memory.scatter(to, piece);
                 to += piece.size();
               });
  };
  if (u.is_complete) {
    copy(0, static_cast<uint32_t>(u.pages.bytes));
  } else {  // what lies in its pages where nothing has arrived is of others [SES-190]
    u.arriving->packets.for_each(static_cast<uint32_t>(u.pages.bytes), copy);
  }
  if (!u.is_complete) {
    // The rest goes straight to its place.
    RxMessage& m = *u.arriving;
    m.to = RxMessage::To::receive;
    m.unexpected = nullptr;
    m.receive = &r;
    m.place = place;
    m.room = room;
    u.pull = nullptr;  // m has it
    return free(u);
  }
  Arrived a;
  a.envelope = u.envelope;
  a.header_data = u.header_data;
  a.has_data = u.has_header_data;
  a.request_length = u.request_length;
  a.place = place;
  a.room = room;
  if (Pull* const pull = u.pull) {
    u.pull = nullptr;
    free(u);
    return read_rest(ep, *pull, r, a);
  }
  answer_kept(u, ReturnCode::ok, static_cast<uint32_t>(room));
  free(u);
  complete(ep, r, a);
}

// The answer that delivery-complete made wait. [SES-148]
void Target::answer_kept(UnexpectedMessage& u, ReturnCode code, uint32_t modified_length) {
  if (!u.owes_answer) return;
  u.owes_answer = false;
  note_answered(u.token.pdc);
  const Delivered d{.id = u.message_id,
                    .job = u.envelope.job,
                    .code = code,
                    .ri_generation = u.ri_generation,
                    .list = wire::ListCode::overflow,
                    .modified_length = modified_length};
  // False means that the PDC is gone, and with it whoever waited.
  core_.pds->respond(u.token, response_ok(d), core_.now);
}

// Room in the completion queue came back: kept messages go to the receives that wait for them.
void Target::drain(Endpoint& ep) {
  if (ep.queue->is_shared) {
    if (!reserve(ep)) return;  // whoever takes a message needs room, so nothing is worth a look
    release(ep);
    if (!drain(ep, ep.queue->tagged)) return;
  }
  if (drain(ep, ep.queue->untagged)) unstall(ep);
}

// False: some are left for want of room.
bool Target::drain(Endpoint& ep, Matcher& matcher) {
  UnexpectedMessage* u = matcher.oldest_unexpected();
  while (u != nullptr) {
    UnexpectedMessage* later = matcher.next_unexpected(*u);
    PostedReceive* r = u->endpoint == ep.id.value() ? matcher.match(u->envelope) : nullptr;
    const bool is_its = r != nullptr && is_allowed(*r, u->envelope.job);
    if (is_its && !give(*r, *u)) return false;
    u = later;
  }
  return true;
}

void Target::complete(Endpoint& ep, PostedReceive& r, const Arrived& a) {
  Completion c;
  c.kind = r.tagged ? OpKind::tagged_recv : OpKind::recv;
  c.context = r.context;
  c.tag = r.tagged ? a.envelope.tag : 0;
  c.data = a.has_data ? a.header_data : 0;
  c.has_data = a.has_data;
  c.peer = a.envelope.peer;
  c.initiator_id = a.envelope.initiator;
  c.job = a.envelope.job;
  c.status = a.status;
  c.code = a.code;
  if (a.status == Completion::Status::undeliverable) {
    c.failure = pds::Failure{.reason = pds::FailureReason::closed};
  }
  if (a.status == Completion::Status::ok) {
    c.bytes = a.room;
    c.truncated_bytes = a.request_length - a.room;
    if (c.truncated_bytes != 0) c.status = Completion::Status::truncated;  // [SES-137]
  }
  if (r.multi) c.buffer = const_cast<std::byte*>(r.memory[0].data) + a.place;
  UET_ASSERT(r.open_messages != 0);
  --r.open_messages;
  const bool is_over = r.is_used_up && r.open_messages == 0;
  if (!is_over) {
    if (ep.rx.complete != nullptr) ep.rx.complete(ep.rx.owner, c);
    return;
  }
  if (!r.is_cancelled) {
    c.multi_done = r.multi;
    end(ep, r, c);
    return;
  }
  if (ep.rx.complete != nullptr) ep.rx.complete(ep.rx.owner, c);
  end(ep, r, Completion::Status::cancelled);
}

void Target::end(Endpoint& ep, PostedReceive& r, Completion::Status status) {
  Completion c;
  c.kind = r.tagged ? OpKind::tagged_recv : OpKind::recv;
  c.context = r.context;
  c.status = status;
  c.multi_done = r.multi;
  end(ep, r, c);
}

void Target::free(ReceiveQueue& queue, PostedReceive& r) {
  if (r.is_matchable) queue.matcher(r.tagged).remove(r);
  static_cast<ListNode<PostedTag>&>(r).unlink();
  r.memory.release(core_.long_iovs);
  receives_.free(&r);
  UET_ASSERT(queue.open != 0);
  --queue.open;
}

// The receive is over: nobody touches its memory after this.
void Target::end(Endpoint& ep, PostedReceive& r, const Completion& last) {
  free(*ep.queue, r);
  if (ep.rx.complete != nullptr) ep.rx.complete(ep.rx.owner, last);
}

// The end of a shared receive that no message got is reported by the oldest of its endpoints; where
// there is none nobody waits for it. Errc::again: no room for that. [LF-057]
Result<void> Target::cancel(ReceiveQueue& queue, void* op_context) {
  for (PostedReceive& r : queue.receives) {
    if (r.context.op != op_context || (!r.is_matchable && r.called == nullptr)) continue;
    Endpoint* ep = queue.endpoints.front();
    if (r.open_messages != 0 && r.called == nullptr) {
      // A multi-receive in use ends with its last message. That of a shared one says so; of others
      // the room for one more completion is booked.
      queue.matcher(r.tagged).remove(r);
      r.is_used_up = true;
      r.is_cancelled = !queue.is_shared;
      return {};
    }
    if (r.called != nullptr) {
      ep = &endpoint_of(*r.called->message);
      forget(*r.called);  // if it comes again it waits for another one
      take_back(r);
    } else if (queue.is_shared && ep != nullptr && !reserve(*ep)) {
      return Errc::again;
    }
    if (ep == nullptr) {
      free(queue, r);
    } else {
      end(*ep, r, Completion::Status::cancelled);
    }
    return {};
  }
  return Errc::not_found;
}

void Target::close(Endpoint& ep) {
  if (ep.queue->is_shared) stall(ep);  // what it kept is not given any more
  close_pulls(ep);
  close_deferred(ep);
  for (RxMessage& m : partial_) {
    if (m.endpoint != ep.id || m.error != ReturnCode::null) continue;
    fail(m, Completion::Status::aborted, ReturnCode::cancelled);  // [SES-177]
  }
  if (!ep.queue->is_shared) {
    while (PostedReceive* r = ep.queue->receives.front()) {
      end(ep, *r, Completion::Status::aborted);
    }
  }
  kept_.for_each([&](UnexpectedMessage& u) {
    if (u.endpoint == ep.id.value()) drop_unexpected(u, ReturnCode::cancelled);
  });
  unstall(ep);
  for (const bool tagged : {false, true}) {
    if (!ep.generation(tagged).is_enabled) --ep.queue->disabled;
  }
}

// Of shared receives, when no endpoint uses them any more.
void Target::close(ReceiveQueue& queue) {
  while (PostedReceive* r = queue.receives.front()) free(queue, *r);
}

void Target::drop_unexpected(UnexpectedMessage& u, ReturnCode code) {
  if (u.deferred != nullptr) {
    // Discarded: it is sent once more to that end, which its initiator waits for.
    u.deferred->is_discarded = true;
    return call(endpoint_of(u), *u.deferred);
  }
  if (!u.is_claimed) endpoint_of(u).matcher(u.tagged).remove_unexpected(u);
  if (u.arriving != nullptr) {
    u.arriving->to = RxMessage::To::nowhere;
    u.arriving->unexpected = nullptr;
    u.arriving->pull = nullptr;  // it goes with what is kept
  }
  if (u.pull != nullptr && code == ReturnCode::ok && u.is_complete) {
    // Discarded: nothing of the rest is wanted.
    Pull& p = *u.pull;
    p.arrived.request_length = u.request_length;
    u.pull = nullptr;
    release_sender(endpoint_of(u), p);
  } else {
    answer_kept(u, code, code == ReturnCode::ok ? u.request_length : 0);
  }
  free(u);
}

void Target::free(UnexpectedMessage& u) {
  if (u.pull != nullptr) free(*u.pull);
  kept_.drop(u);
}

Peeked Target::peek(ReceiveQueue& queue, const ReceiveRequest& filter, bool claim) {
  Matcher& matcher = queue.matcher(filter.tagged);
  UnexpectedMessage* u = matcher.find_unexpected(filter_of(filter));
  if (u == nullptr) return {};
  Peeked seen;
  seen.found = true;
  seen.bytes = u->request_length;
  seen.tag = u->envelope.tag;
  seen.data = u->header_data;
  seen.has_data = u->has_header_data;
  seen.peer = u->envelope.peer;
  seen.initiator_id = u->envelope.initiator;
  seen.job = u->envelope.job;
  seen.endpoint = EndpointId(u->endpoint);
  if (claim) {
    matcher.remove_unexpected(*u);
    u->is_claimed = true;
    seen.claim = kept_.claim_of(*u);
  }
  return seen;
}

UnexpectedMessage* Target::claimed(const ReceiveQueue& queue, uint32_t claim) {
  UnexpectedMessage* u = kept_.get(claim);
  if (u == nullptr || !u->is_claimed || endpoint_of(*u).queue != &queue) return nullptr;
  return u->deferred != nullptr && u->deferred->is_called() ? nullptr : u;  // the claim has ended
}

// The endpoint that it came to; null: no such claim.
Endpoint* Target::claimed_from(const ReceiveQueue& queue, uint32_t claim) {
  const UnexpectedMessage* const u = claimed(queue, claim);
  return u == nullptr ? nullptr : &endpoint_of(*u);
}

Result<void> Target::receive_claimed(ReceiveQueue& queue, uint32_t claim,
                                     const ReceiveRequest& request) {
  UnexpectedMessage* u = claimed(queue, claim);
  if (u == nullptr) return Errc::not_found;
  if (request.multi || request.tagged != u->tagged) return Errc::invalid;
  PostedReceive* r = UET_TRY(make(queue, request));
  enable(queue, request.tagged);
  if (give(*r, *u)) return {};
  UET_ASSERT(queue.is_shared);  // a plain receive of an endpoint needs no further completion slot
  free(queue, *r);
  return Errc::again;
}

bool Target::discard_claimed(ReceiveQueue& queue, uint32_t claim) {
  UnexpectedMessage* u = claimed(queue, claim);
  if (u == nullptr) return false;
  drop_unexpected(*u, ReturnCode::ok);
  return true;
}

}  // namespace uet::ses
