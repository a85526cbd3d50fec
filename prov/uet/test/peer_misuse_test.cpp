// Refused uses of other providers' queues and receives. [LF-159]
#include "prov/uet/test/peer_owner.h"

#include <gtest/gtest.h>

namespace uet::prov::test {
namespace {

// [LF-159] fi_peer, PEER CQ: an invalid flag; PEER SRX likewise.
TEST(PeerMisuseTest, MisuseIsRefused) {
  PeerOwner owner;
  Node a{NodeOptions{}};
  PeerNode b(owner, 0);
  fid_cq* cq = nullptr;
  fid_ep* srx = nullptr;
  fi_cq_attr cq_attr{};
  cq_attr.flags = FI_PEER;
  fi_rx_attr rx_attr{};
  rx_attr.op_flags = FI_PEER;

  fid_peer_cq mute_cq{};
  fid_peer_srx mute_srx{};
  fi_peer_cq_context cq_context{sizeof cq_context, &mute_cq};
  fi_peer_srx_context srx_context{sizeof srx_context, &mute_srx};
  EXPECT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, &cq_context), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(b.domain, &rx_attr, &srx, &srx_context), -FI_EINVAL);
  fi_ops_cq_owner no_cq_ops{};
  mute_cq.owner_ops = &no_cq_ops;
  fi_ops_srx_owner no_srx_ops{};
  mute_srx.owner_ops = &no_srx_ops;
  EXPECT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, &cq_context), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(b.domain, &rx_attr, &srx, &srx_context), -FI_EINVAL);
  EXPECT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(b.domain, &rx_attr, &srx, nullptr), -FI_EINVAL);
  cq_context = {sizeof cq_context, nullptr};
  srx_context = {0, &owner.srx};
  EXPECT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, &cq_context), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(b.domain, &rx_attr, &srx, &srx_context), -FI_EINVAL);

  // Tables of operations that say that they are shorter.
  fi_ops_cq_owner short_cq_ops = *owner.cq.owner_ops;
  fi_ops_srx_owner short_srx_ops = *owner.srx.owner_ops;
  short_cq_ops.size = short_srx_ops.size = 2 * sizeof(void*);
  mute_cq.owner_ops = &short_cq_ops;
  mute_srx.owner_ops = &short_srx_ops;
  cq_context = {sizeof cq_context, &mute_cq};
  srx_context = {sizeof srx_context, &mute_srx};
  EXPECT_EQ(fi_cq_open(b.domain, &cq_attr, &cq, &cq_context), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(b.domain, &rx_attr, &srx, &srx_context), -FI_EINVAL);

  // A domain that was not opened for it has a helper thread, which would ask at any time.
  cq_context = {sizeof cq_context, &owner.cq};
  srx_context = {sizeof srx_context, &owner.srx};
  EXPECT_EQ(fi_cq_open(a.domain, &cq_attr, &cq, &cq_context), -FI_EINVAL);
  EXPECT_EQ(fi_srx_context(a.domain, &rx_attr, &srx, &srx_context), -FI_EINVAL);

  // No post to queues of another owner.
  uint8_t octet = 0;
  EXPECT_EQ(fi_recv(b.srx, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_trecv(b.ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, 0, 0, nullptr), -FI_EOPNOTSUPP);
}

// Only reads of an imported queue let the owner be asked: with another one nothing would ever be
// received.
TEST(PeerMisuseTest, ReceivesOfAPeerNeedItsQueue) {
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
