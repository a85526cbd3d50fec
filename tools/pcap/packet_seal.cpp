// AES-CMAC and AES-256-GCM by OpenSSL. What goes into them is tss/'s. [TSS-026, TSS-034]
#include "tools/pcap/packet_seal.h"

#include <openssl/evp.h>

#include <memory>

namespace uet::tools {

namespace {

using Octets = std::vector<std::byte>;
using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

constexpr size_t kBlockBytes = 16;
constexpr size_t kIcvBytes = wire::TssHeader::kIcvBytes;

const unsigned char* raw(std::span<const std::byte> octets) {
  return reinterpret_cast<const unsigned char*>(octets.data());
}

int size(std::span<const std::byte> octets) { return static_cast<int>(octets.size()); }

// Appends what of the plaintext is encrypted, then the ICV.
bool encrypt(std::span<const std::byte> sdk, const tss::Nonce& nonce,
             std::span<const std::byte> aad, std::span<const std::byte> plaintext, Octets& out) {
  const size_t at = out.size();
  out.resize(at + plaintext.size() + kIcvBytes);
  auto* const room = reinterpret_cast<unsigned char*>(out.data()) + at;
  int written = 0;
  const Context context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  return EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(sdk), raw(nonce)) &&
         EVP_EncryptUpdate(context.get(), nullptr, &written, raw(aad), size(aad)) &&
         (plaintext.empty() ||
          EVP_EncryptUpdate(context.get(), room, &written, raw(plaintext), size(plaintext))) &&
         EVP_EncryptFinal_ex(context.get(), room + plaintext.size(), &written) &&
         EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kIcvBytes,
                             room + plaintext.size());
}

}  // namespace

bool derive(const tss::Key& key, const wire::TssHeader& header, const wire::IpAddress& owner,
            KeyMaterial& out) {
  std::copy(key.secret.begin(), key.secret.end(), out.begin());
  std::copy(key.iv_mask.begin(), key.iv_mask.end(), out.begin() + tss::kSdkBytes);
  if (!tss::is_derived(key.mode)) return true;
  for (uint8_t block = 0; block < tss::kKdfBlocks; ++block) {
    const auto number = static_cast<uint8_t>(block + 1);
    const tss::KdfInput input = tss::kdf_input(key, header, owner, number);
    size_t written = 0;
    const unsigned char* const made = EVP_Q_mac(
        nullptr, "CMAC", nullptr, "AES-256-CBC", nullptr, key.secret.data(), key.secret.size(),
        raw(input.span()), input.size,
        reinterpret_cast<unsigned char*>(out.data()) + block * kBlockBytes, kBlockBytes, &written);
    if (made == nullptr || written != kBlockBytes) return false;
  }
  return true;
}

std::string Sealer::take_keys(std::string_view text) {
  uint32_t line = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    ++line;
    const tss::KeyLine parsed = tss::parse_key_line(one);
    if (parsed.problem != nullptr) {
      const std::string field(parsed.field);
      return std::to_string(line) + ": " + field + (field.empty() ? "" : ": ") + parsed.problem;
    }
    if (parsed.key) keys_.push_back({*parsed.key, line});
  }
  return {};
}

size_t Sealer::overhead(const Seal& how) {
  return (how.ssi ? wire::TssHeader::kSizeSsi : wire::TssHeader::kSize) + kIcvBytes;
}

const Sealer::KnownKey* Sealer::key_for(const Seal& how) const {
  const uint32_t sdi = how.sdi ? *how.sdi : *sdi_of_all;
  const KnownKey* found = nullptr;
  for (const KnownKey& known : keys_) {
    const bool fits = known.key.sdi == sdi && (!how.an || known.key.an == (*how.an != 0)) &&
                      (!known.key.epoch || *known.key.epoch == how.epoch) &&
                      (how.key_line == 0 || known.line == how.key_line);
    if (fits) found = &known;
  }
  return found;
}

// [TSS-039]
uint64_t Sealer::next_counter(const Seal& how, uint32_t key_line, const SealedRoute& route) {
  Octets identity;
  if (how.ssi) {
    for (unsigned i = 0; i < 4; ++i) identity.push_back(std::byte(*how.ssi >> 8 * i));
  } else {
    const auto octets = std::as_bytes(std::span(route.source.octets));
    identity.assign(octets.begin(), octets.end());
  }
  uint64_t& next = counters_[{key_line, identity}];
  if (how.counter) next = *how.counter;
  return next++;
}

std::string Sealer::seal(const Seal& how, const SealedRoute& route,
                         std::span<const std::byte> content, Octets& out) {
  const KnownKey* const known = key_for(how);
  if (known == nullptr) return "the key file has no such key";
  const tss::Key& key = known->key;
  wire::TssHeader header;
  header.an = key.an;
  header.sdi = key.sdi;
  header.sp = how.ssi.has_value();
  header.ssi = how.ssi.value_or(0);
  header.tsc = uint64_t{how.epoch} << 48 | next_counter(how, known->line, route);
  if (!tss::is_allowed(key.mode, header, route.source.family)) {
    return "IPv6 without ssi is for mode cluster";  // [TSS-015]
  }
  KeyMaterial material;
  if (!derive(key, header, how.from_server ? route.destination : route.source, material)) {
    return "OpenSSL cannot derive the key";
  }
  const std::span octets(material);
  tss::Nonce nonce = tss::raw_nonce(header, route.source);
  if (key.mode != tss::Mode::direct) {
    tss::apply_mask(nonce, octets.subspan<tss::kSdkBytes, tss::kIvMaskBytes>());
  }
  const size_t at = out.size();
  out.resize(at + header.size());
  wire::Writer w{std::span(out).subspan(at)};
  header.emit(w);
  const auto clear = content.first(std::min<size_t>(key.clear_bytes, content.size()));
  out.insert(out.end(), clear.begin(), clear.end());
  tss::Aad aad(route.source, route.destination, route.transport);
  aad.add(std::span(out).subspan(at));
  const bool sealed = encrypt(octets.first<tss::kSdkBytes>(), nonce, aad.span(),
                              content.subspan(clear.size()), out);
  return sealed ? "" : "OpenSSL cannot seal";
}

}  // namespace uet::tools
