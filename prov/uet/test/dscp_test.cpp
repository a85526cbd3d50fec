// The DSCP of packets, with FI_UET_TRIMMING and FI_UET_DSCP_DATA as ctest sets them: the capture of
// the first domain shows the packets of both directions. [CMS-171, CMS-173, CMS-176, LF-129]
#include "prov/uet/test/capture.h"
#include "prov/uet/test/node.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

namespace uet::prov::test {
namespace {

constexpr size_t kBytes = 100'000;

// Packets of a pcapng file of IPv4 packets by DSCP. The DSCP is the upper six bits of the second
// octet; octet 28, behind IP and UDP, begins with five bits of PDS type.
struct Seen {
  std::map<unsigned, unsigned> data;   // requests
  std::map<unsigned, unsigned> other;  // ACKs, control packets
};

Seen read_capture(const char* path) {
  Seen seen;
  for_each_packet(path, [&](std::span<const uint8_t> octets) {
    if (octets.size() <= 28) return;
    const unsigned type = octets[28] >> 3;
    const bool is_request = type == 2 || type == 3;  // RUD, ROD
    ++(is_request ? seen.data : seen.other)[octets[1] >> 2];
  });
  return seen;
}

class DscpTest : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("FI_UET_PCAP"), nullptr) << "run by ctest";
    open();
  }
  // A write and a read, 13 packets of 8192 octets each way; then all data has this DSCP, and
  // everything else that of control.
  void expect_data(unsigned dscp) {
    std::vector<uint8_t> memory(kBytes);
    fid_mr* const region =
        b->registered(memory.data(), kBytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
    std::vector<uint8_t> local = pattern(kBytes, 1);
    write_region(region, local);
    read_region(region, local);
    EXPECT_EQ(fi_close(&region->fid), 0);
    a.reset();
    b.reset();  // the capture is complete
    const Seen seen = read_capture(std::getenv("FI_UET_PCAP"));
    ASSERT_EQ(seen.data.size(), 1u);
    EXPECT_EQ(seen.data.begin()->first, dscp);
    EXPECT_GE(seen.data.begin()->second, 26u);
    ASSERT_EQ(seen.other.size(), 1u);
    EXPECT_EQ(seen.other.begin()->first, 46u);
  }
};

// [CMS-173] No switch may trim it.
TEST_F(DscpTest, WithoutTrimmingDataIsNotTrimmable) { expect_data(0); }

// [CMS-171, LF-092, WIRE-018] FI_UET_TRIMMING=1.
TEST_F(DscpTest, WithTrimmingDataIsTrimmable) { expect_data(8); }

// [CMS-177, CMS-178] FI_UET_TRIMMING=1 and FI_UET_DSCP_DATA=10.
TEST_F(DscpTest, TheChosenDscpStands) { expect_data(10); }

// [CMS-177, LF-092] FI_UET_DSCP_TRIMMED=34, which is the DSCP of FI_TC_DEDICATED_ACCESS, too.
TEST_F(DscpTest, AClassOfTrimmedPacketsIsRefused) {
  const auto offered = [](uint32_t tclass) {
    const std::unique_ptr<fi_info, decltype(&fi_freeinfo)> hints(fi_allocinfo(), fi_freeinfo);
    hints->tx_attr->tclass = tclass;
    hints->fabric_attr->prov_name = strdup("uet");
    fi_info* info = nullptr;
    const int rc =
        fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints.get(), &info);
    fi_freeinfo(info);
    return rc;
  };
  EXPECT_EQ(offered(FI_TC_BULK_DATA), 0);
  EXPECT_EQ(offered(FI_TC_LOW_LATENCY), 0);
  EXPECT_EQ(offered(FI_TC_DEDICATED_ACCESS), -FI_ENODATA);
  EXPECT_EQ(offered(FI_TC_DSCP | 34), -FI_ENODATA);
  a->info->tx_attr->tclass = FI_TC_DEDICATED_ACCESS;
  fid_ep* ep = nullptr;
  EXPECT_EQ(fi_endpoint(a->domain, a->info, &ep, nullptr), -FI_EINVAL);
}

}  // namespace
}  // namespace uet::prov::test
