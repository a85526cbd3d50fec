// Two ends that seal and open: modes, sizes, counters, and what must be refused with which reason.
#include "tss/test/end.h"

namespace uet::tss::test {
namespace {

// Two members of a cluster.
class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (End* end : {&a_, &b_}) {
      end->add(terms_of(Mode::cluster));
      end->take(key_with(Mode::cluster, 0x11));
    }
  }
  Octets packet() { return a_.seal(content(), kThere); }

  End a_, b_;
};

// [TSS-001, TSS-030, TSS-094, TSS-095] Each end derives the key of the other; nothing is
// negotiated.
TEST_F(ClusterTest, BothDirectionsOpen) {
  EXPECT_EQ(b_.unseal(packet(), kThere), content());
  EXPECT_EQ(a_.unseal(b_.seal(content(5), kBack), kBack), content(5));
  EXPECT_EQ(b_.counted(Count::in_auth_pkts), 1u);
  EXPECT_EQ(b_.counted(Count::out_auth_pkts), 1u);
}

// [TSS-002] Whatever it is that is sealed. [TSS-003] It begins with type 1.
TEST_F(ClusterTest, EveryTypeIsSealedAlike) {
  for (unsigned type = 2; type <= 14; ++type) {
    Octets octets = content();
    octets[0] = static_cast<std::byte>(type << 3);
    const Octets sealed = a_.seal(octets, kThere);
    EXPECT_TRUE(Opener::is_secured(sealed));
    EXPECT_FALSE(Opener::is_secured(octets));
    EXPECT_EQ(b_.unseal(sealed, kThere), octets);
  }
  EXPECT_FALSE(Opener::is_secured({}));
}

// [TSS-007] 28 octets more, 32 with an SSI; and every size that UDP can carry.
TEST_F(ClusterTest, EverySizeComesBack) {
  EXPECT_EQ(seal_bytes(false), 28u);
  EXPECT_EQ(seal_bytes(true), 32u);
  for (size_t size = 0; size < 200; ++size) {
    const Octets octets(size, std::byte{0x33});
    const Octets sealed = a_.seal(octets, kThere);
    ASSERT_EQ(sealed.size(), size + 28);
    EXPECT_EQ(b_.unseal(sealed, kThere), octets);
  }
  const Octets longest(65535 - 8 - 28, std::byte{0x44});
  EXPECT_EQ(b_.unseal(a_.seal(longest, kThere), kThere), longest);
  EXPECT_TRUE(a_.seal(Octets(longest.size() + 1), kThere).empty());
  EXPECT_EQ(a_.refusal, Refusal::too_long);
  EXPECT_EQ(a_.counted(Count::out_errored_pkts), 1u);
}

// [TSS-039, TSS-040, WIRE-035] The same packet again is another packet on the wire.
TEST_F(ClusterTest, AResendHasANewCounter) {
  const Octets first = packet();
  const Octets second = packet();
  EXPECT_EQ(header_of(hex_of(first)).counter(), 0u);
  EXPECT_EQ(header_of(hex_of(second)).counter(), 1u);
  EXPECT_NE(hex_of(first).substr(24), hex_of(second).substr(24));
  EXPECT_EQ(b_.unseal(first, kThere), b_.unseal(second, kThere));
}

// [TSS-083..085, TSS-102] In the order of the checks, each with its counter, and without a domain
// the counter of the port.
TEST_F(ClusterTest, PacketsThatAreTooShortAreMalformed) {
  const Octets good = packet();
  const Octets empty = a_.seal({}, kThere);
  EXPECT_EQ(b_.verdict(empty, kThere), "ok");
  for (size_t size = 0; size < 28; ++size) {
    EXPECT_EQ(b_.verdict(Octets(good.begin(), good.begin() + static_cast<long>(size)), kThere),
              "malformed");
  }
  for (size_t size = 28; size < good.size(); ++size) {
    EXPECT_EQ(b_.verdict(Octets(good.begin(), good.begin() + static_cast<long>(size)), kThere),
              "forged");
  }
  EXPECT_EQ(b_.domains.port_counts()[Count::in_errored_pkts], 28u);
  EXPECT_EQ(b_.verdict(content(60), kThere), "malformed") << "it is in clear";
}

// [TSS-085]
TEST_F(ClusterTest, AForgedDomainIsUnknown) {
  Octets other = packet();
  for (size_t bit = 8; bit < 32; ++bit) {
    Octets changed = other;
    changed[bit / 8] ^= static_cast<std::byte>(0x80U >> bit % 8);
    EXPECT_EQ(b_.verdict(changed, kThere), "unknown_domain") << bit;
  }
  EXPECT_EQ(b_.domains.port_counts()[Count::in_errored_pkts], 24u);
  other[3] = std::byte{8};
  DomainTerms eight = terms_of(Mode::cluster);
  eight.sdi = 8;
  b_.add(eight);
  Key key = key_with(Mode::cluster, 0x11);
  key.sdi = 8;
  b_.take(key);
  EXPECT_EQ(b_.verdict(other, kThere), "forged") << "the domain is authenticated";
}

