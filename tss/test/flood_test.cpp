// Repeats, and what forged packets may cost: no state, few derivations, one counter each.
#include "tss/test/end.h"

namespace uet::tss::test {
namespace {

// [TSS-071] The window of this test has 256 counters.
TEST(ReplayWindowTest, EachCounterIsTakenOnce) {
  std::vector<uint64_t> words(4);
  ReplayWindow window;
  EXPECT_FALSE(window.is_attached());
  window.attach(words);
  EXPECT_TRUE(window.accept(1000));
  EXPECT_FALSE(window.accept(1000));
  EXPECT_TRUE(window.accept(745)) << "the oldest in the window";
  EXPECT_FALSE(window.accept(744)) << "older than the window";
  EXPECT_TRUE(window.accept(1001));
  EXPECT_FALSE(window.accept(745)) << "slid out";
  EXPECT_TRUE(window.accept(999));
  EXPECT_TRUE(window.accept(1256)) << "nearly everything slides out";
  EXPECT_FALSE(window.accept(1001));
  EXPECT_TRUE(window.accept(1002));
  EXPECT_TRUE(window.accept(uint64_t{1} << 48)) << "a newer epoch";
  EXPECT_FALSE(window.accept(1257)) << "an older epoch";
  EXPECT_TRUE(window.accept((uint64_t{1} << 48) - 255));
  window.attach(words);
  EXPECT_TRUE(window.accept(0)) << "attached anew: nothing has arrived";
  EXPECT_TRUE(window.accept(~uint64_t{0})) << "one before 0";
}

class FloodTest : public ::testing::Test {
 protected:
  static DomainsConfig config() {
    DomainsConfig c = End::small();
    c.derivations_per_second = 100;
    c.derivations_at_once = 5;
    return c;
  }
  void SetUp() override { set_up(terms_of(Mode::cluster)); }
  void set_up(const DomainTerms& terms) {
    for (std::unique_ptr<End>* end : {&a_, &b_}) {
      *end = std::make_unique<End>(config());
      (*end)->add(terms);
      (*end)->take(key_with(Mode::cluster, 0x11));
    }
  }
  // A request of RUDI, which has no PDC.
  Octets rudi() {
    Octets octets = content();
    octets[0] = std::byte{4 << 3};
    return a_->seal(octets, kThere);
  }
  // A packet with a wrong ICV that claims to come from that host.
  std::string forge(uint32_t host, Instant now = kBegin) {
    Octets packet(60);
    packet[0] = std::byte{0x08};
    packet[3] = static_cast<std::byte>(kSdi);
    return b_->verdict(packet, udp_route(v4(host), v4(2)), now);
  }

