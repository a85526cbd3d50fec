// Keeping messages until a receive takes them.
#include "ses/receives/kept_messages.h"

#include "ses/deferral/deferred_message.h"

namespace uet::ses {

using wire::ReturnCode;

void KeptMessages::keep(Endpoint& ep, UnexpectedMessage& u, const Request& q,
                        const Envelope& envelope) {
  u.envelope = envelope;
  u.tagged = is_tagged(q.common.opcode);
  u.request_length = q.request_length;
  u.endpoint = ep.id.value();
  u.ri_generation = q.common.ri_generation;
  u.message_id = q.id;
  ep.matcher(u.tagged).add_unexpected(u);
}

void KeptMessages::hide(UnexpectedMessage& u) {
  if (!u.is_claimed) endpoint_of(u).matcher(u.tagged).remove_unexpected(u);
}

// With delivery-complete the answer waits for a receive. [SES-048, SES-126, SES-148]
pds::Verdict KeptMessages::complete(UnexpectedMessage& u, const Request& q) {
  u.is_complete = true;
  u.arriving = nullptr;
  u.token = q.token;
  if (q.common.dc && u.pull == nullptr) {
    u.owes_answer = true;
    arriving_.note_owed(q.token.pdc);
    return pds::Verdict::deferred();
  }
  return response_ok({.id = u.message_id,
                      .job = u.envelope.job,
                      .ri_generation = u.ri_generation,
                      .list = wire::ListCode::overflow,
                      .modified_length = q.pushed()});
}

void KeptMessages::answer(UnexpectedMessage& u, ReturnCode code, uint32_t modified_length) {
  if (!u.owes_answer) return;
  u.owes_answer = false;
  arriving_.note_answered(u.token.pdc);
  const Delivered d{.id = u.message_id,
                    .job = u.envelope.job,
                    .code = code,
                    .ri_generation = u.ri_generation,
                    .list = wire::ListCode::overflow,
                    .modified_length = modified_length};
  // False: the PDC is gone, so the response is not needed.
  res_.pds->respond(u.token, response_ok(d), res_.now);
}

// It goes with its endpoint.
Endpoint& KeptMessages::endpoint_of(const UnexpectedMessage& u) const {
  Endpoint* const ep = endpoints_.get(EndpointId(u.endpoint));
  UET_ASSERT(ep != nullptr);
  return *ep;
}

Peeked KeptMessages::seen(const UnexpectedMessage& u) {
  Peeked seen;
  seen.found = true;
  seen.bytes = u.request_length;
  seen.tagged = u.tagged;
  seen.tag = u.envelope.tag;
  seen.data = u.header_data;
  seen.has_data = u.has_data;
  seen.peer = u.envelope.peer;
  seen.initiator_id = u.envelope.initiator;
  seen.job = u.envelope.job;
  seen.endpoint = EndpointId(u.endpoint);
  return seen;
}

Peeked KeptMessages::peek(ReceiveQueue& queue, const ReceiveRequest& filter, bool claim) {
  Matcher& matcher = queue.matcher(filter.tagged);
  UnexpectedMessage* u = matcher.find_unexpected(filter_of(filter));
  if (u == nullptr) return {};
  Peeked found = seen(*u);
  if (claim) {
    matcher.remove_unexpected(*u);
    u->is_claimed = true;
    found.claim = room_.claim_of(*u);
  }
  return found;
}

UnexpectedMessage* KeptMessages::claimed(const ReceiveQueue& queue, uint32_t claim) {
  UnexpectedMessage* u = room_.get(claim);
  if (u == nullptr || !u->is_claimed || endpoint_of(*u).queue != &queue) return nullptr;
  return u->deferred != nullptr && u->deferred->is_called() ? nullptr : u;  // the claim has ended
}

}  // namespace uet::ses
