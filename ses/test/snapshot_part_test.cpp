// What tools see of endpoints that wait, field by field: copies of records that the test has made.
#include "ses/snapshot.h"

#include "ses/incoming/rx_message.h"
#include "ses/outgoing/tx_message.h"
#include "ses/test/parts.h"

#include "base/timer_wheel.h"

#include <array>
#include <cstddef>
#include <list>

namespace uet::ses::test {
namespace {

constexpr Duration kSecond = Duration::seconds(1);

class SnapshotPartTest : public PartTest {
 protected:
  ~SnapshotPartTest() override {
    for (TxMessage& m : sent_) endpoints_.get(m.endpoint)->operations.erase(m);
    for (PostedReceive& r : posted_) queue_->receives.erase(r);
    for (UnexpectedMessage& m : kept_) queue_->matcher(m.tagged).remove_unexpected(m);
  }

  Snapshot look() {
    Snapshot s;
    s.operations = operations_;
    s.receives = receives_;
    s.kept = copies_of_kept_;
    s.arriving = arriving_;
    add_waiting(s, endpoints_, peers_, res_.now);
    return s;
  }
  TxMessage& operation(Endpoint& ep) {
    TxMessage& m = sent_.emplace_back();
    m.endpoint = ep.id;
    ep.operations.push_back(m);
    return m;
  }
  PostedReceive& receive(Endpoint& ep) {
    queue_ = ep.queue;
    PostedReceive& r = posted_.emplace_back();
    ep.queue->receives.push_back(r);
    return r;
  }
  UnexpectedMessage& kept(Endpoint& ep, bool tagged) {
    queue_ = ep.queue;
    UnexpectedMessage& m = kept_.emplace_back();
    m.endpoint = ep.id.value();
    m.tagged = tagged;
    m.envelope.peer = peer_;
    ep.queue->matcher(tagged).add_unexpected(m);
    return m;
  }
  static FabricAddress address(uint8_t number) {
    FabricAddress a;
    a.family = FabricAddress::Family::ipv4;
    a.ip = {10, 0, 0, number};
    return a;
  }

  std::array<OperationSnapshot, 2> operations_;
  std::array<ReceiveSnapshot, 2> receives_;
  std::array<KeptSnapshot, 2> copies_of_kept_;
  std::array<ArrivingSnapshot, 1> arriving_;
  std::array<std::byte, 100> memory_{};

