// PDCs of a secure domain that is being taken out of use.
#include "pds/test/bench.h"
#include "pds/test/state_of.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using Lines = std::vector<std::string>;

constexpr uint32_t kDomain = 77;

// [TSS-146] A domain is taken out of use. An idle PDC closes at once, a PDC with a message when the
// message is done, and a PDC with waiting messages continues; PDCs of other domains do not change.
TEST(ClosingDomainTest, ADomainClosesInOrder) {
  Bench b;
  b.sdi = kDomain;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now, kDomain + 1);
  b.pds->close_all(true, b.now, kDomain + 1);
  EXPECT_EQ(state_of(*b.pds, b.own), PdcState::established);
  b.client.post(b.flow, 2, 10);
  b.pds->close_all(false, b.now, kDomain);
  EXPECT_EQ(state_of(*b.pds, b.own), PdcState::established) << "a message waits";
  EXPECT_EQ(b.tx().size(), 1u);
  b.pds->close_all(false, b.now, kDomain);
  EXPECT_EQ(state_of(*b.pds, b.own), PdcState::quiesce);
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLOSE_CMD psn " + std::to_string((b.start + 3).value()) + " ar payload 0"}));
  b.rx_header(b.ack(b.start + 3));
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.client.responded.size(), 3u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [TSS-146] The target asks, once, and the peer closes.
TEST(ClosingDomainTest, TheTargetOfADomainThatClosesAsks) {
  Bench b;
  b.sdi = kDomain;
  b.open_target();
  b.pds->close_all(false, b.now, kDomain);
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::close_req_tx), 1u);
  b.pds->close_all(false, b.now, kDomain);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [TSS-146] The keys of the domain are gone: its PDCs end at once, in either role, and send
// nothing.
TEST(ClosingDomainTest, TheRestOfADomainEnds) {
  Bench b;
  b.sdi = kDomain;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(true, b.now, kDomain);
  EXPECT_EQ(b.lines(), Lines{});
  ASSERT_EQ(b.client.failed.size(), 1u);
  EXPECT_EQ(b.client.failures.at(0).reason, FailureReason::no_key);
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  EXPECT_EQ(b.count(Count::pdc_closed_no_key), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});

  Bench t;
  t.sdi = kDomain;
  t.open_target();
  t.pds->close_all(true, t.now, kDomain);
  EXPECT_EQ(t.lines(), Lines{});
  EXPECT_EQ(t.client.closed, std::vector<bool>{false});
  EXPECT_EQ(t.pds->open_pdcs(), 0u);
}

}  // namespace
}  // namespace uet::pds::test
