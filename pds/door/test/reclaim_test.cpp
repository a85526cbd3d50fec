// Which PDCs are reclaimed when free PDCs are few, and which peers may open one more. [PDS-181,
// PDS-253]
#include "pds/door/reclaim.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class ReclaimPartTest : public AllParts {
 protected:
  ReclaimPartTest() {
    res_.config.max_pdcs = 8;
    res_.config.newcomer_percent = 0;
    res_.config.low_water_percent = 5;
  }
  // A target that was last used `time` ago.
  Pdc& idle_for(Duration time, bool is_proven = true) {
    Pdc& pdc = target(Mode::rud, is_proven);
    pdc.last_active = kNow - time;
    if (!is_proven) proofs_.begin(peer_);
    idle_.add(pdc);
    return pdc;
  }
  void fill(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) idle_for(Duration::zero());
  }
};

// [PDS-181] With enough free PDCs nothing happens; with none the longest idle ones close.
TEST_F(ReclaimPartTest, TheLongestIdlePdcsClose) {
  Pdc& busy = idle_for(Duration::seconds(9));
  busy.messages.start(kMessage, false);
  fill(6);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls(), Calls{});
  fill(1);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls(), (Calls{"ask_close", "ask_close"})) << "two at a time";
  EXPECT_EQ(counted(Count::pressure_closes), 2u);
}

// [PDS-181, PDS-253] They close before none is free, so that one is free when it is wanted; those
// of targets before only the part is left that newcomers find.
TEST_F(ReclaimPartTest, PdcsCloseBeforeNoneIsFree) {
  fill(5);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls(), Calls{}) << "3 of 8 are free";
  res_.config.newcomer_percent = 35;
  reclaim_.relieve_pressure(true, kNow);
  EXPECT_EQ(calls(), Calls{}) << "5 % are kept free for initiators";
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls().size(), 2u) << "40 %, which is more than 3, for targets";
  calls().clear();
  res_.config.newcomer_percent = 0;
  res_.config.low_water_percent = 40;
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls().size(), 2u);
}

// [PDS-253] A host that holds a PDC leaves some to hosts that hold none.
TEST_F(ReclaimPartTest, HostsWithPdcsLeaveSomeToNewcomers) {
  res_.config.peer_share_percent = 100;
  res_.config.newcomer_percent = 25;
  fill(6);
  peers_.count_target(peer_, 1);
  EXPECT_FALSE(reclaim_.has_share(peer_, 0, JobId(1), kNow));
  EXPECT_EQ(counted(Count::host_share_limit), 1u);
  const PeerId other = *peers_.find_or_add(address(10), kNow);
  EXPECT_TRUE(reclaim_.has_share(other, 0, JobId(1), kNow));
}

// [PDS-181] Initiators and targets make room for their own role.
TEST_F(ReclaimPartTest, AnInitiatorClosesByItself) {
  Pdc& pdc = initiator();
  idle_.add(pdc);
  fill(7);
  reclaim_.relieve_pressure(true, kNow);
  EXPECT_EQ(calls(), Calls{"begin_close"});
}

// [PDS-176, PDS-181] The source of a half-open PDC is most likely forged: the PDC is freed after a
// while. If the source was not forged, a tombstone answers it.
TEST_F(ReclaimPartTest, AHalfOpenPdcGoesAfterAWhile) {
  idle_for(res_.config.close_req, false);
  idle_for(res_.config.close_req - Duration::milliseconds(1), false);
  fill(6);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls_of("free_pdc"), Calls{"free_pdc: freed, with a tombstone"});
  EXPECT_EQ(counted(Count::pdc_reclaimed), 1u);
}

// [PDS-181] With half a message received it gets more time.
TEST_F(ReclaimPartTest, AHalfOpenPdcWithAMessageGetsMoreTime) {
  client_.has_open = true;
  idle_for(res_.config.close_req, false);
  fill(7);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls_of("free_pdc"), Calls{});
}

// [T-01] In a flood of half-open PDCs the proven ones stay.
TEST_F(ReclaimPartTest, AFloodDoesNotClosePdcsInUse) {
  fill(3);
  for (int i = 0; i < 5; ++i) idle_for(Duration::zero(), false);
  reclaim_.relieve_pressure(false, kNow);
  EXPECT_EQ(calls(), Calls{});
}

// [T-02, PDS-253] A peer leaves a part of the free PDCs to others. Idle ones of its own close.
TEST_F(ReclaimPartTest, APeerHasItsShare) {
  res_.config.peer_share_percent = 50;
  const JobId job(1);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(reclaim_.has_share(peer_, 0, job, kNow)) << i;
    idle_for(Duration::zero());
    peers_.count_target(peer_, 1);
  }
  EXPECT_FALSE(reclaim_.has_share(peer_, 0, job, kNow));
  EXPECT_EQ(counted(Count::peer_share_limit), 1u);
  EXPECT_EQ(calls(), (Calls{"ask_close", "ask_close"}));
  const PeerId other = *peers_.find_or_add(address(10), kNow);
  EXPECT_TRUE(reclaim_.has_share(other, 0, job, kNow));
}

// [T-02] The same for a job, whichever peers it runs on.
TEST_F(ReclaimPartTest, AJobHasItsShare) {
  res_.config.job_share_percent = 50;
  res_.config.peer_share_percent = 100;
  for (int i = 0; i < 4; ++i) {
    idle_for(Duration::zero()).job = JobId(5);
    shares_.take(0, JobId(5));
  }
  EXPECT_FALSE(reclaim_.has_share(peer_, 0, JobId(5), kNow));
  EXPECT_EQ(counted(Count::job_share_limit), 1u);
  EXPECT_TRUE(reclaim_.has_share(peer_, 0, JobId(6), kNow));
}

}  // namespace
}  // namespace uet::pds::part
