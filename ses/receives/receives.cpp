// Making, consuming, completing and ending receives.
#include "ses/receives/receives.h"

#include "ses/completion_slot.h"

#include <algorithm>

namespace uet::ses {

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

Result<PostedReceive*> Receives::make(ReceiveQueue& queue, const ReceiveRequest& request) {
  // An owner posts any number of receives, and the Matcher has none of them. [LF-159]
  const bool is_matched = queue.owner == nullptr;
  if (is_matched && queue.open >= queue.size) return Errc::again;
  // A multi-receive is filled in place, so it is one piece. [LF-096]
  if (request.multi && request.iov.size() != 1) return Errc::invalid;
  if (request.multi && request.tagged) return Errc::unsupported;
  // Wildcards are an HPC feature. [LF-067, SES-185]
  if (request.tagged && request.ignore != 0 &&
      support(res_.config.profiles, Feature::tag_wildcards) == Support::absent) {
    return Errc::invalid;
  }
  if (is_matched) {
    UET_CHECK(queue.matcher(request.tagged).make_room(queue.open + 1));
  }
  PostedReceive* r = receives_.alloc();
  if (r == nullptr) return Errc::again;
  const Result<void> taken = r->memory.assign(request.iov, res_.receive_iovs);
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

// A receive posted at an endpoint has the room of its last message already; a shared receive has
// none until the endpoint that completes it is known.
bool Receives::book(const Endpoint& ep, const PostedReceive& r, uint64_t bytes) {
  return (!ep.queue->is_shared && will_be_used_up(r, bytes)) || reserve(res_, ep);
}

void Receives::consume(Endpoint& ep, PostedReceive& r, uint64_t bytes) {
  const bool is_used_up = will_be_used_up(r, bytes);
  r.used += bytes;
  ++r.open_messages;
  if (is_used_up) {
    r.is_used_up = true;
    if (r.is_matchable) ep.matcher(r.tagged).remove(r);
  }
}

void Receives::take_back(PostedReceive& r) {
  r.used = 0;  // no multi-receive is set aside
  r.open_messages = 0;
  r.is_used_up = false;
}

Completion Receives::completion_of(const PostedReceive& r, const Arrived& a) {
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
    c.bytes = a.place.room;
    c.truncated_bytes = a.request_length - a.place.room;
    if (c.truncated_bytes != 0) c.status = Completion::Status::truncated;  // [SES-137]
  }
  if (r.multi) c.buffer = const_cast<std::byte*>(r.memory[0].data) + a.place.begin;
  return c;
}

void Receives::complete(const Endpoint& ep, PostedReceive& r, const Arrived& a) {
  Completion c = completion_of(r, a);
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

void Receives::end(const Endpoint& ep, PostedReceive& r, Completion::Status status) {
  Completion c;
  c.kind = r.tagged ? OpKind::tagged_recv : OpKind::recv;
  c.context = r.context;
  c.status = status;
  c.multi_done = r.multi;
  end(ep, r, c);
}

void Receives::free(ReceiveQueue& queue, PostedReceive& r) {
  if (r.is_matchable) queue.matcher(r.tagged).remove(r);
  static_cast<ListNode<PostedTag>&>(r).unlink();
  r.memory.release(res_.receive_iovs);
  receives_.free(&r);
  UET_ASSERT(queue.open != 0);
  --queue.open;
}

void Receives::end(const Endpoint& ep, PostedReceive& r, const Completion& last) {
  free(*ep.queue, r);
  if (ep.rx.complete != nullptr) ep.rx.complete(ep.rx.owner, last);
}

}  // namespace uet::ses
