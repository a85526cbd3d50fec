// SPDX-License-Identifier: GPL-2.0-or-later
// The security header, the octets after it, and whether a key opens them. Octets that stay sealed
// are shown unchanged.
#include "dissector/decrypt.h"
#include "dissector/dissect.h"
#include "dissector/fields.h"
#include "dissector/follow_tss.h"
#include "dissector/layer.h"

#include "wire/ip.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace uet::dissector {

namespace {

constexpr int kIcvBytes = wire::TssHeader::kIcvBytes;

// Where the parts behind the header are. A trimmed packet has lost its end, and with it the ICV;
// a capture may have cut the end off, too. [WIRE-022]
struct Extent {
  int header = 0;
  int content = 0;   // of the packet
  int captured = 0;  // of them
  bool has_icv = false;
};

wire::IpAddress address_of(const address& from) {
  wire::IpAddress out;
  out.family = from.type == AT_IPv6 ? wire::IpFamily::v6 : wire::IpFamily::v4;
  if (from.data != nullptr && from.len >= static_cast<int>(out.size())) {
    std::memcpy(out.octets.data(), from.data, out.size());
  }
  return out;
}

std::span<const std::byte> octets(tvbuff_t* tvb, int from, int size) {
  if (size <= 0) return {};
  return {reinterpret_cast<const std::byte*>(tvb_get_ptr(tvb, from, size)),
          static_cast<size_t>(size)};
}

// The entropy header, or that of UDP, unchanged.
void put_transport(SealedPacket& sealed, const packet_info* pinfo, const Packet& packet,
                   uint32_t payload_bytes) {
  wire::Writer w(sealed.transport);
  if (packet.native) {
    w.u32(packet.entropy_header);
  } else {
    w.u16(static_cast<uint16_t>(pinfo->srcport));
    w.u16(static_cast<uint16_t>(pinfo->destport));
    w.u16(static_cast<uint16_t>(wire::UdpHeader::kSize + payload_bytes));
    w.u16(0);
  }
  sealed.transport_bytes = static_cast<uint32_t>(w.position());
}

Extent extent_of(const Layer& h, int size, bool trimmed) {
  Extent e{.header = size, .content = h.remaining_after(size)};
  e.has_icv = !trimmed;
  if (!trimmed) e.content -= kIcvBytes;
  e.captured = tvb_captured_length_remaining(h.tvb, h.start + size);
  if (e.captured < e.content + (trimmed ? 0 : kIcvBytes)) e.has_icv = false;
  if (e.captured > e.content) e.captured = e.content;
  return e;
}

// An opened packet is dissected inside, however little of it was captured.
void show_sealed(const Layer& h, const Extent& e, bool trimmed, bool opened) {
  const int shown = opened ? e.captured : e.content;
  if (shown > 0) h.bytes(field::tss::ciphertext, e.header, shown);
  if (opened ? e.has_icv : !trimmed) h.bytes(field::tss::icv, e.header + e.content, kIcvBytes);
}

// The key of an opened packet by its line in the file; the key itself is not shown.
void show_opening(const Layer& h, const Opening& opening) {
  h.derived(field::tss::key_line, opening.key->line);
  if (opening.key->key.mode == tss::Mode::cluster) h.derived(field::tss::rekey, opening.rekey);
  proto_item* nonce =
      proto_tree_add_bytes_with_length(h.tree, field::tss::nonce, h.tvb, h.start, 0,
                                       reinterpret_cast<const guint8*>(opening.nonce.data()),
                                       static_cast<gint>(opening.nonce.size()));
  proto_item_set_generated(nonce);
}

void show_verdict(const Layer& h, Verdict verdict) {
  constexpr uint32_t kStatus[] = {PROTO_CHECKSUM_E_UNVERIFIED, PROTO_CHECKSUM_E_BAD,
                                  PROTO_CHECKSUM_E_GOOD, PROTO_CHECKSUM_E_UNVERIFIED};
  expert_field* const remarks[] = {&expert::no_key, &expert::icv_bad, &expert::icv_good,
                                   &expert::icv_unverified};
  const auto at = static_cast<size_t>(verdict);
  proto_item* status = h.derived(field::tss::icv_status, kStatus[at]);
  expert_add_info(h.pinfo, status, remarks[at]);
}

// Facts about this packet from other packets of the capture.
void show_history(const Layer& h, const SealedNote& note) {
  if (note.epochs_behind != 0) {
    proto_item* behind = h.derived(field::tss::epochs_behind, note.epochs_behind);
    const bool late = note.epochs_behind > preferences.rx_max_epoch_lifetime;
    if (late) expert_add_info(h.pinfo, behind, &expert::late_epoch);
  }
  if (note.same_nonce_frame == 0) return;
  proto_item* same = h.derived(field::tss::same_nonce_frame, note.same_nonce_frame);
  expert_add_info(h.pinfo, same, note.same_packet ? &expert::sealed_copy : &expert::nonce_reused);
}

// The plaintext as separate octets, if a key opens the packet.
tvbuff_t* open(const Layer& h, const Extent& e, const Packet& packet) {
  if (h.pinfo->net_src.type != AT_IPv4 && h.pinfo->net_src.type != AT_IPv6) return nullptr;
  SealedPacket sealed;
  sealed.source = address_of(h.pinfo->net_src);
  sealed.destination = address_of(h.pinfo->net_dst);
  put_transport(sealed, h.pinfo, packet, tvb_reported_length(h.tvb));
  sealed.header_octets = octets(h.tvb, h.start, e.header);
  wire::Reader reader(sealed.header_octets);
  sealed.header = wire::TssHeader::read(reader);
  sealed.content = octets(h.tvb, h.start + e.header, e.captured);
  if (e.has_icv) sealed.icv = octets(h.tvb, h.start + e.header + e.content, kIcvBytes);
  const auto room = static_cast<size_t>(e.captured);
  auto* plaintext = static_cast<guint8*>(wmem_alloc(packet_scope(h.pinfo), room + 1));
  const Opening opening =
      open_sealed(h.pinfo, sealed, std::span(reinterpret_cast<std::byte*>(plaintext), room));
  show_verdict(h, opening.verdict);
  if (opening.key == nullptr) return nullptr;
  show_opening(h, opening);
  const SealedNote* note = sealed_note_of(h.pinfo, sealed, opening);
  if (note != nullptr) show_history(h, *note);
  tvbuff_t* inner = tvb_new_child_real_data(h.tvb, plaintext, static_cast<guint>(room), e.content);
  add_new_data_source(h.pinfo, inner, "Decrypted UET");
  if (room > opening.clear_bytes) {
    const auto clear = static_cast<int>(opening.clear_bytes);
    proto_tree_add_item(h.tree, field::tss::plaintext, inner, clear, e.captured - clear, ENC_NA);
  }
  return inner;
}

}  // namespace

