// AES by OpenSSL 3. A failing call leaves entries in the library's error queue of this thread: they
// are dropped then, and only then. [TSS-134, TSS-137]
#include "tss/cipher.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

namespace uet::tss {

namespace {

const unsigned char* raw(std::span<const std::byte> octets) {
  return reinterpret_cast<const unsigned char*>(octets.data());
}
unsigned char* room(std::span<std::byte> octets) {
  return reinterpret_cast<unsigned char*>(octets.data());
}
int size(std::span<const std::byte> octets) {
  UET_ASSERT(octets.size() <= INT32_MAX);
  return static_cast<int>(octets.size());
}

bool failed() {
  ERR_clear_error();
  return false;
}

enum Direction : int {
  kDecrypt = 0,
  kEncrypt = 1,
  kAsBefore = -1
};

bool begin(EVP_CIPHER_CTX* context, const Nonce& nonce, std::span<const std::byte> aad,
           Direction direction) {
  int written = 0;
  return EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, raw(nonce), direction) == 1 &&
         (aad.empty() || EVP_CipherUpdate(context, nullptr, &written, raw(aad), size(aad)) == 1);
}

// Nothing is buffered: as many octets come out as went in.
bool update(EVP_CIPHER_CTX* context, std::span<const std::byte> in, std::byte* out) {
  int written = 0;
  return in.empty() || (EVP_CipherUpdate(context, reinterpret_cast<unsigned char*>(out), &written,
                                         raw(in), size(in)) == 1 &&
                        written == size(in));
}

}  // namespace

void wipe(std::span<std::byte> secret) { OPENSSL_cleanse(secret.data(), secret.size()); }

CipherContext::~CipherContext() { EVP_CIPHER_CTX_free(context_); }

Result<void> CipherContext::create(const char* cipher) {
  UET_ASSERT(context_ == nullptr);
  // Threads may seal while the process ends: the library must not be torn down under them. Without
  // effect where the program itself uses the library and began first.
  (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  EVP_CIPHER* const fetched = EVP_CIPHER_fetch(nullptr, cipher, nullptr);
  const auto started = start(fetched);
  EVP_CIPHER_free(fetched);  // the context has a separate reference
  return started;
}

Result<void> CipherContext::create_like(const CipherContext& other) {
  UET_ASSERT(context_ == nullptr && other.context_ != nullptr);
  return start(EVP_CIPHER_CTX_get0_cipher(other.context_));
}

Result<void> CipherContext::start(const evp_cipher_st* cipher) {
  context_ = EVP_CIPHER_CTX_new();
  const bool is_ready =
      cipher != nullptr && context_ != nullptr &&
      EVP_CipherInit_ex2(context_, cipher, nullptr, nullptr, kEncrypt, nullptr) == 1 &&
      EVP_CIPHER_CTX_set_padding(context_, 0) == 1;
  if (is_ready) return {};
  failed();
  return context_ == nullptr ? Errc::no_memory : Errc::unsupported;
}

bool CipherContext::set_key(std::span<const std::byte> key) {
  if (context_ == nullptr) return false;
  UET_ASSERT(size(key) == EVP_CIPHER_CTX_get_key_length(context_));
  return EVP_CipherInit_ex(context_, nullptr, nullptr, raw(key), nullptr, kAsBefore) == 1 ||
         failed();
}

Result<void> Aead::create(AeadKind kind) {
  kind_ = kind;
  return context_.create(kind == AeadKind::aes_256_gcm ? "AES-256-GCM" : "AES-128-GCM");
}

Result<void> Aead::create_like(const Aead& other) {
  kind_ = other.kind_;
  return context_.create_like(other.context_);
}

bool Aead::set_key(std::span<const std::byte> key) {
  has_key_ = context_.set_key(key);
  return has_key_;
}

void Aead::forget_key() {
  constexpr std::array<std::byte, kSdkBytes> kZeros{};
  if (!has_key_) return;
  const bool is_overwritten = context_.set_key(std::span(kZeros).first(key_bytes(kind_)));
  UET_ASSERT(is_overwritten);
  has_key_ = false;
}

bool Aead::seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> head,
                std::span<const IoSlice> tail, std::span<std::byte> out,
                std::span<std::byte, kIcvBytes> icv) {
  if (!has_key_) return false;
  EVP_CIPHER_CTX* const context = context_.get();
  bool is_good = begin(context, nonce, aad, kEncrypt) && update(context, head, out.data());
  size_t at = head.size();
  for (const IoSlice& slice : tail) {
    UET_ASSERT(slice.length <= out.size() - at);
    is_good = is_good && update(context, {slice.data, slice.length}, out.data() + at);
    at += slice.length;
  }
  UET_ASSERT(at == out.size());
  int written = 0;
  is_good = is_good && EVP_CipherFinal_ex(context, room(icv), &written) == 1 &&
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kIcvBytes, icv.data()) == 1;
  if (is_good) return true;
  wipe(out);
  return failed();
}

bool Aead::unseal(const Nonce& nonce, std::span<const std::byte> aad, std::span<std::byte> octets,
                  std::span<const std::byte, kIcvBytes> icv) {
  EVP_CIPHER_CTX* const context = context_.get();
  Icv expected;
  std::copy(icv.begin(), icv.end(), expected.begin());
  int written = 0;
  const bool is_good =
      has_key_ && begin(context, nonce, aad, kDecrypt) && update(context, octets, octets.data()) &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kIcvBytes, expected.data()) == 1 &&
      EVP_CipherFinal_ex(context, room(expected), &written) == 1;
  if (is_good) return true;
  wipe(octets);
  return failed();
}

bool Aead::decrypt_unverified(const Nonce& nonce, std::span<std::byte> octets) {
  EVP_CIPHER_CTX* const context = context_.get();
  if (has_key_ && begin(context, nonce, {}, kDecrypt) && update(context, octets, octets.data())) {
    return true;
  }
  wipe(octets);
  return failed();
}

Result<void> BlockCipher::create() { return context_.create("AES-256-ECB"); }

bool BlockCipher::set_key(std::span<const std::byte, kSdkBytes> key) {
  return context_.set_key(key);
}

bool BlockCipher::encrypt(std::span<const std::byte> in, std::span<std::byte> out) const {
  UET_ASSERT(in.size() == out.size() && in.size() % kBlockBytes == 0);
  if (context_.get() != nullptr && update(context_.get(), in, out.data())) return true;
  return failed();
}

}  // namespace uet::tss
