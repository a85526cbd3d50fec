// Snapshots of waiting endpoints for tools: operations, receives, kept and arriving messages, and
// how many did not fit.
#include "ses/counters.h"
#include "ses/test/deferral_fixture.h"
#include "ses/test/pair.h"
#include "ses/test/rendezvous_fixture.h"

#include <array>
#include <set>
#include <string>

namespace uet::ses::test {
namespace {

class SnapshotTest : public PairTest {
 protected:
  Snapshot look(Node& node) {
    Snapshot s;
    s.operations = operations_;
    s.receives = receives_;
    s.kept = kept_;
    s.arriving = arriving_;
    node.ses->snapshot(s, now_);
    return s;
  }
  std::array<OperationSnapshot, 2> operations_;
  std::array<ReceiveSnapshot, 2> receives_;
  std::array<KeptSnapshot, 2> kept_;
  std::array<ArrivingSnapshot, 2> arriving_;
};

TEST_F(SnapshotTest, AnIdleEndpointWaitsForNothing) {
  const Snapshot s = look(*a_);
  EXPECT_EQ(s.endpoint_count, 1u);
  EXPECT_EQ(s.operation_count + s.receive_count + s.kept_count + s.arriving_count, 0u);
  EXPECT_EQ(s.kept_pages, 0u);
  EXPECT_EQ(s.kept_pages_max, 64u);  // 256 KiB
  EXPECT_EQ(s.disabled_indices, 0u);
}

TEST_F(SnapshotTest, AMessageHalfWay) {
  const Octets data = pattern(2500);  // three packets of 1024 octets at most
  SendRequest send = send_request(data, 0x51);
  send.tagged = true;
  send.tag = 0xABC;
  ASSERT_TRUE(a_->ses->send(a_->ep, send, now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 3u);
  deliver(0);
  now_ = now_ + Duration::milliseconds(7);

  const Snapshot at_a = look(*a_);
  ASSERT_EQ(at_a.operation_count, 1u);
  const OperationSnapshot& op = operations_[0];
  EXPECT_EQ(op.endpoint, kRi);
  EXPECT_EQ(op.peer.ip[0], 10);
  EXPECT_EQ(op.peer_pid, kPid);
  EXPECT_EQ(op.peer_ri, kRi);
  EXPECT_EQ(op.kind, OpKind::tagged_send);
  EXPECT_STREQ(op.state, "started");
  EXPECT_EQ(op.context, reinterpret_cast<void*>(uintptr_t{0x51}));
  EXPECT_EQ(op.tag, 0xABCu);
  EXPECT_EQ(op.bytes, 2500u);
  EXPECT_EQ(op.message_bytes, 2500u);
  EXPECT_EQ(op.pulled_packets, 3u);
  EXPECT_EQ(op.retries, 0u);
  EXPECT_EQ(op.refused, Duration());
  EXPECT_LT(op.timer, Duration());

  const Snapshot at_b = look(*b_);
  ASSERT_EQ(at_b.arriving_count, 1u);
  EXPECT_EQ(arriving_[0].bytes, 2500u);
  EXPECT_EQ(arriving_[0].arrived, 1024u);
  EXPECT_EQ(arriving_[0].silent, Duration::milliseconds(7));
  ASSERT_EQ(at_b.kept_count, 1u);  // it has pages from its first packet on
  EXPECT_TRUE(kept_[0].tagged);
  EXPECT_FALSE(kept_[0].is_complete);
  EXPECT_EQ(kept_[0].tag, 0xABCu);
  EXPECT_EQ(kept_[0].bytes, 2500u);
  EXPECT_EQ(kept_[0].initiator, 100u);
  EXPECT_EQ(at_b.kept_pages, 1u);

  deliver_all();
  look(*b_);
  EXPECT_TRUE(kept_[0].is_complete);
  EXPECT_EQ(look(*b_).arriving_count, 0u);
}

// [SES-135] How long it has been refused, and not how long ago the last time was.
TEST_F(SnapshotTest, AMessageThatIsRefusedSaysSinceWhen) {
  config_.unexpected_bytes = 0;
  start();
  const Octets data = pattern(10);
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
  deliver_all();
  elapse(Duration::seconds(3));
  ASSERT_EQ(look(*a_).operation_count, 1u);
  EXPECT_EQ(operations_[0].refused, Duration::seconds(3));
  EXPECT_GT(operations_[0].retries, 1u);
}

TEST_F(SnapshotTest, ItemsThatDoNotFitAreCounted) {
  Octets room(64);
  for (uint64_t tag = 1; tag <= 5; ++tag) {
    ReceiveRequest r = receive_request(room, 0x60 + tag);
    r.tagged = true;
    r.tag = tag;
    r.ignore = tag == 2 ? 0xF0 : 0;
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  }
  const Snapshot s = look(*b_);
  EXPECT_EQ(s.receive_count, 5u);
  EXPECT_EQ(receives_[0].tag, 1u);
  EXPECT_EQ(receives_[1].tag, 2u);
  EXPECT_EQ(receives_[1].ignore, 0xF0u);
  EXPECT_EQ(receives_[1].bytes, 64u);
  EXPECT_EQ(receives_[1].context, reinterpret_cast<void*>(uintptr_t{0x62}));
  EXPECT_FALSE(receives_[1].is_matched);
  EXPECT_TRUE(receives_[1].tagged);
  Snapshot nowhere;
  b_->ses->snapshot(nowhere, now_);
  EXPECT_EQ(nowhere.receive_count, 5u);
}

TEST_F(SnapshotTest, TheStateOfAnOperationIsNamed) {
  config_.unexpected_bytes = 0;
  start();
  const Octets data = pattern(10);
  SendRequest behind = send_request(data, 0x62);
  behind.flags = kOpFence;
  ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data, 0x61), now_).ok());
  ASSERT_TRUE(a_->ses->send(a_->ep, behind, now_).ok());
  ASSERT_EQ(look(*a_).operation_count, 2u);
  EXPECT_STREQ(operations_[0].state, "queued");
  EXPECT_STREQ(operations_[1].state, "held");
  deliver_all();  // no receive is posted
  now_ = now_ + Duration::milliseconds(3);
  ASSERT_EQ(look(*a_).operation_count, 2u);
  EXPECT_STREQ(operations_[0].state, "waiting");
  EXPECT_EQ(operations_[0].retries, 1u);
  EXPECT_EQ(operations_[0].refused, Duration::milliseconds(3));
  EXPECT_STREQ(operations_[1].state, "held");
}

