// Header, counter and ICV of a sealed packet. [TSS-026, TSS-034]
#include "tools/pcap/packet_seal.h"

namespace uet::tools {

namespace {
using Octets = std::vector<std::byte>;
}  // namespace

size_t Sealer::overhead(const Seal& how) {
  return (how.ssi ? wire::TssHeader::kSizeSsi : wire::TssHeader::kSize) + tss::kIcvBytes;
}

const PacketKeys::Known* Sealer::key_for(const Seal& how) const {
  const uint32_t sdi = how.sdi ? *how.sdi : *sdi_of_all;
  const PacketKeys::Known* found = nullptr;
  for (const PacketKeys::Known& known : keys_.all()) {
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
  const PacketKeys::Known* const known = key_for(how);
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
  tss::Nonce nonce = tss::raw_nonce(header, route.source);
  if (!keys_.set(key, header, how.from_server ? route.destination : route.source, nonce)) {
    return "OpenSSL cannot derive the key";
  }
  const size_t at = out.size();
  out.resize(at + header.size());
  wire::Writer w{std::span(out).subspan(at)};
  header.emit(w);
  const auto clear = content.first(std::min<size_t>(key.clear_bytes, content.size()));
  out.insert(out.end(), clear.begin(), clear.end());
  tss::Aad aad(route.source, route.destination, route.transport);
  aad.add(std::span(out).subspan(at));
  const auto secret = content.subspan(clear.size());
  const size_t sealed_at = out.size();
  out.resize(sealed_at + secret.size() + tss::kIcvBytes);
  const auto sealed = std::span(out).subspan(sealed_at);
  const bool is_sealed = keys_.aead().seal(
      nonce, aad.span(), secret, {}, sealed.first(secret.size()), sealed.last<tss::kIcvBytes>());
  return is_sealed ? "" : "OpenSSL cannot seal";
}

}  // namespace uet::tools
