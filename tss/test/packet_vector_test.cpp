// Whole packets, sealed and opened, octet for octet against the vectors of the reference, part D.
#include "tss/test/end.h"

namespace uet::tss::test {
namespace {

// The key of a packet: the master it is derived from, or the key itself.
Key packet_key(const Json& packet) {
  Key key;
  for (const Json& kdf : vectors("kdf")) {
    if (kdf.at("id") == packet.at("kdf")) key = key_of(kdf);
  }
  if (text(packet, "kdf").empty()) {
    const Octets secret = octets_of(text(packet, "key"));
    std::copy(secret.begin(), secret.end(), key.secret.begin());
  }
  key.sdi = static_cast<uint32_t>(hex(packet, "sdi"));
  key.an = packet.at("an") == 1;
  key.mode = mode_of(packet);
  key.kdf_ssi_v6 = text(packet, "kdf_ssi_v6") == "ssi" ? SsiContext::ssi : SsiContext::address;
  key.clear_bytes =
      static_cast<uint8_t>(hex(packet, "crypto_offset") - text(packet, "tss_header").size() / 2);
  return key;
}

Route packet_route(const Json& packet) {
  const Octets transport = octets_of(text(packet, "encap_header"));
  Route route{.source = address_of(text(packet, "src")),
              .destination = address_of(text(packet, "dst"))};
  route.carriage = transport.size() == 4 ? Carriage::native : Carriage::udp;
  route.entropy = wire::load_u16(transport.data());
  if (route.carriage == Carriage::udp) {
    route.destination_port = wire::load_u16(transport.data() + 2);
  } else {
    route.reserved = wire::load_u16(transport.data() + 2);
  }
  return route;
}

// In mode server the client of the vectors is 192.168.42.1, or has an SSI.
bool is_from_client(const Json& packet) { return text(packet, "src") != "c0a82a02"; }

// The keys that the server of a vector gave its client: SDK and IV mask for one epoch. [TSS-031]
Key client_key(const Json& packet, uint16_t epoch) {
  Key key = packet_key(packet);
  key.mode = Mode::client;
  key.epoch = epoch;
  const Octets sdk = octets_of(text(packet, "key"));
  const Octets mask = octets_of(text(packet, "iv_mask"));
  std::copy(sdk.begin(), sdk.end(), key.secret.begin());
  std::copy(mask.begin(), mask.end(), key.iv_mask.begin());
  return key;
}

struct Case {
  explicit Case(const Json& packet)
      : tx_key(packet_key(packet)), route(packet_route(packet)), sealed(text(packet, "uet")) {
    const size_t header = text(packet, "tss_header").size();
    content = octets_of(sealed.substr(header, 2 * tx_key.clear_bytes) + text(packet, "plaintext"));
    const TssHeader h = header_of(text(packet, "tss_header"));
    if (h.sp) ssi = h.ssi;
    epoch = h.epoch();
    counter = h.counter();
    rx_key = tx_key;
    if (tx_key.mode == Mode::server) {
      (is_from_client(packet) ? tx_key : rx_key) = client_key(packet, epoch);
    }
  }

  // Seals with the counter of the vector.
  Octets seal(End& end) const {
    SecureDomain& domain = add(end, tx_key);
    EXPECT_TRUE(domain.transmit_with(tx_key.an, kBegin).ok());
    if (tx_key.mode != Mode::client) {
      EXPECT_TRUE(domain.advance_epoch(tx_key.an, epoch).ok());
    }
    domain.grant(tx_key.an, counter, counter + 1);
    const auto client = tx_key.mode == Mode::server ? ssi : std::nullopt;
    return end.seal(content, route, kBegin, client, tx_key.sdi);
  }
  void receive_at(End& end) const { add(end, rx_key); }

  Key tx_key, rx_key;
  Route route;
  std::string sealed;
  Octets content;
  std::optional<uint32_t> ssi;
  uint16_t epoch = 0;
  uint64_t counter = 0;

 private:
  SecureDomain& add(End& end, const Key& key) const {
    DomainTerms terms = terms_of(key.mode, ssi);
    terms.sdi = key.sdi;
    SecureDomain& domain = end.add(terms, route.source.family);
    EXPECT_TRUE(end.domains.install(key, kBegin).ok());
    return domain;
  }
};

// [TSS-004..006, TSS-008, TSS-009, TSS-018, TSS-019, TSS-029..031, TSS-033, TSS-122..130]
TEST(PacketVectorTest, SealedPacketsEqualTheVectors) {
  size_t compared = 0;
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    const Case c(packet);
    End end;
    EXPECT_EQ(hex_of(c.seal(end)), c.sealed) << name(end.refusal);
    ++compared;
  }
  EXPECT_EQ(compared, 18U);
}

// [TSS-004, TSS-079, TSS-094, TSS-122..130] And they open again, at an end with the same key.
TEST(PacketVectorTest, SealedPacketsOfTheVectorsOpen) {
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    const Case c(packet);
    End end;
    c.receive_at(end);
    EXPECT_EQ(hex_of(end.unseal(octets_of(c.sealed), c.route)), hex_of(c.content))
        << name(end.refusal);
    EXPECT_EQ(end.by.sdi, c.rx_key.sdi);
    EXPECT_EQ(end.by.an, c.rx_key.an);
    EXPECT_EQ(end.by.tsc, uint64_t{c.epoch} << 48 | c.counter);
    EXPECT_EQ(end.by.source, c.ssi ? Identity::of(*c.ssi) : Identity::of(c.route.source));
  }
}

// [TSS-021, TSS-022, TSS-131] Every bit of the addresses, the transport header and the packet.
TEST(PacketVectorTest, ABitThatIsChangedAnywhereIsRefused) {
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    const Case c(packet);
    End end;
    c.receive_at(end);
    const Octets good = octets_of(c.sealed);
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      Octets changed = good;
      changed[bit / 8] ^= static_cast<std::byte>(0x80U >> bit % 8);
      EXPECT_NE(end.verdict(changed, c.route), "ok") << bit;
    }
    for (size_t bit = 0; bit < 8 * size_t{c.route.source.size()}; ++bit) {
      Route other = c.route;
      other.source.octets[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
      EXPECT_EQ(end.verdict(good, other), "forged") << bit;
      other = c.route;
      other.destination.octets[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
      EXPECT_EQ(end.verdict(good, other), "forged") << bit;
    }
    for (unsigned bit = 0; bit < 16; ++bit) {
      const auto mask = static_cast<uint16_t>(1U << bit);
      Route other = c.route;
      other.entropy ^= mask;
      EXPECT_EQ(end.verdict(good, other), "forged") << bit;
      other = c.route;
      (other.carriage == Carriage::udp ? other.destination_port : other.reserved) ^= mask;
      EXPECT_EQ(end.verdict(good, other), "forged") << bit;
    }
    EXPECT_EQ(end.verdict(good, c.route), "ok");
  }
}

}  // namespace
}  // namespace uet::tss::test
