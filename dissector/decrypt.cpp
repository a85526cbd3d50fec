// SPDX-License-Identifier: GPL-2.0-or-later
// Key derivation and AES-256-GCM. The ICV identifies the key among several, and in server mode the
// client of the two ends. [TSS-026, TSS-034, TSS-047]
#include "dissector/decrypt.h"

#include "dissector/fields.h"
#include "dissector/octet_map.h"

#include <cstring>

namespace uet::dissector {

namespace {

constexpr uint32_t kDerivedMax = 4096;  // kept; beyond them each packet derives its own [TSS-106]

// The keys of GCM: SDK and IV mask.
struct Material {
  std::array<std::byte, tss::kKdfBlocks * 16> octets{};
  std::span<const std::byte, tss::kSdkBytes> sdk() const {
    return std::span(octets).first<tss::kSdkBytes>();
  }
  std::span<const std::byte, 12> mask() const { return std::span(octets).subspan<32, 12>(); }
};

// One key for one packet; `owner_is_source` names the owner of the key.
struct Candidate {
  uint32_t key_index = 0;
  bool owner_is_source = true;
};

// Derived material by the input of its first block.
struct DerivedId {
  uint32_t key_index = 0;
  uint32_t size = 0;
  std::array<std::byte, 32> input{};
};

wmem_map_t* derived;  // DerivedId to Material
uint32_t derived_count;
Candidate latest;  // what opened a packet last: most often it opens the next
gcry_cipher_hd_t cipher;

const wire::IpAddress& owner_of(const SealedPacket& packet, const Candidate& c) {
  return c.owner_is_source ? packet.source : packet.destination;
}

bool derive(const KnownKey& known, const SealedPacket& packet, const Candidate& c, Material& out) {
  for (uint8_t block = 0; block < tss::kKdfBlocks; ++block) {
    const tss::KdfInput input = tss::kdf_input(known.key, packet.header, owner_of(packet, c),
                                               static_cast<uint8_t>(block + 1));
    const gcry_error_t failed =
        ws_cmac_buffer(GCRY_MAC_CMAC_AES, out.octets.data() + 16 * block, input.octets.data(),
                       input.size, known.key.secret.data(), known.key.secret.size());
    if (failed != 0) return false;
  }
  return true;
}

// The material for a candidate: as the file has it, from the table, or derived now.
bool material_of(const KnownKey& known, const SealedPacket& packet, const Candidate& c,
                 DerivedId& id, Material& out) {
  if (!tss::is_derived(known.key.mode)) {
    std::memcpy(out.octets.data(), known.key.secret.data(), known.key.secret.size());
    std::memcpy(out.octets.data() + 32, known.key.iv_mask.data(), known.key.iv_mask.size());
    return true;
  }
  const tss::KdfInput input = tss::kdf_input(known.key, packet.header, owner_of(packet, c), 1);
  id = {c.key_index, input.size, input.octets};
  if (const void* found = wmem_map_lookup(derived, &id)) {
    out = *static_cast<const Material*>(found);
    return true;
  }
  return derive(known, packet, c, out);
}

bool is_kept(const DerivedId& id) { return id.size == 0 || wmem_map_contains(derived, &id) != 0; }

// Only for packets whose ICV is right: others would fill the table. [T-14]
void keep(const DerivedId& id, const Material& material) {
  if (derived_count == kDerivedMax || is_kept(id)) return;
  ++derived_count;
  wmem_map_insert(derived, wmem_memdup(wmem_file_scope(), &id, sizeof id),
                  wmem_memdup(wmem_file_scope(), &material, sizeof material));
}

// Whether the ICV is right; without one, whether it could be computed at all. [TSS-026]
bool decrypt(const SealedPacket& packet, const Material& material, const Opening& opening,
             std::span<std::byte> plaintext) {
  if (cipher == nullptr &&
      gcry_cipher_open(&cipher, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0) != 0) {
    return false;
  }
  const auto clear = packet.content.first(opening.clear_bytes);
  const auto encrypted = packet.content.subspan(opening.clear_bytes);
  const auto decrypted = plaintext.subspan(opening.clear_bytes);
  tss::Aad aad(packet.source, packet.destination,
               std::span(packet.transport).first(packet.transport_bytes));
  aad.add(packet.header_octets);
  aad.add(clear);
  gcry_error_t failed = gcry_cipher_setkey(cipher, material.sdk().data(), material.sdk().size());
  failed |= gcry_cipher_setiv(cipher, opening.nonce.data(), opening.nonce.size());
  failed |= gcry_cipher_authenticate(cipher, aad.span().data(), aad.span().size());
  if (!clear.empty()) std::memcpy(plaintext.data(), clear.data(), clear.size());
  if (!encrypted.empty()) {
    failed |= gcry_cipher_decrypt(cipher, decrypted.data(), decrypted.size(), encrypted.data(),
                                  encrypted.size());
  }
  if (failed != 0 || packet.icv.empty()) return failed == 0;
  return gcry_cipher_checktag(cipher, packet.icv.data(), packet.icv.size()) == 0;
}

bool is_for(const KnownKey& known, const SealedPacket& packet) {
  const tss::Key& key = known.key;
  return key.sdi == packet.header.sdi && key.an == packet.header.an &&
         (!key.epoch || *key.epoch == packet.header.epoch()) &&
         tss::is_allowed(key.mode, packet.header, packet.source.family);
}

// Whether the candidate fits this packet, and opens it; `proven`: and has opened others.
bool try_one(const SealedPacket& packet, const Candidate& c, bool proven,
             std::span<std::byte> plaintext, Opening& opening) {
  const KnownKey* known = key_at(c.key_index);
  if (known == nullptr || !is_for(*known, packet)) return false;
  opening.verdict = Verdict::bad;
  DerivedId id;
  Material material;
  if (!material_of(*known, packet, c, id, material)) return false;
  if (proven && !is_kept(id)) return false;
  opening.key = known;
  std::memcpy(opening.sdk.data(), material.octets.data(), opening.sdk.size());
  opening.nonce = tss::raw_nonce(packet.header, packet.source);
  if (known->key.mode != tss::Mode::direct) tss::apply_mask(opening.nonce, material.mask());
  opening.clear_bytes =
      std::min<uint32_t>(known->key.clear_bytes, static_cast<uint32_t>(packet.content.size()));
  opening.rekey = tss::rekey_of(known->key, packet.header.counter());
  if (!decrypt(packet, material, opening, plaintext)) return false;
  opening.verdict = packet.icv.empty() ? Verdict::unverified : Verdict::good;
  if (opening.verdict == Verdict::good) keep(id, material);
  return true;
}

// Every key there is, the newest of the file first: AN 0 comes again with a new key.
bool try_all(const SealedPacket& packet, bool proven, std::span<std::byte> plaintext,
             Opening& opening, Candidate& which) {
  uint32_t count = 0;
  while (key_at(count) != nullptr) ++count;
  while (count-- > 0) {
    const tss::Key& key = key_at(count)->key;
    const bool two_ends = key.mode == tss::Mode::server &&
                          tss::is_of_address(key, packet.header, packet.source.family);
    for (const bool owner_is_source : {true, false}) {
      if (!owner_is_source && !two_ends) continue;
      which = {count, owner_is_source};
      if (try_one(packet, which, proven, plaintext, opening)) return true;
    }
  }
  return false;
}

// If no ICV can decide, keys that have opened other packets are tried first.
bool find_key(const SealedPacket& packet, std::span<std::byte> plaintext, Opening& opening,
              Candidate& which) {
  const bool checked = !packet.icv.empty();
  which = latest;
  if (try_one(packet, which, !checked, plaintext, opening)) return true;
  if (!checked && try_all(packet, true, plaintext, opening, which)) return true;
  return try_all(packet, false, plaintext, opening, which);
}

void start() {
  load_keys();
  derived = octet_map<DerivedId>();
  derived_count = 0;
  latest = {};
}

}  // namespace

Opening open_sealed(packet_info* pinfo, const SealedPacket& packet,
                    std::span<std::byte> plaintext) {
  Opening opening;
  auto* chosen = static_cast<Candidate*>(
      p_get_proto_data(wmem_file_scope(), pinfo, proto::tss, pinfo->curr_layer_num));
  if (chosen != nullptr && try_one(packet, *chosen, false, plaintext, opening)) return opening;
  Candidate which;
  bool opened = find_key(packet, plaintext, opening, which);
  if (!opened && load_more_keys()) opened = find_key(packet, plaintext, opening, which);
  if (!opened) {
    opening.key = nullptr;
    return opening;
  }
  if (opening.verdict == Verdict::good) latest = which;
  if (chosen == nullptr) {
    chosen = wmem_new(wmem_file_scope(), Candidate);
    p_add_proto_data(wmem_file_scope(), pinfo, proto::tss, pinfo->curr_layer_num, chosen);
  }
  *chosen = which;
  return opening;
}

void register_decryption() { register_init_routine(start); }

}  // namespace uet::dissector
