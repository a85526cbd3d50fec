// How messages become packets: start, pull, encode. A resend is encoded again from the same
// record; nothing of it changes while packets of the attempt are out. [PDS-146]
#include "ses/outgoing/initiator.h"
#include "ses/share.h"
#include "wire/ses.h"

#include <algorithm>

namespace uet::ses {
namespace {

// Handles of return messages carry this bit, which the index of no slab in use reaches.
constexpr uint32_t kReturnMark = uint32_t{1} << 21;

}  // namespace

ReturnMessage* Initiator::return_message(pds::MessageHandle handle) {
  if ((handle.value() & kReturnMark) == 0) return nullptr;
  return returns_.get(Handle<ReturnMessage>::from_word(handle.value() & ~kReturnMark));
}

// How many packets an operation asks for; 0: none. SES itself reads few messages at once.
uint32_t Initiator::read_packets_of(const TxMessage& m) {
  if (!m.is_read() || m.is_internal()) return 0;
  return m.push_length / m.mtu + (m.push_length % m.mtu != 0 ? 1 : 0);
}

// Then end_read() says when to ask again.
bool Initiator::must_wait_for_reads(const Flow& flow, uint32_t read_packets) const {
  return read_packets != 0 && flow.read_packets != 0 && !flow.last_read_failed &&
         flow.read_packets + read_packets > core_.config.read_packets;
}

bool Initiator::start(pds::FlowId id, pds::PdcHandle pdc, pds::StartedMessage& out) {
  Flow** found = flow_by_id_.find(id.value());
  if (found == nullptr) return false;
  Flow& flow = **found;
  TxMessage* m = flow.queue.front();
  if (m == nullptr) return false;
  const uint32_t read_packets = read_packets_of(*m);
  if (must_wait_for_reads(flow, read_packets)) return false;
  // A datagram has no target state, hence no ID, and the short headers no place for one. [SES-033]
  if (m->opcode != wire::SesOpcode::datagram_send && m->header == wire::NextHeader::standard) {
    m->id = core_.ids.take(m->handle);
    if (m->id.value() == 0) {
      is_starved_ = true;
      return false;
    }
  }
  static_cast<ListNode<QueueTag>*>(m)->unlink();
  m->state = TxMessage::State::started;
  m->read_packets = read_packets;
  flow.read_packets += read_packets;
  m->pdc = pdc;
  m->ri_generation = m->is_tagged() ? m->remote->tagged_generation : m->remote->untagged_generation;
  m->owes_message_done = m->returns_data() && m->flow->mode != pds::Mode::rudi;  // [SES-075]
  out.message = pds::MessageHandle(m->handle);
  out.keep_pdc = m->owes_message_done;
  out.is_last = flow.queue.empty();
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

  out = pds::PacketRef{.message = handle, .next_hdr = m->header};
  out.offset = m->next_offset;
  if (m->is_stopped) {
    m->is_fully_pulled = true;
    // Nobody keeps track of a message on RUDI, so nobody is told that it ends. [SES-077]
    if (m->pulled_packets == 0 || m->flow->mode == pds::Mode::rudi) {
      settle(*m);
      return false;
    }
    out.eom = true;  // MSG_ERROR [SES-105], or the end of what waits [SES-097]
    if (m->deferral != nullptr && m->code == wire::ReturnCode::null) {
      m->deferral->is_closed = m->deferral->is_deferred;
    }
    ++m->pulled_packets;
    return true;
  }
  const uint32_t left = m->is_probe ? 0 : m->push_length - m->next_offset;
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
  if (m->is_cut) {           // the PSN is filled, by a MSG_ERROR [LF-141]
    encode_request(*m, {.message = ref.message, .offset = ref.offset, .eom = true}, header, batch);
    return;
  }
  encode_request(*m, ref, header, batch);
}

// A read of few octets asks for many. Of the places for answers a peer gets no more than it leaves
// free, and of octets its quota: what it asks for beyond waits over there. [T-39]
bool Initiator::may_answer(const ReturnMessage& answer) const {
  const pds::Peer& peer = (*core_.peers)[answer.peer];
  const uint64_t bytes = uint64_t{peer.answer_bytes} + answer.length;
  const uint32_t free = returns_.capacity() - returns_.size();
  const uint64_t of_host = core_.peers->host_of(peer).answers;
  return is_within_shares(peer.answers, of_host, 1, free, returns_.capacity()) &&
         (peer.answers == 0 || bytes <= core_.config.read_quota_bytes);
}

Initiator::Returned Initiator::send_return(pds::PdcHandle pdc, const ReturnMessage& answer) {
  if (!may_answer(answer)) {
    core_.counters.add(Counter::read_quota);
    return Returned::no_slot;
  }
  ReturnMessage* const r = returns_.alloc(answer);
  UET_ASSERT(r != nullptr);  // a share leaves some
  pds::Peer& peer = (*core_.peers)[answer.peer];
  ++peer.answers;
  ++core_.peers->host_of(peer).answers;
  peer.answer_bytes += answer.length;
  r->is_counted = true;
  const uint32_t word = returns_.handle(r).word();
  UET_ASSERT((word & kReturnMark) == 0);
  r->id = core_.ids.take(word | kReturnMark);
  if (r->id.value() == 0) {
    r->fetched = nullptr;  // stays the caller's
    free(*r);
    return Returned::no_slot;
  }
  if (core_.pds->send_return(pdc, pds::MessageHandle(word | kReturnMark))) {
    return Returned::sent;
  }
  free(*r);
  return Returned::pdc_gone;
}

// It answers by the PDS header's number and has no ID of its own, nor is it waited for: it leaves
// with the next packets.
pds::MessageHandle Initiator::hold_answer(const ReturnMessage& answer) {
  ReturnMessage* const r = returns_.alloc(answer);
  if (r == nullptr) return {};
  r->holds_peer = true;  // no PDC does
  core_.peers->add_ref(r->peer);
  return pds::MessageHandle(returns_.handle(r).word() | kReturnMark);
}

void Initiator::free(ReturnMessage& r) {
  if (r.id.value() != 0) core_.ids.give_back(r.id);
  if (r.fetched != nullptr) core_.fetch_buffers.free(r.fetched);
  if (r.is_counted) {
    pds::Peer& peer = (*core_.peers)[r.peer];
    UET_ASSERT(peer.answers > 0 && peer.answer_bytes >= r.length);
    --peer.answers;
    --core_.peers->host_of(peer).answers;
    peer.answer_bytes -= r.length;
  }
  if (r.holds_peer) core_.peers->drop_ref(r.peer);
  returns_.free(&r);
  wake_starved();
}

void Initiator::encode_return(const ReturnMessage& r, wire::Writer& header, TxBatch& batch) const {
  // Looked up on every encoding: a region removed meanwhile is not read any more.
  const auto add = [&](const std::byte* at, uint64_t length) {
    batch.add_payload(at, static_cast<uint32_t>(length));
  };
  if (r.fetched != nullptr) add(r.fetched->bytes.data(), r.length);
  const bool is_barred = r.is_unreadable || r.is_too_long;
  const bool is_readable =
      r.fetched != nullptr ||
      (!is_barred && core_.memory.for_each(r.region, r.region_offset, r.length, add));
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

}  // namespace uet::ses
