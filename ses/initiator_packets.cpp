// How messages become packets: start, pull, encode. A resend is encoded again from the same
// record; nothing of it changes while packets of the attempt are out. [PDS-146]
#include "ses/initiator.h"
#include "wire/ses.h"

#include <algorithm>

namespace uet::ses {
namespace {

// Handles of return messages carry this bit, which the index of no slab in use reaches.
constexpr uint32_t kReturnMark = uint32_t{1} << 21;

// Payload of packets whose user memory is no longer ours to read. [PDS-182, SES-049]
constexpr std::array<std::byte, wire::kPayloadBytesMax> kZeros{};

// A packet of no payload that ends a message which is not read to its end. [SES-105]
bool is_msg_error(const pds::PacketRef& ref) { return !ref.som && ref.length == 0; }

}  // namespace

ReturnMessage* Initiator::return_message(pds::MessageHandle handle) {
  if ((handle.value() & kReturnMark) == 0) return nullptr;
  return returns_.get(Handle<ReturnMessage>::from_word(handle.value() & ~kReturnMark));
}

bool Initiator::start(pds::FlowId id, pds::PdcHandle pdc, pds::StartedMessage& out) {
  Flow** found = flow_by_id_.find(id.value());
  if (found == nullptr) return false;
  TxMessage* m = (*found)->queue.front();
  if (m == nullptr) return false;
  // A datagram has no target state, hence no ID. [SES-033]
  if (m->opcode != wire::SesOpcode::datagram_send) {
    m->id = core_.ids.take(m->handle);
    if (m->id.value() == 0) {
      is_starved_ = true;
      return false;
    }
  }
  static_cast<ListNode<QueueTag>*>(m)->unlink();
  m->state = TxMessage::State::started;
  m->pdc = pdc;
  m->ri_generation = m->kind == OpKind::tagged_send ? m->remote->tagged_generation
                                                    : m->remote->untagged_generation;
  m->owes_message_done = m->returns_data() && m->flow->mode != pds::Mode::rudi;  // [SES-075]
  out.message = pds::MessageHandle(m->handle);
  out.keep_pdc = m->owes_message_done;
  return true;
}

bool Initiator::pull(pds::MessageHandle handle, pds::PacketRef& out) {
  if (ReturnMessage* r = return_message(handle)) {
    if (r->is_pulled) return false;
    r->is_pulled = true;
    out = pds::PacketRef{.message = handle,
                         .offset = r->message_offset,
                         .length = r->length,
                         .next_hdr = r->is_small ? wire::NextHeader::response_data_small
                                                 : wire::NextHeader::response_data};
    out.som = out.eom = out.sack_completes = true;  // its response is the default one [PDS-108]
    return true;
  }
  TxMessage* m = message(handle);
  if (m == nullptr || m->is_fully_pulled) return false;

  out = pds::PacketRef{.message = handle, .next_hdr = wire::NextHeader::standard};
  out.offset = m->next_offset;
  if (m->is_stopped) {
    m->is_fully_pulled = true;
    // Nobody keeps track of a message on RUDI, so nobody is told that it ends. [SES-077]
    if (m->pulled_packets == 0 || m->flow->mode == pds::Mode::rudi) {
      settle(*m);
      return false;
    }
    out.eom = true;  // MSG_ERROR [SES-105]
    ++m->pulled_packets;
    return true;
  }
  const uint32_t left = m->segment_length - m->next_offset;
  out.length = static_cast<uint16_t>(std::min<uint32_t>(left, m->mtu));  // [SES-016]
  out.som = m->next_offset == 0;
  out.eom = out.length == left;
  out.quiet = m->is_quiet && m->remote->held.empty();  // a fence waits for it
  m->next_offset += out.length;
  m->is_fully_pulled = out.eom;
  ++m->pulled_packets;
  return true;
}

void Initiator::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) {
  if (const ReturnMessage* r = return_message(ref.message)) {
    encode_return(*r, header, batch);
    return;
  }
  const TxMessage* m = message(ref.message);
  UET_ASSERT(m != nullptr);  // PDS encodes only what is not answered yet
  encode_request(*m, ref, header, batch);
}

