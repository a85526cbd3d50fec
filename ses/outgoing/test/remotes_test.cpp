// The records of remote endpoints: found, made, and forgotten. [PDS-247, SES-134]
#include "ses/outgoing/remotes.h"

#include "ses/outgoing/test/initiator.h"

#include <string>

namespace uet::ses::test {
namespace {

class RemotesPartTest : public InitiatorTest {
 protected:
  RemotesPartTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(flows_.create(rng).ok() && remotes_.create(2, rng).ok());
  }
  Remote* get(uint16_t pid, bool is_internal = false) {
    Destination to = to_peer();
    to.pid = PidOnFep(pid);
    const Result<Remote*> found = remotes_.get(*ep_, to, is_internal);
    return found.ok() ? *found : nullptr;
  }
  // Something is unfinished toward it.
  Remote& busy(uint16_t pid) {
    Remote& remote = *get(pid);
    remote.leave_idle();
    return remote;
  }
  // The first of those that are known; a look makes none.
  bool knows(uint16_t pid) {
    for (const Remote& remote : flows_.first_of(peer_)->remotes) {
      if (remote.key.pid == PidOnFep(pid)) return true;
    }
    return false;
  }
  void sweep_after(Duration time) {
    elapse(time, [&](TimerNode& node) {
      EXPECT_EQ(node.kind(), Remotes::kSweepTimer);
      remotes_.sweep();
    });
  }

  Flows flows_{res_};
  Remotes remotes_{res_, flows_};
};

// [SES-134] What was learnt belongs to one remote endpoint, seen by one endpoint and job.
TEST_F(RemotesPartTest, EachRemoteEndpointHasOneRecord) {
  Remote* const first = *remotes_.get(*ep_, to_peer());
  Destination to = to_peer();
  EXPECT_EQ(*remotes_.get(*ep_, to), first);
  to.job = kJob;
  EXPECT_EQ(*remotes_.get(*ep_, to), first) << "the endpoint's own";
  to.initiator_id = 45;
  EXPECT_EQ(*remotes_.get(*ep_, to), first) << "no part of the name";
  to.job = JobId(9);
  EXPECT_NE(*remotes_.get(*ep_, to), first);
  to = to_peer();
  to.ri = ResourceIndex(4);
  EXPECT_NE(*remotes_.get(*ep_, to), first);
  to = to_peer();
  to.absolute = true;
  EXPECT_NE(*remotes_.get(*ep_, to), first);
  EXPECT_NE(*remotes_.get(*ep_, to_peer(), /*is_internal=*/true), first);
}

// [PDS-247] Where there is no room, the one that was idle for longest is forgotten.
TEST_F(RemotesPartTest, TheLongestIdleOneMakesRoom) {
  for (uint16_t pid = 1; pid <= 8; ++pid) get(pid);
  Remote& first = *get(1);
  first.leave_idle();
  remotes_.rest(first);
  EXPECT_NE(get(9), nullptr);
  EXPECT_TRUE(knows(1));
  EXPECT_FALSE(knows(2));
}

// [PDS-247] Records with unfinished operations stay; SES's own operations have separate room.
TEST_F(RemotesPartTest, BusyRecordsAreNotReplaced) {
  for (uint16_t pid = 1; pid <= 8; ++pid) busy(pid);
  EXPECT_EQ(get(9), nullptr);
  EXPECT_NE(get(9, /*is_internal=*/true), nullptr);
  EXPECT_NE(get(10, /*is_internal=*/true), nullptr);
  EXPECT_NE(get(11, /*is_internal=*/true), nullptr) << "the idle one among these makes room";
  EXPECT_EQ(get(9), nullptr);
}

// [PDS-247] If PDS has no free flow, an idle record is forgotten, so that its flow is free a round
// trip later.
TEST_F(RemotesPartTest, WithoutAFlowAnIdleRecordGoes) {
  get(1);
  busy(2);
  pds_.refusal = Errc::again;
  Destination to = to_peer();
  to.peer = another_peer(2);
  EXPECT_EQ(remotes_.get(*ep_, to).error(), Errc::again);
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(knows(2));
}

// [PDS-247] A remote that was idle for idle_time is forgotten; the last one gives the flow back.
TEST_F(RemotesPartTest, IdleOnesAreForgottenInTime) {
  res_.config.idle_time = Duration::seconds(10);
  get(1);
  res_.now = res_.now + Duration::seconds(4);
  get(2);
  sweep_after(Duration::seconds(6) + Duration::microseconds(2));
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(knows(2));
  pds_.take();
  sweep_after(Duration::seconds(4));
  EXPECT_EQ(pds_.take(), "release 1");
  EXPECT_EQ(flows_.first_of(peer_), nullptr);
}

// [PDS-247] With its peer go idle records now, and the others when they rest, unless they are used
// again before.
TEST_F(RemotesPartTest, RecordsGoWithTheirPeer) {
  get(1);
  Remote& second = busy(2);
  Remote& third = busy(3);
  remotes_.forget_peer(peer_);
  EXPECT_FALSE(knows(1));
  EXPECT_EQ(get(3), &third);
  remotes_.rest(second);
  remotes_.rest(third);
  EXPECT_FALSE(knows(2));
  EXPECT_TRUE(knows(3));
}

// [SES-102] The remote whose requests carry that initiator ID is found.
TEST_F(RemotesPartTest, ASenderIsFoundByItsInitiator) {
  *remotes_.get(*ep_, to_peer(), /*is_internal=*/true);
  EXPECT_EQ(remotes_.of_source(ep_->id, peer_, 44), nullptr);
  Remote* const first = get(1);
  get(2);
  EXPECT_EQ(remotes_.of_source(ep_->id, peer_, 44), first);
  EXPECT_EQ(remotes_.of_source(ep_->id, peer_, 45), nullptr);
  remotes_.forget_peer(peer_);
  EXPECT_EQ(remotes_.of_source(ep_->id, peer_, 44), nullptr);
}

// [SES-092] Operations of SES itself need no order, so they go by RUD.
TEST_F(RemotesPartTest, OperationsOfTheStackGoByRud) {
  use(pds::Mode::rod);
  EXPECT_TRUE(get(1)->is_ordered);
  EXPECT_FALSE(get(1, /*is_internal=*/true)->is_ordered);
}

}  // namespace
}  // namespace uet::ses::test
