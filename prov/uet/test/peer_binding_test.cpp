// Which objects an endpoint with receives of another provider needs. [LF-159]
#include "prov/uet/test/peer_owner.h"

#include <gtest/gtest.h>

namespace uet::prov::test {
namespace {

// Only reads of an imported queue let the owner be asked: with another one nothing would ever be
// received.
TEST(PeerBindingTest, ReceivesOfAPeerNeedItsQueue) {
  PeerOwner owner;
  PeerNode b(owner, 0);
  fi_cq_attr attr{};
  fid_cq* own = nullptr;
  ASSERT_EQ(fi_cq_open(b.domain, &attr, &own, nullptr), 0);
  for (fid_cq* const cq : {own, b.cq}) {
    fid_ep* ep = nullptr;
    ASSERT_EQ(fi_endpoint(b.domain, b.info, &ep, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep, &b.av->fid, 0), 0);
    EXPECT_EQ(fi_ep_bind(ep, &b.srx->fid, 0), 0);
    EXPECT_EQ(fi_enable(ep), cq == own ? -FI_EINVAL : 0);
    EXPECT_EQ(fi_close(&ep->fid), 0);
  }
  EXPECT_EQ(fi_close(&own->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