  std::unique_ptr<End> a_, b_;
};

// [TSS-071, TSS-091, T-41] The replay window is for packets without a PDC: PDS recognises repeated
// packets of a PDC.
TEST_F(FloodTest, ARepeatedPacketWithoutAPdcIsRefused) {
  for (const unsigned type : {4U, 5U, 6U}) {
    Octets octets = content();
    octets[0] = static_cast<std::byte>(type << 3);
    const Octets sealed = a_->seal(octets, kThere);
    EXPECT_EQ(b_->verdict(sealed, kThere), "ok");
    Octets again = sealed;
    EXPECT_FALSE(b_->opener.unseal(again, kThere, kBegin).ok());
    EXPECT_EQ(hex_of(again).substr(24, 2 * octets.size()), std::string(2 * octets.size(), '0'));
  }
  EXPECT_EQ(b_->counted(Count::in_replay), 3u);
  const Octets with_pdc = a_->seal(content(), kThere);
  EXPECT_EQ(b_->verdict(with_pdc, kThere), "ok");
  EXPECT_EQ(b_->verdict(with_pdc, kThere), "ok");
}

// [TSS-071] The check for repeated packets is optional, and off for sources with several counters.
TEST_F(FloodTest, TheCheckOfRepeatsIsAChoice) {
  DomainTerms terms = terms_of(Mode::cluster);
  terms.checks_all_replays = true;
  set_up(terms);
  const Octets with_pdc = a_->seal(content(), kThere);
  EXPECT_EQ(b_->verdict(with_pdc, kThere), "ok");
  EXPECT_EQ(b_->verdict(with_pdc, kThere), "replayed");
  terms.is_multi_counter = true;
  set_up(terms);
  const Octets sealed = rudi();
  EXPECT_EQ(b_->verdict(sealed, kThere), "ok");
  EXPECT_EQ(b_->verdict(sealed, kThere), "ok");
}

// [TSS-055, TSS-140, T-14] Whatever they claim, forged packets leave nothing behind.
TEST_F(FloodTest, ForgedPacketsMakeNoState) {
  const Octets good = a_->seal(content(), kThere);
  EXPECT_EQ(b_->verdict(good, kThere), "ok");
  const uint32_t keys = b_->domains.keys().size();
  for (uint32_t host = 10; host < 200; ++host) {
    forge(host, kBegin + Duration::seconds(host));
  }
  EXPECT_EQ(b_->domains.keys().size(), keys);
  EXPECT_EQ(b_->domains.sources().size(), 1u);
  EXPECT_EQ(b_->counted(Count::in_auth_fail_pkts), 190u);
  EXPECT_EQ(b_->verdict(good, kThere), "ok");
}

// [TSS-090, T-14] The rate of derivations of missing keys is limited; a ready key needs none.
TEST_F(FloodTest, DerivationsForStrangersAreLimited) {
  EXPECT_EQ(b_->verdict(a_->seal(content(), kThere), kThere), "ok");
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(forge(10 + i), "forged");
  EXPECT_EQ(forge(20), "throttled");
  EXPECT_EQ(b_->counted(Count::key_derive_throttled), 1u);
  EXPECT_EQ(b_->verdict(a_->seal(content(), kThere), kThere), "ok") << "ready";
  EXPECT_EQ(forge(20, kBegin + 9_ms), "throttled");
  EXPECT_EQ(forge(20, kBegin + 10_ms), "forged") << "100 a second";
  EXPECT_EQ(forge(20, kBegin + 10_ms), "throttled");
}

// [T-14] A derivation for an authentic packet does not count, so many hosts may begin at once.
TEST_F(FloodTest, DerivationsForMembersAreFree) {
  for (uint32_t host = 10; host < 30; ++host) {
    const Route route = udp_route(v4(host), v4(2));
    EXPECT_EQ(b_->verdict(a_->seal(content(), route), route), "ok");
  }
}

// [TSS-106] The tables are bounded; a source that was forgotten is derived again.
TEST_F(FloodTest, TablesAreBounded) {
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t host = 10; host < 30; ++host) {
      const Route route = udp_route(v4(host), v4(2));
      EXPECT_EQ(b_->verdict(a_->seal(content(), route), route), "ok");
      EXPECT_LE(b_->domains.keys().size(), 5u);
      EXPECT_LE(b_->domains.sources().size(), 4u);
    }
  }
  EXPECT_EQ(DomainsConfig().domains, 256u);
  EXPECT_EQ(DomainsConfig().ready_keys, 4096u);
}

// [TSS-106] A source that keeps sending stays known while new ones come.
TEST_F(FloodTest, TheLongestUnusedKeyMakesRoom) {
  const Octets steady = a_->seal(content(), kThere);
  EXPECT_EQ(b_->verdict(steady, kThere), "ok");
  const uint64_t before = b_->counted(Count::key_derive);
  for (uint32_t host = 10; host < 30; ++host) {
    const Route route = udp_route(v4(host), v4(2));
    EXPECT_EQ(b_->verdict(a_->seal(content(), route), route), "ok");
    EXPECT_EQ(b_->verdict(steady, kThere), "ok");
  }
  EXPECT_EQ(b_->counted(Count::key_derive), before + 20);
}

