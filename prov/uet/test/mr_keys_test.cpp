// RMA and atomics to regions of every way of registering: keys of 64 bits that the application
// chose, FI_MR_BASIC with its virtual addresses, FI_MR_SCALABLE, and ends that differ in this.
#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>

#include <memory>

namespace uet::prov::test {
namespace {

constexpr int kBasic = 1 << 0;     // FI_MR_BASIC, deprecated by name since 2.0
constexpr int kScalable = 1 << 1;  // FI_MR_SCALABLE
constexpr uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;

NodeOptions with_mode(int mr_mode) {
  NodeOptions options;
  options.mr_mode = mr_mode;
  options.caps = FI_MSG | FI_RMA | FI_ATOMIC;
  return options;
}

class MrKeysTest : public PairTest {
 protected:
  // Writes to the region, reads it back, adds to an element; `base` is its first octet's name.
  void expect_reachable(uint64_t key, uint64_t base, std::vector<uint8_t>& memory) {
    SCOPED_TRACE(key);
    const std::vector<uint8_t> sent = pattern(memory.size() - 8, static_cast<uint32_t>(key) | 1);
    ASSERT_EQ(fi_write(a->ep, sent.data(), sent.size(), nullptr, to_b, base + 8, key, nullptr), 0);
    const Done written = next(a->tx_cq);
    ASSERT_EQ(written.err, 0) << written.text;
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), memory.begin() + 8));
    std::vector<uint8_t> back(sent.size());
    ASSERT_EQ(fi_read(a->ep, back.data(), back.size(), nullptr, to_b, base + 8, key, nullptr), 0);
    const Done read = next(a->tx_cq);
    ASSERT_EQ(read.err, 0) << read.text;
    EXPECT_EQ(back, sent);
    std::fill_n(memory.begin(), 8, uint8_t{0});
    const uint64_t seven = 7;
    ASSERT_EQ(fi_atomic(a->ep, &seven, 1, nullptr, to_b, base, key, FI_UINT64, FI_SUM, nullptr), 0);
    const Done added = next(a->tx_cq);
    ASSERT_EQ(added.err, 0) << added.text;
    EXPECT_EQ(memory[0], 7);
  }
  void expect_refused(uint64_t key, uint64_t address, int error) {
    uint8_t octet = 0;
    ASSERT_EQ(fi_write(a->ep, &octet, 1, nullptr, to_b, address, key, nullptr), 0);
    EXPECT_EQ(next(a->tx_cq).err, error) << key;
  }
};

// [LF-029, LF-150] Small, wide, with bits that the wire's format reserves, and looking like other
// kinds of keys: both ends agree on the wire key.
TEST_F(MrKeysTest, ApplicationsChooseAnyNumber) {
  open(with_mode(0), with_mode(0));
  EXPECT_EQ(b->info->domain_attr->mr_key_size, 8u);
  const uint64_t keys[] = {0,
                           77,
                           (1ULL << 48) - 1,
                           1ULL << 48,
                           0x00AB'CDEF'0123'4567,
                           1ULL << 56,
                           1ULL << 62 | 9,
                           1ULL << 62,
                           0xDEAD'BEEF'DEAD'BEEF,
                           UINT64_MAX - 1};
  std::vector<std::vector<uint8_t>> memory(std::size(keys), std::vector<uint8_t>(20008));
  std::vector<fid_mr*> regions;
  for (size_t i = 0; i < std::size(keys); ++i) {
    fid_mr* const region = b->registered(memory[i].data(), memory[i].size(), kRemote, keys[i]);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(fi_mr_key(region), keys[i]) << "the application's own key comes back";
    regions.push_back(region);
    fid_mr* again = nullptr;
    EXPECT_EQ(fi_mr_reg(b->domain, memory[i].data(), 8, kRemote, 0, keys[i], 0, &again, nullptr),
              -FI_ENOKEY);
  }
  for (size_t i = 0; i < std::size(keys); ++i) expect_reachable(keys[i], 0, memory[i]);
  expect_refused(0xDEAD'BEEF'DEAD'BEEE, 0, FI_ENOKEY);
  for (fid_mr* region : regions) EXPECT_EQ(fi_close(&region->fid), 0);
  for (const uint64_t key : keys) expect_refused(key, 0, FI_ENOKEY);
}

// [LF-151] FI_MR_BASIC: the provider chooses keys, and peers name octets by their address.
TEST_F(MrKeysTest, BasicRegionsHaveVirtualAddresses) {
  open(with_mode(kBasic), with_mode(kBasic));
  EXPECT_EQ(b->info->domain_attr->mr_mode, kBasic);
  std::vector<uint8_t> memory(100008);
  fid_mr* const region = b->registered(memory.data(), memory.size(), kRemote, 5);
  ASSERT_NE(region, nullptr);
  const uint64_t key = fi_mr_key(region);
  EXPECT_NE(key, 5u) << "the provider chooses";
  const auto base = reinterpret_cast<uint64_t>(memory.data());
  expect_reachable(key, base, memory);
  expect_refused(key, base - 1, FI_EFAULT);
  expect_refused(key, base + memory.size(), FI_EFAULT);
  expect_refused(key, 0, FI_EFAULT);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

// [LF-032, LF-151] The properties of a region are local: the other end may be opened in any other
// way.
TEST_F(MrKeysTest, TheEndsMayDiffer) {
  const int modes[] = {0, kBasic, kScalable, FI_MR_PROV_KEY};
  for (const int from : modes) {
    for (const int to : modes) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      open(with_mode(from), with_mode(to));
      std::vector<uint8_t> memory(5008);
      fid_mr* const region =
          b->registered(memory.data(), memory.size(), kRemote, 0xF00D'F00D'F00D'F00D);
      ASSERT_NE(region, nullptr);
      const uint64_t base = to == kBasic ? reinterpret_cast<uint64_t>(memory.data()) : 0;
      expect_reachable(fi_mr_key(region), base, memory);
      EXPECT_EQ(fi_close(&region->fid), 0);
      TearDown();
    }
  }
}

}  // namespace
}  // namespace uet::prov::test
