// One end with secure domains, as the tests of sealing use it: small tables, and every counter of a
// key granted unless the test says otherwise.
#pragma once

#include "tss/opener.h"
#include "tss/sealer.h"
#include "tss/test/vectors.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace uet::tss::test {

inline constexpr Instant kBegin = Instant::from_ns(1'000'000'000'000);
inline constexpr uint32_t kSdi = 7;

inline IpAddress v4(uint32_t last) { return IpAddress::v4(0x0A000000 + last); }
inline IpAddress v6(uint8_t last) {
  return IpAddress::v6({0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last});
}

inline Route udp_route(const IpAddress& from, const IpAddress& to) {
  return {.source = from, .destination = to, .entropy = 0xC242, .destination_port = 4793};
}
inline Route native_route(const IpAddress& from, const IpAddress& to) {
  return {.source = from, .destination = to, .carriage = Carriage::native, .entropy = 0x4242};
}

inline constexpr uint32_t kSsi = 0x0A0B0C0D;
inline const Route kThere = udp_route(v4(1), v4(2));
inline const Route kBack = udp_route(v4(2), v4(1));

inline Key key_with(Mode mode, uint8_t filled_with, bool an = false) {
  Key key;
  key.sdi = kSdi;
  key.an = an;
  key.mode = mode;
  key.secret.fill(std::byte{filled_with});
  if (mode == Mode::client) {
    key.iv_mask.fill(std::byte{0x5A});
    key.epoch = 0;
  }
  return key;
}

inline DomainTerms terms_of(Mode mode, std::optional<uint32_t> ssi = std::nullopt) {
  DomainTerms terms;
  terms.sdi = kSdi;
  terms.mode = mode;
  terms.use_ssi = ssi.has_value();
  terms.ssi = ssi.value_or(0);
  return terms;
}

class End {
 public:
  static DomainsConfig small() {
    DomainsConfig config;
    config.domains = 4;
    config.ready_keys = 6;
    config.sources = 4;
    config.replay_packets = 256;
    config.members = 8;
    config.clients = 100;
    return config;
  }

  explicit End(const DomainsConfig& config = small()) : secrets(2 * config.domains) {
    const auto created = domains.create(arena, config, secrets, 1);
    EXPECT_TRUE(created.ok());
  }

  SecureDomain& add(const DomainTerms& terms, wire::IpFamily family = wire::IpFamily::v4) {
    const auto added = domains.add(terms, family);
    EXPECT_TRUE(added.ok());
    return **added;
  }
  // Installs the key, transmits with it, and grants all its counters.
  void take(const Key& key, Instant now = kBegin) {
    ASSERT_TRUE(domains.install(key, now).ok());
    SecureDomain& domain = *domains.find(key.sdi);
    ASSERT_TRUE(domain.transmit_with(key.an, now).ok());
    domain.grant(key.an, domain.slot(key.an).secret->counter.next(), kCounterMax);
  }

  // The sealed packet; empty when it was refused.
  Octets seal(const Octets& content, const Route& route, Instant now = kBegin,
              std::optional<uint32_t> client_ssi = std::nullopt, uint32_t sdi = kSdi) {
    Octets room(content.size() + kSealBytesMax);
    ClearPacket packet{.header = content,
                       .payload = {},
                       .sdi = sdi,
                       .route = route,
                       .client_ssi = client_ssi,
                       .room = room};
    const bool is_sealed = sealer.seal(packet, now);
    EXPECT_EQ(is_sealed, packet.refusal == Refusal::count_);
    refusal = packet.refusal;
    room.resize(packet.sealed_bytes);
    return room;
  }
  // The content; `refusal` is the reason if there is none.
  Octets unseal(Octets packet, const Route& route, Instant now = kBegin) {
    const auto opened = opener.unseal(packet, route, now);
    refusal = opened.ok() ? Refusal::count_ : opened.error();
    if (!opened.ok()) return {};
    by = opened->by;
    return {opened->content.begin(), opened->content.end()};
  }
  // The result: "ok", or the name of the refusal.
  std::string verdict(const Octets& packet, const Route& route, Instant now = kBegin) {
    unseal(packet, route, now);
    return refusal == Refusal::count_ ? "ok" : name(refusal);
  }
  uint64_t counted(Count c) {
    SecureDomain* const domain = domains.find(kSdi);
    return domain == nullptr ? domains.port_counts()[c] : domain->counts()[c];
  }

  Arena arena;
  std::vector<KeySecret> secrets;
  Domains domains;
  Sealer sealer{domains};
  Opener opener{domains};
  Refusal refusal = Refusal::count_;
  Verified by;
};

// A request of RUD with some payload.
inline Octets content(size_t payload = 20) {
  Octets octets = octets_of("118c00000001000000010000");
  for (size_t i = 0; i < payload; ++i) octets.push_back(static_cast<std::byte>(i));
  return octets;
}

}  // namespace uet::tss::test
