// The states of a congestion context.
#include "cms/context_state.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

// A context with so much to send, to send again and in flight.
ContextState with(uint64_t backlog, uint32_t resends, uint32_t inflight) {
  ContextState s;
  s.on_new_data(backlog + 100 * (resends + inflight));
  for (uint32_t i = 0; i < resends + inflight; ++i) s.on_sent(100, false);
  for (uint32_t i = 0; i < resends; ++i) s.on_marked(100);
  return s;
}

// [CMS-010, CMS-014] All is zero at first.
TEST(ContextStateTest, BeginsIdle) {
  ContextState s;
  EXPECT_EQ(s.phase(), ContextPhase::idle);
  EXPECT_EQ(s.backlog_bytes() + s.resend_bytes() + s.resend_packets() + s.inflight_packets(), 0u);
  EXPECT_EQ(s.update(true), ReadyMove::none);
  EXPECT_EQ(s.phase(), ContextPhase::idle);
}

// [CMS-014, CMS-016, CMS-018, CMS-019, CMS-020, CMS-021] What each event counts.
TEST(ContextStateTest, CountsBacklogAndOctetsInFlight) {
  ContextState s;
  s.on_new_data(1000);
  s.on_new_data(500);
  EXPECT_EQ(s.backlog_bytes(), 1500u);
  s.on_sent(400, false);
  s.on_sent(300, false);
  EXPECT_EQ(s.backlog_bytes(), 800u);
  EXPECT_EQ(s.inflight_packets(), 2u);
  s.on_marked(400);
  EXPECT_EQ(s.inflight_packets(), 1u);
  EXPECT_EQ(s.resend_packets(), 1u);
  EXPECT_EQ(s.resend_bytes(), 400u);
  s.on_sent(400, true);
  EXPECT_EQ(s.backlog_bytes(), 800u);
  EXPECT_EQ(s.resend_packets(), 0u);
  EXPECT_EQ(s.resend_bytes(), 0u);
  EXPECT_EQ(s.inflight_packets(), 2u);
  s.on_marked(300);
  s.on_unmarked(300);  // its ACK came after all
  EXPECT_EQ(s.resend_bytes(), 0u);
  EXPECT_EQ(s.inflight_packets(), 1u);
  s.on_answered(1);
  EXPECT_EQ(s.inflight_packets(), 0u);
  s.on_withdrawn(800);
  EXPECT_EQ(s.backlog_bytes(), 0u);
}

// Brings a context into a state.
void lead_to(ContextState& s, ContextPhase phase) {
  switch (phase) {
    case ContextPhase::idle:
      break;
    case ContextPhase::active:
      s.on_new_data(1);
      ASSERT_EQ(s.update(false), ReadyMove::none);
      s.on_withdrawn(1);
      break;
    case ContextPhase::ready:
      s.on_new_data(1);
      ASSERT_EQ(s.update(true), ReadyMove::join);
      s.on_withdrawn(1);
      break;
    case ContextPhase::pending:
      s.on_new_data(1);
      s.on_sent(1, false);
      ASSERT_EQ(s.update(true), ReadyMove::none);
      s.on_answered(1);
      break;
  }
  ASSERT_EQ(s.phase(), phase);
}

constexpr ContextPhase kPhases[] = {ContextPhase::idle, ContextPhase::active, ContextPhase::ready,
                                    ContextPhase::pending};

// [CMS-010, CMS-011] Without data: IDLE when nothing is in flight, else PENDING. READY leaves its
// list.
TEST(ContextStateTest, WithoutDataItIsIdleOrPending) {
  for (const ContextPhase from : kPhases) {
    for (const bool can_send : {false, true}) {
      const ReadyMove left = from == ContextPhase::ready ? ReadyMove::leave : ReadyMove::none;
      ContextState s;
      lead_to(s, from);
      EXPECT_EQ(s.update(can_send), left);
      EXPECT_EQ(s.phase(), ContextPhase::idle);

      ContextState sent;
      lead_to(sent, from);
      sent.on_new_data(1);
      sent.on_sent(1, false);
      EXPECT_EQ(sent.update(can_send), left);
      EXPECT_EQ(sent.phase(), ContextPhase::pending);
    }
  }
}

// [CMS-011, CMS-012, CMS-013] With data that may not go: ACTIVE, from wherever; new data or a
// resend.
TEST(ContextStateTest, WithDataThatMayNotGoItIsActive) {
  for (const ContextPhase from : kPhases) {
    ContextState s;
    lead_to(s, from);
    s.on_new_data(1);
    EXPECT_EQ(s.update(false), from == ContextPhase::ready ? ReadyMove::leave : ReadyMove::none);
    EXPECT_EQ(s.phase(), ContextPhase::active);
  }
  ContextState resend = with(0, 1, 0);
  EXPECT_EQ(resend.update(false), ReadyMove::none);
  EXPECT_EQ(resend.phase(), ContextPhase::active);
}

// [CMS-012, CMS-013] With data that may go: READY, in the list once.
TEST(ContextStateTest, WithDataThatMayGoItIsReady) {
  for (const ContextPhase from : kPhases) {
    ContextState s;
    lead_to(s, from);
    s.on_new_data(1);
    EXPECT_EQ(s.update(true), from == ContextPhase::ready ? ReadyMove::none : ReadyMove::join);
    EXPECT_EQ(s.phase(), ContextPhase::ready);
    EXPECT_EQ(s.update(true), ReadyMove::none);
  }
  ContextState resend = with(0, 1, 5);
  EXPECT_EQ(resend.update(true), ReadyMove::join);
}

}  // namespace
}  // namespace uet::cms
