// Replaces cipher_openssl.cpp in builds without OpenSSL: no cipher can be created, so no packet is
// sealed or opened.
#include "tss/cipher.h"

#include "base/assert.h"

namespace uet::tss {

void wipe(std::span<std::byte> secret) {
  for (std::byte& octet : secret) {
    *const_cast<volatile std::byte*>(&octet) = std::byte{0};
  }
}

CipherContext::~CipherContext() { UET_ASSERT(context_ == nullptr); }
Result<void> CipherContext::create(const char*) { return Errc::unsupported; }
Result<void> CipherContext::create_like(const CipherContext&) { return Errc::unsupported; }
Result<void> CipherContext::start(const evp_cipher_st*) { return Errc::unsupported; }
bool CipherContext::set_key(std::span<const std::byte>) { return false; }

Result<void> Aead::create(AeadKind kind) {
  kind_ = kind;
  return Errc::unsupported;
}
Result<void> Aead::create_like(const Aead& other) { return create(other.kind_); }
bool Aead::set_key(std::span<const std::byte>) { return has_key_; }
void Aead::forget_key() {}
bool Aead::seal(const Nonce&, std::span<const std::byte>, std::span<const std::byte>,
                std::span<const IoSlice>, std::span<std::byte>, std::span<std::byte, kIcvBytes>) {
  return false;
}
bool Aead::unseal(const Nonce&, std::span<const std::byte>, std::span<std::byte> octets,
                  std::span<const std::byte, kIcvBytes>) {
  wipe(octets);
  return false;
}
bool Aead::decrypt_unverified(const Nonce&, std::span<std::byte> octets) {
  wipe(octets);
  return false;
}

Result<void> BlockCipher::create() { return Errc::unsupported; }
bool BlockCipher::set_key(std::span<const std::byte, kSdkBytes>) { return false; }
bool BlockCipher::encrypt(std::span<const std::byte>, std::span<std::byte>) const { return false; }

}  // namespace uet::tss
