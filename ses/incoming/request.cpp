// Reading requests, checking their lengths, writing responses.
#include "ses/incoming/request.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::ses {
namespace {

void fill(Request& q, const wire::StandardRequest& h) {
  q.common = h.common;
  q.id = h.message_id;
  q.buffer_offset = h.buffer_offset;
  q.match_bits = h.match_bits;
  q.initiator = h.initiator;
  q.request_length = h.request_length;
  q.has_data = h.common.hd && h.common.som;  // [WIRE-062]
  q.header_data = h.header_data;
  q.offset = h.message_offset;
  q.length = h.payload_length;
}

void fill(Request& q, const wire::MediumRequest& h) {
  q.common = h.common;
  q.buffer_offset = h.buffer_offset;
  q.match_bits = h.match_bits;
  q.initiator = h.initiator;
  q.request_length = h.request_length;
  q.has_data = h.common.hd;  // [SES-042]
  q.header_data = h.header_data;
}

void fill(Request& q, const wire::SmallRequest& h) {
  q.common = h.common;
  q.buffer_offset = h.buffer_offset;
  q.request_length = h.request_length;
}

// These opcodes need the ID, or fields that the short headers lack. [SES-043]
bool needs_standard_header(wire::SesOpcode opcode) {
  return wire::has_rendezvous_extension(opcode) || wire::is_deferrable_send(opcode) ||
         opcode == wire::SesOpcode::deferrable_rtr || opcode == wire::SesOpcode::msg_error;
}

template <class Header>
Result<void, wire::ParseError> read_header(Request& q, wire::Reader& r) {
  if (r.remaining() < Header::kSize) return wire::ParseError::truncated;
  const Header h = Header::read(r);
  fill(q, h);
  // The version is judged later, where it is answered.
  const auto checked = h.check();
  if (!checked.ok() && checked.error() != wire::ParseError::ses_version) return checked.error();
  return {};
}

Result<void, wire::ParseError> read_header_of(wire::NextHeader type, Request& q, wire::Reader& r) {
  switch (type) {
    case wire::NextHeader::standard:
      return read_header<wire::StandardRequest>(q, r);
    case wire::NextHeader::medium:
      return read_header<wire::MediumRequest>(q, r);
    case wire::NextHeader::small:
      return read_header<wire::SmallRequest>(q, r);
    case wire::NextHeader::none:
    case wire::NextHeader::response:
    case wire::NextHeader::response_data:
    case wire::NextHeader::response_data_small:
      break;
  }
  return wire::ParseError::wrong_type;  // or a reserved one
}

}  // namespace

Result<Request, wire::ParseError> parse_request(const pds::RxRequest& rx, uint16_t payload_mtu) {
  Request q;
  q.peer = rx.peer;
  q.sdi = rx.sdi;
  q.mode = rx.mode;
  q.token = rx.token;
  q.in_order = rx.in_order;
  q.is_confirmed = rx.is_confirmed;
  q.header = rx.next_hdr;
  wire::Reader r(rx.ses);
  UET_CHECK(read_header_of(rx.next_hdr, q, r));
  if (q.header != wire::NextHeader::standard && needs_standard_header(q.common.opcode)) {
    return wire::ParseError::wrong_type;
  }
  if (is_atomic(q.common.opcode)) {
    // The operands are the payload, both of them where there are two. [SES-046, WIRE-073]
    if (r.remaining() < wire::Atomic::kSize) return wire::ParseError::truncated;
    q.atomic = wire::Atomic::read(r);
  }
  if (wire::has_rendezvous_extension(q.common.opcode)) {
    if (r.remaining() < wire::Rendezvous::kSize) return wire::ParseError::truncated;
    q.rendezvous = wire::Rendezvous::read(r);
    q.is_rendezvous = true;
  }
  q.payload = r.rest();
  const bool is_read = q.common.opcode == wire::SesOpcode::read;
  if (q.common.som) {
    // Not stated in a first packet; in the only one it is the whole. [SES-017, WIRE-061]
    const uint32_t first = q.common.eom ? q.request_length : payload_mtu;
    q.length =
        is_read ? std::min(q.request_length, first) : static_cast<uint32_t>(q.payload.size());
  } else if (q.payload.size() != (is_read ? 0 : q.length)) {
    return wire::ParseError::sum_check;  // [WIRE-119]
  }
  return q;
}

