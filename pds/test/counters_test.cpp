// The counters of the sublayer have their names, and lines in the document.
#include "pds/counters.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace uet::pds {
namespace {

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

TEST(CountersTest, EachHasItsName) {
  EXPECT_STREQ(name(Count::rx_packets), "rx_packets");
  EXPECT_STREQ(name(Count::nack_rx_other), "nack_rx_other");
}

}  // namespace
}  // namespace uet::pds