// [TSS-086, TSS-098]
TEST_F(ClusterTest, WithoutALiveKeyNothingOpens) {
  Octets other_an = packet();
  other_an[0] ^= std::byte{1};
  EXPECT_EQ(b_.verdict(other_an, kThere), "no_key");
  b_.domains.find(kSdi)->remove(false);
  EXPECT_EQ(b_.verdict(packet(), kThere), "no_key");
  EXPECT_EQ(b_.counted(Count::in_invalid_sa), 2u);
  EXPECT_TRUE(b_.seal(content(), kBack).empty());
  EXPECT_EQ(b_.refusal, Refusal::no_tx_key);
}

// [TSS-017, TSS-088, TSS-097] Addresses are authentic because they are the identity.
TEST_F(ClusterTest, AHeaderWithASsiIsRefusedWhereNoneIsUsed) {
  End c;
  c.add(terms_of(Mode::cluster, kSsi));
  c.take(key_with(Mode::cluster, 0x11));
  EXPECT_EQ(b_.verdict(c.seal(content(), kThere), kThere), "wrong_source_form");
  EXPECT_EQ(c.verdict(packet(), kThere), "wrong_source_form");
  EXPECT_EQ(b_.counted(Count::in_invalid), 1u);
}

// [TSS-021, TSS-096] Swapped addresses, another key, a changed octet.
TEST_F(ClusterTest, ForgedPacketsAreCountedAndDoNoHarm) {
  EXPECT_EQ(b_.verdict(packet(), kBack), "forged");
  EXPECT_EQ(b_.verdict(packet(), native_route(v4(1), v4(2))), "forged");
  End stranger;
  stranger.add(terms_of(Mode::cluster));
  stranger.take(key_with(Mode::cluster, 0x12));
  EXPECT_EQ(b_.verdict(stranger.seal(content(), kThere), kThere), "forged");
  EXPECT_EQ(b_.counted(Count::in_auth_fail_pkts), 3u);
  EXPECT_EQ(b_.verdict(packet(), kThere), "ok");
}

// [TSS-088]
TEST_F(ClusterTest, OnlyMembersAreTakenWhereThereIsAList) {
  End c;
  DomainTerms terms = terms_of(Mode::cluster);
  terms.has_members = true;
  c.add(terms);
  c.take(key_with(Mode::cluster, 0x11));
  ASSERT_TRUE(c.domains.add_member(kSdi, Identity::of(v4(1))).ok());
  EXPECT_EQ(c.verdict(packet(), kThere), "ok");
  const Route from_three = udp_route(v4(3), v4(2));
  EXPECT_EQ(c.verdict(a_.seal(content(), from_three), from_three), "not_a_member");
  c.domains.remove(kSdi);
  c.add(terms);
  EXPECT_FALSE(c.domains.is_member(kSdi, Identity::of(v4(1)))) << "the list goes with the domain";
}

// [TSS-102, TSS-109] What cannot be sealed does not leave, and the reason is counted.
TEST_F(ClusterTest, WithoutADomainNothingIsSealed) {
  EXPECT_TRUE(a_.seal(content(), kThere, kBegin, std::nullopt, 9).empty());
  EXPECT_EQ(a_.refusal, Refusal::unknown_domain);
  EXPECT_EQ(a_.domains.port_counts()[Count::out_errored_pkts], 1u);
  EXPECT_TRUE(a_.seal(content(), kThere, kBegin, kSsi).empty());
  EXPECT_EQ(a_.refusal, Refusal::wrong_client) << "only servers name a client";
}

// [TSS-027] Room that is one octet short.
TEST_F(ClusterTest, APacketNeedsRoomForItsSeal) {
  Octets room(content().size() + 27);
  const Octets octets = content();
  ClearPacket packet{.header = octets,
                     .payload = {},
                     .sdi = kSdi,
                     .route = kThere,
                     .client_ssi = {},
                     .room = room};
  EXPECT_FALSE(a_.sealer.seal(packet, kBegin));
  EXPECT_EQ(packet.refusal, Refusal::too_long);
  EXPECT_EQ(room, Octets(room.size())) << "nothing was written";
}

// A batch of packets in pieces: packets that cannot be sealed do not hold up the others.
TEST_F(ClusterTest, ABatchIsSealedPacketByPacket) {
  const Octets octets = content(100);
  const IoSlice pieces[] = {{octets.data() + 12, 50}, {octets.data() + 62, 50}};
  std::vector<Octets> rooms(3, Octets(200));
  std::vector<ClearPacket> packets;
  for (uint32_t i = 0; i < 3; ++i) {
    packets.push_back({.header = std::span(octets).first(12),
                       .payload = pieces,
                       .sdi = i == 1 ? 9 : kSdi,
                       .route = kThere,
                       .client_ssi = {},
                       .room = rooms[i]});
  }
  EXPECT_EQ(a_.sealer.seal(std::span(packets), kBegin), 2u);
  EXPECT_EQ(packets[1].sealed_bytes, 0u);
  for (const uint32_t i : {0U, 2U}) {
    rooms[i].resize(packets[i].sealed_bytes);
    EXPECT_EQ(b_.unseal(rooms[i], kThere), octets);
  }
}

