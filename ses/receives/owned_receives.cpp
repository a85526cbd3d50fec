// Asking owners; see owned_receives.h.
#include "ses/receives/owned_receives.h"

#include "ses/completion_slot.h"

#include "base/assert.h"

#include <cerrno>

namespace uet::ses {

void OwnedReceives::add(ReceiveQueue& queue, ReceiveOwner& owner) {
  UET_ASSERT(queue.is_shared && queue.open == 0 && queue.endpoints.empty());
  queue.owner = &owner;
  queues_.push_back(queue);
}

void OwnedReceives::remove(ReceiveQueue& queue) {
  if (queue.owner == nullptr) return;
  queue.owner = nullptr;
  queues_.erase(queue);
}

void OwnedReceives::begin_turn() {
  is_turn_ = true;
  for (ReceiveQueue& queue : queues_) {
    for (const bool tagged : {false, true}) offer(queue, tagged);
  }
}

// A receive that cannot be stored is reported as failed; the message waits for another one. There
// is room for both reports before the owner is asked, because the owner gives a receive once.
PostedReceive* OwnedReceives::ask(Endpoint& ep, const Sought& message) {
  ReceiveQueue& queue = *ep.queue;
  if (queue.open >= queue.size || !receives_.has_slot() || !reserve(res_, ep)) return nullptr;
  release(ep);
  ReceiveRequest request;
  const Asked asked = queue.owner->ask(message, request);
  is_told_ = asked == Asked::unexpected;
  if (asked == Asked::useless) return fail(ep, message, request, EINVAL);
  if (asked != Asked::receive) return nullptr;
  const Result<PostedReceive*> made = receives_.make(queue, request);
  if (made.ok()) return *made;
  return fail(ep, message, request, made.error() == Errc::invalid ? EINVAL : ENOMEM);
}

PostedReceive* OwnedReceives::fail(Endpoint& ep, const Sought& message,
                                   const ReceiveRequest& request, int error) {
  Completion failed;
  failed.kind = message.tagged ? OpKind::tagged_recv : OpKind::recv;
  failed.context = request.context;
  failed.status = Completion::Status::fault;
  failed.local_error = error;
  const bool has_room = reserve(res_, ep);
  UET_ASSERT(has_room);  // since before the owner was asked
  ep.rx.complete(ep.rx.owner, failed);
  return nullptr;
}

void OwnedReceives::tell_owner(ReceiveQueue& queue, bool tagged) {
  if (!is_told_) return;
  is_told_ = false;
  if (UnexpectedMessage* const u = queue.matcher(tagged).oldest_unexpected()) {
    claim(queue, *u);
  } else {
    queue.owner->forget();
  }
}

// Only the owner decides about the message.
bool OwnedReceives::claim(ReceiveQueue& queue, UnexpectedMessage& u) {
  const uint64_t* const data = u.has_data ? &u.header_data : nullptr;
  if (!queue.owner->keep(kept_.room().claim_of(u), data)) return false;
  queue.matcher(u.tagged).remove_unexpected(u);
  u.is_claimed = true;
  return true;
}

void OwnedReceives::offer(ReceiveQueue& queue, bool tagged) {
  Matcher& matcher = queue.matcher(tagged);
  while (UnexpectedMessage* const u = matcher.oldest_unexpected()) {
    Endpoint& ep = kept_.endpoint_of(*u);
    if (!reserve(res_, ep)) return;
    PostedReceive* const r = ask(ep, {u->envelope, u->request_length, tagged});
    release(ep);
    if (r != nullptr) {
      const bool is_given = delivery_.give(*r, *u);
      UET_ASSERT(is_given);  // there was room for its completion just now
      continue;
    }
    if (!is_told_) return;
    is_told_ = false;
    if (!claim(queue, *u)) return;
  }
}

}  // namespace uet::ses
