// Each word of FI_UET_CC, as ctest sets it: two endpoints move a few MB over loopback, by messages
// and by RMA, in both orders of packets. With receiver credit the credit comes from the peer.
// [CMS-065, CMS-127, CMS-137, CMS-142]
#include "prov/uet/test/node.h"

#include <cstdlib>

namespace uet::prov::test {
namespace {

constexpr size_t kBytes = 4 << 20;

class CongestionTest : public PairTest {
 protected:
  static bool has_credit() {
    const char* const word = std::getenv("FI_UET_CC");
    return word != nullptr && (std::string(word) == "rccc" || std::string(word) == "both");
  }
  // B granted credit and A took it; without it neither end reports any.
  void expect_credit() {
    if (!has_credit()) {
      EXPECT_EQ(counter(*b, "credit_request_rx"), 0u);
      EXPECT_EQ(counter(*b, "credit_tx"), 0u);
      return;
    }
    EXPECT_GT(counter(*b, "credit_request_rx"), 0u);
    EXPECT_GT(counter(*b, "credit_tx"), 0u);
    EXPECT_GT(counter(*a, "credit_rx"), 0u);
    EXPECT_EQ(counter(*a, "credit_unused"), 0u);
  }
};

TEST_F(CongestionTest, MessagesArrive) {
  for (const uint64_t order : {uint64_t{0}, uint64_t{FI_ORDER_SAS}}) {
    NodeOptions options;
    options.order = order;
    open(options, options);
    const std::vector<uint8_t>& data = kept(pattern(kBytes, 1));
    std::vector<uint8_t>& received = kept(std::vector<uint8_t>(kBytes));
    ASSERT_EQ(fi_trecv(b->ep, received.data(), kBytes, nullptr, to_a, 7, 0, this), 0);
    ASSERT_EQ(fi_tsend(a->ep, data.data(), kBytes, nullptr, to_b, 7, this), 0);
    EXPECT_EQ(next(b->rx_cq).err, 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    EXPECT_EQ(received, data);
    expect_credit();
    a.reset();
    b.reset();
  }
}

// Without an order of RMA its packets are unordered. Return data of the read is granted by A.
TEST_F(CongestionTest, UnorderedRmaArrives) {
  open();
  const std::vector<uint8_t>& data = kept(pattern(kBytes, 2));
  std::vector<uint8_t>& memory = kept(std::vector<uint8_t>(kBytes));
  std::vector<uint8_t>& back = kept(std::vector<uint8_t>(kBytes));
  fid_mr* const region = b->registered(memory.data(), kBytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
  const uint64_t key = fi_mr_key(region);
  const bool is_virtual = (b->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const uint64_t at = is_virtual ? reinterpret_cast<uint64_t>(memory.data()) : 0;
  ASSERT_EQ(fi_write(a->ep, data.data(), kBytes, nullptr, to_b, at, key, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(memory, data);
  expect_credit();
  ASSERT_EQ(fi_read(a->ep, back.data(), kBytes, nullptr, to_b, at, key, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(back, data);
  EXPECT_EQ(counter(*a, "credit_tx") > 0, has_credit());
  EXPECT_EQ(fi_close(&region->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