// [TSS-024] The PDS header in clear, authenticated: whatever pieces it lies in. A packet shorter
// than that has nothing that is encrypted.
TEST(ClearBytesTest, TheFirstOctetsMayBeInClear) {
  for (const uint8_t clear : {uint8_t{12}, uint8_t{24}, uint8_t{64}}) {
    End a, b;
    Key key = key_with(Mode::cluster, 0x11);
    key.clear_bytes = clear;
    for (End* end : {&a, &b}) {
      end->add(terms_of(Mode::cluster));
      end->take(key);
    }
    for (const size_t size : {size_t{0}, size_t{11}, size_t{12}, size_t{64}, size_t{100}}) {
      const Octets octets(size, std::byte{0x77});
      const Octets sealed = a.seal(octets, kThere);
      const size_t shown = std::min<size_t>(size, clear);
      EXPECT_EQ(hex_of(sealed).substr(24, 2 * shown), hex_of(octets).substr(0, 2 * shown));
      EXPECT_EQ(b.unseal(sealed, kThere), octets);
      if (size == 0) continue;
      Octets changed = sealed;
      changed[12] ^= std::byte{1};
      EXPECT_EQ(b.verdict(changed, kThere), "forged");
    }
    const Octets octets = content(100);
    const IoSlice pieces[] = {{octets.data() + 5, 3}, {octets.data() + 8, 104}};
    Octets room(200);
    ClearPacket packet{.header = std::span(octets).first(5),
                       .payload = pieces,
                       .sdi = kSdi,
                       .route = kThere,
                       .client_ssi = {},
                       .room = room};
    ASSERT_TRUE(a.sealer.seal(packet, kBegin));
    room.resize(packet.sealed_bytes);
    EXPECT_EQ(b.unseal(room, kThere), octets);
  }
}

// [TSS-029] Every member has the same key, used as it is.
TEST(DirectTest, MembersShareOneKey) {
  End a, b;
  for (End* end : {&a, &b}) {
    end->add(terms_of(Mode::direct));
    end->take(key_with(Mode::direct, 0x11, true));
  }
  const Octets sealed = a.seal(content(), kThere);
  EXPECT_EQ(b.unseal(sealed, kThere), content());
  EXPECT_EQ(b.counted(Count::key_derive), 0u);
}

// [TSS-012, TSS-014] IPv6, with an SSI in the header.
TEST(Ipv6Test, SourcesWithAnSsiAreDistinguished) {
  const Route there = native_route(v6(1), v6(2));
  for (const Mode mode : {Mode::direct, Mode::cluster}) {
    End a, b;
    for (End* end : {&a, &b}) {
      end->add(terms_of(mode, kSsi), wire::IpFamily::v6);
      end->take(key_with(mode, 0x11));
    }
    const Octets sealed = a.seal(content(), there);
    EXPECT_EQ(sealed.size(), content().size() + 32);
    EXPECT_EQ(b.unseal(sealed, there), content());
    EXPECT_EQ(b.by.source, Identity::of(kSsi));
  }
}

// [TSS-015, TSS-016] At set-up, and packet by packet where an end has addresses of both families.
TEST(Ipv6Test, OneKeyForAllNeedsAnSsi) {
  for (const Mode mode : {Mode::direct, Mode::server, Mode::client}) {
    EXPECT_STREQ(problem_of(terms_of(mode), wire::IpFamily::v6),
                 "IPv6 without ssi is for mode cluster");
    EXPECT_EQ(problem_of(terms_of(mode, kSsi), wire::IpFamily::v6), nullptr);
    End end;
    EXPECT_EQ(end.domains.add(terms_of(mode), wire::IpFamily::v6).error(), Errc::invalid);
  }
  EXPECT_EQ(problem_of(terms_of(Mode::cluster), wire::IpFamily::v6), nullptr);
  End a;
  a.add(terms_of(Mode::direct));
  a.take(key_with(Mode::direct, 0x11));
  EXPECT_TRUE(a.seal(content(), udp_route(v6(1), v6(2))).empty());
  EXPECT_EQ(a.refusal, Refusal::wrong_source_form);
  Octets sealed = a.seal(content(), kThere);
  EXPECT_EQ(a.verdict(sealed, udp_route(v6(1), v6(2))), "wrong_source_form");
}

// [TSS-042] Two counters under one key and source would repeat nonces.
TEST(TermsTest, ProcessesOfOneAddressNeedAnSsiEach) {
  DomainTerms terms = terms_of(Mode::cluster);
  terms.shares_address = true;
  EXPECT_STREQ(problem_of(terms, wire::IpFamily::v4),
               "processes that share an address need an ssi each");
  terms.use_ssi = true;
  EXPECT_EQ(problem_of(terms, wire::IpFamily::v4), nullptr);
  for (const uint32_t sdi : {0U, 0x1000000U}) {
    terms.sdi = sdi;
    EXPECT_STREQ(problem_of(terms, wire::IpFamily::v4), "sdi is 1 to 16777215");
  }
}

}  // namespace
}  // namespace uet::tss::test
