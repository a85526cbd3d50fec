// Posting messages, tagged or not. One call chain from the application to the socket: plan, book a
// CQ slot, post, transmit. [LF-041..046, LF-053..060]
#include "prov/uet/endpoint/post_tx.h"

#include "prov/uet/endpoint/slices.h"

namespace uet::prov {

ssize_t Transmissions::send(const MessageCall& call) {
  if (const ssize_t rc = ep_.check_post(call.tagged ? FI_TAGGED : FI_MSG); rc != 0) return rc;
  Slices slices;
  if (const int rc = slices.assign(call.iov, call.count); rc != 0) return reject(rc);
  Plan plan;
  if (const ssize_t rc = make_plan(call.flags, slices.bytes(), true, plan); rc != 0)
    return reject(rc);

  ses::SendRequest request;
  request.iov = slices.view();
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.data = call.data;
  request.flags = plan.ses_flags;
  return post_tx(
      call, plan, FI_SEND | (call.tagged ? FI_TAGGED : FI_MSG),
      [&](ProgressEngine::Entry& entry, const ses::Destination& to, const ses::OpContext& context) {
        request.to = to;
        request.context = context;
        if (waits_for_none(entry, plan) || waits_for_first_answer(call.flags, to)) {
          request.flags &= ~uint32_t{ses::kOpRetain};
        }
        return hand_over(entry, request);
      });
}

// Counts the operation first: its completion may come before the call is back.
Result<ses::Taken> Transmissions::hand_over(ProgressEngine::Entry& entry,
                                            const ses::SendRequest& request) {
  ++open_;
  Result<ses::Taken> taken = entry.ses().send(ep_.id, request, entry.now());
  if (!taken.ok()) --open_;
  return taken;
}

}  // namespace uet::prov
