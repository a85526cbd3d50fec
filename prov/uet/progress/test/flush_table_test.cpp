// The table of decisions: as decision 9 shows it, and one way to each row, in simulated time.
// Manual progress, with a helper thread for times without calls. [LF-081]
#include "prov/uet/progress/flush_table.h"

#include "prov/uet/progress/test/flush_world.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace uet::prov {
namespace {

using namespace uet::literals;
using World = test::FlushWorld;

// The table as docs/flush-table.md shows it.

std::string words(Flush flush) {
  switch (flush) {
    case Flush::wait:
      return "waits";
    case Flush::send:
      return "leaves";
    case Flush::round:
      return "leaves, after a round of receiving";
  }
  return {};
}

std::string words(const FlushRow& row) {
  const int64_t us = row.after.us();
  const std::string span =
      us % 1000 != 0 ? std::to_string(us) + " us" : std::to_string(us / 1000) + " ms";
  switch (row.watch) {
    case Watch::same:
      return {};
    case Watch::visits:
      return "runs after " + span + " without a visit";
    case Watch::pause:
      return row.after == Duration::zero() ? "runs at once" : "runs after " + span;
    case Watch::engine:
      return "sleeps until the deadline or a packet";
  }
  return {};
}

std::string printed() {
  std::string text =
      "| event | if | what is queued | helper thread | because |\n|---|---|---|---|---|\n";
  for (const FlushRow& row : kFlushTable) {
    for (const std::string& cell : {std::string(row.event), std::string(row.when), words(row.flush),
                                    words(row), std::string(row.why)}) {
      text += cell.empty() ? "| " : "| " + cell + " ";
    }
    text += "|\n";
  }
  return text;
}

TEST(FlushTableTest, TheDocumentShowsIt) {
  std::ifstream file(UET_SOURCE_DIR "/docs/flush-table.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find("\n\n" + printed()), std::string::npos) << printed();
}

// One way to each row. Written by hand from docs/flush-table.md.

struct Way {
  Decision row;
  Decision (*go)(World&);
};

const Way kWays[] = {
    {Decision::post_more, [](World& w) { return w.post(World::operation_with_more()); }},
    {Decision::post_unattended,
     [](World& w) {
       w.begin();
       w.vain();
       for (int i = 0; i < 10; ++i, w.visit()) w.pass(100_us);
       w.pass(1_ns);
       return w.post();
     }},
    {Decision::post_unserved,
     [](World& w) {
       w.make_post_habit();
       w.others.has_helper = false;
       return w.post();
     }},
    {Decision::post_no_habit,
     [](World& w) {
       w.begin();
       w.vain();
       return w.post();
     }},
    {Decision::post_first,
     [](World& w) {
       w.make_post_habit();
       w.post();
       return w.post();
     }},
    {Decision::post_alone,
     [](World& w) {
       w.hold_post();
       return w.post(World::operation(64, 2));
     }},
    {Decision::post_last,
     [](World& w) {
       w.hold_post();
       for (int i = 0; i < 4; ++i) w.post();
       return w.post();
     }},
    {Decision::post_full,
     [](World& w) {
       w.hold_post();
       return w.post(World::operation(128 * 1024 - 63));
     }},
    {Decision::post_late,
     [](World& w) {
       w.hold_post();
       w.pass(20_us + 1_ns);
       return w.post();
     }},
    {Decision::post_waits,
     [](World& w) {
       w.hold_post();
       w.pass(20_us);
       return w.post(World::operation(128 * 1024 - 64, 3));
     }},
    {Decision::no_post, [](World& w) { return w.post(FlushPolicy::Nothing()); }},
    {Decision::unread_late,
     [](World& w) {
       w.hold_post();
       w.pass(20_us + 1_ns);
       return w.post(FlushPolicy::Unread{true});
     }},
    {Decision::unread_more,
     [](World& w) {
       w.vain();
       w.post(World::operation_with_more());
       return w.post(FlushPolicy::Unread{true});
     }},
    {Decision::unread,
     [](World& w) {
       w.hold_post();
       return w.post(FlushPolicy::Unread{true});
     }},
    {Decision::receive_more, [](World& w) { return w.post(World::receive(true)); }},
    {Decision::receive_waits,
     [](World& w) {
       w.make_reply_habit();
       w.came();
       return w.post(World::receive());
     }},
    {Decision::receive, [](World& w) { return w.post(World::receive()); }},
    {Decision::found_unattended,
     [](World& w) {
       w.hold_post();
       w.pass(50_us + 1_ns);
       return w.found();
     }},
    {Decision::found_posts,
     [](World& w) {
       w.hold_post();
       w.pass(20_us + 1_ns);
       return w.found();
     }},
    {Decision::found_waits,
     [](World& w) {
       w.hold_post();
       w.pass(20_us);
       return w.found();
     }},
    {Decision::found,
     [](World& w) {
       w.vain();
       w.pass(50_us);
       return w.found();
     }},
    {Decision::stays_posts,
     [](World& w) {
       w.hold_post();
       return w.stays();
     }},
    {Decision::stays_reply,
     [](World& w) {
       w.came();
       return w.stays();
     }},
    {Decision::stays,
     [](World& w) {
       w.came();
       w.stays();
       return w.stays();
     }},
    {Decision::came_posts,
     [](World& w) {
       w.hold_post();
       return w.came();
     }},
    {Decision::came_nothing, [](World& w) { return w.came_without_ack(); }},
    {Decision::came_own,
     [](World& w) {
       w.make_reply_habit();
       return w.came_own();
     }},
    {Decision::came_unserved,
     [](World& w) {
       w.make_reply_habit();
       w.others.has_helper = false;
       return w.came();
     }},
    {Decision::came_no_habit,
     [](World& w) {
       w.begin();
       w.exchange();
       w.exchange();
       return w.came();
     }},
    {Decision::came_waits,
     [](World& w) {
       w.make_reply_habit();
       return w.came();
     }},
    {Decision::vain_posts,
     [](World& w) {
       w.hold_post();
       return w.vain();
     }},
    {Decision::vain_reply,
     [](World& w) {
       w.make_reply_habit();
       w.came();
       return w.vain();
     }},
    {Decision::vain_arriving,
     [](World& w) {
       w.make_reply_habit();
       return w.arriving();
     }},
    {Decision::vain,
     [](World& w) {
       w.make_reply_habit();
       w.came();
       w.vain();
       return w.vain();
     }},
    {Decision::round, [](World& w) { return w.round(); }},
    {Decision::visit_late,
     [](World& w) {
       w.hold_post();
       for (w.timers = 0; w.timers == 0; w.visit()) w.pass(21_us);
       return w.helper.row;
     }},
    {Decision::visit_steady,
     [](World& w) {
       w.begin();
       for (int i = 0; i < 8; ++i, w.visit()) w.pass(75_us);
       return w.helper.row;
     }},
    {Decision::visit,
     [](World& w) {
       w.begin();
       for (int i = 0; i < 6; ++i, w.visit()) w.pass(101_us);
       return w.helper.row;
     }},
    {Decision::left_earlier,
     [](World& w) {
       w.deadline = w.now + 1_s;
       w.pass(10_ms);
       w.deadline = w.deadline - 1_ns;
       w.visit();
       return w.helper.row;
     }},
    {Decision::unserved,
     [](World& w) {
       w.policy.on_unserved();
       return Decision::unserved;
     }},
    {Decision::busy_sleepers, [](World&) { return FlushPolicy::on_busy(true, true); }},
    {Decision::busy_auto, [](World&) { return FlushPolicy::on_busy(false, true); }},
    {Decision::busy, [](World&) { return FlushPolicy::on_busy(false, false); }},
    {Decision::helper,
     [](World& w) {
       return w.policy.on_helper({0, false, false, false}, w.now);
     }},
    {Decision::helper_moved,
     [](World& w) {
       w.policy.on_helper({0, false, false, true}, w.now);
       return w.policy.on_helper_ran(true, {0, false, false, true}, w.now);
     }},
    {Decision::helper_sleepers,
     [](World& w) {
       w.others.thread_sleeps = true;
       w.pass(1_ms);
       return w.helper.row;
     }},
    {Decision::helper_idle,
     [](World& w) {
       w.others.thread_sleeps = true;
       w.helper.must_serve = true;
       w.pass(1_ms);
       return w.helper.row;
     }},
    {Decision::rest_queued,
     [](World& w) {
       const bool first = FlushPolicy::wake_by(w.now + 1_s, true, w.now) == w.now + 100_us &&
                          FlushPolicy::wake_by(w.now + 99_us, true, w.now) == w.now + 99_us &&
                          FlushPolicy::wake_by(w.now + 1_s, false, w.now) == w.now + 1_s;
       return first ? Decision::rest_queued : Decision::round;
     }},
};

TEST(FlushTableTest, EveryRowDecides) {
  ASSERT_EQ(std::size(kWays), kFlushRows);
  for (size_t i = 0; i < kFlushRows; ++i) {
    const FlushRow& row = kFlushTable[i];
    ASSERT_EQ(kWays[i].row, row.decision);
    World w;
    EXPECT_EQ(kWays[i].go(w), row.decision) << row.event << ", " << row.when;
    const bool is_static =
        row.decision == Decision::rest_queued ||
        (row.decision >= Decision::busy_sleepers && row.decision <= Decision::busy);
    if (row.watch != Watch::same && !is_static) {
      EXPECT_EQ(w.policy.watch(), row.watch) << row.event << ", " << row.when;
    }
  }
}

}  // namespace
}  // namespace uet::prov
