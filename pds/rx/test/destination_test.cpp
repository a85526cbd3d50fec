// Demands of credit in, grants out. Who gets how much is decided by the pacer of cms; here it is a
// stub that answers what the test says. [cms.md 5.3]
#include "pds/rx/destination.h"

#include "pds/test/all_parts.h"

namespace uet::cms {
namespace {

struct PacerScript {
  DemandNews news = DemandNews::taken;
  std::deque<Grant> grants;  // that are due
  std::vector<uint32_t> withdrawn;
  std::vector<Received> received;
};
PacerScript& pacer() {
  static PacerScript script;
  return script;
}

}  // namespace

Result<void> CreditPacer::create(Arena&, const Config&, const CreditRoom&, uint64_t) { return {}; }
DemandNews CreditPacer::on_demand(CreditKey, uint32_t, AskedBy, Instant, Asker) {
  return pacer().news;
}
void CreditPacer::on_received(CreditKey, const Received& e) { pacer().received.push_back(e); }
std::optional<uint32_t> CreditPacer::granted(CreditKey key) { return uint32_t{500} + key.ccc_id; }
void CreditPacer::withdraw(CreditKey key) { pacer().withdrawn.push_back(key.ccc_id); }
Instant CreditPacer::deadline() const {
  return pacer().grants.empty() ? Instant::never() : pds::part::kNow;
}
std::optional<Grant> CreditPacer::next_grant(Instant) {
  if (pacer().grants.empty()) return std::nullopt;
  const Grant next = pacer().grants.front();
  pacer().grants.pop_front();
  return next;
}

}  // namespace uet::cms

namespace uet::pds::part {
namespace {

constexpr uint8_t kContext = 3;

class DestinationPartTest : public AllParts {
 protected:
  DestinationPartTest() { cms::pacer() = {}; }

  void create(cms::Algorithm algorithm) {
    res_.cms.algorithm = algorithm;
    ASSERT_TRUE(destination_.create(arena_).ok());
  }
  bool ask(Pdc& pdc, cms::DemandNews news = cms::DemandNews::taken) {
    cms::pacer().news = news;
    return destination_.on_demand(pdc, {kContext, 100}, cms::AskedBy::packet, kNow);
  }
  void grant(PdcHandle via) {
    cms::pacer().grants.push_back({{peer_.value(), kContext}, 777, via.value()});
  }
};

// [T-34] Where the configuration has no credit a demand is counted, and the packet is taken.
TEST_F(DestinationPartTest, WithoutCreditDemandsAreOnlyCounted) {
  create(cms::Algorithm::fixed);
  Pdc& pdc = target();
  EXPECT_TRUE(ask(pdc));
  EXPECT_EQ(counted(Count::creq_unused), 1u);
  EXPECT_EQ(destination_.granted(pdc), 0u);
  EXPECT_FALSE(destination_.tells_credit());
}

// [CMS-006] ACKs of a PDC carry the credit of the context whose request came last on this PDC.
TEST_F(DestinationPartTest, AnAckTellsTheCreditOfTheContextThatAsked) {
  create(cms::Algorithm::rccc);
  Pdc& pdc = target();
  EXPECT_EQ(destination_.granted(pdc), 0u) << "no source has asked";
  EXPECT_TRUE(ask(pdc));
  EXPECT_EQ(destination_.granted(pdc), 503u);
  EXPECT_TRUE(destination_.tells_credit());
}

// [CMS-007] No state is free for the context: its packet is refused. From a source that may be
// forged it is taken, because a source that is refused could never prove its address.
TEST_F(DestinationPartTest, WithoutRoomForItsContextAPacketIsRefused) {
  create(cms::Algorithm::rccc);
  EXPECT_FALSE(ask(target(), cms::DemandNews::no_room));
  EXPECT_TRUE(ask(target(Mode::rud, false), cms::DemandNews::no_room));
  EXPECT_EQ(counted(Count::creq_drop), 2u);
}

// [T-34] A demand that may be forged changes nothing.
TEST_F(DestinationPartTest, AForgedDemandIsNotKept) {
  create(cms::Algorithm::rccc);
  Pdc& pdc = target(Mode::rud, false);
  EXPECT_TRUE(ask(pdc, cms::DemandNews::forged));
  EXPECT_FALSE(pdc.told.knows_ccc());
  EXPECT_EQ(counted(Count::creq_unproven), 1u);
}

// [CMS-132] A grant that is due goes on the PDC that asked.
TEST_F(DestinationPartTest, AGrantGoesOnThePdcThatAsked) {
  create(cms::Algorithm::rccc);
  Pdc& pdc = target();
  grant(pdc.handle);
  destination_.note_due(kNow);
  EXPECT_TRUE(destination_.is_due());
  const DueGrant due = destination_.next_grant(kNow);
  EXPECT_EQ(due.pdc, &pdc);
  EXPECT_EQ(due.header.ctl_type, wire::CtlType::credit);
  EXPECT_EQ(due.header.dpdcid, kPeerId);
  EXPECT_EQ(due.header.payload, wire::pack_credit(777));
  destination_.note_sent(due, true);
  EXPECT_EQ(counted(Count::credit_tx), 1u);
  EXPECT_EQ(destination_.next_grant(kNow).pdc, nullptr);
  destination_.note_due(kNow);
  EXPECT_FALSE(destination_.is_due());
}

// [CMS-129] The grant is lost, and the context waits no more: its source asks again.
TEST_F(DestinationPartTest, AGrantWithoutAWayIsWithdrawn) {
  create(cms::Algorithm::rccc);
  Pdc& pdc = target(Mode::rud, false);
  grant(PdcHandle{});
  grant(pdc.handle);
  const DueGrant due = destination_.next_grant(kNow);
  EXPECT_EQ(due.pdc, &pdc) << "that of a PDC that is gone was passed over";
  EXPECT_EQ(counted(Count::credit_no_pdc), 1u);
  destination_.note_sent(due, false);
  EXPECT_EQ(counted(Count::credit_unproven), 1u);
  EXPECT_EQ(cms::pacer().withdrawn, (std::vector<uint32_t>{kContext, kContext}));
}

// [CMS-141] A request counts for its context with its length, its mark and its time.
TEST_F(DestinationPartTest, AReceivedRequestIsReported) {
  create(cms::Algorithm::rccc);
  const Pdc& pdc = target();
  Inbound in;
  in.arrival = kNow;
  in.nominal_bytes = 1234;
  in.trigger.ce = true;
  destination_.on_received(pdc, in, {});
  EXPECT_TRUE(cms::pacer().received.empty()) << "it names no context";
  in.has_cc = true;
  destination_.on_received(pdc, in, {});
  ASSERT_EQ(cms::pacer().received.size(), 1u);
  EXPECT_EQ(cms::pacer().received[0].bytes, 1234u);
  EXPECT_TRUE(cms::pacer().received[0].ce);
}

// [CMS-111] The more octets no receive waits for, the less sources are to send.
TEST_F(DestinationPartTest, HeldOctetsAreToldToSources) {
  res_.cms.pressure_low_bytes = 1000;
  res_.cms.pressure_high_bytes = 2000;
  create(cms::Algorithm::fixed);
  EXPECT_EQ(destination_.feedback(kNow).rcv_cwnd_pend, 0u);
  destination_.set_pressure(2000, kNow);
  EXPECT_EQ(destination_.feedback(kNow).rcv_cwnd_pend, 127u);
}

}  // namespace
}  // namespace uet::pds::part
