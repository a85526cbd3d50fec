// SPDX-License-Identifier: GPL-2.0-or-later
// Messages by their ID: their packets, their responses, the data of reads, the successors of a
// rendezvous or a deferrable send; and RUDI packets by theirs.
#include "dissector/octet_map.h"
#include "dissector/pdc.h"

#include "wire/pds_prologue.h"
#include "wire/ses_request.h"

namespace uet::dissector {

namespace {

using wire::NextHeader;
using wire::PdsType;
using wire::SesOpcode;

enum class Kind : uint32_t {
  rudi_packet,
  rendezvous,       // owner offers a region, value is its memory key
  initiator_token,  // owner has deferred a send
  restart,          // owner has asked the peer to send the message with this token again
};

// Something that a later packet of the peer names.
struct Key {
  uint8_t owner[16];
  uint8_t peer[16];
  uint64_t value;
  Kind kind;
  uint32_t zero;
};

wmem_map_t* named;  // Key to Message, or for RUDI to Transmissions
uint32_t message_count;

Key key_of(const address& owner, const address& peer, Kind kind, uint64_t value) {
  Key key{};
  put_address(key.owner, owner);
  put_address(key.peer, peer);
  key.kind = kind;
  key.value = value;
  return key;
}

void name_it(const Key& key, void* what) {
  wmem_map_insert(named, wmem_memdup(wmem_file_scope(), &key, sizeof key), what);
}

template <class What>
What* find_named(const Key& key) {
  return static_cast<What*>(wmem_map_lookup(named, &key));
}

Message* make(packet_info* pinfo, const SesFields& s) {
  auto* message = wmem_new0(wmem_file_scope(), Message);
  message->number = ++message_count;
  message->opcode = s.opcode;
  message->first_frame = pinfo->num;
  message->first_time = pinfo->abs_ts;
  message->length = s.request_length;
  return message;
}

// Whether a message has all its packets, so that this one belongs to another with its ID. Packets
// of a read have no octets to count.
bool is_over(const Message& m, const SesFields& s) {
  if (m.length != s.request_length || m.opcode != s.opcode) return true;
  return s.opcode == SesOpcode::read ? m.has_som && s.som : m.seen_bytes >= m.length;
}

// The message of a packet that was not sent before: the newest with its ID, unless that is over.
Message* of_new_packet(packet_info* pinfo, const SesFields& s, Direction& way) {
  if (!s.has_message_id) return make(pinfo, s);
  void* const id = GUINT_TO_POINTER(s.message_id);
  auto* message = static_cast<Message*>(wmem_map_lookup(way.by_message, id));
  if (message == nullptr || is_over(*message, s)) {
    message = make(pinfo, s);
    wmem_map_insert(way.by_message, id, message);
  }
  return message;
}

void link(Message* before, Message& message) {
  if (before == nullptr) return;
  message.before_frame = before->first_frame;
  if (before->after_frame == 0) before->after_frame = message.first_frame;
  ++before->after_count;
}

// The rendezvous whose data a read requests: one key may serve several, at other offsets.
Message* offered(const Key& key, uint64_t offset) {
  constexpr int kSameKeyMax = 64;  // looked at
  auto* const newest = find_named<Message>(key);
  int looked_at = 0;
  for (Message* m = newest; m != nullptr && looked_at < kSameKeyMax; m = m->same_key, ++looked_at) {
    if (offset - m->read_offset < m->length) return m;
  }
  return newest;
}

// A deferrable send, the ready-to-restart that names its token, and the send that follows. Peers
// differ in which of its two tokens comes first, and the target's may be 0. [SES-098, WIRE-064]
void follow_deferral(const address& from, const address& to, const SesFields& s, Message& message) {
  if (s.opcode != SesOpcode::deferrable_rtr) {
    const Key order = key_of(to, from, Kind::restart, s.initiator_restart_token);
    link(find_named<Message>(order), message);
    name_it(order, nullptr);  // followed
    name_it(key_of(from, to, Kind::initiator_token, s.initiator_restart_token), &message);
    return;
  }
  for (const uint32_t token : {s.initiator_restart_token, s.target_restart_token}) {
    auto* const deferred = find_named<Message>(key_of(to, from, Kind::initiator_token, token));
    link(deferred, message);
    if (token != 0) name_it(key_of(from, to, Kind::restart, token), &message);
    if (deferred != nullptr) return;
  }
}

// Requests of the peer that this one makes possible or answers.
void follow_links(packet_info* pinfo, const SesFields& s, Message& message) {
  const address& from = pinfo->net_src;
  const address& to = pinfo->net_dst;
  if (s.rendezvous) {
    const Key key = key_of(from, to, Kind::rendezvous, s.read_memory_key);
    message.read_offset = s.read_offset;
    message.same_key = find_named<Message>(key);
    name_it(key, &message);
  } else if (s.opcode == SesOpcode::read) {
    link(offered(key_of(to, from, Kind::rendezvous, s.memory_key), s.buffer_offset), message);
  } else if (s.opcode == SesOpcode::deferrable_rtr || wire::is_deferrable_send(s.opcode)) {
    follow_deferral(from, to, s, message);
  }
}

void follow_request(packet_info* pinfo, const Packet& packet, Note& note) {
  const SesFields& s = packet.ses;
  const bool again = note.sent != nullptr && note.sent->message != nullptr;
  if (again) {
    note.message = note.sent->message;
    note.message->last_frame = pinfo->num;
    return;
  }
  Message* message =
      note.pdc != nullptr ? of_new_packet(pinfo, s, note.pdc->way[note.way]) : make(pinfo, s);
  note.message = message;
  message->last_frame = pinfo->num;
  if (note.sent != nullptr) note.sent->message = message;
  note.first_of_message_data = true;
  message->has_som = message->has_som || s.som;
  message->seen_bytes += static_cast<uint32_t>(packet.payload_length);
  if (s.opcode == SesOpcode::read || s.request_length == 0) message->seen_bytes = message->length;
  note.begins_message = message->packets++ == 0;
  if (note.begins_message) follow_links(pinfo, s, *message);
}

// The message that a response is about: by its ID, by the PSN it names, by the PSN acknowledged.
Message* of_response(const Packet& packet, const Note& note) {
  const SesFields& s = packet.ses;
  if (note.pdc != nullptr) {
    const Direction& way = note.pdc->way[note.way ^ 1U];
    if (s.format == NextHeader::response_data_small) {
      const Transmissions* asked = find_psn(way, s.original_request_psn);
      if (asked != nullptr) return asked->message;
    } else if (s.message_id != 0) {
      void* const found = wmem_map_lookup(way.by_message, GUINT_TO_POINTER(s.message_id));
      if (found != nullptr) return static_cast<Message*>(found);
    }
  }
  return note.answered != nullptr ? note.answered->message : nullptr;
}

void follow_response(packet_info* pinfo, const Packet& packet, Note& note) {
  Message* message = of_response(packet, note);
  if (message == nullptr) return;
  note.answered_message = message;
  note.deferred = wire::is_deferrable_send(message->opcode) &&
                  packet.ses.response == wire::ResponseOpcode::response &&
                  packet.ses.list == wire::ListCode::overflow &&
                  packet.ses.return_code == wire::ReturnCode::ok && packet.ses.request_length == 0;
  // Data travels in requests of the way back, or in the answer itself.
  bool again = note.sent != nullptr && note.previous_frame != 0;
  if (note.sent == nullptr && note.answered != nullptr && packet.payload_start >= 0) {
    again = note.answered->data_frame != 0;
    if (!again) note.answered->data_frame = pinfo->num;
  }
  if (packet.payload_start >= 0 && !again) {
    message->data_frame = pinfo->num;
    note.first_of_message_data = true;
  }
  if (message->response_frame == 0 || !(again || packet.pds.retx)) {
    message->response_frame = pinfo->num;
    message->response_time = pinfo->abs_ts;
    nstime_delta(&note.service_time, &pinfo->abs_ts, &message->first_time);
    note.completes = message->seen_bytes >= message->length;
  }
}

// RUDI: a request and its answer share pkt_id; the requester chose it. [WIRE-042]
void follow_rudi(packet_info* pinfo, const Packet& packet, Note& note) {
  const PdsFields& f = packet.pds;
  if (f.type == PdsType::rudi_request) {
    const Key key = key_of(pinfo->net_src, pinfo->net_dst, Kind::rudi_packet, f.pkt_id);
    auto* sent = find_named<Transmissions>(key);
    if (sent == nullptr) {
      sent = wmem_new0(wmem_file_scope(), Transmissions);
      sent->first_frame = pinfo->num;
      sent->first_time = pinfo->abs_ts;
      name_it(key, sent);
      note.retransmission = f.retx;
    } else {
      note.previous_frame = sent->last_frame;
      nstime_delta(&note.since_previous, &pinfo->abs_ts, &sent->last_time);
      note.retransmission = f.retx;
      note.duplicate = !f.retx;
      note.cause = f.retx ? (sent->nack_frame > sent->last_frame ? Cause::nack : Cause::timeout)
                          : Cause::none;
      note.cause_frame = note.cause == Cause::nack ? sent->nack_frame : 0;
    }
    note.sent = sent;
    sent->last_frame = pinfo->num;
    sent->last_time = pinfo->abs_ts;
    ++sent->count;
    return;
  }
  const Key key = key_of(pinfo->net_dst, pinfo->net_src, Kind::rudi_packet, f.pkt_id);
  auto* asked = find_named<Transmissions>(key);
  if (asked == nullptr) return;
  note.answered = asked;
  note.answers_frame = f.retx ? asked->last_frame : asked->first_frame;
  nstime_delta(&note.response_time, &pinfo->abs_ts,
               f.retx ? &asked->last_time : &asked->first_time);
  note.has_response_time = true;
  if (f.type != PdsType::rudi_response) {
    asked->nack_frame = pinfo->num;
    asked->nack_code = f.nack_code;
  } else if (asked->answer_frame == 0) {
    asked->answer_frame = asked->done_frame = pinfo->num;
    asked->answer_time = pinfo->abs_ts;
  }
}

}  // namespace

void forget_messages() {
  named = octet_map<Key>();
  message_count = 0;
}

void follow_ses(packet_info* pinfo, const Packet& packet, Note& note) {
  const PdsFields& f = packet.pds;
  const bool rudi = f.type == PdsType::rudi_request || f.type == PdsType::rudi_response ||
                    (wire::is_nack(f.type) && f.nt);
  if (rudi) follow_rudi(pinfo, packet, note);
  if (!packet.has_ses) return;
  if (wire::is_request(packet.ses.format)) {
    follow_request(pinfo, packet, note);
  } else {
    follow_response(pinfo, packet, note);
  }
}

}  // namespace uet::dissector
