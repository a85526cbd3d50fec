// The table of NACK codes: reactions as the reference has them, counters by name. [PDS 10.2]
#include "pds/nack_codes.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace uet::pds {
namespace {

using wire::NackCode;

// A row of the table of codes in the reference: "| 0x01 | name | sent by | class | reaction | CMS
// |".
struct NackRow {
  uint32_t first = 0, last = 0;
  std::string kind, reaction;
};

std::vector<NackRow> read_nack_rows() {
  std::ifstream in(UET_SOURCE_DIR "/docs/reference/pds.md");
  std::vector<NackRow> rows;
  bool is_there = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("##", 0) == 0) is_there = line.rfind("### 10.2", 0) == 0;
    if (!is_there || line.rfind("| 0x", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    if (cells.size() < 6) continue;
    const size_t dash = cells[1].find("-0x");
    NackRow row;
    row.first = static_cast<uint32_t>(std::stoul(cells[1], nullptr, 16));
    row.last = dash == std::string::npos
                   ? row.first
                   : static_cast<uint32_t>(std::stoul(cells[1].substr(dash + 1), nullptr, 16));
    row.kind = cells[4];
    row.reaction = cells[5];
    rows.push_back(row);
  }
  return rows;
}

// The reaction of a source that each row demands, the narrower words first.
NackReaction reaction_in(const NackRow& row) {
  const auto says = [&](const char* words) {
    return row.reaction.find(words) != std::string::npos;
  };
  if (says("drop") || says("(destination)")) return NackReaction::ignore;
  if (row.kind.find("FATAL") != std::string::npos) return NackReaction::fail_pdc;
  if (says("go-back-N")) return NackReaction::go_back_n;
  if (says("hold until")) return NackReaction::hold_window;
  if (says("send clear")) return NackReaction::send_clear;
  if (says("PDS-051")) return NackReaction::rebase;
  if (says("restart RTO")) return NackReaction::wait;
  if (says("fail the message")) return NackReaction::fail_message;
  if (says("delayed resend") || says("as 0x04")) return NackReaction::resend_later;
  EXPECT_TRUE(says("resend")) << row.first;
  return NackReaction::resend_now;
}

// [PDS 10.2, PDS-071] The table of the reference, code by code. decision_table_test covers the
// effect of each reaction.
TEST(NackCodesTest, AsTheReferenceHasIt) {
  std::set<uint32_t> seen;
  for (const NackRow& row : read_nack_rows()) {
    for (uint32_t code = row.first; code <= row.last; ++code) {
      EXPECT_EQ(reaction_to(static_cast<NackCode>(code)), reaction_in(row)) << "code " << code;
      seen.insert(code);
    }
  }
  EXPECT_EQ(seen.size(), 255u) << "all but 0, which is not a code";
  EXPECT_EQ(reaction_to(NackCode::none), NackReaction::ignore);
  // [PDS-119] Not 0x11 and 0x13, which leave the outcome unknown.
  EXPECT_FALSE(is_certainly_not_executed(NackCode::closing_in_err));
  EXPECT_FALSE(is_certainly_not_executed(NackCode::gtd_resp_unavail));
  EXPECT_TRUE(is_certainly_not_executed(NackCode::inv_dpdcid));
}

// The codes for which that holds, in order.
template <class Predicate>
std::string codes(Predicate&& holds) {
  std::string all;
  for (uint32_t code = 1; code <= 0x1A; ++code) {
    if (code == 0x0C || !holds(static_cast<NackCode>(code))) continue;
    all += std::string(all.empty() ? "" : " ") + wire::name(static_cast<NackCode>(code));
  }
  return all;
}

// [T-08] A NACK with a code that no peer can send in this state is forged, or an error of the peer.
TEST(NackCodesTest, ImpossibleCodesOfEachStateAndMode) {
  EXPECT_EQ(codes([](NackCode c) { return !is_possible(c, PdcState::syn, Mode::rod); }),
            "INV_DPDCID PKT_NOT_RCVD ACK_WITH_DATA");
  EXPECT_EQ(codes([](NackCode c) { return !is_possible(c, PdcState::established, Mode::rod); }),
            "INVALID_SYN NEW_START_PSN");
  EXPECT_EQ(codes([](NackCode c) { return !is_possible(c, PdcState::established, Mode::rud); }),
            "ROD_OOO INVALID_SYN NEW_START_PSN");
}

// [PDS-148, PDS-I18, PDS-119] From a code follows: whether the peer waits for its application,
// whether it may still hold a PDC, and whether the packet was certainly not executed.
TEST(NackCodesTest, ACodeShowsTheStateOfThePeer) {
  EXPECT_EQ(codes(waits_for_application), "NO_RESOURCE RCVD_SES_PROCG");
  EXPECT_EQ(codes(peer_may_hold_state),
            "PDC_HDR_MISMATCH GTD_RESP_UNAVAIL PDC_MODE_MISMATCH UNEXP_EVENT");
  EXPECT_EQ(codes(is_certainly_not_executed),
            "INV_DPDCID PDC_HDR_MISMATCH CLOSING INVALID_SYN PDC_MODE_MISMATCH UNEXP_EVENT");
}

// Each code has the counter of its name; codes that are never sent, reserved or experimental share
// one.
TEST(NackCodesTest, EachHasItsCounters) {
  const std::set<NackCode> unsent{NackCode::trimmed_ack, NackCode::ack_with_data,
                                  NackCode::rcvr_infer_loss};
  for (uint32_t i = 0; i < 256; ++i) {
    const auto code = static_cast<NackCode>(i);
    std::string own = wire::name(code);
    for (char& c : own) c = static_cast<char>(std::tolower(c));
    const bool is_code = i >= 0x01 && i <= 0x1A && i != 0x0C;
    EXPECT_EQ(name(nack_rx_count(code)), "nack_rx_" + (is_code ? own : "other")) << i;
    const bool is_sent = is_code && unsent.count(code) == 0;
    EXPECT_EQ(name(nack_tx_count(code)), "nack_tx_" + (is_sent ? own : "other")) << i;
  }
}

}  // namespace
}  // namespace uet::pds
