// What tools see of PDCs and contexts, number for number: copies of what the parts of a PDC hold.
#include "pds/pdc/snapshots.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

constexpr Duration kSecond = Duration::seconds(1);
constexpr uint32_t kBytes = kPacketBytes / 4;  // of each packet that send() sends

// The fields about sending and receiving as text; the tests compare the other fields one by one.
std::string picture(const PdcSnapshot& s) {
  std::string all = s.is_initiator ? "initiator" : "target";
  all += std::string(" ") + name(s.state) + (s.mode == Mode::rod ? " ROD" : " RUD");
  if (s.close_asked) all += ", close asked";
  if (s.has_message) all += ", has a message";
  all += ", sends " + text(s.tx_base) + ".." + text(s.tx_next);
  if (s.lost != 0) all += ", lost " + std::to_string(s.lost);
  all += ", oldest " + text(s.oldest_age) + " resent " + std::to_string(s.oldest_resends) +
         " refused " + std::to_string(s.oldest_nacks);
  all += ", waits " + text(s.waiting) + ", refused for " + text(s.refused);
  all += ", received " + text(s.rx_cack) + ".." + text(s.rx_max) + " out of order " +
         std::to_string(s.out_of_order);
  all += ", silent " + text(s.silent) + ", timer " + text(s.timer);
  return all;
}

class SnapshotsPartTest : public AllParts {
 protected:
  PdcSnapshot copy(Pdc& pdc, Instant now) {
    std::array<PdcSnapshot, 8> all;
    const uint32_t count = copy_pdcs(table_, peers_, all, now);
    for (uint32_t i = 0; i < count; ++i) {
      if (all[i].id == pdc.id) return all[i];
    }
    ADD_FAILURE() << "it is not there";
    return {};
  }
  // Their lanes, in order.
  std::string lanes(std::span<const ContextSnapshot> contexts) {
    std::string all;
    for (const ContextSnapshot& s : contexts) all += std::to_string(s.lane) + ' ';
    return all;
  }
};

// What is outstanding at the source, of a context that it shares.
TEST_F(SnapshotsPartTest, AnInitiatorThatWaits) {
  Pdc& pdc = initiator(Mode::rod);
  send(pdc, 3);
  pdc.messages.start(kMessage, false);
  context_.mark(pdc, slot(pdc, 1), kFirst + 1, LossSign::reported);
  slot(pdc, 0).state.count_timeout();
  slot(pdc, 0).state.count_timeout();
  slot(pdc, 0).state.count_refusal();
  pdc.waiting.begin(kNow + Duration::milliseconds(1));
  pdc.waiting.note_refused(kNow + Duration::milliseconds(2));
  TimerWheel wheel;
  wheel.arm(pdc.timer, kNow + kSecond * 3);
  const PdcSnapshot s = copy(pdc, kNow + kSecond);
  EXPECT_EQ(picture(s),
            "initiator ESTABLISHED ROD, has a message, sends 1000..1003, lost 1, oldest 1000000us "
            "resent 2 refused 1, waits 999000us, refused for 998000us, received 999..999 out of "
            "order 0, silent 1000000us, timer 2000000us");
  EXPECT_EQ(s.peer, address(9));
  EXPECT_EQ(s.peer_id, kPeerId);
  EXPECT_EQ(s.tc, context_.key.tc);
  EXPECT_EQ(s.window_bytes, 64u * kPacketBytes);
  EXPECT_EQ(s.inflight_bytes, 3u * kBytes);
  EXPECT_EQ(s.mp_range, pdc.range.packets());
  EXPECT_EQ(s.round_trip, Duration::zero());
  wheel.cancel(pdc.timer);
}

// What is missing at the target, whose answers are on their way.
TEST_F(SnapshotsPartTest, ATargetWithAGap) {
  Pdc& pdc = target();
  pdc.rx.accept(res_.rx_pool, kFirst, false);
  pdc.rx.accept(res_.rx_pool, kFirst + 4, false);
  pdc.life.change(PdcEvent::close_wanted);
  EXPECT_EQ(picture(copy(pdc, kNow + kSecond)),
            "target CLOSE_WAIT RUD, sends 1000..1000, oldest 0us resent 0 refused 0, waits 0us, "
            "refused for 0us, received 1000..1004 out of order 1, silent 1000000us, "
            "timer -1000000us")
      << "no age, because nothing is outstanding";
}

