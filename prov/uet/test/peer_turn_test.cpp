// When uet calls another provider whose queues and receives were imported, which calls that
// provider may make, and what happens to completions without room. [LF-159, fi_peer]
#include "prov/uet/test/peer_fixture.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace uet::prov::test {
namespace {

class PeerTurnTest : public PeerTest {
 protected:
  // Every call of uet from inside an operation of the owner is refused.
  void expect_refusals() {
    uint8_t octet = 0;
    fi_addr_t again = 0x99;
    EXPECT_EQ(fi_cq_read(b.cq, nullptr, 0), -FI_EBUSY);
    EXPECT_EQ(fi_tsend(b.ep, &octet, 1, nullptr, to_a, 1, nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_inject(b.ep, &octet, 1, to_a), -FI_EBUSY);
    EXPECT_EQ(fi_recv(b.srx, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_av_insert(b.av, name_of_a_.data(), 1, &again, FI_AV_USER_ID, nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_av_remove(b.av, &to_a, 1, 0), -FI_EBUSY);
    EXPECT_EQ(fi_close(&b.ep->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&b.srx->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&b.cq->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&b.domain->fid), -FI_EBUSY);
    fid_cq* cq = nullptr;
    fi_cq_attr attr{};
    EXPECT_EQ(fi_cq_open(b.domain, &attr, &cq, nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_cntr_read(own_), 0u);
    fi_peer_rx_entry unknown{};
    EXPECT_EQ(owner.srx.peer_ops->start_tag(&unknown), -FI_ENOENT);
    if (queued_ == nullptr) return;
    EXPECT_EQ(owner.srx.peer_ops->start_tag(queued_), -FI_EBUSY);
    EXPECT_EQ(owner.srx.peer_ops->discard_tag(queued_), -FI_EBUSY);
  }

  const std::vector<uint8_t> name_of_a_ = a.name();
  fid_cntr* own_ = nullptr;
  fi_peer_rx_entry* queued_ = nullptr;
};

// [LF-159] Calls that it needs in answer wait until the call is over; nothing hangs, and everything
// continues.
TEST_F(PeerTurnTest, OwnersThatCallBackAreRefused) {
  fi_cntr_attr attr{};
  ASSERT_EQ(fi_cntr_open(b.domain, &attr, &own_, nullptr), 0);
  tsend(10, 1);
  wait_for_queued(1);
  uint32_t calls = 0;
  owner.ways.calls_back = [&] {
    ++calls;
    expect_refusals();
  };
  queued_ = owner.take_oldest();
  const auto& data = tsend(10, 2);  // get_tag, queue_tag
  wait_for_queued(1);
  EXPECT_EQ(calls, 2u);
  expect_received(owner.tpost(10, 2), data, FI_TAGGED);  // write, free_entry
  EXPECT_EQ(calls, 4u);
  a.close_endpoint();
  send_to_nobody(nullptr);
  EXPECT_NE(next().err, 0);  // writeerr
  EXPECT_EQ(calls, 5u);
  b.close_endpoint();  // free_entry
  EXPECT_EQ(calls, 6u);
  owner.ways.calls_back = [] {};
  EXPECT_EQ(fi_close(&own_->fid), 0);
}

// [LF-159] Reads of other queues and counters, set-up calls and posts do not call the owner, even
// if messages arrive meanwhile.
TEST_F(PeerTurnTest, CompletionsWaitForTheTurn) {
  fi_cntr_attr attr{};
  fi_cq_attr cq_attr{};
  fid_cntr* counter = nullptr;
  fid_cq* cq = nullptr;
  ASSERT_EQ(fi_cntr_open(b.domain, &attr, &counter, nullptr), 0);
  ASSERT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, nullptr), 0);
  constexpr size_t kBytes = 3 << 20;
  auto& room = owner.tpost(kBytes, 5);
  const auto& data = tsend(kBytes, 5);  // the owner's receive has its beginning
  ASSERT_TRUE(run_until([&] { return owner.seen.asked != 0; }));
  ASSERT_TRUE(owner.done.empty());
  uint8_t from_b[1];
  ASSERT_EQ(fi_recv(a.ep, from_b, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(b.ep, "x", 1, nullptr, to_a, from_b), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end) {
    fi_cq_read(a.rx_cq, nullptr, 0);
    EXPECT_EQ(fi_cntr_read(counter), 0u);
    EXPECT_EQ(fi_cq_read(cq, nullptr, 0), -FI_EAGAIN);
    fi_addr_t again = 1;
    ASSERT_EQ(fi_av_insert(b.av, a.name().data(), 1, &again, FI_AV_USER_ID, nullptr), 1);
    ASSERT_EQ(fi_av_remove(b.av, &again, 1, 0), 0);
  }
  EXPECT_EQ(fi_close(&counter->fid), 0);
  EXPECT_EQ(fi_close(&cq->fid), 0);
  EXPECT_TRUE(owner.done.empty());
  EXPECT_EQ(room, data);  // there it is
  b.run();
  EXPECT_EQ(owner.done.size(), 2u);
  owner.done.clear();
}

// [LF-159] Kept and written again, good ones and errors in their order; the receives stay in use.
TEST_F(PeerTurnTest, OwnersWithoutRoomGetTheirCompletionsLater) {
  for (const int refusal : {-FI_EAGAIN, -FI_ENOMEM}) {
    owner.ways.refuses_to_write = refusal;
    const void* const contexts[] = {owner.tpost(10, 1).data(), owner.tpost(5, 1).data(),
                                    owner.tpost(10, 1).data()};
    for (uint32_t i = 0; i < 3; ++i) tsend(10, 1, i);
    const uint32_t asked = owner.seen.asked;
    ASSERT_TRUE(run_until([&] { return owner.seen.asked == asked + 3; }));
    for (uint32_t i = 0; i < 100; ++i) b.run();
    EXPECT_TRUE(owner.done.empty());
    EXPECT_EQ(owner.open_entries(), 3u);
    owner.ways.refuses_to_write = 0;
    b.run();
    ASSERT_EQ(owner.done.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(owner.done[i].context, contexts[i]);
      EXPECT_EQ(owner.done[i].err, i == 1 ? FI_ETRUNC : 0);
    }
    EXPECT_EQ(owner.open_entries(), 0u);
    owner.done.clear();
  }
  EXPECT_EQ(find_counter(b.domain, "peer_cq_lost"), 0u);
}

// [LF-159] Operations are refused before there is no room for their completions, and queued
// messages stay queued.
TEST_F(PeerTurnTest, OwnersWithoutRoomHoldOperationsBack) {
  send(10);
  wait_for_queued(1);
  owner.ways.refuses_to_write = -FI_EAGAIN;
  uint32_t posted = 0;
  const auto is_full = [&] {
    ssize_t rc = 0;
    run_until(
        [&] {
          rc = fi_tsend(b.ep, "x", 1, nullptr, to_a, 1, nullptr);
          return rc != -FI_EAGAIN;
        },
        std::chrono::milliseconds(500));
    if (rc == 0) ++posted;
    return rc == -FI_EAGAIN;
  };
  while (posted < 100'000 && !is_full()) {
  }
  EXPECT_LT(posted, 100'000u);
  EXPECT_GE(posted, 1024u);
  std::vector<uint8_t> room(10);
  fi_peer_rx_entry* const entry = owner.take_oldest();
  EXPECT_EQ(owner.start(entry, room), 0) << "there is room for what was started";
  EXPECT_TRUE(owner.done.empty());
  owner.ways.refuses_to_write = 0;
  ASSERT_TRUE(run_until([&] { return owner.done.size() == posted + 1; }));
  EXPECT_EQ(owner.done.back().context, room.data());
  owner.done.clear();
}

// [LF-159] Owners do not start a receive a second time: each one is taken, although no completions
// are read meanwhile, and there are more than the queue has places.
TEST_F(PeerTurnTest, OwnersMayStartMoreThanTheQueueHasPlaces) {
  constexpr size_t kMessages = 3500;  // places: 1,024, and as many for sends and receives
  for (size_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(run_until([&] { return fi_inject(a.ep, "x", 1, to_b) == 0; }));
  }
  wait_for_queued(kMessages);
  std::vector<uint8_t> room(1);
  for (size_t i = 0; i < kMessages; ++i) ASSERT_EQ(owner.start(owner.take_oldest(), room), 0);
  EXPECT_TRUE(run_until([&] { return owner.done.size() == kMessages; })) << owner.done.size();
  owner.done.clear();
}

// [LF-159] A completion that the owner does not want at all is counted, and holds nothing up.
TEST_F(PeerTurnTest, CompletionsThatOwnersRefuseForGoodAreCounted) {
  owner.tpost(10, 1);
  owner.ways.refuses_to_write = -FI_EINVAL;
  tsend(10, 1);
  ASSERT_TRUE(run_until([&] { return owner.open_entries() == 0; }));
  EXPECT_EQ(find_counter(b.domain, "peer_cq_lost"), 1u);
  owner.ways.refuses_to_write = 0;
  auto& room = owner.tpost(10, 2);
  expect_received(room, tsend(10, 2, 2), FI_TAGGED);
  EXPECT_EQ(find_counter(b.domain, "peer_cq_lost"), 1u);
}

// [LF-159] One that never has room until the queue closes.
TEST_F(PeerTurnTest, QueuesCloseAlthoughTheirOwnerHasNoRoom) {
  owner.tpost(10, 1);
  owner.ways.refuses_to_write = -FI_EAGAIN;
  tsend(10, 1);
  ASSERT_TRUE(run_until([&] { return owner.seen.asked == 1; }));
  b.close_endpoint();
  EXPECT_EQ(owner.open_entries(), 0u);
  b.close_srx();
  b.close_queues();
  EXPECT_TRUE(owner.done.empty());
  EXPECT_EQ(find_counter(b.domain, "peer_cq_lost"), 1u);
}

}  // namespace
}  // namespace uet::prov::test