// [TSS-087, TSS-107, T-15] Junk raises an alarm. Only a domain that is set to stop stops.
TEST_F(FloodTest, JunkStopsADomainOnlyWhereThatIsWanted) {
  for (const ForgeryAction action : {ForgeryAction::alarm, ForgeryAction::latch}) {
    DomainTerms terms = terms_of(Mode::cluster);
    terms.forgeries_max = 3;
    terms.forgery_action = action;
    set_up(terms);
    SecureDomain& domain = *b_->domains.find(kSdi);
    const Octets good = a_->seal(content(), kThere);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(forge(1), "forged");
    EXPECT_FALSE(domain.is_alarmed());
    EXPECT_EQ(forge(1), "forged");
    EXPECT_TRUE(domain.is_alarmed());
    const bool stops = action == ForgeryAction::latch;
    EXPECT_EQ(b_->verdict(good, kThere), stops ? "latched" : "ok");
    domain.reset_alarm();
    EXPECT_EQ(b_->verdict(good, kThere), "ok");
    EXPECT_FALSE(domain.is_alarmed());
  }
  EXPECT_EQ(DomainTerms().forgeries_max, 1000u);  // [TSS-105]
  EXPECT_EQ(DomainTerms().forgery_action, ForgeryAction::alarm);
}

// [TSS-107] Forged packets are counted for each second, not since the beginning.
TEST_F(FloodTest, ForgedPacketsAreCountedByTheSecond) {
  DomainTerms terms = terms_of(Mode::cluster);
  terms.forgeries_max = 3;
  set_up(terms);
  SecureDomain& domain = *b_->domains.find(kSdi);
  for (uint32_t i = 0; i < 20; ++i) {
    domain.on_forgery(kBegin + Duration::milliseconds(500 * i));
    EXPECT_FALSE(domain.is_alarmed()) << i;
  }
  for (uint32_t i = 0; i < 4; ++i) domain.on_forgery(kBegin + 100_s + Duration::milliseconds(999));
  EXPECT_TRUE(domain.is_alarmed());
  domain.reset_alarm();
  domain.on_forgery(kBegin + 101_s);
  EXPECT_TRUE(domain.is_alarmed()) << "the second before counts, too";
  domain.reset_alarm();
  domain.on_forgery(kBegin + 102_s + Duration::milliseconds(500));
  EXPECT_FALSE(domain.is_alarmed());
}

// [TSS-081, TSS-104] A packet without its end: readable, not believed.
TEST_F(FloodTest, ATrimmedPacketCanBeReadOnceItsKeyIsReady) {
  const Octets sealed = a_->seal(content(100), kThere);
  const Octets cut(sealed.begin(), sealed.begin() + 12 + 20);
  Octets out(64);
  const auto peek = [&](const Octets& packet) {
    // The length of UDP does not matter: nothing is authenticated.
    const auto read = b_->opener.peek_trimmed(packet, kThere, out, kBegin);
    return hex_of(read);
  };
  EXPECT_EQ(peek(cut), "") << "it costs no derivation";
  EXPECT_EQ(b_->verdict(sealed, kThere), "ok");
  EXPECT_EQ(peek(cut), hex_of(content(100)).substr(0, 40));
  EXPECT_EQ(b_->counted(Count::in_trim_unauth), 1u);
  EXPECT_EQ(peek(sealed).size(), 128u) << "no more than there is room for";
  for (const size_t size : {0U, 3U, 11U})
    EXPECT_EQ(peek(Octets(cut.begin(), cut.begin() + size)), "");
  b_->domains.find(kSdi)->remove(false);
  EXPECT_EQ(peek(cut), "");
}

// [TSS-096..099, TSS-101, TSS-102, TSS-104] A name for everything that is counted, and a counter
// for every refusal.
TEST(CountsTest, EverythingHasAName) {
  EXPECT_STREQ(name(Count::in_auth_pkts), "in_auth_pkts");
  EXPECT_STREQ(name(Count::key_derive_throttled), "key_derive_throttled");
  EXPECT_STREQ(name(Refusal::malformed), "malformed");
  EXPECT_STREQ(name(Refusal::cipher), "cipher");
  EXPECT_EQ(counter_of(Refusal::malformed), Count::in_errored_pkts);
  EXPECT_EQ(counter_of(Refusal::no_counter), Count::out_invoke_fail);
  EXPECT_EQ(counter_of(Refusal::cipher), Count::out_errored_pkts);
}

}  // namespace
}  // namespace uet::tss::test
