// SPDX-License-Identifier: GPL-2.0-or-later
// What is around the headers: the encapsulation, the trailer, trimmed packets, the payload; and
// the guess whether a UDP payload on a strange port is UET.
#include "dissector/dissect.h"
#include "dissector/fields.h"
#include "dissector/joined.h"
#include "dissector/layer.h"
#include "dissector/pdc.h"
#include "dissector/statistics.h"

#include "wire/pds_prologue.h"

#include <optional>

namespace uet::dissector {

namespace {

using wire::NextHeader;
using wire::PdsType;

constexpr int kUdpBytes = 8, kEntropyBytes = 4, kCrcBytes = 4;
constexpr uint32_t kCrcStart = 0xFFFFFFFF;

// Which of how many packets in one datagram.
struct Joined {
  uint32_t count, number;
};

// The IP header under a transport header, found again in the octets of the frame because Wireshark
// does not hand it down. Nothing if it cannot be found for sure (tunnels, reassembled fragments).
struct IpHeader {
  tvbuff_t* frame = nullptr;
  int addresses = 0;  // offset of the source address
  unsigned dscp = 0;
};

bool addresses_are(tvbuff_t* frame, int offset, const packet_info* pinfo) {
  const int size = pinfo->net_src.len;
  return tvb_bytes_exist(frame, offset, 2 * size) &&
         tvb_memeql(frame, offset, static_cast<const guint8*>(pinfo->net_src.data),
                    static_cast<size_t>(size)) == 0 &&
         tvb_memeql(frame, offset + size, static_cast<const guint8*>(pinfo->net_dst.data),
                    static_cast<size_t>(size)) == 0;
}

std::optional<IpHeader> ip_header_under(tvbuff_t* tvb, const packet_info* pinfo, int transport) {
  constexpr int kIpv4Bytes = 20, kIpv6Bytes = 40, kExtensionsMax = 256;
  tvbuff_t* frame = tvb_get_ds_tvb(tvb);
  const int end = static_cast<int>(tvb_raw_offset(tvb)) - transport;
  if (pinfo->net_src.type == AT_IPv4) {  // options are rejected [WIRE-010]
    const int start = end - kIpv4Bytes;
    if (start < 0 || !addresses_are(frame, start + 12, pinfo)) return std::nullopt;
    return IpHeader{frame, start + 12, static_cast<unsigned>(octet_at(frame, start + 1)) >> 2U};
  }
  if (pinfo->net_src.type != AT_IPv6) return std::nullopt;
  for (int skipped = 0; skipped <= kExtensionsMax; skipped += 8) {  // [WIRE-011]
    const int start = end - kIpv6Bytes - skipped;
    if (start < 0) return std::nullopt;
    if (!addresses_are(frame, start + 8, pinfo)) continue;
    return IpHeader{frame, start + 8, (tvb_get_ntohs(frame, start) >> 6U) & 0x3FU};
  }
  return std::nullopt;
}

// Removes the CRC from the end and verifies it. Returns the octets before it. [WIRE-089..093]
tvbuff_t* without_crc(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int header_bytes,
                      const std::optional<IpHeader>& ip) {
  const int length = tvb_reported_length_remaining(tvb, header_bytes);
  if (length < kCrcBytes) return tvb;
  const int at = header_bytes + length - kCrcBytes;
  const int end = static_cast<int>(tvb_raw_offset(tvb)) + at;
  if (ip && tvb_bytes_exist(ip->frame, ip->addresses, end + kCrcBytes - ip->addresses)) {
    // Wireshark keeps this sum with its octets turned round.
    const uint32_t turned =
        ~crc32c_tvb_offset_calculate(ip->frame, static_cast<guint>(ip->addresses),
                                     static_cast<guint>(end - ip->addresses), kCrcStart);
    proto_tree_add_checksum(tree, tvb, static_cast<guint>(at), field::crc, field::crc_status,
                            &expert::crc, pinfo, GUINT32_SWAP_LE_BE(turned), ENC_LITTLE_ENDIAN,
                            PROTO_CHECKSUM_VERIFY);
  } else {
    proto_tree_add_checksum(tree, tvb, static_cast<guint>(at), field::crc, field::crc_status,
                            &expert::crc, pinfo, 0, ENC_LITTLE_ENDIAN, PROTO_CHECKSUM_NO_FLAGS);
  }
  return tvb_new_subset_length(tvb, 0, at);
}

void show_rest(const Layer& uet, const Packet& packet, int behind) {
  if (packet.payload_start >= 0) {
    if (packet.payload_length > 0) {
      uet.bytes(field::payload, packet.payload_start, packet.payload_length);
    }
    return;
  }
  const int left = uet.remaining_after(behind);
  if (left <= 0) return;
  proto_item* surplus =
      proto_tree_add_item(uet.tree, field::surplus, uet.tvb, behind, left, ENC_NA);
  expert_add_info(uet.pinfo, surplus, &expert::surplus_bytes);
}

void analyse(packet_info* pinfo, const Packet& packet) {
  const Note* note = note_of(pinfo, packet);
  if (note == nullptr) return;
  if (note->pdc != nullptr && !packet.native) claim_receivers(pinfo, packet, *note->pdc);
  show_note(pinfo, packet, *note);
  tap_packet(pinfo, packet, *note);
}

// Everything from the first UET octet on.
void dissect_headers(Layer uet, proto_tree* tree, Packet& packet) {
  tvbuff_t* tvb = uet.tvb;
  if (tvb_reported_length(tvb) == 0) return uet.broken(&expert::truncated);
  if (static_cast<PdsType>(octet_at(tvb, 0) >> 3U) == PdsType::tss) {
    tvb = uet.tvb = dissect_tss(tvb, uet.pinfo, tree, packet);
    if (tvb == nullptr) return;
    if (tvb_reported_length(tvb) == 0) return uet.broken(&expert::truncated);
  }
  packet.tvb = tvb;
  int behind = dissect_pds(tvb, uet.pinfo, tree, packet);
  if (!packet.has_pds) return;
  if (packet.trimmed) return analyse(uet.pinfo, packet);  // [WIRE-022]
  if (!wire::is_nack(packet.pds.type) && packet.pds.type != PdsType::control) {
    dissect_ses(tvb, behind, uet.pinfo, tree, packet);
    if (packet.has_ses) behind = packet.ses_end;
  }
  show_rest(uet, packet, behind);
  analyse(uet.pinfo, packet);
}

// A packet, alone or one of several that the host joined.
int dissect(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, bool native,
            const Joined* joined) {
  col_set_str(pinfo->cinfo, COL_PROTOCOL,
              proto_get_protocol_short_name(find_protocol_by_id(proto::uet)));
  col_clear(pinfo->cinfo, COL_INFO);
  Packet packet;
  packet.native = native;
  Layer uet{tvb, pinfo, nullptr, nullptr, 0};
  uet.item = proto_tree_add_item(tree, proto::uet, tvb, 0, -1, ENC_NA);
  uet.tree = proto_item_add_subtree(uet.item, subtree::uet);

  if (joined != nullptr) {
    uet.derived(field::joined_count, joined->count);
    uet.derived(field::joined_number, joined->number);
  }
  std::optional<IpHeader> ip;  // a joined datagram has one, and the packets in it have none
  if (joined == nullptr) ip = ip_header_under(tvb, pinfo, native ? 0 : kUdpBytes);
  packet.trimmed =
      ip && (ip->dscp == preferences.dscp_trimmed || ip->dscp == preferences.dscp_trimmed_lasthop);
  if (packet.trimmed) {
    proto_item* shown = proto_tree_add_boolean(uet.tree, field::trimmed, tvb, 0, 0, 1);
    proto_item_set_generated(shown);
    expert_add_info(pinfo, shown, &expert::trimmed);
  }
  int start = 0;
  if (native) {  // [WIRE-013]
    uet.u32(field::entropy, 0, 2);
    uet.reserved(field::entropy_rsvd, 2, 2);
    packet.entropy_header = tvb_get_ntohl(tvb, 0);
    start = kEntropyBytes;
  } else {
    proto_item_set_generated(
        proto_tree_add_uint(uet.tree, field::entropy, tvb, 0, 0, pinfo->srcport));
  }
  const bool sealed = tvb_bytes_exist(tvb, start, 1) &&
                      static_cast<PdsType>(octet_at(tvb, start) >> 3U) == PdsType::tss;
  tvbuff_t* content = tvb;
  if (preferences.trailer == 1 && !packet.trimmed && !sealed) {
    content = without_crc(tvb, pinfo, uet.tree, start, ip);
  }
  uet.tvb = tvb_new_subset_remaining(content, start);
  dissect_headers(uet, tree, packet);
  return static_cast<int>(tvb_reported_length(tvb));
}

void claim(packet_info* pinfo, const address& owner, uint32_t port) {
  conversation_t* known = find_conversation(pinfo->num, &owner, nullptr, CONVERSATION_UDP, port, 0,
                                            NO_ADDR_B | NO_PORT_B);
  if (known == nullptr) {
    known = conversation_new(pinfo->num, &owner, nullptr, CONVERSATION_UDP, port, 0,
                             NO_ADDR2 | NO_PORT2);
  }
  if (conversation_get_dissector(known, pinfo->num) != udp_handle) {
    conversation_set_dissector_from_frame_number(known, pinfo->num, udp_handle);
  }
}

// Octets of the SES header by its format, and the offset of its version bits. [WIRE-096]
int ses_bytes(NextHeader format) {
  constexpr int kBytes[] = {0, 20, 32, 44, 12, 20, 12};
  return kBytes[static_cast<int>(format)];
}

}  // namespace

int dissect_udp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  const int size = joined_size(tvb);
  if (size == 0) return dissect(tvb, pinfo, tree, false, nullptr);
  const auto length = static_cast<int>(tvb_reported_length(tvb));
  Joined joined{static_cast<uint32_t>((length + size - 1) / size), 0};
  for (int at = 0; at < length; at += size) {
    ++joined.number;
    tvbuff_t* one = tvb_new_subset_length(tvb, at, length - at < size ? length - at : size);
    // As a separate layer, by whose number its notes are found again.
    call_dissector_with_data(joined_handle, one, pinfo, tree, &joined);
    if (joined.number < joined.count) col_append_str(pinfo->cinfo, COL_INFO, " + ");
    col_set_fence(pinfo->cinfo, COL_INFO);
  }
  return length;
}

