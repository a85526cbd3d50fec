// SPDX-License-Identifier: GPL-2.0-or-later
// Two maps over the capture: the epoch of each source, and the nonces of each key. Only
// authenticated packets count, because any sender can write an epoch into a packet. [TSS-055]
#include "dissector/follow_tss.h"

#include "dissector/fields.h"
#include "dissector/octet_map.h"

namespace uet::dissector {

namespace {

// Beside the choice of the key, which has the layer's number itself.
constexpr uint32_t kNoteOfLayer = 1U << 16U;

// Epochs restart with each key. [TSS-052]
struct Source {
  uint8_t address[16];  // without an SSI
  uint32_t ssi;
  uint32_t has_ssi;
  uint32_t key_line;
};

struct Use {
  Sdk sdk;
  tss::Nonce nonce;
};

struct FirstUse {
  uint32_t frame;
  uint8_t icv[wire::TssHeader::kIcvBytes];
};

wmem_map_t* epochs;  // Source to its newest epoch
wmem_map_t* uses;    // Use to FirstUse

Source source_of(const SealedPacket& packet, const Opening& opening) {
  Source source{};
  source.has_ssi = packet.header.sp;
  source.key_line = opening.key->line;
  if (packet.header.sp) {
    source.ssi = packet.header.ssi;
  } else {
    std::memcpy(source.address, packet.source.octets.data(), packet.source.size());
  }
  return source;
}

// The comparison of receivers: half of all epochs are newer. [TSS-054, TSS-056]
void follow_epoch(const SealedPacket& packet, const Opening& opening, SealedNote& note) {
  constexpr uint32_t kHalf = 0x8000;
  const Source source = source_of(packet, opening);
  const uint32_t epoch = packet.header.epoch();
  if (wmem_map_contains(epochs, &source) != 0) {
    const uint32_t newest = GPOINTER_TO_UINT(wmem_map_lookup(epochs, &source));
    const uint32_t age = (newest - epoch) & 0xFFFFU;
    if (age < kHalf) {
      note.epochs_behind = age;
      return;
    }
  }
  wmem_map_insert(epochs, wmem_memdup(wmem_file_scope(), &source, sizeof source),
                  GUINT_TO_POINTER(epoch));
}

// [TSS-039, TSS-043]
void follow_nonce(packet_info* pinfo, const SealedPacket& packet, const Opening& opening,
                  SealedNote& note) {
  const Use use{opening.sdk, opening.nonce};
  if (const auto* first = static_cast<const FirstUse*>(wmem_map_lookup(uses, &use))) {
    note.same_nonce_frame = first->frame;
    note.same_packet = std::memcmp(first->icv, packet.icv.data(), sizeof first->icv) == 0;
    return;
  }
  auto* first = wmem_new(wmem_file_scope(), FirstUse);
  first->frame = pinfo->num;
  std::memcpy(first->icv, packet.icv.data(), sizeof first->icv);
  wmem_map_insert(uses, wmem_memdup(wmem_file_scope(), &use, sizeof use), first);
}

void start() {
  epochs = octet_map<Source>();
  uses = octet_map<Use>();
}

}  // namespace

const SealedNote* sealed_note_of(packet_info* pinfo, const SealedPacket& packet,
                                 const Opening& opening) {
  const uint32_t key = kNoteOfLayer + pinfo->curr_layer_num;
  auto* note =
      static_cast<SealedNote*>(p_get_proto_data(wmem_file_scope(), pinfo, proto::tss, key));
  if (note != nullptr || PINFO_FD_VISITED(pinfo) || opening.verdict != Verdict::good) return note;
  note = wmem_new0(wmem_file_scope(), SealedNote);
  p_add_proto_data(wmem_file_scope(), pinfo, proto::tss, key, note);
  follow_epoch(packet, opening, *note);
  follow_nonce(pinfo, packet, opening, *note);
  return note;
}

void register_sealed_history() { register_init_routine(start); }

}  // namespace uet::dissector
