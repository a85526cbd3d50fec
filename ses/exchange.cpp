// Routing between PDS and the two halves of SES.
#include "ses/exchange.h"

#include <algorithm>
#include <cerrno>

namespace uet::ses {

void Exchange::on_send_failed(uint32_t cookie, int error, Instant now) {
  res_.now = now;
  const pds::MessageHandle message(cookie);
  if (!ReadAnswers::is_one(message)) {
    outgoing_.on_send_failed(message, error);
    return pass_ends();
  }
  if (error != EMSGSIZE) return answers_.on_unreadable(message);
  outgoing_.on_answer_cut(answers_.cut(message));
}

void Exchange::on_path_lowered(PeerId peer, Instant now) {
  res_.now = now;
  answers_.cut_longer(peer, res_.payload_toward(peer),
                      [&](const AnswerEnd& cut) { outgoing_.on_answer_cut(cut); });
  outgoing_.on_path_lowered(peer);
  pass_ends();
}

void Exchange::end_domain(uint32_t sdi, Instant now) {
  res_.now = now;
  outgoing_.end_domain(sdi);
  pass_ends();
}

void Exchange::advance(Instant now) {
  res_.now = now;
  res_.timers.expire(now, [&](TimerNode& node) {
    outgoing_.on_timer(node);
    pass_ends();
  });
  incoming_.advance();
}

Instant Exchange::next_deadline() const {
  return std::min(res_.timers.next_deadline(), incoming_.next_deadline());
}

bool Exchange::idle() const { return outgoing_.idle() && answers_.idle() && incoming_.idle(); }

bool Exchange::start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out, Instant now) {
  res_.now = now;
  return outgoing_.start(flow, pdc, out);
}

bool Exchange::pull(pds::MessageHandle message, pds::PacketRef& out) {
  if (ReadAnswers::is_one(message)) return answers_.pull(message, out);
  if (outgoing_.pull(message, out)) return true;
  pass_ends();
  return false;
}

void Exchange::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) {
  if (ReadAnswers::is_one(ref.message)) return answers_.encode(ref, header, batch);
  outgoing_.encode(ref, header, batch);
}

pds::Verdict Exchange::on_request(const pds::RxRequest& request, Instant now) {
  res_.now = now;
  if (request.next_hdr == wire::NextHeader::response_data ||
      request.next_hdr == wire::NextHeader::response_data_small) {
    const pds::Verdict verdict = outgoing_.on_return_data(request);
    pass_ends();
    return verdict;
  }
  return incoming_.on_request(request);
}

void Exchange::on_response(const pds::PacketRef& ref, const pds::RxResponse& response,
                           Instant now) {
  res_.now = now;
  // The answer to a READ ends in any case. [PDS-108]
  if (ReadAnswers::is_one(ref.message)) return outgoing_.on_answer_end(answers_.end(ref.message));
  outgoing_.on_responses({&ref, 1}, response);
  pass_ends();
}

void Exchange::on_responses(std::span<const pds::PacketRef> refs, const pds::RxResponse& response,
                            Instant now) {
  for (size_t first = 0, end = 0; first < refs.size(); first = end) {
    const pds::MessageHandle message = refs[first].message;
    while (end < refs.size() && refs[end].message == message) ++end;
    if (end - first == 1) {
      on_response(refs[first], response, now);
    } else {
      UET_ASSERT(!ReadAnswers::is_one(message));  // an answer to a READ is one packet
      res_.now = now;
      outgoing_.on_responses(refs.subspan(first, end - first), response);
      pass_ends();
    }
  }
}

void Exchange::on_failed(const pds::PacketRef& ref, const pds::Failure& failure, Instant now) {
  res_.now = now;
  if (!ReadAnswers::is_one(ref.message)) {
    outgoing_.on_failed(ref, failure);
    return pass_ends();
  }
  // A peer that reads keeps the PDC until it has all it wants, so one that closes has it. [SES-075]
  AnswerEnd ended = answers_.end(ref.message);
  if (failure.reason != pds::FailureReason::closed) ended.exposed = 0;
  outgoing_.on_answer_end(ended);
}

void Exchange::on_aborted(pds::MessageHandle message, const pds::Failure& failure, Instant now) {
  res_.now = now;
  if (!ReadAnswers::is_one(message)) {
    outgoing_.on_aborted(message, failure);
    return pass_ends();
  }
  AnswerEnd ended = answers_.end(message);
  ended.exposed = 0;  // it did not leave
  outgoing_.on_answer_end(ended);
}

bool Exchange::shorten(const pds::PacketRef& ref) {
  if (ReadAnswers::is_one(ref.message)) {
    outgoing_.on_answer_cut(answers_.cut(ref.message));
    return true;
  }
  const bool is_short = outgoing_.shorten(ref);
  pass_ends();
  return is_short;
}

JobId Exchange::job_of(std::span<const std::byte> ses) const {
  if (ses.size() < wire::RequestCommon::kSize) return {};
  return wire::RequestCommon::read(ses.data()).job_id;
}

bool Exchange::has_open_message(pds::PdcHandle pdc) const {
  return incoming_.has_open_message(pdc);
}

void Exchange::on_no_place(pds::PdcHandle pdc, Instant now) {
  res_.now = now;
  incoming_.on_no_place(pdc);
}

void Exchange::on_pdc_closed(pds::PdcHandle pdc, PeerId, bool, Instant now) {
  res_.now = now;
  outgoing_.on_pdc_closed(pdc);
  pass_ends();
  incoming_.on_pdc_closed(pdc);
}

}  // namespace uet::ses
