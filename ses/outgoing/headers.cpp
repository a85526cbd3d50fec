// Chooses one of the three request headers for a message, and writes it. The choice holds for all
// attempts to send the message. [ses.md 3]
#include "ses/outgoing/headers.h"

#include "ses/deferral/deferral.h"
#include "ses/rendezvous/exposure.h"
#include "wire/ses.h"

#include <array>

namespace uet::ses {
namespace {

// Payload of packets whose user memory may no longer be read. [PDS-182, SES-049]
constexpr std::array<std::byte, wire::kPayloadBytesMax> kZeros{};

// A packet of no payload that ends a message which is not read to its end. [SES-105]
bool is_msg_error(const pds::PacketRef& ref) { return !ref.som && ref.length == 0; }

// The same of a message that the target deferred. [SES-097]
bool is_deferral_end(const TxMessage& m, const pds::PacketRef& ref) {
  return is_msg_error(ref) && m.deferral != nullptr && m.deferral->is_closed;
}

bool is_rma(const TxMessage& m) { return m.kind != OpKind::send && m.kind != OpKind::tagged_send; }

// The answer to a read may be a separate message, which names the read by its ID, and the short
// headers have none: a PSN would do, but PDS keeps no PSN of an answered packet. On RUDI PDS
// matches the two.
bool may_lack_id(const TxMessage& m) {
  return !m.returns_data() || m.flow->mode == pds::Mode::rudi;
}

void fill(wire::RequestCommon& common, const TxMessage& m, const pds::PacketRef& ref) {
  common.opcode = is_msg_error(ref) && !is_deferral_end(m, ref) ? wire::SesOpcode::msg_error
                  : m.is_probe                                  ? wire::SesOpcode::no_op
                                                                : m.opcode;
  common.dc = m.delivery_complete;
  common.ie = m.state == TxMessage::State::ended && !is_msg_error(ref);
  common.rel = !m.remote->key.absolute;
  common.hd = m.has_data && ref.som;
  common.som = ref.som;
  common.eom = ref.eom;
  common.ri_generation = m.ri_generation;
  common.job_id = m.job;
  common.pid_on_fep = m.remote->key.pid;
  common.resource_index = m.remote->key.ri;
}

void emit_standard(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header) {
  wire::StandardRequest h;
  fill(h.common, m, ref);
  h.message_id = m.id;
  h.initiator = m.initiator;
  // A probe names its message by the key of the source, which is unique. [SES-092, SES-192]
  h.match_bits = m.is_probe ? m.exposure->probe_key() : m.match_bits;
  h.request_length = m.is_probe ? 0 : m.segment_length;
  if (is_rma(m)) h.buffer_offset = m.remote_offset + m.segment_start;  // [SES-018]
  if (m.deferral != nullptr) {
    h.buffer_offset = wire::RestartTokens{m.deferral->token, m.deferral->target_token}.pack();
  }
  if (ref.som) {
    h.header_data = m.has_data ? m.header_data : 0;  // [SES-015]
  } else {
    h.payload_length = ref.length;
    h.message_offset = ref.offset;
  }
  h.emit(header);
}

void emit_medium(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header) {
  wire::MediumRequest h;
  fill(h.common, m, ref);
  h.request_length = static_cast<uint16_t>(m.segment_length);
  h.header_data = m.header_data;
  if (is_rma(m)) h.buffer_offset = m.remote_offset;
  h.initiator = m.initiator;
  h.match_bits = m.match_bits;
  h.emit(header);
}

void emit_small(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header) {
  wire::SmallRequest h;
  fill(h.common, m, ref);
  // The key instead of an index, which no generation belongs to. [SES-008, LF-024]
  h.common.resource_index = ResourceIndex(optimized_index(m.match_bits));
  h.common.ri_generation = 0;
  h.request_length = static_cast<uint16_t>(m.segment_length);
  h.buffer_offset = m.remote_offset;
  h.emit(header);
}

}  // namespace

// The standard header unless a shorter one was asked for and says all. [SES-040..043, SES-045]
wire::NextHeader choose_header(const Config& config, const TxMessage& m, uint8_t capabilities) {
  if (!config.medium_headers && !config.small_headers) return wire::NextHeader::standard;
  const bool is_one_packet = m.memory.bytes() <= m.mtu;  // so no rendezvous [SES-043]
  if (!is_one_packet || m.deferral != nullptr || !may_lack_id(m)) {
    return wire::NextHeader::standard;
  }
  if (config.small_headers && (capabilities & kTakesSmallHeader) != 0 && is_rma(m) && !m.has_data &&
      optimized_index(m.match_bits) != 0) {
    return wire::NextHeader::small;
  }
  const bool fits = !m.has_data || m.remote_offset == 0;
  return config.medium_headers && fits ? wire::NextHeader::medium : wire::NextHeader::standard;
}

void encode_header(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header) {
  switch (m.header) {
    case wire::NextHeader::medium:
      emit_medium(m, ref, header);
      break;
    case wire::NextHeader::small:
      emit_small(m, ref, header);
      break;
    case wire::NextHeader::standard:
      emit_standard(m, ref, header);
      break;
    case wire::NextHeader::none:  // no headers of requests
    case wire::NextHeader::response:
    case wire::NextHeader::response_data:
    case wire::NextHeader::response_data_small:
      UET_ASSERT(false);
  }
  const bool is_error = is_msg_error(ref);
  if (m.is_atomic() && !is_error) {
    wire::Atomic{m.atomic.op, m.atomic.type, wire::Atomic::kCpuCoherent}.emit(header);  // [SES-084]
  }
  if (m.exposure != nullptr && !is_error && !m.is_probe) m.exposure->source.emit(header);
}

void append_payload(const TxMessage& m, const pds::PacketRef& ref, TxBatch& batch) {
  if (m.is_read() || ref.length == 0) return;  // [SES-024]
  if (m.state == TxMessage::State::ended && !is_msg_error(ref)) {
    // The PSN must still be used for the sake of the PDC. A packet of the same shape with IE and no
    // user data: the target delivers none of it. [SES-049, PDS-182]
    batch.add_payload(kZeros.data(), ref.length);
    return;
  }
  m.memory.for_each(m.segment_start + ref.offset, ref.length,
                    [&](const std::byte* at, uint64_t length) {
                      batch.add_payload(at, static_cast<uint32_t>(length));
                    });
}

}  // namespace uet::ses