int dissect_joined(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  return dissect(tvb, pinfo, tree, false, static_cast<const Joined*>(data));
}

void claim_receivers(packet_info* pinfo, const Packet& packet, const Pdc& pdc) {
  if (PINFO_FD_VISITED(pinfo)) return;
  const bool both_known = pdc.pdcid[0] != 0 && pdc.pdcid[1] != 0;
  if (packet.pds.syn) claim(pinfo, pinfo->src, answer_port(pinfo, packet));
  if (both_known || pinfo->destport == wire::kUdpPort) claim(pinfo, pinfo->dst, pinfo->destport);
}

int dissect_native(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  return dissect(tvb, pinfo, tree, true, nullptr);
}

bool looks_like_uet(tvbuff_t* tvb) {
  constexpr int kSmallest = 12;
  if (!tvb_bytes_exist(tvb, 0, kSmallest)) return false;
  const auto h = wire::Prologue::of(tvb_get_ntohs(tvb, 0));
  constexpr int kPdsBytes[] = {0, 0, 12, 12, 8, 8, 4, 12, 32, 40, 16, 16, 32, 16, 16};
  if (wire::is_reserved(h.type) || h.type == PdsType::tss) return false;
  const int size = kPdsBytes[static_cast<int>(h.type)];
  const int length = static_cast<int>(tvb_reported_length(tvb));
  const bool with_pdc = wire::is_request(h.type) || wire::is_ack(h.type);
  if (with_pdc && tvb_get_ntohs(tvb, 8) == 0) return false;
  if (h.type == PdsType::control || wire::is_nack(h.type)) {
    const bool named = h.type == PdsType::control ? h.ctl_type() <= wire::CtlType::negotiation
                                                  : h.next_hdr() == NextHeader::none;
    return named && length == size && (h.flags & 0x43U) == 0;
  }
  if (wire::is_reserved(h.next_hdr())) return false;
  if (wire::is_ack(h.type) && wire::is_request(h.next_hdr())) return false;
  if (!wire::is_ack(h.type) && h.next_hdr() == NextHeader::none) return false;
  if (wire::is_request(h.type) && (h.flags & 0x63U) != 0) return false;
  if (length < size + ses_bytes(h.next_hdr())) return false;
  if (h.next_hdr() == NextHeader::none) return length == size || length == size + 4;
  if (!tvb_bytes_exist(tvb, size, 2)) return false;
  const unsigned first = tvb_get_ntohs(tvb, size);
  const bool version_0 =
      wire::is_request(h.next_hdr()) ? (first & 0xC0C0U) == 0 : (first & 0x00C0U) == 0;
  return version_0 && (!wire::is_request(h.next_hdr()) || (first >> 8U) <= 0x0FU);
}

}  // namespace uet::dissector
