// WRITE and READ at the target.
#include "ses/incoming/rma.h"

#include "ses/completion_slot.h"
#include "ses/incoming/remote_report.h"

#include <algorithm>
#include <array>

namespace uet::ses {

using wire::ReturnCode;

Result<RegionId, ReturnCode> Rma::authorize(const Request& q, Access access) {
  // The whole message must fit, whichever part of it this packet is. [SES-116]
  const RegionUse use{.access = access,
                      .job = q.common.job_id,
                      .ri = q.common.resource_index,
                      .peer = q.peer,
                      .initiator = q.initiator,
                      .replayable = q.mode == pds::Mode::rudi,
                      .offset = q.buffer_offset,
                      .length = q.request_length};
  if (q.header == wire::NextHeader::small) {
    return memory_.authorize_optimized(q.common.resource_index.value(), use);  // [SES-008]
  }
  auto found = memory_.authorize(q.match_bits, use);
  // Only the target of a rendezvous send may read its source.
  if (access == kRemoteRead && found.ok() && memory_.exposed(*found) != 0 &&
      outgoing_.exposure_of(*found, q.peer) == nullptr) {
    return ReturnCode::bad_mkey;
  }
  return found;
}

pds::Verdict Rma::begin_write(const Endpoint& ep, const Request& q) {
  const auto region = authorize(q, kRemoteWrite);
  if (!region.ok()) return refusals_.refuse_key(q, region.error());
  if (q.is_single() || !q.has_pdc()) {  // RUDI tracks nothing [SES-077]
    if (q.has_data && !reserve(res_, ep)) return refusals_.wait_for_application(q);
    const bool is_placed = memory_.place(*region, q.buffer_offset + q.offset, q.payload);
    UET_ASSERT(is_placed);
    report_remote(ep, memory_, q, OpKind::remote_write, *region);
    return pds::Verdict::accepted();
  }
  RxMessage* m = arriving_.track(q);
  if (m == nullptr) return refusals_.no_message_slot();
  m->to = RxMessage::To::region;
  m->endpoint = ep.id;
  m->region = *region;
  return continue_write(*m, ep, q);
}

pds::Verdict Rma::continue_write(RxMessage& m, const Endpoint& ep, const Request& q) {
  const bool is_last = q.length == m.request_length - m.arrived;
  const bool has_data = m.has_data || q.has_data;
  if (is_last && has_data && !reserve(res_, ep)) {
    arriving_.count(m, 0);  // this target delays the message, so it must not expire [SES-108]
    return refusals_.wait_for_application(q);
  }
  if (!memory_.place(m.region, m.buffer_offset + q.offset, q.payload)) return lose_region(m, q);
  arriving_.note(m, q);
  if (!is_last) return pds::Verdict::accepted();
  report_remote(ep, memory_, q, OpKind::remote_write, m.region, &m);
  arriving_.forget(m);
  return pds::Verdict::accepted();
}

// The first packet was within the region, so the region has changed since: the key is what fails.
pds::Verdict Rma::lose_region(RxMessage& m, const Request& q) {
  res_.counters.add(Counter::rx_bad_key);
  delivery_.fail(m, Completion::Status::refused, ReturnCode::bad_mkey);
  return refusals_.repeat(m, q);
}

pds::Verdict Rma::begin_read(const Endpoint& ep, const Request& q) {
  const auto region = authorize(q, kRemoteRead);
  if (!region.ok()) return refusals_.refuse_key(q, region.error());
  if (q.is_single() || !q.has_pdc()) return serve_read(ep, q, *region);
  RxMessage* m = arriving_.track(q);
  if (m == nullptr) return refusals_.no_message_slot();
  m->endpoint = ep.id;
  m->region = *region;
  note_read_begun(q, *region);
  return continue_read(*m, ep, q);
}

// A READ in one packet.
pds::Verdict Rma::serve_read(const Endpoint& ep, const Request& q, RegionId region) {
  if (Exposure* const source = outgoing_.exposure_of(region, q.peer)) {
    outgoing_.on_read_begun(*source, q.buffer_offset, q.request_length);
    if (q.request_length == 0) return data_in_ack(q, {});
  }
  const pds::Verdict verdict = answer_read(q, region);
  const bool is_served = verdict.kind == pds::Verdict::Kind::accept ||
                         (verdict.kind == pds::Verdict::Kind::respond &&
                          verdict.response.next_hdr != wire::NextHeader::response);
  if (is_served) report_remote(ep, memory_, q, OpKind::remote_read, region);
  return verdict;
}

void Rma::note_read_begun(const Request& q, RegionId region) {
  if (Exposure* const source = outgoing_.exposure_of(region, q.peer)) {
    outgoing_.on_read_begun(*source, q.buffer_offset, q.request_length);
  }
}

pds::Verdict Rma::continue_read(RxMessage& m, const Endpoint& ep, const Request& q) {
  const bool is_there =
      memory_.for_each(m.region, q.buffer_offset + q.offset, q.length, [](auto, auto) {});
  if (!is_there) return lose_region(m, q);
  const pds::Verdict verdict = answer_read(q, m.region);
  // Refused for now, or its PDC is ending: the packet counts as not received, and may come again.
  // This target delays the message, so it must not expire. [PDS-112, SES-108]
  const bool has_arrived =
      verdict.kind != pds::Verdict::Kind::nack && verdict.kind != pds::Verdict::Kind::drop;
  if (!has_arrived) {
    arriving_.count(m, 0);
    return verdict;
  }
  arriving_.note(m, q);
  if (m.arrived >= m.end) {
    report_remote(ep, memory_, q, OpKind::remote_read, m.region);
    arriving_.forget(m);
  }
  return verdict;
}

// All answers of a read go one way, chosen by its whole length. [SES-074, PDS-167]
pds::Verdict Rma::answer_read(const Request& q, RegionId region) {
  if (q.request_length <= res_.config.ack_data_bytes_max) return read_in_ack(q, region);
  ReturnMessage back = answer_to(q, q.length);
  back.region = region;
  back.region_offset = q.buffer_offset + q.offset;
  back.is_too_long = (*res_.peers)[q.peer].is_beyond_path(q.length);  // [LF-141]
  if (const Exposure* const source = outgoing_.exposure_of(region, q.peer)) {
    back.exposed = source->handle;
    back.attempt = source->attempt;
    if (back.is_too_long) {
      outgoing_.on_answer_cut({.exposed = back.exposed, .attempt = back.attempt});
    }
  }
  if (!q.has_pdc()) return read_on_rudi(back);
  switch (answers_.send(q.token.pdc, back)) {
    case ReadAnswers::Sent::sent:
      return pds::Verdict::accepted();
    case ReadAnswers::Sent::no_slot:
      return refusals_.no_message_slot();
    case ReadAnswers::Sent::pdc_gone:
      break;
  }
  pds::Verdict dropped;
  dropped.kind = pds::Verdict::Kind::drop;
  return dropped;
}

// The data travels inside the RUDI response, as much as the packet asked for. [SES-074, PDS-202]
pds::Verdict Rma::read_on_rudi(const ReturnMessage& back) {
  const pds::MessageHandle held = answers_.hold(back);
  if (held == pds::MessageHandle{}) return refusals_.no_message_slot();
  pds::Verdict v;
  v.kind = pds::Verdict::Kind::respond;
  v.answer = held;
  return v;
}

pds::Verdict Rma::read_in_ack(const Request& q, RegionId region) {
  std::array<std::byte, pds::kMaxAckSesBytes> data;
  size_t size = 0;
  const bool is_read = memory_.for_each(region, q.buffer_offset + q.offset, q.length,
                                        [&](const std::byte* at, uint64_t length) {
                                          std::copy_n(at, length, data.data() + size);
                                          size += length;
                                        });
  UET_ASSERT(is_read);  // authorised a moment ago
  const pds::Verdict verdict = data_in_ack(q, {data.data(), size});
  if (Exposure* const source = outgoing_.exposure_of(region, q.peer)) {
    // A copy is on its way, kept until it is known to have arrived.
    outgoing_.on_served(*source, static_cast<uint32_t>(size));
  }
  return verdict;
}

}  // namespace uet::ses
