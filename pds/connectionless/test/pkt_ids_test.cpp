// The numbers of RUDI packets. [PDS-201]
#include "pds/connectionless/pkt_ids.h"

#include <gtest/gtest.h>

#include <set>

namespace uet::pds {
namespace {

// [PDS-201] No number comes twice, and another key has another order.
TEST(PktIdsTest, NumbersDoNotRepeatAndDependOnTheKey) {
  PktIds ids(7);
  PktIds others(8);
  std::set<uint32_t> seen;
  uint32_t same = 0;
  uint32_t neighbours = 0;
  uint32_t last = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint32_t id = ids.next().value();
    EXPECT_TRUE(seen.insert(id).second);
    same += id == others.next().value();
    neighbours += id - last == 1;
    last = id;
  }
  EXPECT_LT(same, 5u);
  EXPECT_LT(neighbours, 5u);
}

}  // namespace
}  // namespace uet::pds
