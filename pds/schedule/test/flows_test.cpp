// Flows of the client: found, made, given back. [PDS-013, PDS-247]
#include "pds/schedule/flows.h"
#include "pds/schedule/initiators.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class FlowsPartTest : public AllParts {
 protected:
  FlowsPartTest() { EXPECT_TRUE(contexts_.create(arena_, Room{4, 8}).ok()); }
  FlowKey key(uint32_t job = 1, Mode mode = Mode::rud) const {
    return {peer_, TrafficClass(0), mode, JobId(job)};
  }
  Flow& flow(const FlowKey& key) {
    const Result<FlowId> id = desk_.flow(key);
    EXPECT_TRUE(id.ok());
    return *flows_.get(*id);
  }
  // The peer knows it.
  Pdc& opened(Flow& flow) {
    Pdc& pdc = *initiators_.open_for(flow, kNow);
    pdc.life.change(PdcEvent::first_ack);
    return pdc;
  }

  Connectionless connectionless_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
  Flows desk_{res_, flows_, connectionless_, contexts_, closing_, ending_};
  Initiators initiators_{res_, table_, schedule_, idle_, secure_psn_, ending_, reclaim_};
};

// [PDS-013] One flow for each key; jobs have one in common unless the configuration says otherwise.
TEST_F(FlowsPartTest, AKeyHasOneFlow) {
  res_.config.pdc_per_job = true;
  Flow& first = flow(key());
  EXPECT_EQ(&flow(key()), &first);
  EXPECT_NE(&flow(key(2)), &first);
  EXPECT_NE(&flow(key(1, Mode::rod)), &first);
  res_.config.pdc_per_job = false;
  EXPECT_EQ(&flow(key(3)), &flow(key(4)));
}

// [CMS-003, CMS-009] Flows with PDCs share the context of their peer and class; others have none.
TEST_F(FlowsPartTest, AFlowWithoutPdcsHasNoContext) {
  EXPECT_EQ(flow(key(1)).context, flow(key(2)).context);
  EXPECT_EQ(flow(key(1, Mode::rudi)).context, nullptr);
  EXPECT_EQ(flow(key(1, Mode::uud)).context, nullptr);
  EXPECT_EQ(count_of("adopt"), 2u);
}

// [PDS-247] A flow holds its peer. Without a place no flow is made, and the peer is not held.
TEST_F(FlowsPartTest, WithoutAPlaceNothingIsHeld) {
  res_.config.pdc_per_job = true;
  const uint32_t refs = peers_[peer_].refs;
  for (uint32_t job = 1; job <= 8; ++job) flow(key(job));
  EXPECT_EQ(peers_[peer_].refs, refs + 8);
  EXPECT_EQ(desk_.flow(key(9)).error(), Errc::again);
  EXPECT_EQ(peers_[peer_].refs, refs + 8);
}

// [CMS-006] The same without a context.
TEST_F(FlowsPartTest, WithoutAContextThereIsNoFlow) {
  while (contexts_.take({peer_, TrafficClass(static_cast<uint8_t>(contexts_.size() + 1))}) !=
         nullptr) {
  }
  EXPECT_EQ(desk_.flow(key()).error(), Errc::again);
  EXPECT_EQ(flows_.size(), 0u);
}

// [PDS-247] The client gives it back: its PDCs close, and with the last one it is gone.
TEST_F(FlowsPartTest, AReleasedFlowClosesItsPdcs) {
  Flow& f = flow(key());
  Pdc& known = opened(f);
  initiators_.open_for(f, kNow);  // no packet of it was sent
  desk_.release_flow(f.id);
  desk_.retire_flows(kNow);
  EXPECT_EQ(count_of("begin_close"), 1u);
  EXPECT_EQ(calls_of("free_pdc"), Calls{"free_pdc: freed, clean"});
  EXPECT_EQ(flows_.size(), 1u);
  EXPECT_FALSE(desk_.has_released());
  for (Pdc& pdc : f.pdcs) f.pdcs.erase(pdc);
  EXPECT_EQ(known.state(), PdcState::established);
  flows_.note_idle(f);
  desk_.retire_flows(kNow);
  EXPECT_EQ(flows_.size(), 0u);
}

// [PDS-247] One without PDCs goes at once, with all that it held.
TEST_F(FlowsPartTest, AReleasedFlowGivesAllBack) {
  const uint32_t refs = peers_[peer_].refs;
  Flow& f = flow(key());
  EXPECT_EQ(contexts_.size(), 1u);
  desk_.release_flow(f.id);
  EXPECT_TRUE(desk_.has_released());
  desk_.retire_flows(kNow);
  EXPECT_EQ(contexts_.size(), 0u);
  EXPECT_EQ(peers_[peer_].refs, refs);
}

// [PDS-247] Taken up again before that, it stays.
TEST_F(FlowsPartTest, AFlowMayBeTakenUpAgain) {
  Flow& f = flow(key());
  desk_.release_flow(f.id);
  EXPECT_EQ(&flow(key()), &f);
  desk_.retire_flows(kNow);
  EXPECT_EQ(flows_.get(f.id), &f);
}

}  // namespace
}  // namespace uet::pds::part
