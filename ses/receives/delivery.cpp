// Receives that are posted, messages that were kept, and how they meet and end.
#include "ses/receives/delivery.h"

#include "ses/completion_slot.h"

#include <algorithm>
#include <span>

namespace uet::ses {

using wire::ReturnCode;

Result<void> Delivery::receive(ReceiveQueue& queue, const ReceiveRequest& request) {
  PostedReceive* r = UET_TRY(receives_.make(queue, request));
  Generations::enable(queue, request.tagged);  // [SES-133]
  offer(queue, *r);
  return {};
}

// Gives a receive the kept messages that it matches; if it has room left it waits among the others.
void Delivery::offer(ReceiveQueue& queue, PostedReceive& r) {
  Matcher& matcher = queue.matcher(r.tagged);
  const bool some_stalled = queue.stalled != 0 && (queue.is_shared || !r.tagged);
  if (some_stalled && !queue.is_shared) return matcher.post(r);  // behind the stalled one
  const MatchFilter filter = filter_of(r);
  if (some_stalled || (r.multi && queue.deferred != 0)) {
    if (!offer_each(queue, r, filter)) matcher.post(r);
    return;
  }
  while (UnexpectedMessage* u = matcher.find_unexpected(filter)) {
    const bool is_last = Receives::will_be_used_up(r, u->request_length);
    if (!give(r, *u)) {
      stall(kept_.endpoint_of(*u));
      if (queue.is_shared && offer_each(queue, r, filter)) return;
      break;
    }
    if (is_last) return;
  }
  matcher.post(r);
}

// Looks at one kept message after the other: skips those of a stalled endpoint, and calls no more
// deferred messages than fill a multi-receive. True: the receive is used up.
bool Delivery::offer_each(ReceiveQueue& queue, PostedReceive& r, const MatchFilter& filter) {
  Matcher& matcher = queue.matcher(r.tagged);
  UnexpectedMessage* u = matcher.oldest_unexpected();
  while (u != nullptr) {
    UnexpectedMessage* const later = matcher.next_unexpected(*u);
    Endpoint& ep = kept_.endpoint_of(*u);
    const bool is_its = filter.accepts(*u) && !ep.is_held(r.tagged);
    if (is_its && r.multi && u->deferred != nullptr) {
      deferred_.call_for(r, *u->deferred);
    } else if (is_its) {
      const bool is_last = Receives::will_be_used_up(r, u->request_length);
      const bool is_given = give(r, *u);
      if (!is_given) stall(ep);
      if (!is_given && !queue.is_shared) return false;
      if (is_given && is_last) return true;
    }
    u = later;
  }
  return false;
}

void Delivery::stall(Endpoint& ep) {
  if (ep.is_stalled()) return;
  stalled_.push_back(ep);
  ++ep.queue->stalled;
}

void Delivery::unstall(Endpoint& ep) {
  if (!ep.is_stalled()) return;
  stalled_.erase(ep);
  --ep.queue->stalled;
}

bool Delivery::give(PostedReceive& r, UnexpectedMessage& u) {
  Endpoint& ep = kept_.endpoint_of(u);
  if (u.deferred != nullptr) {
    if (!r.multi) return deferred_.set_aside(ep, r, *u.deferred);
    deferred_.call_for(r, *u.deferred);
    return true;
  }
  if (!receives_.book(ep, r, u.request_length)) return false;
  hand_over(ep, r, u);
  return true;
}

// The receive takes the message and its received octets.
void Delivery::hand_over(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u) {
  kept_.hide(u);
  const Place at{.begin = r.used, .room = std::min<uint64_t>(r.room(), u.request_length)};
  receives_.consume(ep, r, at.room);
  copy(u, r, at);
  if (!u.is_complete) {
    // The rest goes straight to its place.
    RxMessage& m = *u.arriving;
    m.to = RxMessage::To::receive;
    m.unexpected = nullptr;
    m.receive = &r;
    m.place = at;
    u.pull = nullptr;  // m has it
    return free(u);
  }
  const Arrived a = arrived(u, at);
  if (Pull* const pull = u.pull) {
    u.pull = nullptr;
    free(u);
    return pulls_.read_rest(ep, *pull, r, a);
  }
  kept_.answer(u, ReturnCode::ok, static_cast<uint32_t>(at.room));
  free(u);
  receives_.complete(ep, r, a);
}

// The received octets of a kept message go to their place in the receive.
void Delivery::copy(const UnexpectedMessage& u, const PostedReceive& r, const Place& at) const {
  const auto copy_part = [&](uint32_t offset, uint32_t length) {
    if (offset >= at.room) return;
    uint64_t to = at.begin + offset;
    kept_.room().read(u, offset, std::min<uint64_t>(length, at.room - offset),
                      [&](std::span<const std::byte> piece) {
                        r.memory.scatter(to, piece);
                        to += piece.size();
                      });
  };
  const auto bytes = static_cast<uint32_t>(u.pages.bytes);
  if (u.is_complete) return copy_part(0, bytes);
  // Copy only octets that have arrived: the rest of the pages holds data of other messages.
  // [SES-190]
  u.arriving->packets.for_each(bytes, copy_part);
}

// Room in the completion queue came back: kept messages go to the receives that wait for them.
void Delivery::drain(Endpoint& ep) {
  if (ep.queue->is_shared) {
    if (!reserve(res_, ep)) {
      return;  // a message cannot be delivered without room for its completion
    }
    release(ep);
    if (!drain(ep, ep.queue->tagged)) return;
  }
  if (drain(ep, ep.queue->untagged)) unstall(ep);
}

// False: some are left because the completion queue has no room.
bool Delivery::drain(Endpoint& ep, Matcher& matcher) {
  UnexpectedMessage* u = matcher.oldest_unexpected();
  while (u != nullptr) {
    UnexpectedMessage* later = matcher.next_unexpected(*u);
    PostedReceive* r = u->endpoint == ep.id.value() ? matcher.match(u->envelope) : nullptr;
    const bool is_its = r != nullptr && r->allows(u->envelope.job);
    if (is_its && !give(*r, *u)) return false;
    u = later;
  }
  return true;
}

void Delivery::drain() {
  for (Endpoint& ep : stalled_) drain(ep);
}

void Delivery::drain_where_room() {
  for (Endpoint& ep : stalled_) {
    if (!reserve(res_, ep)) continue;
    release(ep);
    drain(ep);
  }
}

Result<void> Delivery::cancel(ReceiveQueue& queue, void* op_context) {
  for (PostedReceive& r : queue.receives) {
    if (r.context.op != op_context || (!r.is_matchable && r.called == nullptr)) continue;
    return cancel(queue, r);
  }
  return Errc::not_found;
}

// The oldest endpoint of a shared queue reports the end of a receive without a message; without an
// endpoint there is no report. Errc::again: no room for that completion. [LF-057]
Result<void> Delivery::cancel(ReceiveQueue& queue, PostedReceive& r) {
  Endpoint* ep = queue.endpoints.front();
  if (r.open_messages != 0 && r.called == nullptr) {
    // A multi-receive in use ends with its last message. For a shared one that message reports it;
    // for others the room for one more completion is booked.
    queue.matcher(r.tagged).remove(r);
    r.is_used_up = true;
    r.is_cancelled = !queue.is_shared;
    return {};
  }
  if (r.called != nullptr) {
    ep = &kept_.endpoint_of(*r.called->message);
    deferred_.forget(*r.called);  // if it comes again it waits for another one
    Receives::take_back(r);
  } else if (queue.is_shared && ep != nullptr && !reserve(res_, *ep)) {
    return Errc::again;
  }
  if (ep == nullptr) {
    receives_.free(queue, r);
  } else {
    receives_.end(*ep, r, Completion::Status::cancelled);
  }
  return {};
}

void Delivery::close(Endpoint& ep) {
  if (ep.queue->is_shared) stall(ep);  // its kept messages are not delivered any more
  pulls_.close(ep);
  deferred_.for_each_of(ep, [&](DeferredMessage& d) {
    // Its own receives end with it; shared ones become free for other messages.
    if (!ep.queue->is_shared) return deferred_.forget(d);
    give_up(d, Completion::Status::aborted);
  });
  arriving_.for_each([&](RxMessage& m) {
    if (m.endpoint != ep.id || m.error != ReturnCode::null) return;
    fail(m, Completion::Status::aborted, ReturnCode::cancelled);  // [SES-177]
  });
  if (!ep.queue->is_shared) {
    while (PostedReceive* r = ep.queue->receives.front()) {
      receives_.end(ep, *r, Completion::Status::aborted);
    }
  }
  kept_.room().for_each([&](UnexpectedMessage& u) {
    if (u.endpoint == ep.id.value()) drop(u, ReturnCode::cancelled);
  });
  unstall(ep);
  Generations::leave(ep);
}

void Delivery::close(ReceiveQueue& queue) {
  while (PostedReceive* r = queue.receives.front()) receives_.free(queue, *r);
}

void Delivery::fail(RxMessage& m, Completion::Status status, ReturnCode code) {
  const RxMessage::To was = m.to;
  m.to = RxMessage::To::nowhere;
  arriving_.set_error(m, code);
  if (was == RxMessage::To::receive && m.pull != nullptr) pulls_.free(*m.pull);
  m.pull = nullptr;  // for a kept message they go with the kept octets
  if (was == RxMessage::To::receive) {
    fail_receive(m, status);
  } else if (was == RxMessage::To::unexpected) {
    UnexpectedMessage& u = *m.unexpected;
    m.unexpected = nullptr;
    u.arriving = nullptr;
    drop(u, code);
  }
}

// The receive of a message that failed completes in error. [SES-106, SES-108]
void Delivery::fail_receive(RxMessage& m, Completion::Status status) {
  const Endpoint* const ep = endpoints_.get(m.endpoint);
  UET_ASSERT(ep != nullptr && m.receive != nullptr);
  Arrived a = arrived(m, m.place);
  a.status = status;
  a.code = m.error;
  PostedReceive& r = *m.receive;
  m.receive = nullptr;
  receives_.complete(*ep, r, a);
}

// The receive that was set aside for it is free for other messages again, behind receives that were
// posted meanwhile. A claim was for this message alone.
void Delivery::give_up(DeferredMessage& d, Completion::Status status) {
  const DeferredMessages::Lost lost = deferred_.give_up(d, status);
  if (lost.receive == nullptr) return;
  if (lost.was_claimed) return receives_.complete(*lost.endpoint, *lost.receive, lost.arrived);
  ReceiveQueue& queue = *lost.endpoint->queue;
  if (queue.is_shared) release(*lost.endpoint);
  Receives::post_again(queue, *lost.receive);
  offer(queue, *lost.receive);
}

void Delivery::drop(UnexpectedMessage& u, ReturnCode code) {
  // Discarded: it is sent once more to that end, which its initiator waits for.
  if (u.deferred != nullptr) return deferred_.discard(*u.deferred);
  kept_.hide(u);
  if (u.arriving != nullptr) {
    u.arriving->to = RxMessage::To::nowhere;
    u.arriving->unexpected = nullptr;
    u.arriving->pull = nullptr;  // it goes with the kept octets
  }
  if (u.pull != nullptr && code == ReturnCode::ok && u.is_complete) {
    // Discarded: nothing of the rest is wanted.
    Pull& p = *u.pull;
    u.pull = nullptr;
    pulls_.discard(kept_.endpoint_of(u), p, u.request_length);
  } else {
    kept_.answer(u, code, code == ReturnCode::ok ? u.request_length : 0);
  }
  free(u);
}

void Delivery::free(UnexpectedMessage& u) {
  if (u.pull != nullptr) pulls_.free(*u.pull);
  kept_.room().drop(u);
}

Result<void> Delivery::receive_claimed(ReceiveQueue& queue, uint32_t claim,
                                       const ReceiveRequest& request) {
  UnexpectedMessage* u = kept_.claimed(queue, claim);
  if (u == nullptr) return Errc::not_found;
  if (request.multi || request.tagged != u->tagged) return Errc::invalid;
  PostedReceive* r = UET_TRY(receives_.make(queue, request));
  Generations::enable(queue, request.tagged);
  if (give(*r, *u)) return {};
  UET_ASSERT(queue.is_shared);  // a plain receive of an endpoint needs no further completion slot
  receives_.free(queue, *r);
  return Errc::again;
}

bool Delivery::discard_claimed(ReceiveQueue& queue, uint32_t claim, ReturnCode code) {
  UnexpectedMessage* u = kept_.claimed(queue, claim);
  if (u == nullptr) return false;
  drop(*u, code);
  return true;
}

}  // namespace uet::ses
