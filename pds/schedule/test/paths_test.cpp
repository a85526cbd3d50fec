// Congestion contexts: who shares one, and when it goes. [PDS 2, PDS-247]
#include "pds/schedule/paths.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class PathsPartTest : public AllParts {
 protected:
  PathsPartTest() { EXPECT_TRUE(paths_.create(arena_, Room{4, 300}).ok()); }

  PathKey sprayed(uint8_t tc = 0) const { return {peer_, TrafficClass(tc), true}; }
};

// [CMS-001, CMS-002] PDCs of one (peer, class) share a context.
TEST_F(PathsPartTest, AContextIsSharedByItsKey) {
  Path* const path = paths_.take(sprayed());
  EXPECT_EQ(paths_.take(sprayed()), path);
  EXPECT_EQ(path->refs, 2u);
  EXPECT_NE(paths_.take(sprayed(3)), path);
  EXPECT_EQ(paths_.size(), 2u);
}

// [CMS-003, CMS-004] Ordered flows have contexts of their own, apart from that of RUD.
TEST_F(PathsPartTest, OrderedFlowsHaveDifferentContexts) {
  const PathKey one = paths_.key_for(peer_, TrafficClass(0), Mode::rod);
  const PathKey other = paths_.key_for(peer_, TrafficClass(0), Mode::rod);
  EXPECT_FALSE(one == other);
  EXPECT_FALSE(one.is_sprayed);
  EXPECT_NE(one.lane, 0) << "that is for return data";
  EXPECT_TRUE(paths_.key_for(peer_, TrafficClass(0), Mode::rud) == sprayed());
}

// [PDS-247] The last user frees it, and its peer forgets it.
TEST_F(PathsPartTest, AContextGoesWithItsLastUser) {
  Path* const first = paths_.take(sprayed());
  Path* const second = paths_.take(sprayed(3));
  paths_.take(sprayed());
  paths_.drop(*first);
  EXPECT_EQ(paths_.find(sprayed()), first);
  paths_.drop(*first);
  EXPECT_EQ(paths_.find(sprayed()), nullptr);
  EXPECT_EQ(peers_[peer_].first_path, second);
  EXPECT_EQ(second->next_of_peer, nullptr);
}

// [CMS-006] Contexts toward one peer have different numbers, of which there are 256.
TEST_F(PathsPartTest, ContextsTowardAPeerHaveDifferentNumbers) {
  res_.cms.algorithm = cms::Algorithm::rccc;
  std::array<bool, 256> used{};
  for (uint32_t lane = 0; lane < 256; ++lane) {
    Path* const path = paths_.take({peer_, TrafficClass(0), false, static_cast<uint8_t>(lane)});
    ASSERT_NE(path, nullptr);
    EXPECT_FALSE(used[path->ccc_id]) << int{path->ccc_id};
    used[path->ccc_id] = true;
  }
  EXPECT_EQ(paths_.take({peer_, TrafficClass(1), false, 0}), nullptr);
}

// [LF-131] The largest packet is that which the peer takes.
TEST_F(PathsPartTest, APeerLimitsThePacketsOfItsContext) {
  const uint32_t usual = paths_.take(sprayed())->limits.packet_bytes_max;
  peers_[peer_].agree_payload(1024);
  const uint32_t smaller = paths_.take(sprayed(3))->limits.packet_bytes_max;
  EXPECT_EQ(usual - smaller, res_.config.payload_mtu - 1024);
}

}  // namespace
}  // namespace uet::pds::part
