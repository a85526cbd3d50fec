// Which flow serves which peer, class, mode and job, and when it is given back. [PDS-013, PDS-247]
#include "ses/outgoing/flows.h"

#include "ses/outgoing/tx_message.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <deque>

namespace uet::ses::test {
namespace {

class FlowsTest : public PartTest {
 protected:
  FlowsTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(flows_.create(rng).ok());
  }
  FlowKey key(uint32_t job = 1, pds::Mode mode = pds::Mode::rud) const {
    return {peer_, TrafficClass{}, mode, JobId(job)};
  }
  Flow& used(const FlowKey& key) {
    Flow* const flow = flows_.get(key).flow;
    flows_.enter(*flow);
    return *flow;
  }

  Flows flows_{res_};
};

// [PDS-247] Its last user gives it back to PDS; later users get another one.
TEST_F(FlowsTest, AFlowGoesWithItsLastUser) {
  Flow& flow = used(key());
  EXPECT_EQ(flows_.get(key()).flow, &flow);
  flows_.enter(flow);
  flows_.leave(flow);
  EXPECT_EQ(pds_.take(), "");
  EXPECT_EQ(flows_.find(pds::FlowId(1)), &flow);
  flows_.leave(flow);
  EXPECT_EQ(pds_.take(), "release 1");
  EXPECT_EQ(flows_.find(pds::FlowId(1)), nullptr);
  EXPECT_EQ(used(key()).id, pds::FlowId(2));
}

// [PDS-247] A flow without a user, and one with a user.
TEST_F(FlowsTest, OnlyAnUnusedFlowIsDropped) {
  Flow& flow = used(key());
  flows_.drop_unused(flow);
  EXPECT_EQ(pds_.take(), "");
  flows_.drop_unused(*flows_.get(key(2)).flow);
  EXPECT_EQ(pds_.take(), "release 2");
}

// [PDS-013] PDS decides whether jobs share a flow. It is one here as well, under each of its keys.
TEST_F(FlowsTest, JobsMayHaveOneFlowInCommon) {
  pds_.only_flow = pds::FlowId(9);
  Flow& flow = used(key(1));
  EXPECT_EQ(&used(key(2)), &flow);
  flows_.leave(flow);
  EXPECT_EQ(flows_.get(key(1)).flow, &flow);
  flows_.leave(flow);
  EXPECT_EQ(pds_.take(), "release 9");
  pds_.only_flow.reset();
  EXPECT_EQ(flows_.get(key(1)).flow->id, pds::FlowId(1));
  EXPECT_EQ(flows_.get(key(2)).flow->id, pds::FlowId(2));
}

// [PDS-247] PDS has no flow left: that passes. A refusal for another reason does not, and neither
// costs a place.
TEST_F(FlowsTest, ARefusalOfPdsCostsNothing) {
  for (uint32_t i = 0; i < 2 * res_.config.flows; ++i) {
    pds_.refusal = Errc::again;
    EXPECT_TRUE(flows_.get(key()).is_full_below);
    pds_.refusal = Errc::invalid;
    const Flows::Found refused = flows_.get(key());
    EXPECT_EQ(refused.flow, nullptr);
    EXPECT_EQ(refused.why, Errc::invalid);
    EXPECT_FALSE(refused.is_full_below);
  }
  pds_.refusal.reset();
  for (uint32_t job = 1; job <= res_.config.flows; ++job) {
    EXPECT_NE(flows_.get(key(job)).flow, nullptr);
  }
  const Flows::Found full = flows_.get(key(100));
  EXPECT_EQ(full.why, Errc::again);
  EXPECT_FALSE(full.is_full_below) << "the limit is ours";
}

// [TSS-074] The packets of a job belong to the domain that it sends in.
TEST_F(FlowsTest, AFlowBelongsToTheDomainOfItsJob) {
  const tss::JobTable jobs;
  res_.jobs = &jobs;
  answers().domain = 77;
  flows_.get(key());
  EXPECT_EQ(pds_.domain, 77u);
  answers() = {};
  flows_.get(key(2));
  EXPECT_EQ(pds_.domain, 0u);
}

// [TSS-077] A job that must be secured and has no domain may not send.
TEST_F(FlowsTest, AJobWithoutItsDomainHasNoFlow) {
  const tss::JobTable jobs;
  res_.jobs = &jobs;
  answers().policy = tss::Policy::require;
  EXPECT_EQ(flows_.get(key()).why, Errc::permission);
  answers() = {};
}

// The flows of a peer are found whichever of them went before.
TEST_F(FlowsTest, TheFlowsOfAPeerAreListed) {
  const auto listed = [&] {
    std::string all;
    for (Flow* f = flows_.first_of(peer_); f != nullptr; f = f->next_of_peer) {
      all += std::to_string(f->id.value());
    }
    return all;
  };
  std::deque<Flow*> flows;
  for (uint32_t job = 1; job <= 4; ++job) flows.push_back(&used(key(job)));
  FlowKey other = key();
  other.peer = another_peer(2);
  used(other);
  EXPECT_EQ(listed(), "4321");
  flows_.leave(*flows[1]);
  EXPECT_EQ(listed(), "431");
  flows_.leave(*flows[3]);
  EXPECT_EQ(listed(), "31");
  flows_.leave(*flows[0]);
  flows_.leave(*flows[2]);
  EXPECT_EQ(listed(), "");
  EXPECT_NE(flows_.first_of(other.peer), nullptr);
}

// [SES-033] A message ID is free: flows with something to send are asked again, once.
TEST_F(FlowsTest, StarvedFlowsAreWokenOnce) {
  TxMessage waiting;
  used(key(1)).queue.push_back(waiting);
  used(key(2));
  flows_.wake_starved();
  EXPECT_EQ(pds_.take(), "") << "no flow was starved";
  flows_.note_starved();
  flows_.wake_starved();
  flows_.wake_starved();
  EXPECT_EQ(pds_.take(), "ready 1");
}

}  // namespace
}  // namespace uet::ses::test
