// SPDX-License-Identifier: GPL-2.0-or-later
// Results of the first pass over a capture: PDCs, their PSNs, their messages. All of it lives as
// long as the file is open. Nothing here draws trees.
#pragma once

#include "dissector/packet.h"

namespace uet::dissector {

struct Message;

// One PSN, or one RUDI packet: all its transmissions and their answers.
struct Transmissions {
  uint32_t first_frame = 0, last_frame = 0;
  nstime_t first_time{}, last_time{};
  uint32_t count = 0;
  uint32_t answer_frame = 0;  // the first ACK or response that names it
  nstime_t answer_time{};
  uint32_t done_frame = 0;  // the first ACK that covers it
  uint32_t nack_frame = 0;  // the last NACK
  uint8_t nack_code = 0;
  uint32_t data_frame = 0;     // the first answer with data
  uint32_t missing_frame = 0;  // the last SACK in which it is missing
  Message* message = nullptr;
};

// One direction of a PDC: requests travel in it, their ACKs in the other.
struct Direction {
  wmem_map_t* by_psn = nullptr;      // PSN to Transmissions
  wmem_map_t* open = nullptr;        // PSN / 64 to a word with the bits of those no ACK covers
  wmem_map_t* by_message = nullptr;  // message ID to the newest Message
  bool has_psn = false, has_cack = false;
  uint32_t lowest_psn = 0, highest_psn = 0;  // of requests seen
  uint32_t cack_psn = 0;                     // highest seen
  uint32_t mp_range = 1024;  // Default_MPR until one is heard; 0: none stated [PDS-035]
};

struct Pdc {
  uint32_t number = 0;  // in the order of the capture
  bool rod = false;
  bool has_start = false;  // the SYN is in the capture
  uint32_t start_psn = 0;
  uint16_t pdcid[2]{};  // of the initiator and the target; 0: not seen yet
  uint32_t first_frame = 0, closed_frame = 0;
  uint32_t close_psn = 0;
  bool opened = false, closing = false;
  Direction way[2];  // from the initiator, from the target
};

// One SES message, or one RUDI or unreliable packet.
struct Message {
  uint32_t number = 0;  // unique in the capture
  wire::SesOpcode opcode{};
  uint32_t first_frame = 0, last_frame = 0;
  nstime_t first_time{};
  uint32_t length = 0, seen_bytes = 0;
  uint32_t packets = 0;  // each once
  bool has_som = false;  // its first packet is in the capture
  uint32_t response_frame = 0;
  nstime_t response_time{};
  uint32_t data_frame = 0;  // of a read: the last frame with new data
  // Rendezvous and its reads, deferrable send, its restart and the send that follows.
  uint32_t before_frame = 0, after_frame = 0;  // the first of them
  uint32_t after_count = 0;
  uint64_t read_offset = 0;     // of a rendezvous
  Message* same_key = nullptr;  // the rendezvous before it with the same key
};

enum class Cause : uint8_t {
  none,
  nack,
  sack,
  timeout,  // nothing in the capture asked for it
};

// Results of the first pass for one packet.
struct Note {
  Pdc* pdc = nullptr;
  uint8_t way = 0;                    // index of the direction that the packet travels in
  Transmissions* sent = nullptr;      // request: its PSN
  Transmissions* answered = nullptr;  // ACK, NACK, response: the PSN it names
  Message* message = nullptr;         // of a request
  Message* answered_message = nullptr;
  bool retransmission = false, duplicate = false, out_of_order = false, mpr_violation = false;
  bool opens = false, closes = false, first_of_message_data = false;
  bool begins_message = false;  // the first packet of it in the capture
  uint32_t gap = 0;             // PSNs between the highest before and this one
  uint32_t outstanding = 0;
  uint32_t mp_range = 0;  // that the receiver has offered so far
  bool range_full = false;
  Cause cause = Cause::none;
  uint32_t cause_frame = 0;
  uint32_t previous_frame = 0;
  nstime_t since_previous{};
  uint32_t newly_done = 0;  // PSNs that this ACK is the first to cover
  uint64_t missing = 0;     // of the SACK: bit n is PSN sack_base + n
  nstime_t service_time{};  // of a response to a message that was seen completely
  bool completes = false;
  nstime_t response_time{};
  bool has_response_time = false;
  uint32_t answers_frame = 0;  // the transmission that this packet answers
  bool deferred = false;       // a response that puts a deferrable send off [SES-095]
};

// Finds or makes the PDC of a packet and says which way it travels. Null for packets without one.
Pdc* pdc_of(packet_info* pinfo, const Packet& packet, uint8_t& way);

// The UDP port that the peer answers to: 4793, or the sender's own block. [WIRE-121]
uint32_t answer_port(const packet_info* pinfo, const Packet& packet);

// Follows PSNs, acknowledgements and NACKs.
void follow_pds(packet_info* pinfo, const Packet& packet, Note& note);
// Follows messages, responses and reads; after follow_pds.
void follow_ses(packet_info* pinfo, const Packet& packet, Note& note);

// The note of the packet: made in the first pass, found again in all later ones.
Note* note_of(packet_info* pinfo, const Packet& packet);

// Adds the known facts to the trees of the packet, and reassembles messages.
void show_note(packet_info* pinfo, const Packet& packet, const Note& note);

// Forget everything; called for each file that is opened.
void forget_pdcs();
void forget_messages();
void register_analysis();

inline Transmissions* find_psn(const Direction& way, uint32_t psn) {
  return static_cast<Transmissions*>(wmem_map_lookup(way.by_psn, GUINT_TO_POINTER(psn)));
}

// Whether a comes after b in the sequence. [PDS-030]
inline bool after(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

}  // namespace uet::dissector
