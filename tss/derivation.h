// Inputs of the ciphers of TSS: key derivation, nonce, additional authenticated data. The caller
// runs the ciphers; nothing here keeps state.
#pragma once

#include "tss/key.h"

#include "wire/ip_address.h"
#include "wire/tss.h"

#include <span>

namespace uet::tss {

// The input of AES-CMAC for one block of key material. [TSS-034, TSS-035]
struct KdfInput {
  std::array<std::byte, 32> octets{};
  uint32_t size = 0;  // 16 or 32
  std::span<const std::byte> span() const { return std::span(octets).first(size); }
};
constexpr uint8_t kKdfBlocks = 3;  // of 16 octets: 44 are used

using Nonce = std::array<std::byte, 12>;

// Whether SDK and IV mask are derived for each source. [TSS-030, TSS-031]
constexpr bool is_derived(Mode mode) { return mode == Mode::cluster || mode == Mode::server; }

// Whether the identity in the context is an address: then the derivation depends on whose address
// it is. [TSS-012, TSS-014]
bool is_of_address(const Key& key, const wire::TssHeader& header, wire::IpFamily family);

// False for IPv6 without SSI but in cluster mode: sources would share nonces. [TSS-015]
bool is_allowed(Mode mode, const wire::TssHeader& header, wire::IpFamily family);

// Part of the context that changes with the counter. [TSS-036]
uint32_t rekey_of(const Key& key, uint64_t counter);

// Input of block 1 to 3. `owner` is the owner of the key: the source of the packet in cluster mode,
// the client of the two in server mode. [TSS-030, TSS-031, TSS-033]
KdfInput kdf_input(const Key& key, const wire::TssHeader& header, const wire::IpAddress& owner,
                   uint8_t block);

// `source` is the source address of the packet. [TSS-011..014, TSS-018]
Nonce raw_nonce(const wire::TssHeader& header, const wire::IpAddress& source);
void apply_mask(Nonce& nonce, std::span<const std::byte, kIvMaskBytes> mask);

// Addresses, transport, security header, octets in clear. [TSS-019, TSS-020]
class Aad {
 public:
  // `transport` is the entropy header, or that of UDP, whose checksum counts as 0. [TSS-025]
  Aad(const wire::IpAddress& source, const wire::IpAddress& destination,
      std::span<const std::byte> transport);
  // The security header and the clear octets after it: at most 16 and 64 octets.
  void add(std::span<const std::byte> octets);
  std::span<const std::byte> span() const { return std::span(octets_).first(size_); }

 private:
  static constexpr uint32_t kTransportBytesMax = 8;
  std::array<std::byte, 2 * 16 + kTransportBytesMax + wire::TssHeader::kSizeSsi + kClearBytesMax>
      octets_{};
  uint32_t size_ = 0;
};

}  // namespace uet::tss
