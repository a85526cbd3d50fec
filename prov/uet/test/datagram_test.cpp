// Datagram endpoints (FI_EP_DGRAM) through the libfabric API. [LF-044, LF-072, SES-028, PDS-211]
#include "prov/uet/test/node.h"

namespace uet::prov::test {
namespace {

class DatagramTest : public PairTest {
 protected:
  static NodeOptions datagrams() {
    NodeOptions options;
    options.type = FI_EP_DGRAM;
    options.caps = FI_MSG | FI_SOURCE | FI_DIRECTED_RECV;
    options.counters = true;
    return options;
  }
  void SetUp() override { open(datagrams(), datagrams()); }

  // Sends and waits for the completion, which does not fail when there is no receiver.
  void send(const std::vector<uint8_t>& octets) {
    ASSERT_EQ(fi_send(a->ep, octets.data(), octets.size(), nullptr, to_b, &send_context_), 0);
    const Done done = next(a->tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, &send_context_);
    EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_MSG});
  }
  int send_context_ = 0;
};

// [LF-044, LF-016] Every size up to the limit arrives whole, with its sender.
TEST_F(DatagramTest, EverySizeOfOnePacketArrives) {
  const size_t limit = a->info->ep_attr->max_msg_size;
  EXPECT_EQ(limit, 8192u) << "the payload MTU of loopback";
  uint32_t seed = 1;
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{64}, size_t{256}, size_t{257}, size_t{4096}, limit}) {
    SCOPED_TRACE(size);
    const std::vector<uint8_t> sent = pattern(size, ++seed);
    std::vector<uint8_t> got(size + 1, 0xEE);
    ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, this), 0);
    send(sent);
    const Done received = next(b->rx_cq);
    EXPECT_EQ(received.err, 0) << received.text;
    EXPECT_EQ(received.flags, uint64_t{FI_RECV | FI_MSG});
    EXPECT_EQ(received.len, size);
    EXPECT_EQ(received.from, to_a);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
    EXPECT_EQ(got[size], 0xEE);
  }
}

// [LF-072, SES-104] A datagram has one packet at most.
TEST_F(DatagramTest, LongerThanOnePacketIsRefused) {
  const std::vector<uint8_t> octets(a->info->ep_attr->max_msg_size + 1);
  EXPECT_EQ(fi_send(a->ep, octets.data(), octets.size(), nullptr, to_b, this), -FI_EMSGSIZE);
  EXPECT_TRUE(stays_empty(a->tx_cq));
}

// [PDS-211, SES-129] No receive: it is gone, and is not kept for a later one.
TEST_F(DatagramTest, WithoutAReceiveItIsDropped) {
  for (int i = 0; i < 100; ++i) send(pattern(100, 1));
  EXPECT_TRUE(stays_empty(b->rx_cq));
  std::vector<uint8_t>& got = kept(std::vector<uint8_t>(100));
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, this), 0);
  EXPECT_TRUE(stays_empty(b->rx_cq));
  const std::vector<uint8_t> sent = pattern(100, 2);
  send(sent);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(got, sent);
}

// [PDS-211, PDS-212] If no process is at the address, the sender does not learn it.
TEST_F(DatagramTest, CompletesWithoutAReceiver) {
  b->close_endpoint();
  for (int i = 0; i < 100; ++i) send(pattern(100, 1));
  EXPECT_EQ(fi_cntr_read(a->tx_counter), 100u);
  EXPECT_EQ(fi_cntr_readerr(a->tx_counter), 0u);
}

// [SES-137] A receive that is too short gets the beginning, and an error that says how much is
// gone.
TEST_F(DatagramTest, ShortReceiveIsTruncated) {
  const std::vector<uint8_t> sent = pattern(1000, 3);
  std::vector<uint8_t> got(24);
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, this), 0);
  send(sent);
  const Done received = next(b->rx_cq);
  EXPECT_EQ(received.err, FI_ETRUNC);
  EXPECT_EQ(received.len, 24u);
  EXPECT_EQ(received.olen, 976u);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
}

// [LF-042, LF-043] CQ data and injected messages.
TEST_F(DatagramTest, DataAndInjectWork) {
  std::vector<uint8_t> got(16);
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, this), 0);
  const std::vector<uint8_t> sent = pattern(16, 4);
  ASSERT_EQ(fi_senddata(a->ep, sent.data(), 16, nullptr, 0x1122334455667788, to_b, this), 0);
  const Done received = next(b->rx_cq);
  EXPECT_EQ(received.err, 0) << received.text;
  EXPECT_EQ(received.flags, uint64_t{FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA});
  EXPECT_EQ(received.data, 0x1122334455667788u);
  EXPECT_EQ(next(a->tx_cq).err, 0);

  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, to_a, this), 0);
  uint8_t octet = 7;
  ASSERT_EQ(fi_inject(a->ep, &octet, 1, to_b), 0);
  octet = 8;
  EXPECT_EQ(next(b->rx_cq).len, 1u);
  EXPECT_EQ(got[0], 7);
  EXPECT_TRUE(stays_empty(a->tx_cq));
}

// [LF-044, LF-072] What datagrams are not.
TEST_F(DatagramTest, OtherOperationsAreRefused) {
  uint8_t octet = 0;
  EXPECT_EQ(fi_tsend(a->ep, &octet, 1, nullptr, to_b, 1, this), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_trecv(a->ep, &octet, 1, nullptr, to_b, 1, 0, this), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_write(a->ep, &octet, 1, nullptr, to_b, 0, 1, this), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_read(a->ep, &octet, 1, nullptr, to_b, 0, 1, this), -FI_EOPNOTSUPP);
  const iovec iov{&octet, 1};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = to_b;
  EXPECT_EQ(fi_sendmsg(a->ep, &msg, FI_DELIVERY_COMPLETE), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_sendmsg(a->ep, &msg, FI_TRANSMIT_COMPLETE), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
}

}  // namespace
}  // namespace uet::prov::test
