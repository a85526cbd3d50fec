// Keys that come and go, epochs, counters, repeats, and what forged packets may cost.
#include "tss/test/end.h"

namespace uet::tss::test {
namespace {

class RolloverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (End* end : {&a_, &b_}) {
      DomainTerms terms = terms_of(Mode::cluster);
      terms.guard = 2_s;
      end->add(terms);
      end->take(key_with(Mode::cluster, 0x11));
    }
  }
  SecureDomain& domain(End& end) { return *end.domains.find(kSdi); }

  End a_, b_;
};

// [TSS-045..050] Make before break: no packet is lost at any step, and after the guard time the old
// key is gone.
TEST_F(RolloverTest, NothingIsLostWhileKeysAreReplaced) {
  const Octets old_one = a_.seal(content(), kThere);
  const Key next = key_with(Mode::cluster, 0x22, true);
  for (End* end : {&a_, &b_}) ASSERT_TRUE(end->domains.install(next, kBegin).ok());
  EXPECT_FALSE(header_of(hex_of(a_.seal(content(), kThere))).an) << "not yet";

  ASSERT_TRUE(domain(a_).transmit_with(true, kBegin + 1_s).ok());
  domain(a_).grant(true, 0, kCounterMax);
  const Octets new_one = a_.seal(content(), kThere, kBegin + 1_s);
  EXPECT_TRUE(header_of(hex_of(new_one)).an) << "a resend has the key of its time";
  EXPECT_EQ(b_.verdict(new_one, kThere, kBegin + 1_s), "ok") << "b still sends with the old key";
  EXPECT_EQ(b_.verdict(old_one, kThere, kBegin + 1_s), "ok");
  EXPECT_EQ(a_.verdict(b_.seal(content(), kBack), kBack, kBegin + 2_s), "ok");

  ASSERT_TRUE(domain(b_).transmit_with(true, kBegin + 2_s).ok());
  EXPECT_EQ(domain(b_).deadline(), kBegin + 4_s);
  EXPECT_EQ(b_.verdict(old_one, kThere, kBegin + 4_s - Duration::nanoseconds(1)), "ok");
  EXPECT_EQ(b_.verdict(old_one, kThere, kBegin + 4_s), "no_key");
  EXPECT_EQ(b_.counted(Count::in_invalid_sa), 1u);
  EXPECT_EQ(b_.verdict(new_one, kThere, kBegin + 4_s), "ok");
}

// [TSS-048, TSS-136] It is overwritten, and the keys derived from it too.
TEST_F(RolloverTest, ARetiredKeyIsOverwritten) {
  EXPECT_EQ(b_.verdict(a_.seal(content(), kThere), kThere), "ok");
  b_.take(key_with(Mode::cluster, 0x22, true));
  EXPECT_EQ(b_.secrets[0].secret, key_with(Mode::cluster, 0x11).secret);
  const uint32_t ready = b_.domains.keys().size();
  b_.domains.run(kBegin + 2_s);
  EXPECT_EQ(b_.secrets[0].secret, decltype(KeySecret::secret){});
  EXPECT_EQ(b_.secrets[0].counter.left(), 0u);
  EXPECT_EQ(b_.domains.keys().size(), ready - 1);
  EXPECT_EQ(b_.domains.sources().size(), 0u);
  EXPECT_EQ(domain(b_).deadline(), Instant::never());
  EXPECT_EQ(b_.domains.deadline(), Instant::never());
}

// [TSS-045] A key that is in use is not overwritten; the next one comes after the guard time.
TEST_F(RolloverTest, AnAssociationNumberIsReusedAfterTheGuardTime) {
  const Key third = key_with(Mode::cluster, 0x33);
  EXPECT_EQ(b_.domains.install(third, kBegin).error(), Errc::exists);
  EXPECT_EQ(domain(b_).transmit_with(true, kBegin).error(), Errc::not_found);
  const Octets old_one = a_.seal(content(), kThere);
  b_.take(key_with(Mode::cluster, 0x22, true));
  EXPECT_EQ(b_.domains.install(third, kBegin + 1_s).error(), Errc::exists);
  EXPECT_TRUE(b_.domains.install(third, kBegin + 2_s).ok());
  EXPECT_EQ(b_.verdict(old_one, kThere, kBegin + 2_s), "forged") << "of the key before";
  Key other = third;
  other.mode = Mode::direct;
  other.an = true;
  EXPECT_EQ(b_.domains.install(other, kBegin).error(), Errc::invalid);
  other.sdi = 9;
  EXPECT_EQ(b_.domains.install(other, kBegin).error(), Errc::not_found);
}

