// Reading responses and returned data.
#include "ses/outgoing/answer.h"

#include "ses/atomics.h"

#include "wire/ses.h"

#include <algorithm>
#include <array>

namespace uet::ses {

bool is_good(wire::ReturnCode code) {
  return code == wire::ReturnCode::ok || code == wire::ReturnCode::null;
}

Answer read_answer(const pds::RxResponse& response) {
  Answer out;
  if (response.ses.empty()) return out;  // implied by CACK: default OK [PDS-168]
  wire::Reader r(response.ses);
  if (response.next_hdr == wire::NextHeader::response_data) {
    const auto h = wire::ResponseData::parse(r);
    if (!h.ok() || !h->check_sum(r.remaining()).ok()) return Answer::malformed();
    out.kind = is_good(h->common.return_code) ? Answer::Kind::data : Answer::Kind::error;
    out.code = h->common.return_code;
    out.modified_length = h->modified_length;
    out.message_offset = h->message_offset;
    out.data = r.rest();
    return out;
  }
  if (response.next_hdr == wire::NextHeader::response_data_small) {
    const auto h = wire::ResponseDataSmall::parse(r);
    if (!h.ok() || !h->check_sum(r.remaining()).ok()) return Answer::malformed();
    // The answer to a message of one packet, which PDS has matched to it: nothing more to check.
    // [WIRE-078]
    out.kind = is_good(h->common.return_code) ? Answer::Kind::data : Answer::Kind::error;
    out.code = h->common.return_code;
    out.modified_length = h->payload_length;
    out.data = r.rest();
    return out;
  }
  if (response.next_hdr != wire::NextHeader::response) return Answer::malformed();
  const auto h = wire::Response::parse(r);
  if (!h.ok()) return Answer::malformed();
  out.code = h->common.return_code;
  out.ri_generation = h->ri_generation;
  out.modified_length = h->modified_length;
  out.list = h->common.list;
  out.is_default = h->common.opcode == wire::ResponseOpcode::default_response;
  if (!is_good(out.code)) {
    out.kind = Answer::Kind::error;
  } else if (h->common.opcode == wire::ResponseOpcode::no_response) {
    out.kind = Answer::Kind::none;
  }
  return out;
}

namespace {

// The old values of a fetching atomic, all in one packet. The echoed length is that of the
// operands. [SES-081]
bool take_old_values(TxMessage& m, uint32_t offset, uint32_t modified_length,
                     std::span<const std::byte> data) {
  if (modified_length != m.segment_length || offset != 0) return false;
  if (data.size() != m.result_bytes || m.data_bytes != 0) return false;
  std::array<std::byte, kAtomicBytesMax> values;
  std::copy(data.begin(), data.end(), values.begin());
  const std::span<std::byte> used(values.data(), data.size());
  swap_elements(m.atomic.type, used);
  m.result.scatter(0, used);
  m.data_bytes = m.result_bytes;
  m.has_semantic_answer = true;
  return true;
}

}  // namespace

// Places one chunk of a read. Every chunk is what one request packet asked for, so anything else is
// refused. PDS removes duplicates; a responder that repeats a chunk under a new PSN spoils only
// the data it vouches for. [SES-024, SES-076]
bool take_data(TxMessage& m, uint32_t offset, uint32_t modified_length,
               std::span<const std::byte> data) {
  if (m.kind == OpKind::fetching_atomic) return take_old_values(m, offset, modified_length, data);
  if (!m.is_read() || modified_length != m.segment_length) return false;
  if (offset > m.segment_length || offset % m.mtu != 0) return false;
  if (data.size() != std::min<uint32_t>(m.segment_length - offset, m.mtu)) return false;
  if (data.size() > m.segment_length - m.data_bytes) return false;
  m.memory.scatter(m.segment_start + offset, data);
  m.data_bytes += static_cast<uint32_t>(data.size());
  m.has_semantic_answer = true;
  return true;
}

}  // namespace uet::ses
