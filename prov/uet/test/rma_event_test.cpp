// Counters that count what peers do to a memory region. [LF-097, fi_mr(3) FI_RMA_EVENT]
#include "prov/uet/test/node.h"

namespace uet::prov::test {
namespace {

class RmaEventTest : public PairTest {
 protected:
  void SetUp() override {
    NodeOptions options;
    options.caps |= FI_RMA_EVENT;
    open(options, options);
    mr_ = b->registered(memory_.data(), memory_.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 7);
    fi_cntr_attr attr{};
    ASSERT_EQ(fi_cntr_open(b->domain, &attr, &writes_, nullptr), 0);
    ASSERT_EQ(fi_cntr_open(b->domain, &attr, &reads_, nullptr), 0);
    ASSERT_EQ(fi_mr_bind(mr_, &writes_->fid, FI_REMOTE_WRITE), 0);
    ASSERT_EQ(fi_mr_bind(mr_, &reads_->fid, FI_REMOTE_READ), 0);
  }
  void TearDown() override {
    EXPECT_EQ(fi_close(&mr_->fid), 0);
    EXPECT_EQ(fi_close(&writes_->fid), 0);
    EXPECT_EQ(fi_close(&reads_->fid), 0);
    PairTest::TearDown();
  }
  void expect_counts(uint64_t writes, uint64_t reads) {
    EXPECT_TRUE(run_until([&] { return fi_cntr_read(writes_) == writes; }));
    EXPECT_TRUE(run_until([&] { return fi_cntr_read(reads_) == reads; }));
    EXPECT_EQ(fi_cntr_readerr(writes_), 0u);
    EXPECT_EQ(fi_cntr_readerr(reads_), 0u);
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(100'000);
  std::vector<uint8_t> local_ = pattern(100'000, 1);
  fid_mr* mr_ = nullptr;
  fid_cntr* writes_ = nullptr;
  fid_cntr* reads_ = nullptr;
};

TEST_F(RmaEventTest, EveryWriteOfAnySizeCountsOnce) {
  for (const size_t bytes : {size_t{8}, local_.size()}) {
    ASSERT_EQ(fi_write(a->ep, local_.data(), bytes, nullptr, to_b, 0, fi_mr_key(mr_), nullptr), 0);
    next(a->tx_cq);
  }
  expect_counts(2, 0);
  EXPECT_EQ(memory_, local_);
}

TEST_F(RmaEventTest, EveryReadOfAnySizeCountsOnce) {
  for (const size_t bytes : {size_t{8}, local_.size()}) {
    ASSERT_EQ(fi_read(a->ep, local_.data(), bytes, nullptr, to_b, 0, fi_mr_key(mr_), nullptr), 0);
    next(a->tx_cq);
  }
  expect_counts(0, 2);
}

TEST_F(RmaEventTest, WriteWithDataCountsAndCompletes) {
  ASSERT_EQ(fi_writedata(a->ep, local_.data(), 8, nullptr, 42, to_b, 0, fi_mr_key(mr_), nullptr),
            0);
  next(a->tx_cq);
  EXPECT_EQ(next(b->rx_cq).data, 42u);
  expect_counts(1, 0);
}

}  // namespace
}  // namespace uet::prov::test
