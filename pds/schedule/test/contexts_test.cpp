// Congestion contexts: which PDCs share one, and when it is freed. [PDS 2, PDS-247]
#include "pds/schedule/contexts.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class ContextsPartTest : public AllParts {
 protected:
  ContextsPartTest() { EXPECT_TRUE(contexts_.create(arena_, Room{4, 300}).ok()); }

  ContextKey sprayed(uint8_t tc = 0) const { return {peer_, TrafficClass(tc), true}; }
};

// [CMS-001, CMS-002] PDCs of one (peer, class) share a context.
TEST_F(ContextsPartTest, AContextIsSharedByItsKey) {
  Context* const context = contexts_.take(sprayed());
  EXPECT_EQ(contexts_.take(sprayed()), context);
  EXPECT_EQ(context->refs, 2u);
  EXPECT_NE(contexts_.take(sprayed(3)), context);
  EXPECT_EQ(contexts_.size(), 2u);
}

// [CMS-003, CMS-004] Ordered flows have contexts of their own, apart from that of RUD.
TEST_F(ContextsPartTest, OrderedFlowsHaveDifferentContexts) {
  const ContextKey one = contexts_.key_for(peer_, TrafficClass(0), Mode::rod);
  const ContextKey other = contexts_.key_for(peer_, TrafficClass(0), Mode::rod);
  EXPECT_FALSE(one == other);
  EXPECT_FALSE(one.is_sprayed);
  EXPECT_NE(one.lane, 0) << "that is for return data";
  EXPECT_TRUE(contexts_.key_for(peer_, TrafficClass(0), Mode::rud) == sprayed());
}

// [PDS-247] The last user frees it, and its peer forgets it.
TEST_F(ContextsPartTest, AContextGoesWithItsLastUser) {
  Context* const first = contexts_.take(sprayed());
  Context* const second = contexts_.take(sprayed(3));
  contexts_.take(sprayed());
  contexts_.drop(*first);
  EXPECT_EQ(contexts_.find(sprayed()), first);
  contexts_.drop(*first);
  EXPECT_EQ(contexts_.find(sprayed()), nullptr);
  EXPECT_EQ(peers_[peer_].first_context, second);
  EXPECT_EQ(second->next_of_peer, nullptr);
}

// [CMS-006] Contexts toward one peer have different numbers, of which there are 256.
TEST_F(ContextsPartTest, ContextsTowardAPeerHaveDifferentNumbers) {
  res_.cms.algorithm = cms::Algorithm::rccc;
  std::array<bool, 256> used{};
  for (uint32_t lane = 0; lane < 256; ++lane) {
    Context* const context =
        contexts_.take({peer_, TrafficClass(0), false, static_cast<uint8_t>(lane)});
    ASSERT_NE(context, nullptr);
    EXPECT_FALSE(used[context->ccc_id]) << int{context->ccc_id};
    used[context->ccc_id] = true;
  }
  EXPECT_EQ(contexts_.take({peer_, TrafficClass(1), false, 0}), nullptr);
}

// [LF-131] The largest packet is that which the peer takes.
TEST_F(ContextsPartTest, APeerLimitsThePacketsOfItsContext) {
  const uint32_t usual = contexts_.take(sprayed())->limits.packet_bytes_max;
  peers_[peer_].agree_payload(1024);
  const uint32_t smaller = contexts_.take(sprayed(3))->limits.packet_bytes_max;
  EXPECT_EQ(usual - smaller, res_.config.payload_mtu - 1024);
}

}  // namespace
}  // namespace uet::pds::part
