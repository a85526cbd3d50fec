// AES as TSS uses it: GCM for packets, single blocks for the key derivation. The only place that
// knows a cipher library: cipher_openssl.cpp, or cipher_none.cpp in a build without one. Contexts
// are made at set-up; nothing is allocated, looked up or fetched for a packet. [TSS-134, TSS-137]
#pragma once

#include "tss/derivation.h"

#include "base/packet.h"
#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

struct evp_cipher_ctx_st;
struct evp_cipher_st;

namespace uet::tss {

// Secure domains use AES-256-GCM only [TSS-026]; the other cipher is for callers outside of TSS.
enum class AeadKind : uint8_t {
  aes_256_gcm,
  aes_128_gcm
};
constexpr uint32_t key_bytes(AeadKind kind) { return kind == AeadKind::aes_256_gcm ? 32 : 16; }

constexpr uint32_t kIcvBytes = wire::TssHeader::kIcvBytes;
using Icv = std::array<std::byte, kIcvBytes>;
constexpr uint32_t kBlockBytes = 16;

// Overwrites a secret; the compiler does not leave it out. [TSS-136]
void wipe(std::span<std::byte> secret);

// The library's state of a cipher. Moved, never copied.
class CipherContext {
 public:
  CipherContext() = default;
  ~CipherContext();
  CipherContext(CipherContext&& o) noexcept : context_(std::exchange(o.context_, nullptr)) {}
  CipherContext& operator=(CipherContext&& o) noexcept {
    std::swap(context_, o.context_);
    return *this;
  }

  // Call it during set-up. Errc::unsupported: the library lacks the cipher, or there is no library.
  Result<void> create(const char* cipher);
  // The same cipher as another one, which need not be looked up again.
  Result<void> create_like(const CipherContext& other);
  [[nodiscard]] bool set_key(std::span<const std::byte> key);
  evp_cipher_ctx_st* get() const { return context_; }

 private:
  Result<void> start(const evp_cipher_st* cipher);

  evp_cipher_ctx_st* context_ = nullptr;
};

// Packets under one key, in both directions. Calls return false without a key or when the library
// fails; the output is then wiped.
class Aead {
 public:
  // A set-up act. Errc::unsupported without such a cipher, Errc::no_memory.
  Result<void> create(AeadKind kind = AeadKind::aes_256_gcm);
  // A cipher of the same kind, without the key; takes a tenth of the time.
  Result<void> create_like(const Aead& other);

  // The key has key_bytes(kind) octets. Costs as much as some 500 octets of a packet.
  [[nodiscard]] bool set_key(std::span<const std::byte> key);
  // A key that was set is overwritten.
  void forget_key();
  bool has_key() const { return has_key_; }

  // Encrypts `head` and then `tail` to `out`, which has room for exactly both, and computes the ICV
  // over `aad` and the ciphertext. `nonce` must never have been used with this key. [TSS-026]
  [[nodiscard]] bool seal(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> head, std::span<const IoSlice> tail,
                          std::span<std::byte> out, std::span<std::byte, kIcvBytes> icv);

  // Decrypts in place. False, and `octets` wiped, when the ICV does not match aad and octets: the
  // whole ICV is compared, in the same time for all contents. [TSS-027, T-45]
  [[nodiscard]] bool unseal(const Nonce& nonce, std::span<const std::byte> aad,
                            std::span<std::byte> octets, std::span<const std::byte, kIcvBytes> icv);

  // Decrypts without authentication: the output may come from any sender. [TSS-081]
  [[nodiscard]] bool decrypt_unverified(const Nonce& nonce, std::span<std::byte> octets);

 private:
  CipherContext context_;
  AeadKind kind_ = AeadKind::aes_256_gcm;
  bool has_key_ = false;
};

// AES-256 of whole blocks, each for itself. For Kdf alone.
class BlockCipher {
 public:
  Result<void> create();
  [[nodiscard]] bool set_key(std::span<const std::byte, kSdkBytes> key);
  // Both have the same size, a multiple of kBlockBytes; they may be the same octets.
  [[nodiscard]] bool encrypt(std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  CipherContext context_;
};

}  // namespace uet::tss
