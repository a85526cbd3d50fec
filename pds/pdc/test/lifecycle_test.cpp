// The tables of the PDC states: they have the rows of the reference, and nothing else changes a
// state. [PDS 5.1, PDS 5.2]
#include "pds/pdc/lifecycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace uet::pds {
namespace {

using States = std::set<std::string>;

// Of all rows with one rule: the states they begin in, and those they lead to.
struct Rule {
  States from;
  States next;
  bool operator==(const Rule&) const = default;
};
using Rules = std::map<std::string, Rule>;

constexpr PdcState kStates[] = {
    PdcState::closed,      PdcState::pending,    PdcState::syn,
    PdcState::established, PdcState::quiesce,    PdcState::ack_wait,
    PdcState::error,       PdcState::close_wait, PdcState::close_ack_wait};

std::string joined(const States& states) {
  std::string all;
  for (const std::string& s : states) all += (all.empty() ? "" : ", ") + s;
  return all;
}

States from_of(const LifecycleRow& row) {
  States from;
  for (const PdcState s : kStates) {
    if (row.is_from(s)) from.insert(name(s));
  }
  return from;
}

std::string picture(const LifecycleRow& row) {
  const std::string next = row.stays ? "same" : name(row.next);
  return std::string(row.rule) + " | " + joined(from_of(row)) + " | " + name(row.event) + " | " +
         next;
}

bool is_of_reference(const LifecycleRow& row, bool is_initiator) {
  const std::string rule = row.rule;
  return rule.rfind(is_initiator ? "PDS-I" : "PDS-T", 0) == 0;
}

Rules rules_of_code(bool is_initiator) {
  Rules rules;
  for (const LifecycleRow& row : lifecycle_rows(is_initiator)) {
    std::printf("%s\n", picture(row).c_str());
    if (!is_of_reference(row, is_initiator)) continue;
    Rule& rule = rules[row.rule];
    for (const std::string& s : from_of(row)) {
      rule.from.insert(s);
      if (row.stays) rule.next.insert(s);
    }
    if (!row.stays) rule.next.insert(name(row.next));
  }
  return rules;
}

// The names of states in a cell; "any" and "same" are spelled out.
States states_in(const std::string& cell, bool is_initiator, const States& same) {
  if (cell == "same") return same;
  States all = {"ESTABLISHED", "ERROR"};
  if (is_initiator) all.insert({"SYN", "QUIESCE", "ACK_WAIT", "CLOSE_ACK_WAIT"});
  if (!is_initiator) all.insert({"PENDING", "CLOSE_WAIT"});
  if (cell.rfind("any", 0) == 0) return all;
  States found;
  std::string word;
  for (const char c : cell + " ") {
    if ((c >= 'A' && c <= 'Z') || c == '_') {
      word += c;
      continue;
    }
    if (all.count(word) != 0 || word == "CLOSED") found.insert(word);
    word.clear();
  }
  return found;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// The rows of docs/reference/pds.md, section 5.1 or 5.2.
Rules rules_of_reference(bool is_initiator) {
  std::ifstream in(UET_SOURCE_DIR "/docs/reference/pds.md");
  Rules rules;
  bool is_here = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#", 0) == 0) is_here = line.rfind(is_initiator ? "### 5.1" : "### 5.2", 0) == 0;
    const std::vector<std::string> cells = cells_of(line);
    if (!is_here || cells.size() < 6) continue;
    const std::string& id = cells[1];
    if (id.size() < 2 || id[0] != (is_initiator ? 'I' : 'T') || id[1] > '9') continue;
    Rule& rule = rules["PDS-" + id];
    rule.from = states_in(cells[2], is_initiator, {});
    rule.next = states_in(cells[5], is_initiator, rule.from);
  }
  return rules;
}

void expect_same(const Rules& code, const Rules& reference) {
  for (const auto& [id, rule] : reference) {
    ASSERT_EQ(code.count(id), 1u) << id << " has no row";
    EXPECT_EQ(joined(code.at(id).from), joined(rule.from)) << id;
    EXPECT_EQ(joined(code.at(id).next), joined(rule.next)) << id;
  }
  EXPECT_EQ(code.size(), reference.size());
}

// [PDS-I1, PDS-I2, PDS-I7, PDS-I8, PDS-I9, PDS-I11, PDS-I20, PDS-I21]
TEST(LifecycleTest, TheInitiatorHasTheRowsOfTheReference) {
  const Rules reference = rules_of_reference(true);
  ASSERT_EQ(reference.size(), 22u);
  expect_same(rules_of_code(true), reference);
}

// T17 ends in ERROR here: a CLOSE_WAIT of which it is known that the failure was reported.
// [PDS-T1, PDS-T2, PDS-T3, PDS-T4, PDS-T8, PDS-T9, PDS-T11, PDS-T16, PDS-T17]
TEST(LifecycleTest, TheTargetHasTheRowsOfTheReference) {
  Rules reference = rules_of_reference(false);
  ASSERT_EQ(reference.size(), 17u);
  ASSERT_EQ(joined(reference["PDS-T17"].next), "CLOSE_WAIT");
  reference["PDS-T17"].next = {"ERROR"};
  expect_same(rules_of_code(false), reference);
}

TEST(LifecycleTest, NoTwoRowsSayWhatFollowsFromOneEventInOneState) {
  for (const bool is_initiator : {true, false}) {
    const auto rows = lifecycle_rows(is_initiator);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool overlap = (rows[i].from & rows[j].from) != 0;
        EXPECT_FALSE(overlap && rows[i].event == rows[j].event)
            << picture(rows[i]) << " and " << picture(rows[j]);
      }
    }
  }
}