bool has_legal_lengths(const Request& q) {
  if (q.common.opcode == wire::SesOpcode::read && !q.payload.empty()) return false;  // [SES-024]
  const uint32_t pushed = q.pushed();
  if (pushed > q.request_length) return false;  // [SES-088]
  if (q.length > wire::kPayloadMtuMax || q.length > pushed) return false;
  if (q.offset > pushed - q.length) return false;
  const bool is_last = q.offset + q.length == pushed;
  if (is_last != q.common.eom) return false;  // [SES-011]
  if (q.common.eom) return q.common.som || (q.length != 0 && q.offset != 0);
  return wire::is_payload_mtu(q.length) && q.offset % q.length == 0;  // [SES-016]
}

bool is_send(wire::SesOpcode opcode) {
  return opcode == wire::SesOpcode::send || opcode == wire::SesOpcode::datagram_send ||
         opcode == wire::SesOpcode::deferrable_send || opcode == wire::SesOpcode::rendezvous_send ||
         is_tagged(opcode);
}

bool is_tagged(wire::SesOpcode opcode) {
  return opcode == wire::SesOpcode::tagged_send || opcode == wire::SesOpcode::deferrable_tsend ||
         opcode == wire::SesOpcode::rendezvous_tsend || opcode == wire::SesOpcode::tsend_atomic ||
         opcode == wire::SesOpcode::tsend_fetch_atomic;
}

bool is_atomic(wire::SesOpcode opcode) { return wire::has_atomic_extension(opcode); }

namespace {

pds::Verdict encode(const wire::Response& h) {
  pds::Verdict v;
  v.kind = pds::Verdict::Kind::respond;
  v.guaranteed = true;  // [PDS-100]
  v.response.next_hdr = wire::NextHeader::response;
  v.response.length = wire::Response::kSize;
  wire::Writer w(v.response.bytes);
  h.emit(w);
  return v;
}

}  // namespace

wire::ReturnCode check_mode(const Request& q) {
  using wire::ReturnCode;
  using wire::SesOpcode;
  const SesOpcode opcode = q.common.opcode;
  switch (q.mode) {
    case pds::Mode::rud:
    case pds::Mode::rod:
      return ReturnCode::ok;
    case pds::Mode::rudi:
      // An atomic is the opposite of what may be repeated at will.
      return is_send(opcode) || is_atomic(opcode) || q.common.hd ? ReturnCode::op_violation
                                                                 : ReturnCode::ok;
    case pds::Mode::uud:
      return opcode == SesOpcode::datagram_send && q.is_single() ? ReturnCode::ok
                                                                 : ReturnCode::op_violation;
  }
  return ReturnCode::op_violation;
}

pds::Verdict response(const Request& q, wire::ReturnCode code, uint8_t ri_generation) {
  wire::Response h;
  h.common.opcode = wire::ResponseOpcode::response;
  h.common.return_code = code;
  h.message_id = q.id;
  h.ri_generation = ri_generation;
  h.job_id = q.common.job_id;
  return encode(h);
}

pds::Verdict default_response(const Request& q) {
  wire::Response h;
  h.common.opcode = wire::ResponseOpcode::default_response;
  h.common.return_code = wire::ReturnCode::ok;
  h.message_id = q.id;
  h.ri_generation = q.common.ri_generation;
  h.job_id = q.common.job_id;
  return encode(h);
}

pds::Verdict response_ok(const Delivered& d) {
  wire::Response h;
  h.common.opcode = wire::ResponseOpcode::response;
  h.common.return_code = d.code;
  h.common.list = d.list;
  h.message_id = d.id;
  h.ri_generation = d.ri_generation;
  h.job_id = d.job;
  h.modified_length = d.modified_length;
  return encode(h);
}

pds::Verdict data_in_ack(const Request& q, std::span<const std::byte> data) {
  pds::Verdict v;
  v.kind = pds::Verdict::Kind::respond;
  v.guaranteed = true;  // [SES-144]
  wire::Writer w(v.response.bytes);
  if (q.header == wire::NextHeader::standard) {
    v.response.next_hdr = wire::NextHeader::response_data;
    wire::ResponseData h;
    h.common.return_code = wire::ReturnCode::ok;
    h.job_id = q.common.job_id;
    h.read_request_message_id = q.id;
    h.payload_length = static_cast<uint16_t>(data.size());
    h.modified_length = q.request_length;
    h.message_offset = q.offset;
    h.emit(w);
  } else {
    v.response.next_hdr = wire::NextHeader::response_data_small;
    wire::ResponseDataSmall h;
    h.common.return_code = wire::ReturnCode::ok;
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
