// The lists and timers of Schedule, with PDCs that no other part knows. [PDS-142, PDS-244]
#include "pds/schedule/schedule.h"

#include "base/arena.h"

#include <gtest/gtest.h>

#include <memory>

namespace uet::pds {
namespace {

const Instant kStart = Instant::from_ns(1'000'000'000);
constexpr MessageHandle kMessage(1);
constexpr Duration kTimerTick = Duration::microseconds(2);  // timers fire late by less

// Nothing here calls the client.
class NoClient final : public Client {
 public:
  bool start(FlowId, PdcHandle, StartedMessage&, Instant) override { return false; }
  bool pull(MessageHandle, PacketRef&) override { return false; }
  void encode(const PacketRef&, wire::Writer&, TxBatch&) override {}
  Verdict on_request(const RxRequest&, Instant) override { return Verdict::accepted(); }
  void on_response(const PacketRef&, const RxResponse&, Instant) override {}
  void on_failed(const PacketRef&, const Failure&, Instant) override {}
  void on_aborted(MessageHandle, const Failure&, Instant) override {}
  JobId job_of(std::span<const std::byte>) const override { return JobId(1); }
  bool has_open_message(PdcHandle) const override { return false; }
  void on_pdc_closed(PdcHandle, PeerId, bool, Instant) override {}
};

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() {
    EXPECT_TRUE(peers_.create(arena_, 2, 1).ok());
    config_.tx_window_packets = 8;
    window_.algorithm = cms::Algorithm::fixed;
    window_.initial_window_packets = 8;
    res_ = std::make_unique<Resources>(config_, window_, peers_, client_, randomness_);
    res_->tx_pool.create(arena_, 2);
    context_ = std::make_unique<Context>(ContextKey{}, window_, std::nullopt, res_->rng, senders_);
    context_->limits.packet_bytes_max = 4096;
    schedule_ = std::make_unique<Schedule>(*res_);
  }
  // An established initiator that has nothing to send.
  std::unique_ptr<Pdc> pdc() {
    auto made = std::make_unique<Pdc>(uint8_t{0});
    made->life.start(true);
    made->life.change(PdcEvent::opened);
    made->life.change(PdcEvent::first_ack);
    made->context = context_.get();
    made->begin_at(Psn(100), config_);
    return made;
  }

  // One of its packets was sent and is lost.
  void lose(Pdc& p) {
    p.tx.start(p.start.psn());
    EXPECT_TRUE(p.tx.reserve(res_->tx_pool));
    p.losses.mark(p.tx.push(), p.start.psn());
  }

  Arena arena_;
  PeerTable peers_;
  Config config_;
  cms::Config window_;
  uint32_t senders_ = 0;  // contexts with something to send
  NoClient client_;
  SeededRandom randomness_{1};
  std::unique_ptr<Resources> res_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Schedule> schedule_;
};

TEST_F(ScheduleTest, APdcWithNothingToSendGetsNoTurn) {
  const auto idle = pdc();
  schedule_->want_send(*idle);
  EXPECT_FALSE(schedule_->has_work());
  EXPECT_EQ(schedule_->next_send(), nullptr);
}

// [PDS-244] Turns come in the order in which they were asked for, one for each PDC.
TEST_F(ScheduleTest, PdcsGetTheirTurnsInOrder) {
  const auto first = pdc(), second = pdc();
  for (Pdc* p : {first.get(), second.get()}) p->messages.start(kMessage, false);
  for (Pdc* p : {first.get(), second.get(), first.get()}) schedule_->want_send(*p);
  EXPECT_TRUE(schedule_->has_new_work());
  EXPECT_EQ(schedule_->send_after(), first.get());
  EXPECT_EQ(schedule_->next_send(), first.get());
  EXPECT_EQ(schedule_->next_send(), second.get());
  EXPECT_EQ(schedule_->next_send(), nullptr);
}

// [PDS-062] What is lost goes before anything new.
TEST_F(ScheduleTest, APdcWithALostPacketGetsATurnToResend) {
  const auto p = pdc();
  p->messages.start(kMessage, false);
  lose(*p);
  schedule_->want_send(*p);
  EXPECT_EQ(schedule_->next_send(), nullptr);
  EXPECT_EQ(schedule_->next_resend(), p.get());
  p->tx.abandon(res_->tx_pool);
}

TEST_F(ScheduleTest, APdcThatStopsSendingStandsInNoList) {
  const auto p = pdc();
  p->messages.start(kMessage, false);
  schedule_->want_send(*p);
  p->stop_sending();
  EXPECT_FALSE(schedule_->has_work());
}

// What the peer tracks is used up: an ACK brings the PDC back.
TEST_F(ScheduleTest, AClosedWindowIsCountedAndGetsNoTurn) {
  res_->config.tx_window_packets = 0;
  const auto p = pdc();
  p->messages.start(kMessage, false);
  schedule_->want_send(*p);
  EXPECT_FALSE(schedule_->has_work());
  EXPECT_EQ(res_->counters[Count::window_stalls], 1u);
}

// [PDS-244] Replies have a separate list, in which a PDC stands once.
TEST_F(ScheduleTest, APdcStandsOnceInTheListOfReplies) {
  const auto first = pdc(), second = pdc();
  schedule_->want_control(*first);
  schedule_->want_control(*second);
  schedule_->want_control(*first);
  EXPECT_EQ(schedule_->next_control(), first.get());
  schedule_->keep_control(*first);
  EXPECT_EQ(schedule_->next_control(), first.get()) << "it keeps its turn";
  EXPECT_EQ(schedule_->next_control(), second.get());
  EXPECT_EQ(schedule_->next_control(), nullptr);
}

// [PDS-083] An ACK of received octets is no pressing work until something else is queued.
TEST_F(ScheduleTest, AnAckThatMayWaitIsNotPressing) {
  const auto first = pdc(), second = pdc();
  first->ack.want(Count::ack_bytes, {});
  schedule_->want_control(*first, first->ack.may_wait());
  EXPECT_TRUE(schedule_->has_work());
  EXPECT_FALSE(schedule_->has_work(Work::pressing));
  second->ack.want(Count::ack_ar, {});
  schedule_->want_control(*second, second->ack.may_wait());
  EXPECT_TRUE(schedule_->has_work(Work::pressing));
  while (schedule_->next_control() != nullptr) {
  }
  EXPECT_FALSE(schedule_->has_work(Work::pressing));
  schedule_->want_control(*first);
  EXPECT_TRUE(schedule_->has_work(Work::pressing)) << "more than an ACK";
}

// [PDS-021] A flow without a PDC waits for one, and is then first in the list.
TEST_F(ScheduleTest, AStarvedFlowWaitsUntilItIsFed) {
  Flow starved{FlowKey{}}, other{FlowKey{}};
  schedule_->starve(starved);
  EXPECT_FALSE(schedule_->has_work());
  schedule_->feed_starved();
  schedule_->wake_flow(other);
  schedule_->wake_flow(starved);
  EXPECT_EQ(schedule_->next_flow(), &starved);
  EXPECT_EQ(schedule_->next_flow(), &other);
  EXPECT_EQ(schedule_->next_flow(), nullptr);
}

// [PDS-244, CMS-011, CMS-013] A context whose window has room again gets a turn only if one of its
// PDCs waits for the window, and one turn only.
TEST_F(ScheduleTest, APathIsServedIfAPdcWaitsForItsWindow) {
  schedule_->wake_context(*context_);
  EXPECT_EQ(schedule_->next_open_context(), nullptr);
  const auto p = pdc();
  context_->blocked.push_back(*p);
  schedule_->wake_context(*context_);
  schedule_->wake_context(*context_);
  EXPECT_EQ(schedule_->next_open_context(), context_.get());
  EXPECT_EQ(schedule_->next_open_context(), nullptr);
  p->stop_sending();
}

// [PDS-142] A PDC has one timer, which is for the earliest of its deadlines.
TEST_F(ScheduleTest, TheTimerOfAPdcIsForTheEarliestDeadline) {
  const auto p = pdc();
  const Duration step = Duration::milliseconds(1);
  schedule_->arm_by(*p, kStart + step * 5);
  schedule_->arm_by(*p, kStart + step * 9);
  EXPECT_LT(p->timer.deadline() - (kStart + step * 5), kTimerTick);
  schedule_->arm_by(*p, kStart + step * 2);
  EXPECT_LT(p->timer.deadline() - (kStart + step * 2), kTimerTick);
  EXPECT_EQ(schedule_->armed_timers(), 1u);

  int fired = 0;
  const auto count = [&](Pdc& one) { fired += &one == p.get(); };
  schedule_->expire(kStart + step, count);
  EXPECT_EQ(fired, 0);
  schedule_->expire(kStart + step * 3, count);
  EXPECT_EQ(fired, 1);
  schedule_->arm_by(*p, kStart + step * 9);
  schedule_->cancel(*p);
  EXPECT_EQ(schedule_->armed_timers(), 0u);
}

// [LF-142] No more is in flight than the way to the peer holds; alone any packet may go.
TEST_F(ScheduleTest, SharedMemoryLimitsTheOctetsInFlight) {
  const auto p = pdc();
  context_->limits.room_bytes = 8192;
  EXPECT_TRUE(context_->is_admitted(9000));
  context_->on_sent(*p, {.bytes = 4096, .at = kStart});
  EXPECT_TRUE(context_->is_admitted(4096));
  EXPECT_FALSE(context_->is_admitted(4097));
  context_->limits.room_bytes = 16'384;
  EXPECT_TRUE(context_->is_admitted(4097));
}

// [T-33] Credit for a context that uses none changes nothing.
TEST_F(ScheduleTest, CreditWithoutAUserIsCounted) {
  const auto p = pdc();
  p->asking.want_credit();
  p->asking.note_credit_asked();
  schedule_->on_credit(*p, 100, kStart);
  EXPECT_EQ(res_->counters[Count::credit_unused], 1u);
  EXPECT_FALSE(p->asking.has_asked_credit()) << "it was answered";
}

}  // namespace
}  // namespace uet::pds
