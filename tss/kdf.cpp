// CMAC of whole blocks: CBC-MAC with the first subkey added to the last block. [TSS-133]
#include "tss/kdf.h"

namespace uet::tss {

namespace {

using Block = std::array<std::byte, kBlockBytes>;

void add(std::span<std::byte> to, std::span<const std::byte> octets) {
  for (size_t i = 0; i < to.size(); ++i) to[i] ^= octets[i];
}

// Multiplication by x in the field of CMAC.
void double_in_field(Block& block) {
  constexpr std::byte kPolynomial{0x87};
  const bool carries = (block[0] & std::byte{0x80}) != std::byte{0};
  for (size_t i = 0; i < block.size(); ++i) {
    const std::byte next = i + 1 < block.size() ? block[i + 1] : std::byte{0};
    block[i] = block[i] << 1 | next >> 7;
  }
  if (carries) block.back() ^= kPolynomial;
}

}  // namespace

Result<void> Kdf::create() { return cipher_.create(); }

bool Kdf::set_master(std::span<const std::byte, kSdkBytes> master) {
  subkey_ = {};
  has_master_ = cipher_.set_key(master) && cipher_.encrypt(subkey_, subkey_);
  double_in_field(subkey_);
  return has_master_;
}

void Kdf::forget_master() {
  constexpr std::array<std::byte, kSdkBytes> kZeros{};
  if (!has_master_) return;
  const bool is_overwritten = cipher_.set_key(kZeros);
  UET_ASSERT(is_overwritten);
  wipe(subkey_);
  has_master_ = false;
}

bool Kdf::mac(std::span<const std::byte> blocks, std::span<std::byte, kBlockBytes> out) const {
  UET_ASSERT(!blocks.empty() && blocks.size() % kBlockBytes == 0);
  if (!has_master_) return false;
  Block state{};
  while (!blocks.empty()) {
    add(state, blocks.first(kBlockBytes));
    blocks = blocks.subspan(kBlockBytes);
    if (blocks.empty()) add(state, subkey_);
    if (!cipher_.encrypt(state, state)) return false;
  }
  std::copy(state.begin(), state.end(), out.begin());
  wipe(state);
  return true;
}

bool Kdf::derive(const Key& key, const wire::TssHeader& header, const wire::IpAddress& owner,
                 KeyMaterial& out) const {
  UET_ASSERT(is_derived(key.mode));
  for (uint8_t i = 0; i < kKdfBlocks; ++i) {
    const KdfInput input = kdf_input(key, header, owner, static_cast<uint8_t>(i + 1));
    const std::span<std::byte, kBlockBytes> block(out.octets.data() + i * kBlockBytes, kBlockBytes);
    if (!mac(input.span(), block)) return false;
  }
  return true;
}

}  // namespace uet::tss
