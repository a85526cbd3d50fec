// WRITE and READ at the target. The region is looked up for every packet, so one that was removed
// in the middle of a message is not touched again. [ses.md 4.2]
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

Result<RegionId, ReturnCode> Target::authorize(const Request& q, Access access) const {
  // The whole message must fit, whatever part of it this packet is. [SES-116]
  const RegionUse use{.access = access,
                      .job = q.common.job_id,
                      .ri = q.common.resource_index,
                      .peer = q.peer,
                      .initiator = q.initiator,
                      .replayable = q.mode == pds::Mode::rudi,
                      .offset = q.buffer_offset,
                      .length = q.request_length};
  if (q.header == wire::NextHeader::small) {
    return core_.memory.authorize_optimized(q.common.resource_index.value(), use);  // [SES-008]
  }
  auto found = core_.memory.authorize(q.match_bits, use);
  // The source of a rendezvous send is there for whom it was sent to, and for nobody else.
  if (access == kRemoteRead && found.ok() && core_.memory.exposed(*found) != 0 &&
      initiator_.exposed_to(*found, q.peer) == nullptr) {
    return ReturnCode::bad_mkey;
  }
  return found;
}

pds::Verdict Target::refuse_key(const Request& q, ReturnCode code) {
  switch (code) {
    case ReturnCode::perm_violation:
      return refuse(q, code, Counter::rx_no_permission);
    case ReturnCode::op_violation:
      return refuse(q, code, Counter::rx_wrong_access);
    case ReturnCode::bad_addr:
      return refuse(q, code, Counter::rx_bad_address);
    default:
      return refuse(q, ReturnCode::bad_mkey, Counter::rx_bad_key);
  }
}

// Books room for a completion nobody posted for. [architecture 8]
bool Target::reserve(Endpoint& ep) {
  if (ep.rx.reserve == nullptr || ep.rx.reserve(ep.rx.owner)) return true;
  core_.counters.add(Counter::rx_no_completion_slot);
  return false;
}

void Target::release(Endpoint& ep) {
  if (ep.rx.release != nullptr) ep.rx.release(ep.rx.owner);
}

// The application takes its completions when it likes. [PDS-148]
pds::Verdict Target::no_completion_slot(const Request& q) { return wait_for_application(q); }

pds::Verdict Target::begin_write(Endpoint& ep, const Request& q) {
  const auto region = authorize(q, kRemoteWrite);
  if (!region.ok()) return refuse_key(q, region.error());
  if (q.is_single() || !q.has_pdc()) {  // RUDI tracks nothing [SES-077]
    if (q.has_data && !reserve(ep)) return no_completion_slot(q);
    const bool is_placed = core_.memory.place(*region, q.buffer_offset + q.offset, q.payload);
    UET_ASSERT(is_placed);
    report_remote(ep, q, OpKind::remote_write, *region);
    return pds::Verdict::accepted();
  }
  RxMessage* m = track(q);
  if (m == nullptr) return no_message_slot();
  m->to = RxMessage::To::region;
  m->endpoint = ep.id;
  m->region = *region;
  return continue_write(*m, ep, q);
}

pds::Verdict Target::continue_write(RxMessage& m, Endpoint& ep, const Request& q) {
  const bool is_last = q.length == m.request_length - m.arrived;
  const bool has_data = m.has_data || q.has_data;
  if (is_last && has_data && !reserve(ep)) {
    count_arrival(m, 0);  // it is we who keep it waiting: it must not expire [SES-108]
    return no_completion_slot(q);
  }
  if (!core_.memory.place(m.region, m.buffer_offset + q.offset, q.payload)) {
    core_.counters.add(Counter::rx_bad_key);
    fail(m, Completion::Status::refused, ReturnCode::bad_mkey);
    return repeat_error(m, q);
  }
  note_packet(m, q);
  if (!is_last) return pds::Verdict::accepted();
  report_remote(ep, q, OpKind::remote_write, m.region, &m);
  forget(m);
  return pds::Verdict::accepted();
}

// Write with immediate: a completion that consumes no receive. [SES-073] Everything else is told to
// those who count it. [LF-097]
void Target::report_remote(Endpoint& ep, const Request& q, OpKind kind, RegionId region,
                           const RxMessage* m) {
  const bool has_data = kind != OpKind::remote_read && (m != nullptr ? m->has_data : q.has_data);
  if (ep.rx.complete == nullptr || !(has_data || ep.rx.all_remote)) return;
  if (core_.memory.exposed(region) != 0) return;  // no business of the user's
  if (!q.has_pdc()) return;                       // packets, not messages [LF-097]
  Completion c;
  c.kind = kind;
  c.context.user = core_.memory.user(region);
  c.bytes = q.request_length;
  c.has_data = has_data;
  if (has_data) c.data = m != nullptr ? m->header_data : q.header_data;
  c.peer = q.peer;
  c.initiator_id = q.initiator;
  c.job = q.common.job_id;
  ep.rx.complete(ep.rx.owner, c);
}

