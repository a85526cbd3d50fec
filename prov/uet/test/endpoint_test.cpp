// Endpoint set-up and end through the libfabric API: binding, enabling, names, options, closing.
#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>

#include <memory>
#include <string>

namespace uet::prov::test {
namespace {

class EndpointTest : public PairTest {
 protected:
  // A table states its size, and nothing in it is missing: the headers call without looking.
  template <class Table>
  static void expect_filled(const Table* table, const char* name) {
    ASSERT_NE(table, nullptr) << name;
    EXPECT_EQ(table->size, sizeof(Table)) << name;
    const auto* entries = reinterpret_cast<void* const*>(table);
    for (size_t i = 1; i < sizeof(Table) / sizeof(void*); ++i) {
      EXPECT_NE(entries[i], nullptr) << name << ", entry " << i;
    }
  }
};

// [LF-106, ABI-026]
TEST_F(EndpointTest, OperationTablesStateTheirSizeAndHaveNoGaps) {
  open();
  expect_filled(a->ep->ops, "endpoint");
  expect_filled(a->ep->cm, "connections");
  expect_filled(a->ep->msg, "messages");
  expect_filled(a->ep->tagged, "tagged messages");
  expect_filled(a->ep->rma, "RMA");
  expect_filled(a->ep->atomic, "atomics");
  expect_filled(a->ep->collective, "collectives");
  expect_filled(a->tx_cq->ops, "completion queue");
  expect_filled(a->av->ops, "address vector");
  expect_filled(a->domain->ops, "domain");
  expect_filled(a->domain->mr, "memory regions");
  expect_filled(a->fabric->ops, "fabric");
}

TEST_F(EndpointTest, EnableFailsWithoutNeededBindings) {
  open();
  fid_ep* ep = nullptr;
  ASSERT_EQ(fi_endpoint(a->domain, a->info, &ep, nullptr), 0);
  uint8_t octet = 0;
  EXPECT_EQ(fi_send(ep, &octet, 1, nullptr, to_b, nullptr), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_recv(ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_enable(ep), -FI_ENOAV);
  ASSERT_EQ(fi_ep_bind(ep, &a->av->fid, 0), 0);
  EXPECT_EQ(fi_enable(ep), -FI_ENOCQ);
  EXPECT_EQ(fi_ep_bind(ep, &a->tx_cq->fid, 0), -FI_EBADFLAGS);
  ASSERT_EQ(fi_ep_bind(ep, &a->tx_cq->fid, FI_TRANSMIT | FI_RECV), 0);
  EXPECT_EQ(fi_ep_bind(ep, &a->rx_cq->fid, FI_RECV), -FI_EINVAL) << "one CQ a direction";
  EXPECT_EQ(fi_ep_bind(ep, &b->tx_cq->fid, FI_TRANSMIT), -FI_EDOMAIN) << "of another domain";
  EXPECT_EQ(fi_ep_bind(ep, &a->domain->fid, 0), -FI_EINVAL);
  EXPECT_EQ(fi_enable(ep), 0);
  EXPECT_EQ(fi_ep_bind(ep, &a->rx_cq->fid, FI_RECV), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_close(&ep->fid), 0);
}

// [LF-006, LF-011] Endpoints of one domain have different names of 40 octets.
TEST_F(EndpointTest, NamesDifferAndTellTheirLength) {
  open();
  fid_ep* other = nullptr;
  ASSERT_EQ(fi_endpoint(a->domain, a->info, &other, nullptr), 0);
  uint8_t name[40];
  size_t length = sizeof(name);
  ASSERT_EQ(fi_getname(&other->fid, name, &length), 0);
  EXPECT_EQ(length, 40u);
  EXPECT_NE(std::memcmp(name, a->name().data(), 40), 0);
  length = 10;
  EXPECT_EQ(fi_getname(&other->fid, name, &length), -FI_ETOOSMALL);
  EXPECT_EQ(length, 40u);
  EXPECT_EQ(fi_close(&other->fid), 0);
}

// [LF-132] A process that addresses a service at its own address leaves port 4793 there to the
// server, also when it starts first.
TEST_F(EndpointTest, AServiceOfTheSameAddressIsFoundInEitherOrder) {
  for (const bool client_first : {true, false}) {
    NodeOptions server;
    server.address = "127.0.47.9";
    server.service = "9228";
    NodeOptions client = server;
    client.peer = client.address;
    if (client_first) a = std::make_unique<Node>(client);
    b = std::make_unique<Node>(server);
    if (!client_first) a = std::make_unique<Node>(client);
    EXPECT_EQ(b->name()[36] << 8 | b->name()[37], 0);  // [LF-006] 4793
    ASSERT_EQ(fi_av_insert(a->av, a->info->dest_addr, 1, &to_b, 0, nullptr), 1);
    uint8_t got = 0;
    ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_inject(a->ep, "x", 1, to_b), 0);
    EXPECT_EQ(next(b->rx_cq).err, 0);
    EXPECT_EQ(got, 'x');
    TearDown();
  }
}

TEST_F(EndpointTest, OptionsAreCheckedByNameAndSize) {
  open();
  size_t value = 1;
  size_t length = sizeof(value);
  EXPECT_EQ(fi_getopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value, &length), 0);
  EXPECT_EQ(value, 0u);
  length = 2;
  EXPECT_EQ(fi_getopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &length),
            -FI_ETOOSMALL);
  EXPECT_EQ(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, 2), -FI_EINVAL);
  EXPECT_EQ(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, 12345, &value, sizeof(value)), -FI_ENOPROTOOPT);
}

