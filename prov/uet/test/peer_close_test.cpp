// How receives of another provider end with the endpoint that had their messages, and with the
// receive context. [LF-159, fi_peer]
#include "prov/uet/test/peer_fixture.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace uet::prov::test {
namespace {

class PeerCloseTest : public PeerTest {
 protected:
  // Another endpoint of b.
  fid_ep* open_endpoint() {
    fid_ep* ep = nullptr;
    EXPECT_EQ(fi_endpoint(b.domain, b.info, &ep, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep, &b.av->fid, 0), 0);
    EXPECT_EQ(fi_ep_bind(ep, &b.srx->fid, 0), 0);
    EXPECT_EQ(fi_enable(ep), 0);
    return ep;
  }
  fi_addr_t address_of(fid_ep* ep) {
    std::vector<uint8_t> name(256);
    size_t length = name.size();
    EXPECT_EQ(fi_getname(&ep->fid, name.data(), &length), 0);
    name.resize(length);
    return a.insert(name);
  }
};

// [LF-159] Messages that wait at the owner are dropped; their entries go back, and are unknown.
TEST_F(PeerCloseTest, QueuedEntriesGoBack) {
  send(10);
  tsend(10, 1);
  tsend(1'000'000, 2);
  tsend(10, 3);
  wait_for_queued(4);
  fi_peer_rx_entry* const taken = owner.take_oldest();
  b.close_endpoint();
  EXPECT_EQ(owner.queued(), 0u);
  EXPECT_EQ(owner.open_entries(), 0u);
  std::vector<uint8_t> room(10);
  EXPECT_EQ(owner.start(taken, room), -FI_ENOENT);
  EXPECT_EQ(owner.discard(taken), -FI_ENOENT);
  b.close_srx();
  EXPECT_EQ(owner.start(taken, room), -FI_ENOENT);
  EXPECT_EQ(owner.discard(taken), -FI_ENOENT);
  EXPECT_EQ(room, std::vector<uint8_t>(10));
  EXPECT_TRUE(owner.done.empty());
}

// [LF-159] The other receives stay.
TEST_F(PeerCloseTest, EntriesGoBackWithTheirEndpoint) {
  fid_ep* const other = open_endpoint();
  const fi_addr_t to_other = address_of(other);
  const auto& data = tsend(10, 1);
  wait_for_queued(1);
  ASSERT_EQ(fi_tinject(a.ep, "gone", 4, to_other, 2), 0);
  wait_for_queued(2);
  owner.in_turn = true;
  EXPECT_EQ(fi_close(&other->fid), 0);
  owner.in_turn = false;
  EXPECT_EQ(owner.queued(), 1u);
  expect_received(owner.tpost(10, 1), data, FI_TAGGED);
}

// [LF-159] A receive that its message has half is reported as cancelled, and given back: one that
// was there first, and one that the owner started.
TEST_F(PeerCloseTest, ReceivesInUseAreCancelled) {
  constexpr size_t kBytes = 8 << 20;
  std::vector<const void*> contexts = {owner.tpost(kBytes, 1).data()};
  tsend(kBytes, 1);
  ASSERT_TRUE(run_until([&] { return owner.seen.asked != 0; }));
  tsend(kBytes, 2);
  wait_for_queued(1);
  contexts.push_back(owner.tpost(kBytes, 2).data());
  ASSERT_TRUE(owner.done.empty());
  b.close_endpoint();
  ASSERT_EQ(owner.done.size(), 2u);
  for (const Done& done : owner.done) {
    EXPECT_EQ(done.err, FI_ECANCELED);
    EXPECT_EQ(std::erase(contexts, done.context), 1u);
  }
  owner.done.clear();
}

// [LF-159] The receives still go back, and the owner gets its completions when it has room.
TEST_F(PeerCloseTest, ReceivesGoBackToAnOwnerWithoutRoom) {
  auto& first = owner.tpost(10, 1);
  auto& second = owner.tpost(8 << 20, 2);
  owner.ways.refuses_to_write = -FI_EAGAIN;
  tsend(10, 1);
  ASSERT_TRUE(run_until([&] { return owner.seen.asked == 1; }));
  tsend(8 << 20, 2);
  ASSERT_TRUE(run_until([&] { return owner.seen.asked == 2; }));
  EXPECT_EQ(owner.open_entries(), 2u);
  b.close_endpoint();
  EXPECT_EQ(owner.open_entries(), 0u);
  b.close_srx();
  EXPECT_TRUE(owner.done.empty());
  owner.ways.refuses_to_write = 0;
  b.run();
  ASSERT_EQ(owner.done.size(), 2u);
  EXPECT_EQ(owner.done[0].context, first.data());
  EXPECT_EQ(owner.done[0].err, 0);
  EXPECT_EQ(owner.done[1].context, second.data());
  EXPECT_EQ(owner.done[1].err, FI_ECANCELED);
  owner.done.clear();
}

class PeerCloseTimeTest : public PeerCloseTest, public ::testing::WithParamInterface<uint32_t> {};

// [LF-159] The owner starts and discards messages while endpoint and receive context close. Each
// entry comes back once, and each that was started has its completion.
TEST_P(PeerCloseTimeTest, OwnersMayBeBusyWhileTheirReceivesClose) {
  constexpr uint32_t kMessages = 64;
  for (uint32_t i = 0; i < kMessages; ++i) tsend(i % 4 == 0 ? 20'000 : 100, i);
  wait_for_queued(kMessages);
  std::vector<std::vector<uint8_t>> rooms(kMessages, std::vector<uint8_t>(20'000));
  std::vector<fi_peer_rx_entry*> taken;
  for (uint32_t i = 0; i < kMessages; ++i) {
    taken.push_back(owner.take_oldest());
    owner.give(*taken[i], rooms[i]);
  }
  const auto is_discarded = [](uint32_t i) { return i % 3 == 0; };
  std::vector<int> answers(kMessages);
  std::atomic<uint32_t> begun{0};
  std::atomic<bool> is_closed{false};
  std::thread user([&] {
    const fi_ops_srx_peer& uet = *owner.srx.peer_ops;
    for (uint32_t i = 0; i < kMessages; ++i) {
      begun = i;
      answers[i] = is_discarded(i) ? uet.discard_tag(taken[i]) : uet.start_tag(taken[i]);
    }
    while (!is_closed) {
      EXPECT_EQ(uet.start_tag(taken[0]), -FI_ENOENT);
      EXPECT_EQ(uet.discard_tag(taken[0]), -FI_ENOENT);
    }
  });
  while (begun < GetParam()) std::this_thread::yield();
  b.close_endpoint();
  b.close_srx();
  is_closed = true;
  user.join();
  size_t started = 0;
  for (uint32_t i = 0; i < kMessages; ++i) {
    EXPECT_TRUE(answers[i] == 0 || answers[i] == -FI_ENOENT) << answers[i];
    if (answers[i] != 0) continue;
    is_discarded(i) ? owner.drop(taken[i]) : void(++started);
  }
  b.run();
  EXPECT_EQ(owner.done.size(), started);
  owner.done.clear();
}
// After how many messages they close.
INSTANTIATE_TEST_SUITE_P(Begun, PeerCloseTimeTest,
                         ::testing::Values(0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 63));

}  // namespace
}  // namespace uet::prov::test