// Where not all fit, those on which an operation waits come first.
TEST_F(SnapshotsPartTest, BusyPdcsComeFirst) {
  Pdc& idle = target();
  Pdc& sends = initiator();
  send(sends, 1);
  Pdc& has_message = initiator();
  has_message.messages.start(kMessage, false);
  Pdc& closes = initiator();
  closes.life.change(PdcEvent::close_wanted);
  std::array<PdcSnapshot, 4> all;
  ASSERT_EQ(copy_pdcs(table_, peers_, all, kNow), 4u);
  EXPECT_EQ(all[0].id, sends.id);
  EXPECT_EQ(all[1].id, has_message.id);
  EXPECT_EQ(all[2].id, closes.id);
  EXPECT_EQ(all[3].id, idle.id);
  EXPECT_EQ(copy_pdcs(table_, peers_, std::span(all).first(1), kNow), 1u);
  EXPECT_EQ(all[0].id, sends.id);
  EXPECT_EQ(copy_pdcs(table_, peers_, {}, kNow), 0u);
}

// Each context is on exactly one page, also when one of an earlier page has gone.
TEST_F(SnapshotsPartTest, ContextsAreCopiedPageByPage) {
  ASSERT_TRUE(contexts_.create(arena_, Room{8, 8}).ok());
  answers().context = nullptr;
  std::array<Context*, 5> made;
  for (uint8_t lane = 0; lane < 5; ++lane) {
    made[lane] = contexts_.take({peer_, TrafficClass(3), false, lane});
    ASSERT_NE(made[lane], nullptr);
  }
  std::array<ContextSnapshot, 2> two;
  ContextPage page = copy_contexts(contexts_, peers_, two, 0);
  EXPECT_EQ(page.count, 5u);
  EXPECT_EQ(page.listed, 2u);
  EXPECT_EQ(lanes(two), "0 1 ");
  ASSERT_TRUE(page.next.has_value());
  page = copy_contexts(contexts_, peers_, two, *page.next);
  EXPECT_EQ(lanes(two), "2 3 ");
  ASSERT_TRUE(page.next.has_value());
  page = copy_contexts(contexts_, peers_, two, *page.next);
  EXPECT_EQ(page.listed, 1u);
  EXPECT_EQ(two[0].lane, 4u);
  EXPECT_FALSE(page.next.has_value());
}

class ContextSnapshotsPartTest : public SnapshotsPartTest {
 protected:
  ContextSnapshotsPartTest() {
    EXPECT_TRUE(contexts_.create(arena_, Room{8, 8}).ok());
    answers().context = nullptr;
    made_ = contexts_.take({peer_, TrafficClass(3), false, 2});
    made_->ccc.on_sent({.bytes = kBytes, .ev = made_->ev.next(kNow), .at = kNow});
    made_->backlog.mark(kBytes);
    made_->tally.strange_evs = 6;
    for (const bool is_marked : {true, false, false, false}) made_->tally.marks.add(is_marked);
  }
  ContextSnapshot copy() {
    std::array<ContextSnapshot, 1> all;
    EXPECT_EQ(copy_contexts(contexts_, peers_, all, 0).listed, 1u);
    return all[0];
  }
  Context* made_;
};

TEST_F(ContextSnapshotsPartTest, AContextWithAWindow) {
  ContextSnapshot s = copy();
  EXPECT_EQ(s.peer, address(9));
  EXPECT_EQ(s.tc, TrafficClass(3));
  EXPECT_FALSE(s.is_sprayed);
  EXPECT_EQ(s.lane, 2u);
  EXPECT_EQ(s.window_bytes, 64u * kPacketBytes);
  EXPECT_EQ(s.inflight_bytes, kBytes);
  EXPECT_EQ(s.backlog_bytes, 0u);
  EXPECT_EQ(s.resend_bytes, kBytes);
  EXPECT_FALSE(s.credit_bytes.has_value());
  EXPECT_EQ(s.acks, 4u);
  EXPECT_EQ(s.marked, 1u);
  EXPECT_EQ(s.recent_ecn_permille, 250u);
  EXPECT_EQ(s.strange_evs, 6u);
  EXPECT_EQ(s.evs, 1u);
  EXPECT_EQ(s.rtt, Duration::zero()) << "there was no sample";
  EXPECT_EQ(s.last_rtt, Duration::zero());
  EXPECT_FALSE(s.is_held_back);
  Pdc& waits = initiator();
  made_->sated.push_back(waits);
  made_->tally.last_rtt_ns = 4000;
  s = copy();
  EXPECT_TRUE(s.is_held_back);
  EXPECT_EQ(s.last_rtt, Duration::microseconds(4));
  EXPECT_EQ(s.rtt, made_->ev.smoothed_rtt());
  made_->sated.pop_front();
}

// With credit alone there is no window that limits anything.
TEST_F(ContextSnapshotsPartTest, AContextWithCreditAlone) {
  for (const auto algorithm : {cms::Algorithm::rccc, cms::Algorithm::tfc}) {
    answers().algorithm = algorithm;
    answers().credit_bytes = -100;
    const ContextSnapshot s = copy();
    EXPECT_EQ(s.algorithm, algorithm);
    EXPECT_EQ(s.window_bytes, 0u);
    EXPECT_EQ(s.credit_bytes, -100);
  }
}

}  // namespace
}  // namespace uet::pds::part