TEST_F(EndpointTest, CallsOutsideTheCapabilitiesAreRefused) {
  NodeOptions options;
  options.caps = FI_MSG;
  open(options, options);
  uint8_t* const sent = kept(uint8_t{0});
  uint8_t* const got = kept(uint8_t{0});
  EXPECT_EQ(fi_tsend(a->ep, sent, 1, nullptr, to_b, 1, nullptr), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_write(a->ep, sent, 1, nullptr, to_b, 0, 1, nullptr), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_recv(b->ep, got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  EXPECT_EQ(fi_send(a->ep, sent, 1, nullptr, to_b, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
}

TEST_F(EndpointTest, UnknownAddressesAndBadMemoryAreRefusedAtTheCall) {
  open();
  uint8_t octet = 0;
  EXPECT_EQ(fi_send(a->ep, &octet, 1, nullptr, 1234, nullptr), -FI_EADDRNOTAVAIL);
  EXPECT_EQ(fi_send(a->ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EADDRNOTAVAIL);
  EXPECT_EQ(fi_write(a->ep, &octet, 1, nullptr, 1234, 0, 1, nullptr), -FI_EADDRNOTAVAIL);
  EXPECT_EQ(fi_recv(a->ep, &octet, 1, nullptr, 1234, nullptr), -FI_EADDRNOTAVAIL);
  EXPECT_EQ(fi_send(a->ep, nullptr, 1, nullptr, to_b, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_send(a->ep, &octet, size_t{1} << 33, nullptr, to_b, nullptr), -FI_EMSGSIZE);
  std::vector<iovec> many(65, iovec{&octet, 1});
  EXPECT_EQ(fi_sendv(a->ep, many.data(), nullptr, 65, to_b, nullptr), -FI_EINVAL);
  EXPECT_TRUE(stays_empty(a->tx_cq));
}

// A full queue answers -FI_EAGAIN, forgets nothing and takes posts again later. [decision 11]
TEST_F(EndpointTest, FullTransmitQueueSaysAgain) {
  NodeOptions options;
  options.tx_size = 8;
  open(options);
  uint8_t* const octet = kept(uint8_t{1});
  size_t accepted = 0;
  while (accepted < 100 && fi_send(a->ep, octet, 1, nullptr, to_b, nullptr) == 0) ++accepted;
  EXPECT_GE(accepted, 8u);
  std::vector<uint8_t> got(accepted);
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  for (size_t i = 0; i < accepted; ++i) EXPECT_EQ(next(b->rx_cq).err, 0);
  for (size_t i = 0; i < accepted; ++i) EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_TRUE(stays_empty(b->rx_cq));
  EXPECT_EQ(fi_send(a->ep, octet, 1, nullptr, to_b, nullptr), 0);
}

// [PDS-182] Closing with work in flight ends it silently; the buffers are the application's again,
// and the other side and a second endpoint go on.
TEST_F(EndpointTest, CloseWithWorkInFlightIsSilentAndSafe) {
  // Long enough that even a fast host does not send all of it before the endpoint is closed.
  constexpr size_t kOctets = 32'000'000;
  open();
  auto sent = std::make_unique<std::vector<uint8_t>>(pattern(kOctets, 1));
  auto posted = std::make_unique<std::vector<uint8_t>>(1000);
  std::vector<uint8_t>& got = kept(std::vector<uint8_t>(kOctets));
  ASSERT_EQ(fi_recv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_trecv(a->ep, posted->data(), 1000, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, sent->data(), sent->size(), nullptr, to_b, nullptr), 0);
  fi_cq_read(b->rx_cq, nullptr, 0);
  a->close_endpoint();
  sent.reset();
  posted.reset();
  EXPECT_TRUE(stays_empty(a->tx_cq)) << "discarded operations are not reported";
  EXPECT_TRUE(stays_empty(a->rx_cq));

  Node other;
  const fi_addr_t other_to_b = other.insert(b->name());
  const uint8_t octet = 7;
  uint8_t* const last = kept(uint8_t{0});
  ASSERT_EQ(fi_trecv(b->ep, last, 1, nullptr, FI_ADDR_UNSPEC, 3, 0, last), 0);
  ASSERT_EQ(fi_tinject(other.ep, &octet, 1, other_to_b, 3), 0);
  Done done;
  ASSERT_TRUE(run_until([&] { return read_one(b->rx_cq, done) && done.context == last; }));
  EXPECT_EQ(*last, 7);
}

// [LF-095, architecture 5] The error for a process that is gone names it, and comes soon.
TEST_F(EndpointTest, SendToAProcessThatIsGoneFailsAndNamesIt) {
  NodeOptions acknowledged;  // a send is not over before the peer has it
  acknowledged.tx_op_flags = FI_TRANSMIT_COMPLETE;
  open(acknowledged);
  fi_addr_t gone = FI_ADDR_UNSPEC;
  {
    // An address that no other test uses meanwhile.
    NodeOptions options;
    options.address = "127.0.47.7";
    Node other(options);
    gone = a->insert(other.name());
  }
  uint8_t* const octet = kept(uint8_t{1});
  ASSERT_EQ(fi_send(a->ep, octet, 1, nullptr, gone, this), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, FI_EHOSTUNREACH) << done.text;
  EXPECT_EQ(done.context, this);
  EXPECT_NE(done.text.find("127.0.47.7"), std::string::npos) << done.text;
  // Other endpoints are not affected.
  uint8_t got = 0;
  ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, octet, 1, nullptr, to_b, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
}

// [LF-095, LF-136] So does the error for an address at which no endpoint ever was, although sends
// of the default level complete when they are copied: a program that waits for an answer would
// hang.
TEST_F(EndpointTest, FirstSendToAnAddressWithoutAnEndpointFails) {
  open();
  fi_addr_t nobody = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_av_insertsvc(a->av, "127.0.47.8", "7", &nobody, 0, nullptr), 1);
  ASSERT_EQ(fi_send(a->ep, kept(uint8_t{1}), 1, nullptr, nobody, this), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, FI_EHOSTUNREACH) << done.text;
  EXPECT_EQ(done.context, this);
  EXPECT_NE(done.text.find("127.0.47.8"), std::string::npos) << done.text;
  EXPECT_EQ(fi_send(a->ep, kept(uint8_t{1}), 1, nullptr, nobody, nullptr), 0) << "it may try again";
}

// Messages posted with FI_MORE leave with the next call, even when that one is refused.
TEST_F(EndpointTest, RefusedCallFlushesPostsHeldBackByFiMore) {
  NodeOptions options;
  open(options, options);
  uint8_t octet = 5;
  uint8_t got = 0;
  iovec iov{&octet, 1};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = to_b;
  ASSERT_EQ(fi_recv(b->ep, &got, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, FI_MORE | FI_INJECT), 0);
  EXPECT_EQ(fi_send(a->ep, nullptr, 1, nullptr, to_b, nullptr), -FI_EINVAL);
  Done done;
  while (!read_one(b->rx_cq, done)) {
  }
  EXPECT_EQ(got, 5);
}

// [PDS-183] Injected messages are the provider's to deliver, even when the endpoint closes at once.
TEST_F(EndpointTest, InjectedMessagesOutliveTheirEndpoint) {
  open();
  uint8_t got[10] = {};
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  for (uint8_t i = 1; i <= 10; ++i) ASSERT_EQ(fi_inject(a->ep, &i, 1, to_b), 0);
  a->close_endpoint();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next(b->rx_cq).err, 0);
  int sum = 0;
  for (const uint8_t g : got) sum += g;
  EXPECT_EQ(sum, 55);
}

}  // namespace
}  // namespace uet::prov::test