// Every state but CLOSED has a way out, so no PDC stays for ever.
TEST(LifecycleTest, EveryStateLeadsToClosed) {
  for (const bool is_initiator : {true, false}) {
    std::set<PdcState> ends = {PdcState::closed};
    for (size_t round = 0; round < std::size(kStates); ++round) {
      for (const LifecycleRow& row : lifecycle_rows(is_initiator)) {
        if (row.stays || ends.count(row.next) == 0) continue;
        for (const PdcState s : kStates) {
          if (row.is_from(s)) ends.insert(s);
        }
      }
    }
    EXPECT_EQ(ends.size(), is_initiator ? 7u : 5u);
  }
}

// [PDS-I1, PDS-I3, PDS-I10, PDS-I12, PDS-I13, PDS-I14]
TEST(LifecycleTest, AnInitiatorGoesThroughItsStatesInOrder) {
  Lifecycle life;
  life.start(true);
  EXPECT_EQ(life.state(), PdcState::closed);
  const std::pair<PdcEvent, PdcState> steps[] = {{PdcEvent::opened, PdcState::syn},
                                                 {PdcEvent::close_wanted, PdcState::syn},
                                                 {PdcEvent::first_ack, PdcState::established},
                                                 {PdcEvent::close_wanted, PdcState::quiesce},
                                                 {PdcEvent::messages_sent, PdcState::ack_wait},
                                                 {PdcEvent::all_answered, PdcState::close_ack_wait},
                                                 {PdcEvent::close_resent, PdcState::close_ack_wait},
                                                 {PdcEvent::close_acked, PdcState::closed}};
  for (const auto& [event, next] : steps) {
    ASSERT_TRUE(life.may(event)) << name(event);
    life.change(event);
    EXPECT_EQ(life.state(), next) << name(event);
  }
}

// [PDS-T2, PDS-T5, PDS-T10, PDS-T12, PDS-T17]
TEST(LifecycleTest, ATargetAsksForTheCloseAndGivesUp) {
  Lifecycle life;
  life.start(false);
  life.change(PdcEvent::start_needed);
  EXPECT_EQ(life.state(), PdcState::pending);
  EXPECT_FALSE(life.may(PdcEvent::close_wanted));
  life.change(PdcEvent::start_given);
  EXPECT_FALSE(life.wants_close());
  life.change(PdcEvent::close_wanted);
  EXPECT_EQ(life.state(), PdcState::close_wait);
  EXPECT_TRUE(life.wants_close());
  life.change(PdcEvent::failed);
  EXPECT_EQ(life.state(), PdcState::error);
  EXPECT_TRUE(life.wants_close());
  life.change(PdcEvent::expired);
  EXPECT_EQ(life.state(), PdcState::closed);
}

TEST(LifecycleDeathTest, AnEventWithoutARowEndsTheProcess) {
  Lifecycle life;
  life.start(true);
  EXPECT_DEATH(life.change(PdcEvent::first_ack), "row");
}

}  // namespace
}  // namespace uet::pds