// Keys may have an end time; a compromised key is removed at once.
TEST_F(RolloverTest, ExpiredAndRemovedKeysAreNotUsed) {
  ASSERT_TRUE(b_.domains.install(key_with(Mode::cluster, 0x22, true), kBegin, kBegin + 10_s).ok());
  ASSERT_TRUE(domain(b_).transmit_with(true, kBegin).ok());
  domain(b_).grant(true, 0, 100);
  EXPECT_FALSE(b_.seal(content(), kBack, kBegin + 9_s).empty());
  EXPECT_TRUE(b_.seal(content(), kBack, kBegin + 10_s).empty());
  EXPECT_EQ(b_.refusal, Refusal::no_tx_key);
  const Octets sealed = a_.seal(content(), kThere);
  End c;
  c.add(terms_of(Mode::cluster));
  c.take(key_with(Mode::cluster, 0x11));
  c.domains.find(kSdi)->remove(false);
  EXPECT_EQ(c.verdict(sealed, kThere), "no_key");
  EXPECT_TRUE(c.seal(content(), kThere).empty());
  c.domains.remove(kSdi);
  EXPECT_EQ(c.verdict(sealed, kThere), "unknown_domain");
}

// [TSS-046] Counter and epoch of the new key begin at 0.
TEST_F(RolloverTest, ANewKeyBeginsAtZero) {
  ASSERT_TRUE(domain(a_).advance_epoch(false, 5).ok());
  EXPECT_EQ(header_of(hex_of(a_.seal(content(), kThere))).tsc, uint64_t{5} << 48);
  EXPECT_EQ(header_of(hex_of(a_.seal(content(), kThere))).tsc, uint64_t{5} << 48 | 1);
  a_.take(key_with(Mode::cluster, 0x22, true));
  const TssHeader first = header_of(hex_of(a_.seal(content(), kThere)));
  EXPECT_EQ(first.tsc, 0u);
  EXPECT_TRUE(first.an);
}

// [TSS-051]
TEST_F(RolloverTest, AKeyIsToBeReplacedByAgeAndByUse) {
  EXPECT_EQ(domain(a_).rotation_due(kBegin + 86399_s), Rotation::not_due);
  EXPECT_EQ(domain(a_).rotation_due(kBegin + 86400_s), Rotation::age);
  const auto at = [this](uint64_t counter) {
    domain(a_).grant(false, counter, counter + 1);
    a_.seal(content(), kThere);
    return domain(a_).rotation_due(kBegin);
  };
  EXPECT_EQ(at((uint64_t{1} << 47) - 2), Rotation::not_due);
  EXPECT_EQ(at((uint64_t{1} << 47) - 1), Rotation::packets);  // [TSS-041] the warning
  EXPECT_EQ(at(kCounterMax - 1), Rotation::used_up);

  Key slow = key_with(Mode::cluster, 0x22, true);
  slow.rekey_shift = 40;
  a_.take(slow);
  domain(a_).grant(true, (uint64_t{1} << 32) - 1, uint64_t{1} << 32);
  EXPECT_EQ(domain(a_).rotation_due(kBegin), Rotation::not_due);
  a_.seal(content(), kThere);
  EXPECT_EQ(domain(a_).rotation_due(kBegin), Rotation::packets) << "2^32 under one derived key";
}

// [TSS-036, TSS-037] The key changes with the counter, at both ends alike.
TEST_F(RolloverTest, TheCounterChangesTheKey) {
  const uint64_t boundary = uint64_t{1} << 32;
  domain(a_).grant(false, boundary - 1, boundary + 1);
  const Octets before = a_.seal(content(), kThere);
  const Octets after = a_.seal(content(), kThere);
  EXPECT_EQ(a_.counted(Count::key_derive), 2u);
  EXPECT_EQ(b_.verdict(after, kThere), "ok");
  EXPECT_EQ(b_.verdict(before, kThere), "ok");
  EXPECT_EQ(b_.counted(Count::key_derive), 2u);
}

}  // namespace
}  // namespace uet::tss::test
