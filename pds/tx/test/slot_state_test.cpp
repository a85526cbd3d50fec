// The fields of an outstanding packet that each step changes and keeps. [PDS-066, PDS 12]
#include "pds/tx/slot_state.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace uet::pds {
namespace {

// The marks that are set, a letter each: in Flight, Arrived, answereD, Lost, Refused, asK due,
// Quiet, was aSked.
std::string marks(const SlotState& s) {
  std::string text;
  const auto add = [&](bool is_set, char letter) {
    if (is_set) text += letter;
  };
  add(s.in_flight(), 'F');
  add(s.has_arrived(), 'A');
  add(s.is_answered(), 'D');
  add(s.is_lost(), 'L');
  add(s.is_refused(), 'R');
  add(s.is_ask_due(), 'K');
  add(s.is_quiet(), 'Q');
  add(s.was_asked(), 'S');
  return text;
}

struct SlotStep {
  const char* name;
  std::function<void(SlotState&)> take;
  const char* from_quiet;    // after it, a packet that went without AR and is in flight
  const char* from_arrived;  // a packet that has arrived
  const char* from_refused;  // a packet that was refused
};

// [PDS-064, PDS-093, PDS-118, PDS-254]
TEST(SlotStateTest, EachStep) {
  const SlotStep steps[] = {
      {"land", [](SlotState& s) { s.land(); }, "Q", "A", "R"},
      {"send", [](SlotState& s) { s.send(); }, "FQ", "FA", "FR"},
      {"arrive", [](SlotState& s) { s.arrive(); }, "FA", "A", "A"},
      {"unarrive", [](SlotState& s) { s.unarrive(); }, "FQ", "", "R"},
      {"refuse", [](SlotState& s) { s.refuse(); }, "FR", "R", "R"},
      {"end_wait", [](SlotState& s) { s.end_wait(); }, "F", "A", ""},
      {"answer", [](SlotState& s) { s.answer(); }, "FDQ", "AD", "DR"},
      {"set_lost", [](SlotState& s) { s.set_lost(LossSign::reported); }, "FLQ", "AL", "LR"},
      {"set_ask_due", [](SlotState& s) { s.set_ask_due(true); }, "FKQ", "AK", "RK"},
      {"note_asked", [](SlotState& s) { s.note_asked(); }, "FQS", "AS", "RS"},
      {"set_quiet", [](SlotState& s) { s.set_quiet(false); }, "F", "A", "R"},
  };
  for (const SlotStep& step : steps) {
    SCOPED_TRACE(step.name);
    SlotState quiet;
    quiet.send();
    quiet.set_quiet(true);
    SlotState arrived;
    arrived.arrive();
    SlotState refused;
    refused.refuse();
    step.take(quiet);
    step.take(arrived);
    step.take(refused);
    EXPECT_EQ(marks(quiet), step.from_quiet);
    EXPECT_EQ(marks(arrived), step.from_arrived);
    EXPECT_EQ(marks(refused), step.from_refused);
  }
}

TEST(SlotStateTest, ReportsWhetherAMarkChanged) {
  SlotState s;
  EXPECT_FALSE(s.land());
  s.send();
  EXPECT_TRUE(s.land());
  EXPECT_TRUE(s.set_lost(LossSign::reported));
  EXPECT_FALSE(s.set_lost(LossSign::reported));
  EXPECT_TRUE(s.set_lost(LossSign::none));
  EXPECT_TRUE(s.set_lost(LossSign::refundable));
  EXPECT_TRUE(s.is_refundable());
  EXPECT_TRUE(s.set_lost(LossSign::none));
  EXPECT_FALSE(s.is_refundable());
  EXPECT_TRUE(s.set_ask_due(true));
  EXPECT_FALSE(s.set_ask_due(true));
}

// [PDS-070] Each transmission is reported at most once.
TEST(SlotStateTest, AMarkIsReportedOnce) {
  SlotState s;
  s.send();
  EXPECT_TRUE(s.tell_mark());
  EXPECT_FALSE(s.tell_mark());
  s.send();
  EXPECT_TRUE(s.tell_mark());
}

// [PDS-117, CMS-025, PDS-254] A count stays at its largest value.
TEST(SlotStateTest, CountsStayAtTheirLargest) {
  SlotState s;
  for (int i = 0; i < 300; ++i) {
    s.count_timeout();
    s.count_refusal();
    s.count_resend();
  }
  EXPECT_EQ(s.timeouts(), 255);
  EXPECT_EQ(s.refusals(), 255);
  EXPECT_EQ(s.resends(), 63);
}

// [PDS-051] The packets still count as resent.
TEST(SlotStateTest, ANewStartOfThePeerClearsTheCounts) {
  SlotState s;
  s.count_timeout();
  s.count_refusal();
  s.count_resend();
  s.forgive();
  EXPECT_EQ(s.timeouts(), 0);
  EXPECT_EQ(s.refusals(), 0);
  EXPECT_TRUE(s.was_resent());
}

}  // namespace
}  // namespace uet::pds