void Initiator::encode_request(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header,
                               TxBatch& batch) const {
  const bool is_error = is_msg_error(ref);
  const bool is_void = m.state == TxMessage::State::ended && !is_error;
  const Remote& to = *m.remote;
  wire::StandardRequest h;
  h.common.opcode = is_error ? wire::SesOpcode::msg_error : m.opcode;
  h.common.dc = m.delivery_complete;
  h.common.ie = is_void;
  h.common.rel = !to.key.absolute;
  h.common.hd = m.has_data && ref.som;
  h.common.som = ref.som;
  h.common.eom = ref.eom;
  h.common.ri_generation = m.ri_generation;
  h.common.job_id = m.job;
  h.common.pid_on_fep = to.key.pid;
  h.common.resource_index = to.key.ri;
  h.message_id = m.id;
  h.initiator = m.initiator;
  h.match_bits = m.match_bits;
  h.request_length = m.segment_length;
  const bool is_rma = m.kind != OpKind::send && m.kind != OpKind::tagged_send;
  if (is_rma) h.buffer_offset = m.remote_offset + m.segment_start;  // [SES-018]
  if (ref.som) {
    h.header_data = m.has_data ? m.header_data : 0;  // [SES-015]
  } else {
    h.payload_length = ref.length;
    h.message_offset = ref.offset;
  }
  h.emit(header);
  if (m.is_atomic() && !is_error) {
    wire::Atomic{m.atomic.op, m.atomic.type, wire::Atomic::kCpuCoherent}.emit(header);  // [SES-084]
  }
  if (m.is_read() || ref.length == 0) return;  // [SES-024]
  if (is_void) {
    // The PSN must still be filled for the sake of the PDC. A packet of the same shape with IE and
    // no user data: the target delivers nothing of it. [SES-049, PDS-182]
    batch.add_payload(kZeros.data(), ref.length);
    return;
  }
  m.memory.for_each(m.segment_start + ref.offset, ref.length,
                    [&](const std::byte* at, uint64_t length) {
                      batch.add_payload(at, static_cast<uint32_t>(length));
                    });
}

Initiator::Returned Initiator::send_return(pds::PdcHandle pdc, const ReturnMessage& answer) {
  ReturnMessage* r = returns_.alloc(answer);
  if (r == nullptr) return Returned::no_slot;
  const uint32_t word = returns_.handle(r).word();
  UET_ASSERT((word & kReturnMark) == 0);
  r->id = core_.ids.take(word | kReturnMark);
  if (r->id.value() == 0) {
    returns_.free(r);
    return Returned::no_slot;
  }
  if (core_.pds.send_return(core_.pds.self, pdc, pds::MessageHandle(word | kReturnMark))) {
    return Returned::sent;
  }
  free(*r);
  return Returned::pdc_gone;
}

// It answers by the PDS header's number and has no ID of its own.
pds::MessageHandle Initiator::hold_answer(const ReturnMessage& answer) {
  ReturnMessage* r = returns_.alloc(answer);
  if (r == nullptr) return {};
  return pds::MessageHandle(returns_.handle(r).word() | kReturnMark);
}

void Initiator::free(ReturnMessage& r) {
  if (r.id.value() != 0) core_.ids.give_back(r.id);
  if (r.fetched != nullptr) core_.fetch_buffers.free(r.fetched);
  returns_.free(&r);
  wake_starved();
}

void Initiator::encode_return(const ReturnMessage& r, wire::Writer& header, TxBatch& batch) const {
  // Looked up on every encoding: a region removed meanwhile is not read any more.
  const auto add = [&](const std::byte* at, uint64_t length) {
    batch.add_payload(at, static_cast<uint32_t>(length));
  };
  if (r.fetched != nullptr) add(r.fetched->bytes.data(), r.length);
  const bool is_readable =
      r.fetched != nullptr ||
      (!r.is_unreadable && core_.memory.for_each(r.region, r.region_offset, r.length, add));
  const auto code = r.is_unreadable ? wire::ReturnCode::host_unsuccess_cmpl
                    : is_readable   ? wire::ReturnCode::ok
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

}  // namespace uet::ses