// The name of the only operation of A.
std::string state_at(const Node& node, Instant now) {
  std::array<OperationSnapshot, 1> operations;
  Snapshot s;
  s.operations = operations;
  node.ses->snapshot(s, now);
  return s.operation_count == 1 ? operations[0].state : "";
}

class DeferredSnapshotTest : public DeferralTest {};
TEST_F(DeferredSnapshotTest, ADeferredSendIsShownAsDeferred) {
  const Octets data = pattern(3000);
  send(deferrable(data));
  deliver_all();
  EXPECT_EQ(state_at(*a_, now_), "deferred");
}

class ExposedSnapshotTest : public RendezvousTest {};
TEST_F(ExposedSnapshotTest, ASourceThatWaitsToBeReadIsExposed) {
  const Octets data = pattern(3000);
  send(by_rendezvous(data));
  deliver_all();
  EXPECT_EQ(state_at(*a_, now_), "exposed");
}

TEST(CounterNamesTest, EachCounterHasAUniqueName) {
  std::set<std::string> names;
  for (size_t i = 0; i < Counters::kCount; ++i) names.insert(name(static_cast<Counter>(i)));
  EXPECT_EQ(names.size(), Counters::kCount);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(name(static_cast<Counter>(Counters::kCount)), "unknown");
}

}  // namespace
}  // namespace uet::ses::test
