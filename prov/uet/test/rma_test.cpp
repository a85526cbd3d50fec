// RMA through the libfabric API: variants, several segments, CQ data, violations.
#include "prov/uet/test/node.h"

#include <sys/mman.h>

#include <memory>

namespace uet::prov::test {
namespace {

class RmaTest : public PairTest {
 protected:
  static constexpr size_t kBytes = 100000;

  void open_region(const NodeOptions& options = {},
                   uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE) {
    open(options, options);
    remote_ = pattern(kBytes, 42);
    before_ = remote_;
    region_ = b->registered(remote_.data(), remote_.size(), access, 77);
    ASSERT_NE(region_, nullptr);
    key_ = fi_mr_key(region_);
    base_ = (b->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                ? reinterpret_cast<uint64_t>(remote_.data())
                : 0;
  }
  void TearDown() override {
    if (region_ != nullptr) {
      EXPECT_EQ(fi_close(&region_->fid), 0);
    }
    PairTest::TearDown();
  }

  std::vector<uint8_t> remote_;
  std::vector<uint8_t> before_;
  fid_mr* region_ = nullptr;
  uint64_t key_ = 0;
  uint64_t base_ = 0;
};

// [LF-094, LF-047, LF-049] Written octets land where they should and nowhere else; reads bring them
// back.
TEST_F(RmaTest, WriteThenReadKeepsEveryOctetAtEverySize) {
  open_region();
  uint32_t seed = 1;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{16}, size_t{17}, size_t{256}, size_t{4096},
                            size_t{4097}, size_t{65537}, kBytes - 10}) {
    SCOPED_TRACE(size);
    std::vector<uint8_t> expected = remote_;
    std::vector<uint8_t> local = pattern(size, ++seed);
    ASSERT_EQ(fi_write(a->ep, local.data(), size, nullptr, to_b, base_ + 5, key_, this), 0);
    const Done written = next(a->tx_cq);
    EXPECT_EQ(written.err, 0) << written.text;
    EXPECT_EQ(written.context, this);
    EXPECT_EQ(written.flags, uint64_t{FI_RMA | FI_WRITE});
    std::copy(local.begin(), local.end(), expected.begin() + 5);
    EXPECT_EQ(remote_, expected);

    std::vector<uint8_t> back(size + 1, 0xEE);
    ASSERT_EQ(fi_read(a->ep, back.data(), size, nullptr, to_b, base_ + 5, key_, &back), 0);
    const Done read = next(a->tx_cq);
    EXPECT_EQ(read.err, 0) << read.text;
    EXPECT_EQ(read.context, &back);
    EXPECT_EQ(read.flags, uint64_t{FI_RMA | FI_READ});
    EXPECT_TRUE(std::equal(local.begin(), local.end(), back.begin()));
    EXPECT_EQ(back[size], 0xEE);
  }
  EXPECT_TRUE(stays_empty(b->rx_cq)) << "plain RMA shows nothing at the target";
}

// [LF-047] Scattered local and remote memory, one completion for all segments.
TEST_F(RmaTest, SeveralRemoteSegmentsMakeOneCompletion) {
  open_region();
  std::vector<uint8_t> local = pattern(9000, 3);
  iovec iov[3] = {{local.data(), 1000}, {local.data() + 1000, 7000}, {local.data() + 8000, 1000}};
  fi_rma_iov segments[4] = {{base_ + 0, 10, key_},
                            {base_ + 20000, 5000, key_},
                            {base_ + 50000, 3990, key_},
                            {base_ + 60000, 0, key_}};
  fi_msg_rma msg{};
  msg.msg_iov = iov;
  msg.iov_count = 3;
  msg.addr = to_b;
  msg.rma_iov = segments;
  msg.rma_iov_count = 4;
  msg.context = this;
  msg.data = 4711;
  ASSERT_EQ(fi_writemsg(a->ep, &msg, FI_REMOTE_CQ_DATA), 0);
  const Done seen = next(b->rx_cq);
  EXPECT_EQ(seen.flags, uint64_t{FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA});
  EXPECT_EQ(seen.data, 4711u);
  std::vector<uint8_t> expected = before_;
  std::copy_n(local.begin(), 10, expected.begin());
  std::copy_n(local.begin() + 10, 5000, expected.begin() + 20000);
  std::copy_n(local.begin() + 5010, 3990, expected.begin() + 50000);
  EXPECT_EQ(remote_, expected) << "the data entry comes after every segment";
  EXPECT_EQ(next(a->tx_cq).context, this);
  EXPECT_TRUE(stays_empty(a->tx_cq));

  std::vector<uint8_t> back(9000);
  iovec back_iov{back.data(), back.size()};
  msg.msg_iov = &back_iov;
  msg.iov_count = 1;
  ASSERT_EQ(fi_readmsg(a->ep, &msg, 0), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(back, local);
}

TEST_F(RmaTest, OneBadSegmentFailsTheWholeOperationOnce) {
  open_region();
  std::vector<uint8_t> local = pattern(300, 3);
  iovec iov{local.data(), local.size()};
  fi_rma_iov segments[3] = {
      {base_, 100, key_}, {base_ + 200, 100, key_ ^ 0x10000}, {base_ + 400, 100, key_}};
  fi_msg_rma msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = to_b;
  msg.rma_iov = segments;
  msg.rma_iov_count = 3;
  msg.context = this;
  ASSERT_EQ(fi_writemsg(a->ep, &msg, 0), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, FI_ENOKEY);
  EXPECT_EQ(done.context, this);
  EXPECT_TRUE(stays_empty(a->tx_cq));
}

// [LF-043, LF-048] The remaining variants.
TEST_F(RmaTest, VariantsOfWriteAndRead) {
  open_region();
  std::vector<uint8_t> local = pattern(200, 9);
  iovec iov[2] = {{local.data(), 50}, {local.data() + 50, 150}};
  ASSERT_EQ(fi_writev(a->ep, iov, nullptr, 2, to_b, base_, key_, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(std::memcmp(remote_.data(), local.data(), 200), 0);

  std::vector<uint8_t> back(200);
  iovec back_iov[2] = {{back.data(), 120}, {back.data() + 120, 80}};
  ASSERT_EQ(fi_readv(a->ep, back_iov, nullptr, 2, to_b, base_, key_, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(back, local);

  ASSERT_EQ(fi_writedata(a->ep, local.data(), 200, nullptr, 123, to_b, base_ + 1000, key_, this),
            0);
  const Done seen = next(b->rx_cq);
  EXPECT_EQ(seen.flags, uint64_t{FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA});
  EXPECT_EQ(seen.context, nullptr);
  EXPECT_EQ(seen.data, 123u);
  EXPECT_EQ(seen.len, 200u);
  EXPECT_EQ(seen.from, to_a);
  EXPECT_EQ(std::memcmp(remote_.data() + 1000, local.data(), 200), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);

  std::vector<uint8_t> scratch = local;
  ASSERT_EQ(fi_inject_writedata(a->ep, scratch.data(), 200, 456, to_b, base_ + 2000, key_), 0);
  std::fill(scratch.begin(), scratch.end(), uint8_t{0});
  EXPECT_EQ(next(b->rx_cq).data, 456u);
  EXPECT_EQ(std::memcmp(remote_.data() + 2000, local.data(), 200), 0);

  scratch = local;
  ASSERT_EQ(fi_inject_write(a->ep, scratch.data(), 200, to_b, base_ + 3000, key_), 0);
  std::fill(scratch.begin(), scratch.end(), uint8_t{0});
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(std::memcmp(remote_.data() + 3000, local.data(), 200), 0);
}

// [SES-171, SES-175, SES-176, SES-184] What the key does not allow is an error at the initiator
// and leaves the target as it was.
TEST_F(RmaTest, ViolationsLeaveTheTargetUntouched) {
  open_region();
  std::vector<uint8_t> local = pattern(5000, 11);
  struct Case {
    const char* name;
    bool read;
    uint64_t offset;
    uint64_t key;
    int err;
  };
  const Case cases[] = {
      {"unknown key, write", false, 0, key_ ^ 0x100000, FI_ENOKEY},
      {"unknown key, read", true, 0, key_ ^ 0x100000, FI_ENOKEY},
      {"end beyond the region, write", false, kBytes - 4999, key_, FI_EFAULT},
      {"end beyond the region, read", true, kBytes - 4999, key_, FI_EFAULT},
      {"start beyond the region", false, kBytes + 1, key_, FI_EFAULT},
      {"offset that wraps", false, UINT64_MAX - 100, key_, FI_EFAULT},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<uint8_t> mine = local;
    const ssize_t rc =
        c.read ? fi_read(a->ep, mine.data(), 5000, nullptr, to_b, base_ + c.offset, c.key, this)
               : fi_write(a->ep, mine.data(), 5000, nullptr, to_b, base_ + c.offset, c.key, this);
    ASSERT_EQ(rc, 0);
    const Done done = next(a->tx_cq);
    EXPECT_EQ(done.err, c.err) << done.text;
    EXPECT_EQ(done.context, this);
    EXPECT_NE(done.text.find("127.0.0.1"), std::string::npos) << done.text;
    EXPECT_EQ(remote_, before_);
    EXPECT_EQ(mine, local) << "a failed read wrote to the local buffer";
  }
}

// [LF-040]
TEST_F(RmaTest, WriteToAReadOnlyRegionIsRefused) {
  open_region({}, FI_REMOTE_READ);
  const std::vector<uint8_t> local = pattern(100, 12);
  ASSERT_EQ(fi_write(a->ep, local.data(), 100, nullptr, to_b, base_, key_, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, FI_EPERM);
  EXPECT_EQ(remote_, before_);
}

TEST_F(RmaTest, ClosedRegionIsNoLongerReachable) {
  open_region();
  ASSERT_EQ(fi_close(&region_->fid), 0);
  region_ = nullptr;
  const std::vector<uint8_t> local = pattern(100, 13);
  ASSERT_EQ(fi_write(a->ep, local.data(), 100, nullptr, to_b, base_, key_, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, FI_ENOKEY);
  EXPECT_EQ(remote_, before_);
}

// [LF-073, SES-018] max_msg_size bounds messages, not regions: offsets have 64 bits.
TEST_F(RmaTest, RegionsMayBeLongerThanAMessage) {
  open();
  constexpr size_t kLong = size_t{6} << 30;
  void* const memory = mmap(nullptr, kLong, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  fid_mr* const region = b->registered(memory, kLong, FI_REMOTE_READ | FI_REMOTE_WRITE, 7);
  ASSERT_NE(region, nullptr);
  const std::vector<uint8_t> sent = pattern(20000, 1);
  const uint64_t at = kLong - sent.size();
  ASSERT_EQ(
      fi_write(a->ep, sent.data(), sent.size(), nullptr, to_b, at, fi_mr_key(region), nullptr), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(std::memcmp(static_cast<uint8_t*>(memory) + at, sent.data(), sent.size()), 0);
  std::vector<uint8_t> back(sent.size());
  ASSERT_EQ(fi_read(a->ep, back.data(), back.size(), nullptr, to_b, at, fi_mr_key(region), nullptr),
            0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(back, sent);
  EXPECT_EQ(fi_close(&region->fid), 0);
  munmap(memory, kLong);
}

TEST_F(RmaTest, SegmentsThatDoNotFitTheBuffersAreInvalid) {
  open_region();
  uint8_t local[10] = {};
  iovec iov{local, 10};
  fi_rma_iov segment{base_, 9, key_};
  fi_msg_rma msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = to_b;
  msg.rma_iov = &segment;
  msg.rma_iov_count = 1;
  EXPECT_EQ(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
  msg.rma_iov_count = 0;
  EXPECT_EQ(fi_writemsg(a->ep, &msg, 0), -FI_EINVAL);
  segment.len = 10;
  msg.rma_iov_count = 1;
  EXPECT_EQ(fi_readmsg(a->ep, &msg, FI_REMOTE_CQ_DATA), -FI_EINVAL);
  EXPECT_EQ(fi_writemsg(a->ep, &msg, FI_COMMIT_COMPLETE), -FI_EOPNOTSUPP);
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(remote_, before_);
}

// [LF-013] An address that states no index names the endpoint with the base index, 1.
TEST_F(RmaTest, AnAddressWithoutAnIndexNamesTheFirstEndpoint) {
  open_region();
  std::vector<uint8_t> name = b->name();
  ASSERT_EQ(name.size(), 40u);
  ASSERT_EQ(name[9], 1) << "b has the base index";
  name[3] &= static_cast<uint8_t>(~8u);  // the index is not stated
  name[8] = name[9] = 0;
  const fi_addr_t to = a->insert(name);
  ASSERT_NE(to, FI_ADDR_NOTAVAIL);
  std::vector<uint8_t>& octets = kept(pattern(10, 1));
  ASSERT_EQ(fi_write(a->ep, octets.data(), octets.size(), nullptr, to, base_, key_, this), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
  EXPECT_TRUE(std::equal(octets.begin(), octets.end(), remote_.begin()));
}

}  // namespace
}  // namespace uet::prov::test
