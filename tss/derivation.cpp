// The layouts of the context, the nonce and the additional authenticated data.
#include "tss/derivation.h"

#include "wire/ip.h"
#include "wire/writer.h"

#include <cstring>

namespace uet::tss {

using wire::IpAddress;
using wire::IpFamily;
using wire::TssHeader;

namespace {

std::span<const std::byte> octets_of(const IpAddress& address) {
  return std::as_bytes(std::span(address.octets)).first(address.size());
}

}  // namespace

bool is_of_address(const Key& key, const TssHeader& header, IpFamily family) {
  if (!is_derived(key.mode)) return false;
  return !header.sp || (family == IpFamily::v6 && key.kdf_ssi_v6 == SsiContext::address);
}

bool is_allowed(Mode mode, const TssHeader& header, IpFamily family) {
  return family == IpFamily::v4 || header.sp || mode == Mode::cluster;
}

uint32_t rekey_of(const Key& key, uint64_t counter) {
  if (key.mode != Mode::cluster) return 0;
  return static_cast<uint32_t>((counter & key.rekey_mask) >> key.rekey_shift);
}

// |block(1)|label(2)|0(1)|context: [0(4) of IPv6] epoch(2) rekey(4) identity(4 or 16)|L(2) = 352|
KdfInput kdf_input(const Key& key, const TssHeader& header, const IpAddress& owner, uint8_t block) {
  constexpr uint16_t kLengthBits = 352;  // in 16 bits: other lengths give other keys [TSS-038]
  KdfInput input;
  wire::Writer w(input.octets);
  const bool of_address = is_of_address(key, header, owner.family);
  w.u8(block);
  w.u8('U');
  w.u8(key.mode == Mode::server ? '2' : '1');
  w.u8(0);
  if (of_address && owner.family == IpFamily::v6) w.u32(0);
  w.u16(header.epoch());
  w.u32(rekey_of(key, header.counter()));
  if (of_address) {
    w.bytes(octets_of(owner));
  } else {
    w.u32(header.ssi);
  }
  w.u16(kLengthBits);
  input.size = static_cast<uint32_t>(w.position());
  return input;
}

Nonce raw_nonce(const TssHeader& header, const IpAddress& source) {
  Nonce nonce;
  wire::Writer w(nonce);
  if (header.sp) {
    w.u32(header.ssi);
  } else if (source.family == IpFamily::v4) {
    w.bytes(octets_of(source));
  } else {
    w.u32(header.sdi);
  }
  w.u64(header.tsc);
  return nonce;
}

void apply_mask(Nonce& nonce, std::span<const std::byte, kIvMaskBytes> mask) {
  for (size_t i = 0; i < nonce.size(); ++i) nonce[i] ^= mask[i];
}

Aad::Aad(const IpAddress& source, const IpAddress& destination,
         std::span<const std::byte> transport) {
  constexpr size_t kChecksumAt = 6;
  add(octets_of(source));
  add(octets_of(destination));
  const uint32_t at = size_;
  add(transport);
  if (transport.size() == wire::UdpHeader::kSize) {
    std::memset(octets_.data() + at + kChecksumAt, 0, 2);
  }
}

void Aad::add(std::span<const std::byte> octets) {
  UET_ASSERT(octets.size() <= octets_.size() - size_);
  if (octets.empty()) return;
  std::memcpy(octets_.data() + size_, octets.data(), octets.size());
  size_ += static_cast<uint32_t>(octets.size());
}

}  // namespace uet::tss
