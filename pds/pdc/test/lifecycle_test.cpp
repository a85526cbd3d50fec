// The tables of the PDC states beside those of the reference: each row there has rows here, or the
// part that does its work is named with the reason. [PDS 5.1, PDS 5.2]
#include "pds/pdc/lifecycle.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace uet::pds {
namespace {

using States = std::set<std::string>;
using E = PdcEvent;

// A row of the reference, and what of the code answers to it.
struct Row {
  States from;
  std::string event;
  std::string actions;
  States next;
};
using Rows = std::map<std::string, Row>;

struct Answer {
  const char* rule;
  const char* event;          // words of the reference's event
  const char* actions;        // words of its actions
  std::vector<PdcEvent> are;  // the events of the code's rows with this rule
  const char* file;           // does the actions, and cites the rule
  // Not null: the reference's row, or that part of it, leaves state and notes as they are. Why it
  // has no event.
  const char* no_event = nullptr;
};

// The warm path does not raise events: what a packet needs of the state it asks for.
constexpr const char* kWarm = "each packet does this, in each state that has a message or a peer";
constexpr const char* kNoPdc = "there is no PDC that could have a state";

const Answer kInitiatorAnswers[] = {
    {"I1", "assigned by PDS manager", "allocate PDCID", {E::opened}, "pds/schedule/initiators.cpp"},
    {"I2", "window open", "send with SYN=1", {}, "pds/tx/outbox.cpp", kWarm},
    {"I3", "ACK valid", "learn DPDCID", {E::first_ack}, "pds/tx/ack_reader.cpp"},
    {"I4", "NEW_START_PSN", "re-stamp and resend", {E::start_given}, "pds/tx/nack_reader.cpp"},
    {"I5", "retryable", "delayed resend", {}, "pds/tx/nack_reader.cpp", "as in every other state"},
    {"I6", "retries exhausted", "**without** close", {E::failed}, "pds/pdc/ending.cpp"},
    {"I7", "window and CMS allow", "send SYN=0", {}, "pds/tx/outbox.cpp", kWarm},
    {"I8", "ACK / SACK", "section 8.4", {}, "pds/tx/ack_reader.cpp", kWarm},
    {"I9", "return-direction request", "upcall, ACK", {}, "pds/rx/inbox.cpp", kWarm},
    {"I10", "close wanted", "stop assigning", {E::close_wanted}, "pds/pdc/closing.cpp"},
    {"I11", "already started", "send as usual", {}, "pds/tx/outbox.cpp", kWarm},
    {"I12", "fully sent", "-", {E::messages_sent}, "pds/pdc/close_steps.cpp"},
    {"I13",
     "all responses received",
     "Close command",
     {E::all_answered},
     "pds/pdc/close_steps.cpp"},
    {"I14", "ACK covering close PSN", "free", {E::close_acked}, "pds/pdc/close_steps.cpp"},
    {"I15", "INV_DPDCID / CLOSING", "success; free", {E::close_void}, "pds/tx/nack_reader.cpp"},
    {"I16",
     "RTO",
     "resend Close",
     {E::close_given_up},
     "pds/pdc/ending.cpp",
     "the resend is one like any other, by LossRecovery"},
    {"I17", "CLOSING_IN_ERR", "count error", {E::closed_in_err}, "pds/tx/nack_reader.cpp"},
    {"I18", "NACK fatal", "fail every outstanding", {E::failed}, "pds/pdc/ending.cpp"},
    {"I19",
     "NACKed, or retries exhausted",
     "free",
     {E::close_acked, E::close_void, E::closed_in_err, E::close_given_up},
     "pds/pdc/ending.cpp"},
    {"I20", "unknown/old peer PDCID", "drop, count", {}, "pds/lookup.cpp", kNoPdc},
    {"I21",
     "new SES message",
     "place on other PDC",
     {},
     "pds/pdc/closing.cpp",
     "a PDC that closes is not asked: Pdc::may_take_message"},
    {"I22", "close wanted", "only remember it", {E::close_wanted}, "pds/pdc/closing.cpp"},
};

const Answer kTargetAnswers[] = {
    {"T1", "SYN acceptable", "allocate, deliver", {E::opened}, "pds/door/door.cpp"},
    {"T2", "needs new start", "arm New_PDC_Time", {E::start_needed}, "pds/door/secure_psn.cpp"},
    {"T3", "no resources", "NACK 0x04/0x05/0x06", {}, "pds/door/door.cpp", kNoPdc},
    {"T4", "without SYN", "NACK INV_DPDCID", {}, "pds/lookup.cpp", kNoPdc},
    {"T5", "assigned Start_PSN", "deliver, ACK", {E::start_given}, "pds/door/door.cpp"},
    {"T6", "other Start_PSN", "NACK NEW_START_PSN", {E::start_wrong}, "pds/door/door.cpp"},
    {"T7", "New_PDC_Time expires", "free", {E::expired}, "pds/pdc/deadlines.cpp"},
    {"T8", "request in window", "section 7", {}, "pds/rx/inbox.cpp", kWarm},
    {"T9", "SES return data", "return-direction request", {}, "pds/tx/outbox.cpp", kWarm},
    {"T10", "wants close", "REQ=Close", {E::close_wanted}, "pds/pdc/closing.cpp"},
    {"T11", "started messages", "still accept", {}, "pds/rx/inbox.cpp", kWarm},
    {"T12", "Close_REQ_Time expires", "CLOSING_IN_ERR", {E::expired}, "pds/pdc/close_steps.cpp"},
    {"T13", "nothing outstanding", "tombstone", {E::close_command}, "pds/pdc/close_steps.cpp"},
    {"T14", "still unacked", "CLOSING_IN_ERR", {E::close_too_early}, "pds/pdc/close_steps.cpp"},
    {"T15", "lower forward PSN missing", "hold", {E::close_held}, "pds/rx/inbox.cpp"},
    {"T16",
     "after the close PSN",
     "NACK CLOSING",
     {},
     "pds/rx/inbox.cpp",
     "the PSN shows it, and after the end a tombstone"},
    {"T17",
     "retries exhausted or fatal NACK",
     "Close Request once",
     {E::failed},
     "pds/pdc/ending.cpp"},
};

std::span<const Answer> answers(bool is_initiator) {
  if (is_initiator) return kInitiatorAnswers;
  return kTargetAnswers;
}

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

// What the code's rows of one rule say together.
struct Rule {
  States from;
  States next;
  std::multiset<PdcEvent> events;
};

Rule rule_of_code(bool is_initiator, const std::string& rule) {
  Rule all;
  for (const LifecycleRow& row : lifecycle_rows(is_initiator)) {
    if (row.rule != "PDS-" + rule) continue;
    for (const std::string& s : from_of(row)) {
      all.from.insert(s);
      if (row.stays) all.next.insert(s);
    }
    if (!row.stays) all.next.insert(name(row.next));
    all.events.insert(row.event);
  }
  return all;
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
Rows rows_of_reference(bool is_initiator) {
  std::ifstream in(UET_SOURCE_DIR "/docs/reference/pds.md");
  Rows rows;
  bool is_here = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#", 0) == 0) is_here = line.rfind(is_initiator ? "### 5.1" : "### 5.2", 0) == 0;
    const std::vector<std::string> cells = cells_of(line);
    if (!is_here || cells.size() < 6) continue;
    const std::string& id = cells[1];
    if (id.size() < 2 || id[0] != (is_initiator ? 'I' : 'T') || id[1] > '9') continue;
    Row& row = rows[id];
    row.from = states_in(cells[2], is_initiator, {});
    row.event = cells[3];
    row.actions = cells[4];
    row.next = states_in(cells[5], is_initiator, row.from);
  }
  return rows;
}

// Whether the file has the rule's name as a word.
bool cites(const std::string& file, const std::string& rule) {
  std::ifstream in(std::string(UET_SOURCE_DIR "/") + file);
  std::stringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  for (size_t at = all.find(rule); at != std::string::npos; at = all.find(rule, at + 1)) {
    const char before = at == 0 ? ' ' : all[at - 1];
    const char after = at + rule.size() < all.size() ? all[at + rule.size()] : ' ';
    if (std::isalnum(before) == 0 && std::isdigit(after) == 0) return true;
  }
  return false;
}

void expect_answered(bool is_initiator, const Answer& answer, const Row& row) {
  SCOPED_TRACE(answer.rule);
  EXPECT_NE(row.event.find(answer.event), std::string::npos) << row.event;
  EXPECT_NE(row.actions.find(answer.actions), std::string::npos) << row.actions;
  EXPECT_TRUE(cites(answer.file, answer.rule)) << answer.file;
  Rule code = rule_of_code(is_initiator, answer.rule);
  EXPECT_EQ(code.events, std::multiset<PdcEvent>(answer.are.begin(), answer.are.end()));
  EXPECT_TRUE(!answer.are.empty() || answer.no_event != nullptr);
  if (answer.no_event != nullptr) {  // that part stays in the states where it happens
    if (code.from.empty()) code.from = row.from;
    code.next.insert(code.from.begin(), code.from.end());
  }
  EXPECT_EQ(joined(code.from), joined(row.from));
  EXPECT_EQ(joined(code.next), joined(row.next));
}

void expect_all_answered(bool is_initiator) {
  const Rows reference = rows_of_reference(is_initiator);
  const std::span<const Answer> all = answers(is_initiator);
  EXPECT_EQ(reference.size(), all.size());
  for (const Answer& answer : all) {
    ASSERT_EQ(reference.count(answer.rule), 1u) << answer.rule;
    expect_answered(is_initiator, answer, reference.at(answer.rule));
  }
  for (const LifecycleRow& row : lifecycle_rows(is_initiator)) {
    std::printf("%s\n", picture(row).c_str());
    const std::string rule = std::string(row.rule).substr(4);
    const bool is_of_section = rule[0] == (is_initiator ? 'I' : 'T');
    EXPECT_EQ(is_of_section, reference.count(rule) == 1) << rule;
  }
}

// [PDS-I1, PDS-I2, PDS-I7, PDS-I8, PDS-I9, PDS-I11, PDS-I20, PDS-I21]
TEST(LifecycleTest, TheInitiatorHasTheRowsOfTheReference) {
  ASSERT_EQ(answers(true).size(), 22u);
  expect_all_answered(true);
}

// [PDS-T1, PDS-T2, PDS-T3, PDS-T4, PDS-T8, PDS-T9, PDS-T11, PDS-T16, PDS-T17]
TEST(LifecycleTest, TheTargetHasTheRowsOfTheReference) {
  ASSERT_EQ(answers(false).size(), 17u);
  expect_all_answered(false);
}

TEST(LifecycleTest, EachEventHasAtMostOneRowInEachState) {
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

// Every state but CLOSED has a way out, so every PDC can be freed.
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

// [PDS-I10, PDS-I21, PDS-I22, PDS-120, PDS-190]
TEST(LifecycleTest, RowsLeaveNotesBesideTheState) {
  Lifecycle life;
  life.start(true);
  life.change(PdcEvent::opened);
  EXPECT_FALSE(life.close_asked());
  life.change(PdcEvent::close_wanted);
  EXPECT_TRUE(life.is_open() && life.close_asked());
  life.change(PdcEvent::first_ack);
  EXPECT_TRUE(life.close_asked()) << "until the PDC ends";
  life.change(PdcEvent::close_wanted);
  EXPECT_FALSE(life.is_draining());
  life.change(PdcEvent::peer_done);
  EXPECT_TRUE(life.is_draining());
  EXPECT_EQ(life.state(), PdcState::quiesce);
  EXPECT_FALSE(life.is_orphan());
  life.change(PdcEvent::orphaned);
  EXPECT_TRUE(life.is_orphan() && life.has_failed());
  EXPECT_FALSE(life.close_received());
}

// [PDS-T15, PDS-174]
TEST(LifecycleTest, ACloseCommandIsNotedAndHeld) {
  for (const bool has_failed : {false, true}) {
    Lifecycle life;
    life.start(false);
    life.change(PdcEvent::opened);
    if (has_failed) life.change(PdcEvent::failed);
    const PdcState before = life.state();
    EXPECT_FALSE(life.close_received());
    life.change(PdcEvent::close_held);
    EXPECT_TRUE(life.close_received());
    EXPECT_EQ(life.state(), before);
    life.change(PdcEvent::close_command);
    EXPECT_EQ(life.state(), PdcState::closed);
    EXPECT_TRUE(life.close_received()) << "the tombstone asks for it";
  }
}

TEST(LifecycleDeathTest, AnEventWithoutARowEndsTheProcess) {
  Lifecycle life;
  life.start(true);
  EXPECT_DEATH(life.change(PdcEvent::first_ack), "row");
}

}  // namespace
}  // namespace uet::pds
