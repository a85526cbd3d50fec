// Counters that are never used twice, epochs, repeats, and what forged packets may cost.
#include "tss/test/end.h"

namespace uet::tss::test {
namespace {

// [TSS-039, TSS-041..043]
TEST(TxCounterTest, OnlyGrantedCountersAreUsed) {
  TxCounter counter;
  EXPECT_EQ(counter.take(), std::nullopt) << "zeros: nothing is granted";
  counter.start(0, 100);
  EXPECT_EQ(counter.take(), std::nullopt);
  counter.grant(0, 2);
  EXPECT_EQ(counter.take(), 0u);
  EXPECT_EQ(counter.left(), 1u);
  counter.grant(2, 3);
  EXPECT_EQ(counter.take(), 1u);
  EXPECT_EQ(counter.take(), 2u);
  EXPECT_EQ(counter.take(), std::nullopt);
  counter.grant(50, 60);
  EXPECT_EQ(counter.take(), 50u) << "after a restart: from the mark on";
  counter.grant(10, 20);
  EXPECT_EQ(counter.take(), std::nullopt) << "never back";
  counter.grant(99, 1000);
  EXPECT_EQ(counter.take(), 99u);
  EXPECT_EQ(counter.take(), std::nullopt);
  EXPECT_TRUE(counter.is_used_up());
}

// A block of another worker begins elsewhere: the rest of the old one is not used.
TEST(TxCounterTest, AGrantThatBeginsElsewhereDropsTheRest) {
  TxCounter counter;
  counter.start(0, kCounterMax);
  counter.grant(0, kCountersPerWorker);
  EXPECT_EQ(counter.take(), 0u);
  counter.grant(4096, 4096 + kCountersPerWorker);
  EXPECT_EQ(counter.take(), 4096u);
  EXPECT_EQ(counter.left(), kCountersPerWorker - 1);
}

class CounterTest : public ::testing::Test {
 protected:
  SecureDomain& add(End& end, const DomainTerms& terms, const Key& key) {
    SecureDomain& domain = end.add(terms);
    EXPECT_TRUE(end.domains.install(key, kBegin).ok());
    EXPECT_TRUE(domain.transmit_with(key.an, kBegin).ok());
    return domain;
  }
  // The pair of the client with kSsi, as its server derives it.
  static Key client_pair(const Key& master) {
    Kdf kdf;
    KeyMaterial made;
    EXPECT_TRUE(kdf.create().ok() && kdf.set_master(master.secret));
    EXPECT_TRUE(kdf.derive(master, {.sp = true, .ssi = kSsi}, v4(1), made));
    Key pair = key_with(Mode::client, 0);
    std::ranges::copy(made.sdk(), pair.secret.begin());
    std::ranges::copy(made.iv_mask(), pair.iv_mask.begin());
    return pair;
  }
};

// [TSS-041, TSS-043, TSS-101, T-16] No grant, no packet; and none after the last counter.
TEST_F(CounterTest, WithoutACounterNothingIsSealed) {
  End a;
  SecureDomain& domain = add(a, terms_of(Mode::cluster), key_with(Mode::cluster, 0x11));
  EXPECT_TRUE(a.seal(content(), kThere).empty());
  EXPECT_EQ(a.refusal, Refusal::no_counter);
  EXPECT_EQ(a.counted(Count::out_invoke_fail), 1u);
  domain.grant(false, kCounterMax - 1, ~uint64_t{0});
  EXPECT_EQ(header_of(hex_of(a.seal(content(), kThere))).counter(), kCounterMax - 1);
  EXPECT_TRUE(a.seal(content(), kThere).empty());
  EXPECT_EQ(domain.rotation_due(kBegin), Rotation::used_up);
}

TEST_F(CounterTest, TheLimitCanBeLower) {
  End a;
  DomainTerms terms = terms_of(Mode::cluster);
  terms.counter_end = 10;
  add(a, terms, key_with(Mode::cluster, 0x11)).grant(false, 9, 1000);
  EXPECT_FALSE(a.seal(content(), kThere).empty());
  EXPECT_TRUE(a.seal(content(), kThere).empty());
}

// [TSS-043] What the kernel gives a forked child instead of the secrets: zeros.
TEST_F(CounterTest, AChildWithZeroedSecretsSealsNothing) {
  End a;
  add(a, terms_of(Mode::cluster), key_with(Mode::cluster, 0x11)).grant(false, 0, 1000);
  EXPECT_FALSE(a.seal(content(), kThere).empty());
  std::ranges::fill(std::as_writable_bytes(std::span(a.secrets)), std::byte{0});
  EXPECT_TRUE(a.seal(content(), kThere).empty());
  EXPECT_EQ(a.refusal, Refusal::no_counter);
}

// [TSS-033, TSS-044] With SSI both ends of a server domain have the same nonces except for the
// counter: the server counts in the upper half.
TEST_F(CounterTest, ServersCountInTheUpperHalf) {
  End server, client;
  DomainTerms terms = terms_of(Mode::server, 0);
  terms.strict_direction = true;
  Key master = key_with(Mode::server, 0x11);
  SecureDomain& at_server = add(server, terms, master);
  at_server.grant(false, at_server.slot(false).secret->counter.next(), kCounterMax);

  const Key pair = client_pair(master);
  DomainTerms clients = terms_of(Mode::client, kSsi);
  clients.strict_direction = true;
  SecureDomain& at_client = add(client, clients, pair);
  at_client.grant(false, 0, ~uint64_t{0});
  EXPECT_EQ(at_client.slot(false).secret->counter.granted(), (uint64_t{1} << 47) - 1);

  const Octets request = client.seal(content(), kThere);
  const Octets answer = server.seal(content(), kBack, kBegin, kSsi);
  EXPECT_EQ(header_of(hex_of(request)).counter(), 0u);
  EXPECT_EQ(header_of(hex_of(answer)).counter(), uint64_t{1} << 47);
  EXPECT_EQ(header_of(hex_of(answer)).ssi, kSsi) << "the identity of the client";
  EXPECT_EQ(server.verdict(request, kThere), "ok");
  EXPECT_EQ(client.verdict(answer, kBack), "ok");
  EXPECT_EQ(client.verdict(request, kThere), "wrong_direction");
  EXPECT_EQ(server.verdict(answer, kBack), "wrong_direction");
  EXPECT_TRUE(server.seal(content(), kBack).empty());
  EXPECT_EQ(server.refusal, Refusal::wrong_client);
}

// [TSS-147] A server with a list of clients seals for each address with the SSI of its client, and
// drops packets of a client from the address of another one.
TEST_F(CounterTest, ServersKnowTheirClientsByAddress) {
  End server;
  DomainTerms terms = terms_of(Mode::server, 0);
  terms.has_clients = true;
  const Key master = key_with(Mode::server, 0x11);
  SecureDomain& at_server = add(server, terms, master);
  at_server.grant(false, at_server.slot(false).secret->counter.next(), kCounterMax);
  ASSERT_TRUE(server.domains.add_client(kSdi, v4(1), kSsi).ok());
  ASSERT_TRUE(server.domains.add_client(kSdi, v4(3), kSsi + 1).ok());
  EXPECT_EQ(server.domains.add_client(kSdi, v4(1), 9).error(), Errc::exists);

  const Octets answer = server.seal(content(), kBack);
  EXPECT_EQ(header_of(hex_of(answer)).ssi, kSsi);
  EXPECT_TRUE(server.seal(content(), udp_route(v4(2), v4(4))).empty());
  EXPECT_EQ(server.refusal, Refusal::wrong_client);

  // A client with its own pair, from its own address, from another client's address, and from an
  // unknown one.
  const Key pair = client_pair(master);
  End client;
  add(client, terms_of(Mode::client, kSsi), pair).grant(false, 0, ~uint64_t{0});
  EXPECT_EQ(client.verdict(answer, kBack), "ok");
  EXPECT_EQ(server.verdict(client.seal(content(), kThere), kThere), "ok");
  for (const uint32_t other : {3u, 4u}) {
    const Route from_other = udp_route(v4(other), v4(2));
    EXPECT_EQ(server.verdict(client.seal(content(), from_other), from_other), "not_a_member");
  }
  // They are removed with the domain, and free their room.
  server.domains.remove(kSdi);
  EXPECT_EQ(server.domains.client_of(kSdi, v4(1)), std::nullopt);
  for (uint32_t i = 0; i < End::small().clients; ++i) {
    EXPECT_TRUE(server.domains.add_client(kSdi + 1, v4(i), i).ok()) << i;
  }
  EXPECT_EQ(server.domains.add_client(kSdi + 1, v4(200), 200).error(), Errc::again);
}

// [TSS-044] Off by default, for peers that begin at 0.
TEST_F(CounterTest, DirectionsAreNotCheckedUnlessAsked) {
  End a, b;
  for (End* end : {&a, &b}) {
    add(*end, terms_of(Mode::client, kSsi), key_with(Mode::client, 0x11)).grant(false, 0, 10);
  }
  EXPECT_EQ(b.verdict(a.seal(content(), kThere), kThere), "ok");
}

// [TSS-056] Rows of the reference, and the values of wire/test/data.
TEST(EpochTest, LateIsOlderByMoreThanTheLifetime) {
  size_t compared = 0;
  for (const Json& row : vectors("epoch")) {
    const auto current = static_cast<uint16_t>(hex(row, "current"));
    const auto packet = static_cast<uint16_t>(hex(row, "packet"));
    const auto lifetime = static_cast<uint16_t>(hex(row, "rx_max_epoch_lifetime"));
    EXPECT_NE(is_late(current, packet, lifetime), row.at("accept").get<bool>()) << row;
    ++compared;
  }
  EXPECT_EQ(compared, 8u);
  EXPECT_EQ(DomainTerms().epoch_lifetime_max, 16);  // [TSS-105]
}

class EpochsTest : public CounterTest {
 protected:
  void SetUp() override {
    add(a_, terms_of(Mode::cluster), key_with(Mode::cluster, 0x11)).grant(false, 0, 1000);
    add(b_, terms_of(Mode::cluster), key_with(Mode::cluster, 0x11));
  }
  Octets in_epoch(uint16_t epoch) {
    EXPECT_TRUE(a_.domains.find(kSdi)->advance_epoch(false, epoch).ok());
    return a_.seal(content(), kThere);
  }
  End a_, b_;
};

// [TSS-052..055, TSS-089, TSS-099] Forged packets move nothing.
TEST_F(EpochsTest, OnlyAuthenticPacketsMakeOthersLate) {
  const Octets in_3 = in_epoch(3);
  const Octets in_4 = in_epoch(4);
  const Octets in_20 = in_epoch(20);
  Octets forged = in_20;
  forged.back() ^= std::byte{1};
  EXPECT_EQ(b_.verdict(forged, kThere), "forged");
  EXPECT_EQ(b_.verdict(in_3, kThere), "ok");
  EXPECT_EQ(b_.verdict(in_20, kThere), "ok");
  EXPECT_EQ(b_.verdict(in_4, kThere), "ok") << "16 behind";
  EXPECT_EQ(b_.verdict(in_3, kThere), "late");
  EXPECT_EQ(b_.counted(Count::in_late_pkts), 1u);
  EXPECT_EQ(b_.counted(Count::key_derive), 4u) << "late ones cost no derivation";
  const Route other = udp_route(v4(9), v4(2));
  EXPECT_EQ(b_.verdict(in_3, other), "forged") << "epochs are of each source";
}

// [TSS-055] For an unknown source the receiver uses the configured epoch.
TEST_F(EpochsTest, AConfiguredFloorReplacesAnUnknownEpoch) {
  const Octets in_30000 = in_epoch(30000);
  EXPECT_EQ(b_.verdict(in_30000, kThere), "ok") << "nothing says that this is old";
  End c;
  add(c, terms_of(Mode::cluster), key_with(Mode::cluster, 0x11)).set_epoch_floor(false, 30017);
  EXPECT_EQ(c.verdict(in_30000, kThere), "late");
  End tolerant;
  DomainTerms terms = terms_of(Mode::cluster);
  terms.rejects_late = false;
  add(tolerant, terms, key_with(Mode::cluster, 0x11)).set_epoch_floor(false, 30017);
  EXPECT_EQ(tolerant.verdict(in_30000, kThere), "ok");
}

// [TSS-052] An epoch only advances; a client's key is for one epoch.
TEST_F(EpochsTest, EpochsOnlyAdvance) {
  SecureDomain& domain = *a_.domains.find(kSdi);
  ASSERT_TRUE(domain.advance_epoch(false, 7).ok());
  EXPECT_EQ(domain.advance_epoch(false, 6).error(), Errc::invalid);
  EXPECT_EQ(domain.advance_epoch(true, 8).error(), Errc::not_found);
  End client;
  SecureDomain& of = add(client, terms_of(Mode::client), key_with(Mode::client, 0x11));
  EXPECT_EQ(of.advance_epoch(false, 1).error(), Errc::invalid);
}

}  // namespace
}  // namespace uet::tss::test
