// FI_TAGGED_DIRECTED_RECV and FI_EXACT_DIRECTED_RECV, in libfabric since 2.0. Expected behaviour is
// from fi_getinfo(3) of 2.1, "Capabilities".
#include "prov/uet/test/node.h"

namespace uet::prov::test {
namespace {

class DirectedTest : public PairTest {
 protected:
  // B has those capabilities, A and a stranger send to it.
  void open_with(uint64_t caps) {
    NodeOptions options;
    options.ask_version = FI_VERSION(2, 0);
    options.caps = FI_MSG | FI_TAGGED | FI_SOURCE | caps;
    open({}, options);
    EXPECT_EQ(b->info->caps & (FI_DIRECTED_RECV | FI_TAGGED_DIRECTED_RECV | FI_EXACT_DIRECTED_RECV),
              caps);
    EXPECT_EQ(b->info->rx_attr->caps & caps, caps);
    const Node stranger;
    stranger_ = b->insert(stranger.name());
  }
  ssize_t receive(fi_addr_t from) { return fi_recv(b->ep, kept(0), 1, nullptr, from, nullptr); }
  ssize_t receive_tagged(fi_addr_t from) {
    return fi_trecv(b->ep, kept(0), 1, nullptr, from, 5, 0, nullptr);
  }
  // Whether a receive from another sender takes a message of A.
  bool takes_any_message() {
    EXPECT_EQ(receive(stranger_), 0);
    EXPECT_EQ(fi_send(a->ep, kept(1), 1, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    return !stays_empty(b->rx_cq);
  }
  bool takes_any_tagged() {
    EXPECT_EQ(receive_tagged(stranger_), 0);
    EXPECT_EQ(fi_tsend(a->ep, kept(1), 1, nullptr, to_b, 5, nullptr), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    return !stays_empty(b->rx_cq);
  }

  fi_addr_t stranger_ = FI_ADDR_UNSPEC;
};

// [LF-046, LF-068, LF-114]
TEST_F(DirectedTest, TaggedAloneLeavesMessagesUndirected) {
  open_with(FI_TAGGED_DIRECTED_RECV);
  EXPECT_EQ(receive_tagged(FI_ADDR_UNSPEC), 0);
  EXPECT_EQ(fi_cancel(&b->ep->fid, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).err, FI_ECANCELED);
  EXPECT_TRUE(takes_any_message());
  EXPECT_FALSE(takes_any_tagged());
}

// [LF-068] FI_EXACT_DIRECTED_RECV alone directs receives with and without tag, and FI_ADDR_UNSPEC
// does not name a source.
TEST_F(DirectedTest, ExactNeedsASource) {
  open_with(FI_EXACT_DIRECTED_RECV);
  EXPECT_EQ(receive(FI_ADDR_UNSPEC), -FI_EINVAL);
  EXPECT_EQ(receive_tagged(FI_ADDR_UNSPEC), -FI_EINVAL);
  EXPECT_FALSE(takes_any_message());
  EXPECT_FALSE(takes_any_tagged());
  EXPECT_EQ(receive(to_a), 0);
  EXPECT_EQ(next(b->rx_cq).from, to_a);
  EXPECT_EQ(receive_tagged(to_a), 0);
  EXPECT_EQ(next(b->rx_cq).from, to_a);
}

// It changes the capability that it comes with.
TEST_F(DirectedTest, ExactIsAModifier) {
  open_with(FI_DIRECTED_RECV | FI_EXACT_DIRECTED_RECV);
  EXPECT_EQ(receive(FI_ADDR_UNSPEC), -FI_EINVAL);
  TearDown();
  open_with(FI_TAGGED_DIRECTED_RECV | FI_EXACT_DIRECTED_RECV);
  EXPECT_EQ(receive_tagged(FI_ADDR_UNSPEC), -FI_EINVAL);
  EXPECT_EQ(receive(FI_ADDR_UNSPEC), 0);
}

}  // namespace
}  // namespace uet::prov::test
