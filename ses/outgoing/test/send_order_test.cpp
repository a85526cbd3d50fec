// When an operation may start: fences, recovery on ROD, and the limit on reads of one flow.
#include "ses/outgoing/send_order.h"

#include "ses/test/parts.h"

#include <deque>

namespace uet::ses::test {
namespace {

using State = TxMessage::State;

class SendOrderTest : public PartTest {
 protected:
  SendOrderTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(flows_.create(rng).ok());
    EXPECT_TRUE(remotes_.create(4, rng).ok());
  }
  void use(pds::Mode mode) { remote_ = *remotes_.get(open(mode), to_peer()); }
  TxMessage& make(bool is_fenced = false) {
    TxMessage& m = messages_.emplace_back();
    m.sequence = messages_.size();
    m.remote = remote_;
    m.flow = remote_->flow;
    m.mtu = 1024;
    m.is_fenced = is_fenced;
    return m;
  }
  TxMessage& post(bool is_fenced = false) {
    TxMessage& m = make(is_fenced);
    order_.post(m);
    return m;
  }
  void finish(TxMessage& m) {
    order_.leave(m);
    order_.end_recovery_wait(*remote_);
    order_.on_gone(*remote_);
  }
  // The numbers of the operations that may start, in order.
  std::string queue() const {
    std::string out;
    for (const TxMessage& m : remote_->flow->queue) out += std::to_string(m.sequence);
    return out;
  }

  Flows flows_{res_};
  Remotes remotes_{res_, flows_};
  SendOrder order_{res_, remotes_};
  Remote* remote_ = nullptr;
  std::deque<TxMessage> messages_;
};

// [LF-060]
TEST_F(SendOrderTest, AFenceAndAllBehindItWaitForOperationsInFlight) {
  use(pds::Mode::rud);
  TxMessage& first = post();
  post(/*is_fenced=*/true);
  post();
  EXPECT_EQ(queue(), "1");
  EXPECT_EQ(pds_.take(), "ready 1, want_answers");
  order_.start(first);
  EXPECT_EQ(queue(), "");
  finish(first);
  EXPECT_EQ(queue(), "23");
}

// [LF-060]
TEST_F(SendOrderTest, FenceWaitsForAnExposedSend) {
  use(pds::Mode::rud);
  TxMessage& first = post();
  order_.start(first);
  order_.expose(first);
  post(/*is_fenced=*/true);
  EXPECT_EQ(queue(), "");
  order_.end_exposed(first);
  order_.on_gone(*remote_);
  EXPECT_EQ(queue(), "2");
}

// [SES-029]
TEST_F(SendOrderTest, RefusedOperationOnRodGoesAgainBeforeLaterOnes) {
  use(pds::Mode::rod);
  TxMessage& first = post();
  TxMessage& second = post();
  post();
  order_.start(first);
  order_.start(second);
  order_.begin_recovery(*remote_);  // the third is called back
  EXPECT_EQ(queue(), "");
  order_.again(second, Duration::zero());
  EXPECT_EQ(queue(), "");  // the first is still in flight
  order_.again(first, Duration::zero());
  EXPECT_EQ(queue(), "123");
}

// [SES-135]
TEST_F(SendOrderTest, RefusedOperationOnRudWaitsAloneForItsDelay) {
  use(pds::Mode::rud);
  TxMessage& first = post();
  order_.start(first);
  order_.again(first, Duration::milliseconds(50));
  EXPECT_EQ(first.state, State::waiting);
  EXPECT_GE(first.timer.deadline(), res_.now + Duration::milliseconds(50));
  EXPECT_LT(first.timer.deadline(), res_.now + Duration::milliseconds(51));
  post();
  EXPECT_EQ(queue(), "2");
  res_.timers.cancel(first.timer);
}

// [T-39]
TEST_F(SendOrderTest, AReadWaitsUntilReadsOfItsFlowLeaveRoom) {
  use(pds::Mode::rud);
  res_.config.read_packets = 4;
  const auto post_read = [&](uint32_t packets) -> TxMessage& {
    TxMessage& m = make();
    m.kind = OpKind::read;
    m.push_length = m.segment_length = packets * 1024;
    order_.post(m);
    return m;
  };
  Flow& flow = *remote_->flow;
  TxMessage& first = post_read(3);
  TxMessage& second = post_read(2);
  ASSERT_EQ(order_.next(flow), &first);
  order_.start(first);
  EXPECT_EQ(order_.next(flow), nullptr);  // 3 + 2 > 4
  pds_.take();
  first.data_bytes = first.segment_length;
  order_.end_read(first);
  EXPECT_EQ(pds_.take(), "ready 1");
  EXPECT_EQ(order_.next(flow), &second);
}

// Row by row: the states that may follow.
TEST(TxMessageTest, StatesFollowEachOtherAsTheTableSays) {
  const char* const kNames[] = {"held",    "queued",   "started", "waiting",
                                "exposed", "deferred", "ended"};
  std::string table;
  for (unsigned from = 0; from < 7; ++from) {
    table += std::string(kNames[from]) + ":";
    for (unsigned to = 0; to < 7; ++to) {
      if ((kNextStates[from] >> to & 1) != 0) table += std::string(" ") + kNames[to];
    }
    table += "\n";
  }
  EXPECT_EQ(table,
            "held: queued ended\n"
            "queued: held started ended\n"
            "started: held queued waiting exposed deferred ended\n"
            "waiting: queued ended\n"
            "exposed: queued ended\n"
            "deferred: queued ended\n"
            "ended:\n");
}

}  // namespace
}  // namespace uet::ses::test
