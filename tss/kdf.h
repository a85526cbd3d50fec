// The key derivation of cluster and server mode: NIST SP 800-108 in counter mode with AES-256-CMAC.
// The inputs are whole blocks (tss/derivation.h), so a CMAC is one or two single blocks. One object
// for each master.
#pragma once

#include "tss/cipher.h"

namespace uet::tss {

// SDK, IV mask, and the rest of the last block. [TSS-034]
struct KeyMaterial {
  std::array<std::byte, kKdfBlocks * kBlockBytes> octets{};

  KeyMaterial() = default;
  KeyMaterial(const KeyMaterial&) = delete;
  KeyMaterial& operator=(const KeyMaterial&) = delete;
  ~KeyMaterial() { wipe(octets); }

  std::span<const std::byte, kSdkBytes> sdk() const { return std::span(octets).first<kSdkBytes>(); }
  std::span<const std::byte, kIvMaskBytes> iv_mask() const {
    return std::span(octets).subspan<kSdkBytes, kIvMaskBytes>();
  }
};

class Kdf {
 public:
  ~Kdf() { forget_master(); }

  // A set-up act; fails like Aead::create.
  Result<void> create();

  [[nodiscard]] bool set_master(std::span<const std::byte, kSdkBytes> master);
  void forget_master();

  // Derives the keys for a packet with that header from the master; `owner` as in kdf_input. Of
  // `key` the mode and the fields of the context count, not the secret. False: no master, or the
  // library failed. Cost: 0.2 us.
  [[nodiscard]] bool derive(const Key& key, const wire::TssHeader& header,
                            const wire::IpAddress& owner, KeyMaterial& out) const;

  // AES-256-CMAC of whole blocks, at least one: what derive() is built of.
  [[nodiscard]] bool mac(std::span<const std::byte> blocks,
                         std::span<std::byte, kBlockBytes> out) const;

 private:
  BlockCipher cipher_;
  std::array<std::byte, kBlockBytes> subkey_{};  // K1 of CMAC [TSS-133]
  bool has_master_ = false;
};

}  // namespace uet::tss
