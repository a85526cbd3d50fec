// The way back of read data.
#include "ses/incoming/read_answers.h"

#include "pds/share.h"

#include "wire/ses.h"

namespace uet::ses {

ReturnMessage answer_to(const Request& q, uint32_t bytes) {
  ReturnMessage back;
  back.message_offset = q.offset;
  back.modified_length = q.request_length;
  back.length = static_cast<uint16_t>(bytes);
  back.is_small = q.header != wire::NextHeader::standard;
  back.read_id = q.id;
  back.peer = q.peer;
  back.job = q.common.job_id;
  back.psn = q.token.psn;
  return back;
}

Result<void> ReadAnswers::create() {
  return answers_.create(*res_.arena, res_.config.return_messages, Reuse::rested);
}

// A short request asks for many octets. A peer gets at most as many places for answers as it leaves
// free, and its quota of octets: further requests wait at the peer. [T-39]
bool ReadAnswers::is_within_quota(const ReturnMessage& answer) const {
  const pds::Peer& peer = (*res_.peers)[answer.peer];
  const uint64_t bytes = uint64_t{peer.answer_bytes} + answer.length;
  const uint32_t free = answers_.capacity() - answers_.size();
  const uint64_t of_host = res_.peers->host_of(peer).answers;
  return pds::is_within_shares(peer.answers, of_host, 1, free, answers_.capacity()) &&
         (peer.answers == 0 || bytes <= res_.config.read_quota_bytes);
}

ReadAnswers::Sent ReadAnswers::send(pds::PdcHandle pdc, const ReturnMessage& answer) {
  if (!is_within_quota(answer)) {
    res_.counters.add(Counter::read_quota);
    return Sent::no_slot;
  }
  ReturnMessage* const r = answers_.alloc(answer);
  UET_ASSERT(r != nullptr);  // a share leaves some
  pds::Peer& peer = (*res_.peers)[answer.peer];
  ++peer.answers;
  ++res_.peers->host_of(peer).answers;
  peer.answer_bytes += answer.length;
  r->is_counted = true;
  const uint32_t word = answers_.handle(r).word();
  UET_ASSERT((word & kMark) == 0);
  r->id = res_.ids.take(word | kMark);
  if (r->id.value() == 0) {
    r->fetched = nullptr;  // stays the caller's
    free(*r);
    return Sent::no_slot;
  }
  pds::PacketRef ref;
  ref.length = answer.length;
  const uint32_t announced = pds::announced_bytes(ref);
  if (res_.pds->send_return(pdc, pds::MessageHandle(word | kMark), announced)) return Sent::sent;
  free(*r);
  return Sent::pdc_gone;
}

// The number in the PDS header identifies it, so it has no message ID and is not waited for: it
// leaves with the next packets.
pds::MessageHandle ReadAnswers::hold(const ReturnMessage& answer) {
  ReturnMessage* const r = answers_.alloc(answer);
  if (r == nullptr) return {};
  r->holds_peer = true;  // no PDC does
  res_.peers->add_ref(r->peer);
  return pds::MessageHandle(answers_.handle(r).word() | kMark);
}

void ReadAnswers::free(ReturnMessage& r) {
  if (r.id.value() != 0) res_.ids.give_back(r.id);
  if (r.fetched != nullptr) res_.fetch_buffers.give_back(r.peer, *r.fetched);
  if (r.is_counted) {
    pds::Peer& peer = (*res_.peers)[r.peer];
    UET_ASSERT(peer.answers > 0 && peer.answer_bytes >= r.length);
    --peer.answers;
    --res_.peers->host_of(peer).answers;
    peer.answer_bytes -= r.length;
  }
  if (r.holds_peer) res_.peers->drop_ref(r.peer);
  answers_.free(&r);
}

bool ReadAnswers::pull(pds::MessageHandle handle, pds::PacketRef& out) {
  ReturnMessage* const r = find(handle);
  if (r == nullptr || r->is_pulled) return false;
  r->is_pulled = true;
  out = pds::PacketRef{.message = handle,
                       .offset = r->message_offset,
                       .length = r->length,
                       .next_hdr = r->is_small ? wire::NextHeader::response_data_small
                                               : wire::NextHeader::response_data};
  out.som = out.eom = out.sack_completes = true;  // its response is the default one [PDS-108]
  return true;
}

void ReadAnswers::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) const {
  const ReturnMessage* const found =
      answers_.get(Handle<ReturnMessage>::from_word(ref.message.value() & ~kMark));
  UET_ASSERT(found != nullptr);  // PDS encodes only unanswered packets
  const ReturnMessage& r = *found;
  // Looked up on every encoding: a region removed meanwhile is not read any more.
  const auto add = [&](const std::byte* at, uint64_t length) {
    batch.add_payload(at, static_cast<uint32_t>(length));
  };
  if (r.fetched != nullptr) add(r.fetched->bytes.data(), r.length);
  const bool is_barred = r.is_unreadable || r.is_too_long;
  const bool is_readable =
      r.fetched != nullptr ||
      (!is_barred && memory_.for_each(r.region, r.region_offset, r.length, add));
  const auto code = r.is_too_long     ? wire::ReturnCode::unsupported_size
                    : r.is_unreadable ? wire::ReturnCode::host_unsuccess_cmpl
                    : is_readable     ? wire::ReturnCode::ok
                                      : wire::ReturnCode::bad_mkey;
  const uint16_t length = is_readable ? r.length : 0;
  if (r.is_small) {
    wire::ResponseDataSmall h;
    h.common.return_code = code;
    h.payload_length = length;
    h.job_id = r.job;
    h.original_request_psn = r.psn;  // [WIRE-078]
    h.emit(header);
    return;
  }
  wire::ResponseData h;
  h.common.return_code = code;
  h.response_message_id = r.id;
  h.job_id = r.job;
  h.read_request_message_id = r.read_id;
  h.payload_length = length;
  h.modified_length = is_readable ? r.modified_length : 0;  // [SES-147]
  h.message_offset = r.message_offset;
  h.emit(header);
}

AnswerEnd ReadAnswers::end_of(const ReturnMessage& r) {
  return {.exposed = r.exposed,
          .attempt = r.attempt,
          .length = r.length,
          .end = r.region_offset + r.length,
          .has_data = r.has_data(),
          .is_unsure = r.is_unsure};
}

AnswerEnd ReadAnswers::end(pds::MessageHandle handle) {
  ReturnMessage* const r = find(handle);
  if (r == nullptr) {
    res_.counters.add(Counter::rx_response_stray);
    return {};
  }
  const AnswerEnd ended = end_of(*r);
  free(*r);
  return ended;
}

AnswerEnd ReadAnswers::cut(ReturnMessage& r) {
  r.is_too_long = true;
  r.is_unsure = r.is_pulled;
  return end_of(r);
}

AnswerEnd ReadAnswers::cut(pds::MessageHandle handle) {
  ReturnMessage* const r = find(handle);
  return r == nullptr ? AnswerEnd{} : cut(*r);
}

void ReadAnswers::on_unreadable(pds::MessageHandle handle) {
  if (ReturnMessage* const r = find(handle)) r->is_unreadable = true;
}

}  // namespace uet::ses
