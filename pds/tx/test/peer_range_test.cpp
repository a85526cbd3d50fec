// The believed range of a peer, from its answers alone.
#include "pds/tx/peer_range.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

constexpr Psn kFirstPsn(1000);

// [PDS-095] An ACK that was overtaken changes nothing; of several with one cumulative ACK the first
// one counts.
TEST(PeerRangePartTest, OnlyTheNewestAckTellsTheRange) {
  PeerRange range;
  range.start(kFirstPsn, 1);
  EXPECT_TRUE(range.on_cack(kFirstPsn + 9));
  range.on_mpr(kFirstPsn + 8, 5);
  EXPECT_EQ(range.packets(), 128);
  range.on_mpr(kFirstPsn + 9, 3);
  EXPECT_EQ(range.packets(), 3 * 128);
  range.on_mpr(kFirstPsn + 9, 4);
  EXPECT_EQ(range.packets(), 3 * 128);
  EXPECT_FALSE(range.on_cack(kFirstPsn + 9)) << "no news";
}

}  // namespace
}  // namespace uet::pds
