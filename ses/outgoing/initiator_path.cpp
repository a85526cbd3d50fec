// Messages toward a peer whose route carries less than it did. Messages that have not begun go in
// packets that fit; those of which too long packets are on their way end. Reads ask for less when
// the other end says that its answers are too long. [LF-141, PDS-250]
#include "ses/outgoing/initiator.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::ses {

void Initiator::on_path_lowered(PeerId peer) {
  const uint16_t payload = payload_toward(peer);
  returns_.for_each([&](ReturnMessage& r) {
    // Of those that PDS has, it says itself which do not pass.
    if (r.peer == peer && r.length > payload && !r.is_pulled) cut(r);
  });
  messages_.for_each([&](TxMessage& m) {
    if (m.remote == nullptr || m.remote->key.peer != peer || m.mtu <= payload) return;
    switch (m.state) {
      case TxMessage::State::held:
      case TxMessage::State::queued:
      case TxMessage::State::waiting:
      case TxMessage::State::deferred:
        fit(m);
        break;
      case TxMessage::State::started:
        if (m.is_read() || m.is_probe || m.is_stopped || m.is_fully_pulled) break;
        if (m.push_length - m.next_offset > payload) end_too_long(m);
        break;
      case TxMessage::State::exposed:  // the target reads the rest, as it likes
      case TxMessage::State::ended:
        break;
    }
  });
}

// No packet of the attempt is out. What answers a read comes on the way back, which is another
// matter; a source of which the target has read keeps its first part.
void Initiator::fit(TxMessage& m) {
  const uint16_t payload = payload_toward(m.remote->key.peer);
  if (m.mtu <= payload || m.is_read() || m.is_probe) return;
  if (m.exposure != nullptr && m.exposure->is_begun) return;
  if (m.opcode == wire::SesOpcode::datagram_send) {  // cannot be cut [SES-104]
    if (m.push_length > payload) end_too_long(m);
    return;
  }
  m.mtu = payload;
  if (m.segment_length > payload) {
    m.header = wire::NextHeader::standard;  // the others are for one packet [SES-043]
    m.is_quiet = false;
  }
  if (m.exposure != nullptr) {
    m.exposure->source.eager_length = m.push_length = payload;
    m.exposure->wanted = m.segment_length - payload;
  }
}

// It becomes an error, also where its data was sent under the same PSN and may have arrived.
// [SES-164]
void Initiator::cut(ReturnMessage& r) {
  r.is_too_long = true;
  r.is_unsure = r.is_pulled;
  TxMessage* const m = r.exposed != 0 ? message(pds::MessageHandle(r.exposed)) : nullptr;
  const bool is_its = m != nullptr && m->exposure != nullptr && m->exposure->attempt == r.attempt;
  if (is_its) m->exposure->is_cut = true;
}

void Initiator::end_too_long(TxMessage& m) {
  m.failure = pds::Failure{.reason = pds::FailureReason::too_long};
  stop(m, Completion::Status::undeliverable);
}

// UNSUPPORTED_SIZE of a peer that could not send so much at a time [SES-157]: each packet is a
// message of its own from here on, which states what it asks for [LF-131]. False: not so.
bool Initiator::ask_less(TxMessage& m) {
  if (m.code != wire::ReturnCode::unsupported_size || !m.is_read()) return false;
  if (std::min<uint32_t>(m.mtu, m.segment_length) <= wire::kPayloadMtuMin) return false;
  const PeerId id = m.remote->key.peer;
  pds::Peer& peer = (*core_.peers)[id];
  if (payload_toward(id) >= m.mtu) peer.lower_payload(m.mtu / 2u);
  m.mtu = payload_toward(id);
  m.header = wire::NextHeader::standard;
  m.segment_length =
      static_cast<uint32_t>(std::min<uint64_t>(m.memory.bytes() - m.segment_start, m.mtu));
  m.push_length = m.segment_length;
  m.may_repeat = m.may_repeat && m.segment_length == m.memory.bytes();
  return true;
}

// An answer to a read becomes an error; a packet of a message becomes a MSG_ERROR, for which the
// short headers have no room [SES-105].
bool Initiator::shorten(const pds::PacketRef& ref) {
  if (ReturnMessage* const r = return_message(ref.message)) {
    cut(*r);
    return true;
  }
  TxMessage* const m = message(ref.message);
  if (m == nullptr || m->id.value() == 0) return false;
  m->is_cut = true;
  if (m->state != TxMessage::State::ended) end_too_long(*m);
  return true;
}

}  // namespace uet::ses