// [WIRE-026]
tvbuff_t* dissect_tss(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet) {
  Layer header{tvb, pinfo, nullptr, nullptr, 0};
  header.item = proto_tree_add_item(tree, proto::tss, tvb, 0, -1, ENC_NA);
  header.tree = proto_item_add_subtree(header.item, subtree::tss);
  using namespace field::tss;
  header.u32(type, 0, 1);
  const bool has_ssi = header.flag(sp, 0, 1);
  header.reserved(rsvd, 0, 1);
  header.u32(an, 0, 1);
  const uint32_t domain = header.u32(sdi, 1, 3);
  int size = 4;
  if (has_ssi) {
    header.u32(ssi, size, 4);
    size += 4;
  }
  header.u32(epoch, size, 2);
  header.u64(counter, size + 2, 6);
  size += 8;
  proto_item_append_text(header.item, ", SDI %u", domain);
  col_append_fstr(pinfo->cinfo, COL_INFO, "TSS sdi=%u ", domain);
  const Extent extent = extent_of(header, size, packet.trimmed);
  tvbuff_t* inner = nullptr;
  if (extent.content < 0) {
    header.broken(&expert::truncated);
  } else {
    inner = open(header, extent, packet);
    show_sealed(header, extent, packet.trimmed, inner != nullptr);
  }
  if (inner == nullptr) col_append_str(pinfo->cinfo, COL_INFO, "[encrypted]");
  return inner;
}

}  // namespace uet::dissector
