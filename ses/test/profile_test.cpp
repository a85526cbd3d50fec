// Where the table of profiles is obeyed; profile_part_test.cpp has the table. [ses.md 8]
#include "ses/profile.h"

#include "ses/test/target_fixture.h"

#include <string>

namespace uet::ses::test {
namespace {

using ProfileTest = TargetTest;

// [SES-186, SES-067] An operation that none of our profiles has is refused, whatever follows.
TEST_F(ProfileTest, OperationsOutsideTheProfileAreUnsupported) {
  const auto tsend_atomic = [&] {
    Octets octets(wire::StandardRequest::kSize);
    wire::Writer w(octets);
    request(SesOpcode::tsend_atomic, 8).emit(w);
    const std::vector<int> rest{0x02, 0x07, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 1};  // SUM of uint64
    for (const int b : rest) octets.push_back(static_cast<std::byte>(b));
    return said(give_octets(octets, wire::NextHeader::standard));
  };
  EXPECT_EQ(tsend_atomic(), "NO_MATCH");
  config_.profiles = kAiBase | kAiFull;
  start();
  EXPECT_EQ(tsend_atomic(), "UNSUPPORTED_OP");
  EXPECT_EQ(count(Counter::rx_unsupported_op), 1u);
  EXPECT_EQ(said(standard(request(SesOpcode::tagged_send, 4), 4)), "OK modified 4");
}

// [SES-186, SES-187, SES-027] RUDI is used if both sides require it, regardless of other peers.
TEST_F(ProfileTest, RudiNeedsHpcOnBothSides) {
  const auto goes_by_rudi = [&](uint8_t ours, uint8_t theirs) {
    config_.profiles = ours;
    start();
    Octets memory(64), data = pattern(64);
    RegionRequest r;
    r.iov = keep(memory);
    r.access = kRemoteWrite;
    r.idempotent_safe = true;
    const RegionId id = *b_->ses->memory().add(r);
    b_->ses->memory().enable(id);
    RmaRequest w = rma_request(false, data, b_->ses->memory().key(id));
    w.flags = kOpRudi;
    w.to.capabilities = theirs;
    EXPECT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
    transmit();
    const bool is_rudi = network_[0].mode == pds::Mode::rudi;
    deliver_all();
    EXPECT_EQ(memory, data);
    return is_rudi;
  };
  EXPECT_TRUE(goes_by_rudi(kEveryProfile, kAiBase | kHpc));
  EXPECT_FALSE(goes_by_rudi(kEveryProfile, kAiBase | kAiFull));
  EXPECT_FALSE(goes_by_rudi(kAiBase | kAiFull, kEveryProfile));
  EXPECT_FALSE(goes_by_rudi(kEveryProfile, 0));
}

}  // namespace
}  // namespace uet::ses::test