pds::Verdict Target::begin_read(Endpoint& ep, const Request& q) {
  const auto region = authorize(q, kRemoteRead);
  if (!region.ok()) return refuse_key(q, region.error());
  if (q.is_single() || !q.has_pdc()) {
    if (TxMessage* const sent = initiator_.exposed_to(*region, q.peer)) {
      initiator_.on_read_begun(*sent, q.buffer_offset, q.request_length);
      if (q.request_length == 0) return data_in_ack(q, {});
    }
    const pds::Verdict verdict = answer_read(q, *region);
    const bool is_served = verdict.kind == pds::Verdict::Kind::accept ||
                           (verdict.kind == pds::Verdict::Kind::respond &&
                            verdict.response.next_hdr != wire::NextHeader::response);
    if (is_served) report_remote(ep, q, OpKind::remote_read, *region);
    return verdict;
  }
  RxMessage* m = track(q);
  if (m == nullptr) return no_message_slot();
  m->endpoint = ep.id;
  m->region = *region;
  if (TxMessage* const sent = initiator_.exposed_to(*region, q.peer)) {
    initiator_.on_read_begun(*sent, q.buffer_offset, q.request_length);
  }
  return continue_read(*m, ep, q);
}

pds::Verdict Target::continue_read(RxMessage& m, Endpoint& ep, const Request& q) {
  const bool is_there =
      core_.memory.for_each(m.region, q.buffer_offset + q.offset, q.length, [](auto, auto) {});
  if (!is_there) {
    core_.counters.add(Counter::rx_bad_key);
    fail(m, Completion::Status::refused, ReturnCode::bad_mkey);
    return repeat_error(m, q);
  }
  const pds::Verdict verdict = answer_read(q, m.region);
  // Refused for now, or its PDC is ending: the packet has not arrived, and may come again. It is we
  // who keep the message waiting: it must not expire. [PDS-112, SES-108]
  const bool has_arrived =
      verdict.kind != pds::Verdict::Kind::nack && verdict.kind != pds::Verdict::Kind::drop;
  if (!has_arrived) {
    count_arrival(m, 0);
    return verdict;
  }
  note_packet(m, q);
  if (m.arrived >= m.end) {
    report_remote(ep, q, OpKind::remote_read, m.region);
    forget(m);
  }
  return verdict;
}

// All answers of a read go one way, chosen by its whole length. [SES-074, PDS-167]
pds::Verdict Target::answer_read(const Request& q, RegionId region) {
  if (q.request_length <= core_.config.ack_data_bytes_max) return read_in_ack(q, region);
  ReturnMessage back = answer_to(q, q.length);
  back.region = region;
  back.region_offset = q.buffer_offset + q.offset;
  back.is_too_long = (*core_.peers)[q.peer].is_beyond_path(q.length);  // [LF-141]
  if (const TxMessage* const sent = initiator_.exposed_to(region, q.peer)) {
    back.exposed = sent->handle;
    back.attempt = sent->exposure->attempt;
    if (back.is_too_long) sent->exposure->is_cut = true;
  }
  if (!q.has_pdc()) return read_on_rudi(back);
  switch (initiator_.send_return(q.token.pdc, back)) {
    case Initiator::Returned::sent:
      return pds::Verdict::accepted();
    case Initiator::Returned::no_slot:
      return no_message_slot();
    case Initiator::Returned::pdc_gone:
      break;
  }
  pds::Verdict dropped;
  dropped.kind = pds::Verdict::Kind::drop;
  return dropped;
}

ReturnMessage Target::answer_to(const Request& q, uint32_t bytes) const {
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

// The data travels inside the RUDI response, as much as the packet asked for. [SES-074, PDS-202]
pds::Verdict Target::read_on_rudi(const ReturnMessage& back) {
  const pds::MessageHandle held = initiator_.hold_answer(back);
  if (held == pds::MessageHandle{}) return no_message_slot();
  pds::Verdict v;
  v.kind = pds::Verdict::Kind::respond;
  v.answer = held;
  return v;
}

pds::Verdict Target::read_in_ack(const Request& q, RegionId region) {
  std::array<std::byte, pds::kMaxAckSesBytes> data;
  size_t size = 0;
  const bool is_read = core_.memory.for_each(region, q.buffer_offset + q.offset, q.length,
                                             [&](const std::byte* at, uint64_t length) {
                                               std::copy_n(at, length, data.data() + size);
                                               size += length;
                                             });
  UET_ASSERT(is_read);  // authorised a moment ago
  const pds::Verdict verdict = data_in_ack(q, {data.data(), size});
  if (const TxMessage* const sent = initiator_.exposed_to(region, q.peer)) {
    // A copy is on its way, kept until it is known to have arrived.
    initiator_.on_served(sent->handle, sent->exposure->attempt, static_cast<uint32_t>(size));
  }
  return verdict;
}

pds::Verdict Target::data_in_ack(const Request& q, std::span<const std::byte> data) {
  pds::Verdict v;
  v.kind = pds::Verdict::Kind::respond;
  v.guaranteed = true;  // [SES-144]
  wire::Writer w(v.response.bytes);
  if (q.header == wire::NextHeader::standard) {
    v.response.next_hdr = wire::NextHeader::response_data;
    wire::ResponseData h;
    h.common.return_code = ReturnCode::ok;
    h.job_id = q.common.job_id;
    h.read_request_message_id = q.id;
    h.payload_length = static_cast<uint16_t>(data.size());
    h.modified_length = q.request_length;
    h.message_offset = q.offset;
    h.emit(w);
  } else {
    v.response.next_hdr = wire::NextHeader::response_data_small;
    wire::ResponseDataSmall h;
    h.common.return_code = ReturnCode::ok;
    h.job_id = q.common.job_id;
    h.payload_length = static_cast<uint16_t>(data.size());
    h.original_request_psn = q.token.psn;
    h.emit(w);
  }
  w.bytes(data);
  v.response.length = static_cast<uint8_t>(w.position());
  return v;
}

}  // namespace uet::ses
