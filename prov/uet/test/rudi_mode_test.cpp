// FI_UET_MODE=rudi with FI_UET_IDEMPOTENT=1, as ctest sets them: RMA takes RUDI, messages do not.
// The capture of the first domain shows the packets. [SES-027, LF-027, LF-129]
#include "prov/uet/test/capture.h"
#include "prov/uet/test/node.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace uet::prov::test {
namespace {

constexpr size_t kBytes = 100000;

// How many packets of each PDS type a pcapng file of IPv4 packets holds: octet 28 of each, behind
// IP and UDP, begins with five bits of type.
std::array<uint32_t, 32> types_in(const char* path) {
  std::array<uint32_t, 32> counts{};
  for_each_packet(path, [&](std::span<const uint8_t> octets) {
    if (octets.size() > 28) ++counts[octets[28] >> 3];
  });
  return counts;
}

class RudiModeTest : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("FI_UET_PCAP"), nullptr) << "run by ctest";
    NodeOptions options;
    options.caps |= FI_RMA_EVENT;
    options.counters = true;
    open(options, options);
  }
  // Closes both nodes, so that the capture is complete.
  std::array<uint32_t, 32> sent() {
    a.reset();
    b.reset();
    return types_in(std::getenv("FI_UET_PCAP"));
  }
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kBytes);
};

TEST_F(RudiModeTest, RmaGoesByRudi) {
  fid_mr* region = b->registered(memory_.data(), kBytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
  EXPECT_EQ(fi_mr_key(region) >> 63, 1u);
  std::vector<uint8_t> data = pattern(kBytes, 1);
  write_region(region, data);
  EXPECT_EQ(memory_, data);
  std::vector<uint8_t> back(kBytes);
  read_region(region, back);
  EXPECT_EQ(back, data);
  EXPECT_EQ(fi_close(&region->fid), 0);
  const auto types = sent();
  EXPECT_GE(types[4], 26u) << "13 packets of 8192 octets each way";
  EXPECT_EQ(types[4] >= types[5] && types[5] >= 26u, true);
  EXPECT_EQ(types[2], 0u) << "no RUD request";
}

// [LF-097] Counters count messages, so a region with one is left to the modes that have them.
TEST_F(RudiModeTest, CountedRegionsAreLeftOut) {
  fid_mr* region = nullptr;
  ASSERT_EQ(fi_mr_reg(b->domain, memory_.data(), kBytes, FI_REMOTE_WRITE, 0, 6, FI_RMA_EVENT,
                      &region, nullptr),
            0);
  EXPECT_EQ(fi_mr_key(region) >> 63, 0u);
  EXPECT_EQ(fi_mr_bind(region, &b->rx_counter->fid, FI_REMOTE_WRITE), 0);
  std::vector<uint8_t> data = pattern(kBytes, 1);
  write_region(region, data);
  EXPECT_TRUE(run_until([&] { return fi_cntr_read(b->rx_counter) == 1; }));
  EXPECT_EQ(fi_close(&region->fid), 0);
  // An idempotent region may be written twice, so its accesses cannot be counted.
  ASSERT_EQ(
      fi_mr_reg(b->domain, memory_.data(), kBytes, FI_REMOTE_WRITE, 0, 7, 0, &region, nullptr), 0);
  EXPECT_EQ(fi_mr_bind(region, &b->rx_counter->fid, FI_REMOTE_WRITE), -FI_EINVAL);
  EXPECT_EQ(fi_close(&region->fid), 0);
  const auto types = sent();
  EXPECT_EQ(types[4], 0u);
  EXPECT_GE(types[2], 13u);
}

// [SES-077] Messages are never idempotent.
TEST_F(RudiModeTest, MessagesGoTheirOwnWay) {
  std::vector<uint8_t> got(1000);
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, this), 0);
  const std::vector<uint8_t> data = pattern(1000, 1);
  ASSERT_EQ(fi_send(a->ep, data.data(), data.size(), nullptr, to_b, this), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(got, data);
  const auto types = sent();
  EXPECT_EQ(types[4], 0u);
  EXPECT_GE(types[2], 1u);
}

}  // namespace
}  // namespace uet::prov::test
