// PDCs that are opened for flows. [PDS-I1, PDS-015]
#include "pds/schedule/initiators.h"
#include "pds/schedule/flows.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class InitiatorsPartTest : public AllParts {
 protected:
  InitiatorsPartTest() { EXPECT_TRUE(contexts_.create(arena_, Room{4, 8}).ok()); }
  Flow& flow(uint32_t sdi = 0) {
    const Result<FlowId> id = desk_.flow({peer_, TrafficClass(0), Mode::rud, JobId(1), sdi});
    EXPECT_TRUE(id.ok());
    return *flows_.get(*id);
  }

  Connectionless connectionless_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
  Flows desk_{res_, flows_, connectionless_, contexts_, closing_, ending_};
  Initiators initiators_{res_, table_, schedule_, idle_, secure_psn_, ending_, reclaim_};
};

// [PDS-I1, PDS-040, PDS-044] A PDC in SYN, in the lists that it belongs to.
TEST_F(InitiatorsPartTest, APdcIsOpenedForAFlow) {
  Flow& f = flow(77);
  const uint32_t refs = f.context->refs;
  Pdc* const pdc = initiators_.open_for(f, kNow);
  ASSERT_NE(pdc, nullptr);
  EXPECT_EQ(pdc->state(), PdcState::syn);
  EXPECT_EQ(pdc->peer, peer_);
  EXPECT_EQ(pdc->peer_id, Pdcid(0));
  EXPECT_EQ(pdc->sdi, 77u);
  EXPECT_EQ(pdc->flow, &f);
  EXPECT_EQ(pdc->context, f.context);
  EXPECT_EQ(f.context->refs, refs + 1);
  EXPECT_EQ(f.pdc_count, 1u);
  EXPECT_EQ(f.pdcs.front(), pdc);
  EXPECT_EQ(pdc->tx.next(), pdc->start.psn());
  EXPECT_EQ(pdc->rx.base(), pdc->start.psn()) << "both directions begin there [PDS-031]";
  EXPECT_EQ(idle_.of(true).front(), pdc);
  EXPECT_TRUE(pdc->timer.is_armed());
}

// [PDS-018, PDS-181] If no PDC is free, some are reclaimed, and the flow tries again.
TEST_F(InitiatorsPartTest, WithoutAPdcOthersAreReclaimed) {
  Flow& f = flow();
  while (table_.allocate(true, random_) != nullptr) {
  }
  EXPECT_EQ(initiators_.open_for(f, kNow), nullptr);
  EXPECT_EQ(counted(Count::pdc_alloc_fail), 1u);
  EXPECT_TRUE(was_called("relieve_pressure"));
  EXPECT_EQ(f.pdc_count, 0u);
}

// [PDS-015] It was opened for a message. Another PDC took that meanwhile: it goes again.
TEST_F(InitiatorsPartTest, APdcWithoutAMessageIsDiscarded) {
  Flow& f = flow();
  initiators_.finish_opening(*initiators_.open_for(f, kNow), true, kNow);
  EXPECT_EQ(counted(Count::pdc_opened_initiator), 1u);
  EXPECT_FALSE(was_called("discard"));
  initiators_.finish_opening(*initiators_.open_for(f, kNow), false, kNow);
  EXPECT_TRUE(was_called("discard"));
  EXPECT_EQ(counted(Count::pdc_opened_initiator), 1u);
}

}  // namespace
}  // namespace uet::pds::part