 private:
  std::list<TxMessage> sent_;
  std::list<PostedReceive> posted_;
  std::list<UnexpectedMessage> kept_;
  ReceiveQueue* queue_ = nullptr;
};

// [SES-135] An operation that was refused and waits for its timer.
TEST_F(SnapshotPartTest, AnOperationThatWaits) {
  Endpoint& ep = open();
  RemoteKey key;
  key.peer = peer_;
  key.pid = PidOnFep(55);
  key.ri = ResourceIndex(66);
  Remote remote(key);
  TxMessage& m = operation(ep);
  int context = 0;
  m.remote = &remote;
  m.kind = OpKind::write;
  m.state = TxMessage::State::waiting;
  m.context.op = &context;
  m.match_bits = 0xABC;
  m.memory.assign(IoSlice{memory_.data(), memory_.size()});
  m.segment_start = 40;
  m.segment_length = 60;
  m.id = MessageId(9);
  m.pulled_packets = 5;
  m.answered_packets = 2;
  m.failed_packets = 1;
  m.retries = 4;
  m.first_refused = res_.now - kSecond * 3;
  TimerWheel wheel;
  wheel.arm(m.timer, res_.now + kSecond * 2);
  const Snapshot s = look();
  EXPECT_EQ(s.endpoint_count, 1u);
  ASSERT_EQ(s.operation_count, 1u);
  const OperationSnapshot& o = operations_[0];
  EXPECT_EQ(o.endpoint, kRi);
  EXPECT_EQ(o.peer, address(1));
  EXPECT_EQ(o.peer_pid, PidOnFep(55));
  EXPECT_EQ(o.peer_ri, ResourceIndex(66));
  EXPECT_EQ(o.kind, OpKind::write);
  EXPECT_STREQ(o.state, "waiting");
  EXPECT_EQ(o.context, &context);
  EXPECT_EQ(o.tag, 0xABCu);
  EXPECT_EQ(o.bytes, 100u);
  EXPECT_EQ(o.message_start, 40u);
  EXPECT_EQ(o.message_bytes, 60u);
  EXPECT_EQ(o.message_id, 9);
  EXPECT_EQ(o.pulled_packets, 5u);
  EXPECT_EQ(o.done_packets, 3u);
  EXPECT_EQ(o.retries, 4u);
  EXPECT_EQ(o.refused, kSecond * 3);
  EXPECT_EQ(o.timer, m.timer.deadline() - res_.now) << "rounded up to a tick";
  wheel.cancel(m.timer);
}

// A snapshot shows that an operation was never refused and has no timer; every state has a name.
TEST_F(SnapshotPartTest, AnOperationInEachState) {
  Endpoint& ep = open();
  TxMessage& m = operation(ep);
  using State = TxMessage::State;
  const std::pair<State, const char*> names[] = {
      {State::held, "held"},       {State::queued, "queued"},   {State::started, "started"},
      {State::waiting, "waiting"}, {State::exposed, "exposed"}, {State::deferred, "deferred"},
      {State::ended, "ended"}};
  for (const auto& [state, name] : names) {
    m.state = state;
    look();
    EXPECT_STREQ(operations_[0].state, name);
  }
  EXPECT_EQ(operations_[0].refused, Duration::zero());
  EXPECT_LT(operations_[0].timer, Duration::zero());
  EXPECT_EQ(operations_[0].peer, FabricAddress());
}

TEST_F(SnapshotPartTest, AReceiveThatIsDirectedAndOneThatMessagesFill) {
  Endpoint& ep = open();
  int context = 0;
  PostedReceive& directed = receive(ep);
  directed.directed = directed.tagged = directed.is_matchable = true;
  directed.from = peer_;
  directed.tag = 7;
  directed.ignore = 0xF0;
  directed.context.op = &context;
  directed.memory.assign(IoSlice{memory_.data(), memory_.size()});
  PostedReceive& multi = receive(ep);
  multi.multi = true;
  multi.from = peer_;  // of a matched message
  multi.memory.assign(IoSlice{memory_.data(), memory_.size()});
  multi.used = 30;
  ASSERT_EQ(look().receive_count, 2u);
  const ReceiveSnapshot& first = receives_[0];
  EXPECT_EQ(first.endpoint, kRi);
  EXPECT_TRUE(first.directed && first.tagged && !first.multi && !first.is_matched);
  EXPECT_EQ(first.from, address(1));
  EXPECT_EQ(first.tag, 7u);
  EXPECT_EQ(first.ignore, 0xF0u);
  EXPECT_EQ(first.context, &context);
  EXPECT_EQ(first.bytes, 100u);
  const ReceiveSnapshot& second = receives_[1];
  EXPECT_TRUE(!second.directed && !second.tagged && second.multi && !second.is_matched);
  EXPECT_EQ(second.from, FabricAddress());
  EXPECT_EQ(second.bytes, 70u);
  multi.open_messages = 1;
  directed.is_matchable = false;
  look();
  EXPECT_TRUE(receives_[0].is_matched && receives_[1].is_matched);
}

// Untagged ones first, each kind in order of arrival.
TEST_F(SnapshotPartTest, KeptMessages) {
  Endpoint& ep = open();
  UnexpectedMessage& tagged = kept(ep, true);
  tagged.envelope.tag = 0x51;
  tagged.envelope.initiator = 100;
  tagged.request_length = 2500;
  tagged.is_complete = true;
  kept(ep, false);
  ASSERT_EQ(look().kept_count, 2u);
  EXPECT_FALSE(copies_of_kept_[0].tagged || copies_of_kept_[0].is_complete);
  const KeptSnapshot& k = copies_of_kept_[1];
  EXPECT_EQ(k.endpoint, kRi);
  EXPECT_EQ(k.peer, address(1));
  EXPECT_TRUE(k.tagged && k.is_complete);
  EXPECT_EQ(k.tag, 0x51u);
  EXPECT_EQ(k.initiator, 100u);
  EXPECT_EQ(k.bytes, 2500u);
}

TEST_F(SnapshotPartTest, AnArrivingMessage) {
  RxMessage m;
  m.peer = peer_;
  m.key.id = MessageId(12);
  m.pushed = 5000;
  m.arrived = 3000;
  m.last_arrival = res_.now - kSecond;
  Snapshot s;
  s.arriving = arriving_;
  add_arriving(s, m, peers_, res_.now);
  EXPECT_EQ(arriving_[0].peer, address(1));
  EXPECT_EQ(arriving_[0].message_id, 12);
  EXPECT_EQ(arriving_[0].bytes, 5000u);
  EXPECT_EQ(arriving_[0].arrived, 3000u);
  EXPECT_EQ(arriving_[0].silent, kSecond);
  m.arrived = 4000;
  add_arriving(s, m, peers_, res_.now);
  EXPECT_EQ(s.arriving_count, 2u);
  EXPECT_EQ(arriving_[0].arrived, 3000u) << "there is room for one";
}

// [SES-131] Everything is counted, and what fits is copied; disabled indices are those of all
// queues.
TEST_F(SnapshotPartTest, WhatDoesNotFitIsCounted) {
  Endpoint& ep = open();
  for (uint64_t i = 0; i < 5; ++i) operation(ep).match_bits = i;
  for (uint64_t i = 0; i < 4; ++i) receive(ep).tag = i;
  for (uint32_t i = 0; i < 3; ++i) kept(ep, false).request_length = i;
  ep.queue->disabled = 2;
  endpoints_.get(*endpoints_.open_shared(16))->disabled = 1;
  const Snapshot s = look();
  EXPECT_EQ(s.operation_count, 5u);
  EXPECT_EQ(s.receive_count, 4u);
  EXPECT_EQ(s.kept_count, 3u);
  EXPECT_EQ(s.disabled_indices, 3u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(operations_[i].tag, i);
    EXPECT_EQ(receives_[i].tag, i);
    EXPECT_EQ(copies_of_kept_[i].bytes, i);
  }
}

// Receives of several endpoints belong to none of them.
TEST_F(SnapshotPartTest, SharedReceivesNameNoEndpoint) {
  const ReceiveQueueId shared = *endpoints_.open_shared(16);
  Endpoint& ep = open(pds::Mode::rud, shared);
  receive(ep);
  ASSERT_EQ(look().receive_count, 1u);
  EXPECT_EQ(receives_[0].endpoint, ResourceIndex(0));
}

}  // namespace
}  // namespace uet::ses::test
