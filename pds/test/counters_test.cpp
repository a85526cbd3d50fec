// The counters of the sublayer have their names, and lines in the document.
#include "pds/counters.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace uet::pds {
namespace {

using wire::NackCode;

TEST(CountersTest, EveryDropHasItsLineInTheDocument) {
  std::ifstream in(UET_SOURCE_DIR "/docs/counters.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  for (size_t i = 0; i < Counters::kCount; ++i) {
    const std::string name = pds::name(static_cast<Count>(i));
    if (name.substr(0, 5) != "drop_") continue;
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
  }
}

TEST(CountersTest, NamesAndCodes) {
  EXPECT_STREQ(name(Count::rx_packets), "rx_packets");
  EXPECT_STREQ(name(Count::nack_rx_other), "nack_rx_other");
  EXPECT_EQ(nack_rx_count(NackCode::trimmed), Count::nack_rx_trimmed);
  EXPECT_EQ(nack_tx_count(NackCode::closing), Count::nack_tx_closing);
}

// Each code has the counter of its name; codes that are never sent, reserved or experimental share
// one.
TEST(CountersTest, EveryNackCodeHasItsCounters) {
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
