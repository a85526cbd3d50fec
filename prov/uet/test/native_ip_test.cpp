// FI_UET_IO=ip: messages and RMA between two domains whose packets use a separate IP protocol.
// [WIRE-008, WIRE-009] Needs CAP_NET_RAW.
#include "prov/uet/test/node.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <vector>

namespace uet::prov::test {
namespace {

constexpr uint8_t kProtocol = 199;  // FI_UET_IP_PROTOCOL of this test

class NativeIpTest : public PairTest {
 protected:
  // Hears all packets of the protocol on this host.
  void SetUp() override {
    listener_ = ::socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, kProtocol);
    if (listener_ < 0 && errno == EPERM) GTEST_SKIP() << "raw sockets need CAP_NET_RAW";
    const int room = 8 << 20;
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    NodeOptions first, second;
    first.address = "127.0.47.91";
    second.address = "127.0.47.92";
    open(first, second);
  }
  void TearDown() override {
    PairTest::TearDown();
    if (listener_ >= 0) ::close(listener_);
  }

  int listener_ = -1;
};

TEST_F(NativeIpTest, MessagesAndRmaTravelWithoutUdp) {
  const std::vector<uint8_t> sent = pattern(300'000, 1);
  std::vector<uint8_t> got(sent.size());
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_b, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).len, sent.size());
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(got, sent);

  std::vector<uint8_t> target(sent.size());
  fid_mr* const mr =
      b->registered(target.data(), target.size(), FI_REMOTE_WRITE | FI_REMOTE_READ, 0);
  const uint64_t base = b->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR
                            ? reinterpret_cast<uintptr_t>(target.data())
                            : 0;
  ASSERT_EQ(fi_write(a->ep, sent.data(), sent.size(), nullptr, to_b, base, fi_mr_key(mr), nullptr),
            0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(target, sent);
  ASSERT_EQ(fi_close(&mr->fid), 0);

  // Behind the IPv4 header: the entropy value, two octets of zero, then a request or an answer; or,
  // under FI_UET_TSS, nothing but sealed packets. [TSS-025, WIRE-025]
  uint32_t packets = 0;
  std::map<uint32_t, uint32_t> types;
  uint8_t octets[10'000];
  for (ssize_t n; (n = ::recv(listener_, octets, sizeof octets, 0)) > 0; ++packets) {
    ASSERT_GE(n, 20 + 4 + 8);
    EXPECT_EQ(octets[9], kProtocol);
    EXPECT_EQ(octets[22] + octets[23], 0);
    ++types[octets[24] >> 3];  // the type is the first five bits
  }
  // 8192 octets of payload in a packet at most.
  EXPECT_GE(packets, 2 * sent.size() / 8192);
  constexpr uint32_t kSealed = 1;
  if (std::getenv("FI_UET_TSS") == nullptr) {
    EXPECT_GE(types.size(), 2u);
    EXPECT_EQ(types.count(kSealed), 0u);
  } else {
    EXPECT_EQ(types[kSealed], packets);
  }
  EXPECT_EQ(counter(*a, "udp_tx_never"), 0u);
}

// Without ports, an address cannot be shared.
TEST_F(NativeIpTest, TheAddressOfAnotherDomainIsRefused) {
  fid_domain* domain = nullptr;
  EXPECT_NE(fi_domain(a->fabric, a->info, &domain, nullptr), 0);
}

}  // namespace
}  // namespace uet::prov::test
