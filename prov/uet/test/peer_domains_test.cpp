// Two domains with owners (FI_PEER), and a fork beside their operations: what is refused, and that
// nothing waits for a lock that is never free. [LF-159, decision 14]
#include "prov/uet/test/peer_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace uet::prov::test {
namespace {

class PeerDomainsTest : public PeerTest {
 protected:
  PeerOwner other;
  PeerNode c{other};
};

// [LF-159] Two threads, each in a call of one domain, would wait for each other in the other one. A
// domain without an owner waits for no other thread, so it may be called.
TEST_F(PeerDomainsTest, AnOwnerThatIsCalledMayNotCallAnotherDomainWithAnOwner) {
  const fi_addr_t a_of_c = c.insert(a.name(), kNameOfA);
  const fi_addr_t c_of_a = a.insert(c.name());
  ASSERT_EQ(fi_tsend(a.ep, "c", 1, nullptr, c_of_a, 1, nullptr), 0);
  ASSERT_TRUE(run_until([&] {
    c.run();
    return other.queued() == 1;
  }));
  fi_peer_rx_entry* const queued = other.take_oldest();
  uint32_t calls = 0;
  owner.ways.calls_back = [&] {
    ++calls;
    EXPECT_EQ(fi_cq_read(c.cq, nullptr, 0), -FI_EBUSY);
    EXPECT_EQ(fi_tsend(c.ep, "x", 1, nullptr, a_of_c, 1, nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_av_remove(c.av, nullptr, 0, 0), -FI_EBUSY);
    EXPECT_EQ(other.srx.peer_ops->discard_tag(queued), -FI_EBUSY);
    EXPECT_EQ(fi_close(&c.ep->fid), -FI_EBUSY);
    EXPECT_NE(fi_cq_read(a.tx_cq, nullptr, 0), -FI_EBUSY);
  };
  tsend(10, 2);
  wait_for_queued(1);
  EXPECT_EQ(calls, 2u);  // get_tag, queue_tag
  owner.ways.calls_back = [] {};
  EXPECT_EQ(other.discard(queued), 0) << "outside of a call";
  EXPECT_EQ(fi_tsend(c.ep, "x", 1, nullptr, a_of_c, 1, nullptr), 0);
  EXPECT_EQ(owner.discard_oldest(), 0);
}

// [LF-159] As for other objects. [fi_endpoint, ERRORS]
TEST_F(PeerDomainsTest, ObjectsOfAnotherDomainAreNotBound) {
  fid_ep* ep = nullptr;
  ASSERT_EQ(fi_endpoint(b.domain, b.info, &ep, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(ep, &c.cq->fid, FI_TRANSMIT | FI_RECV), -FI_EDOMAIN);
  EXPECT_EQ(fi_ep_bind(ep, &c.srx->fid, 0), -FI_EDOMAIN);
  EXPECT_EQ(fi_ep_bind(ep, &c.av->fid, 0), -FI_EDOMAIN);
  EXPECT_EQ(fi_close(&ep->fid), 0);
}

// [LF-159, decision 14] Operations of an owner are looked up by a table, under a lock that any
// thread may hold when another one forks.
TEST_F(PeerDomainsTest, AForkBesideAnOperationLeavesNoLockInTheChild) {
  tsend(10, 1);
  wait_for_queued(1);
  fi_peer_rx_entry* const queued = owner.take_oldest();
  std::atomic<bool> ends{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      fi_peer_rx_entry unknown{};
      while (!ends) owner.srx.peer_ops->start_tag(&unknown);
    });
  }
  int wrong = 0;
  for (int i = 0; i < 300 && wrong == 0; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(10);  // ends a process that hangs
      const bool is_refused = owner.srx.peer_ops->start_tag(queued) == -FI_EOPBADSTATE &&
                              owner.srx.peer_ops->discard_tag(queued) == -FI_EOPBADSTATE &&
                              fi_cq_read(b.cq, nullptr, 0) == -FI_EOPBADSTATE;
      _exit(is_refused ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (status != 0) wrong = status;
  }
  ends = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(owner.discard(queued), 0) << "the parent continues";
}

}  // namespace
}  // namespace uet::prov::test
