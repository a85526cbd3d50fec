// Messages through the libfabric API: every call variant, flags, receives of all kinds, errors.
#include "prov/uet/test/getinfo.h"
#include "prov/uet/test/node.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace uet::prov::test {
namespace {

class MessageTest : public PairTest {};

// [LF-041, LF-046] Sizes around every packet boundary arrive whole, both ways.
TEST_F(MessageTest, PingPongKeepsEveryOctetAtEverySize) {
  open();
  uint32_t seed = 1;
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{64}, size_t{255}, size_t{256}, size_t{257}, size_t{1023},
        size_t{4096}, size_t{4097}, size_t{8192}, size_t{8193}, size_t{65536}, size_t{1000001}}) {
    for (int direction = 0; direction < 2; ++direction, ++seed) {
      Node& from = direction == 0 ? *a : *b;
      Node& to = direction == 0 ? *b : *a;
      const std::vector<uint8_t> sent = pattern(size, seed);
      std::vector<uint8_t> got(size + 16, 0xEE);
      int receive_context = 0;
      int send_context = 0;
      ASSERT_EQ(fi_recv(to.ep, got.data(), size + 8, nullptr, FI_ADDR_UNSPEC, &receive_context), 0);
      ASSERT_EQ(
          fi_send(from.ep, sent.data(), size, nullptr, direction == 0 ? to_b : to_a, &send_context),
          0);
      const Done received = next(to.rx_cq);
      EXPECT_EQ(received.err, 0) << received.text;
      EXPECT_EQ(received.context, &receive_context);
      EXPECT_EQ(received.flags, uint64_t{FI_RECV | FI_MSG});
      EXPECT_EQ(received.len, size);
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin())) << size;
      EXPECT_EQ(got[size], 0xEE) << "an octet behind the message was touched";
      const Done done = next(from.tx_cq);
      EXPECT_EQ(done.err, 0) << done.text;
      EXPECT_EQ(done.context, &send_context);
      EXPECT_EQ(done.flags, uint64_t{FI_SEND | FI_MSG});
    }
  }
}

// [LF-043] The buffer of an inject may be overwritten as soon as the call is back.
TEST_F(MessageTest, InjectedBufferIsReusableAtOnce) {
  open();
  constexpr int kCount = 200;
  const size_t bytes = a->info->tx_attr->inject_size;
  std::vector<std::vector<uint8_t>> got(kCount, std::vector<uint8_t>(bytes));
  for (auto& buffer : got) {
    ASSERT_EQ(fi_recv(b->ep, buffer.data(), bytes, nullptr, FI_ADDR_UNSPEC, buffer.data()), 0);
  }
  std::vector<uint8_t> scratch(bytes);
  for (int i = 0; i < kCount; ++i) {
    std::fill(scratch.begin(), scratch.end(), static_cast<uint8_t>(i));
    ssize_t rc = -FI_EAGAIN;
    ASSERT_TRUE(run_until([&] {
      rc = fi_inject(a->ep, scratch.data(), scratch.size(), to_b);
      return rc != -FI_EAGAIN;
    }));
    ASSERT_EQ(rc, 0);
    std::fill(scratch.begin(), scratch.end(), uint8_t{0xFF});
  }
  std::vector<bool> seen(kCount);
  for (int i = 0; i < kCount; ++i) {
    const auto* buffer = static_cast<const uint8_t*>(next(b->rx_cq).context);
    for (size_t j = 1; j < bytes; ++j) ASSERT_EQ(buffer[j], buffer[0]);
    ASSERT_LT(buffer[0], kCount);
    EXPECT_FALSE(seen[buffer[0]]) << "message " << int{buffer[0]} << " came twice";
    seen[buffer[0]] = true;
  }
}

// An inject that is too long returns an error, and nothing is sent.
TEST_F(MessageTest, InjectBeyondTheLimitIsRefused) {
  open();
  std::vector<uint8_t> big(a->info->tx_attr->inject_size + 1);
  EXPECT_EQ(fi_inject(a->ep, big.data(), big.size(), to_b), -FI_EMSGSIZE);
  EXPECT_EQ(fi_tinject(a->ep, big.data(), big.size(), to_b, 1), -FI_EMSGSIZE);
  std::vector<uint8_t> got(1);
  ASSERT_EQ(fi_recv(b->ep, got.data(), 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  EXPECT_TRUE(stays_empty(b->rx_cq));
}

// [LF-098] Selective completion: only what asks for it is reported; errors always.
TEST_F(MessageTest, SelectiveCompletionReportsOnlyRequestedOperations) {
  NodeOptions options;
  options.selective = true;
  open(options);
  uint8_t* const octet = kept(uint8_t{1});
  std::vector<uint8_t>& got = kept(std::vector<uint8_t>(3));
  iovec iov{octet, 1};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = to_b;
  msg.context = octet;
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  ASSERT_EQ(fi_send(a->ep, octet, 1, nullptr, to_b, nullptr), 0);
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, 0), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_TRUE(stays_empty(a->tx_cq));
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, FI_COMPLETION), 0);
  EXPECT_EQ(next(a->tx_cq).context, octet);
}

// [LF-099] An alias differs in its flags only, and keeps the endpoint alive.
TEST_F(MessageTest, AliasSharesAllButTheFlags) {
  NodeOptions options;
  options.selective = true;
  open(options);
  fid_ep* alias = nullptr;
  ASSERT_EQ(fi_ep_alias(a->ep, &alias, FI_TRANSMIT | FI_COMPLETION), 0);
  uint64_t flags = FI_TRANSMIT;
  ASSERT_EQ(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), 0);
  EXPECT_EQ(flags, uint64_t{FI_COMPLETION});
  uint8_t* const octet = kept(uint8_t{9});
  std::vector<uint8_t>& got = kept(std::vector<uint8_t>(2));
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  ASSERT_EQ(fi_send(a->ep, octet, 1, nullptr, to_b, nullptr), 0);
  ASSERT_EQ(fi_send(alias, octet, 1, nullptr, to_b, octet), 0);
  EXPECT_EQ(next(a->tx_cq).context, octet);
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(fi_close(&alias->fid), 0);
  flags = FI_TRANSMIT | FI_COMPLETION;
  ASSERT_EQ(fi_control(&a->ep->fid, FI_SETOPSFLAG, &flags), 0);
  ASSERT_EQ(fi_recv(b->ep, got.data(), 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, octet, 1, nullptr, to_b, got.data()), 0);
  EXPECT_EQ(next(a->tx_cq).context, got.data());
  flags = FI_TRANSMIT | FI_RECV;
  EXPECT_EQ(fi_control(&a->ep->fid, FI_SETOPSFLAG, &flags), -FI_EINVAL);
}

// [LF-096] Multi-receive as a default is for receives without a tag.
TEST_F(MessageTest, TaggedReceivesDoNotTakeTheMultiReceiveDefault) {
  NodeOptions options;
  options.rx_op_flags = FI_MULTI_RECV;
  open({}, options);
  uint8_t* const got = kept(uint8_t{0});
  ASSERT_EQ(fi_trecv(b->ep, got, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_tsend(a->ep, kept(uint8_t{5}), 1, nullptr, to_b, 1, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(*got, 5);
}

// [fi_endpoint, NOTES] An operation without a context fails with the endpoint's.
TEST_F(MessageTest, ErrorsOfInjectedOperationsCarryTheContextOfTheEndpoint) {
  open();
  a->ep->fid.context = this;
  ASSERT_EQ(fi_inject_write(a->ep, kept(uint8_t{1}), 1, to_b, 0, 12345), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, FI_ENOKEY);
  EXPECT_EQ(done.context, this);
}

// [LF-045] Receives in many buffers, which wait for sends, leave room for sends of many buffers.
TEST_F(MessageTest, ReceivesOfManyBuffersDoNotKeepSendsFromBeingPosted) {
  NodeOptions options;
  options.rx_size = 4096;
  open(options, options);
  std::vector<uint8_t>& octets = kept(std::vector<uint8_t>(5));
  std::vector<iovec> parts;
  for (uint8_t& octet : octets) parts.push_back({&octet, 1});
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(fi_recvv(a->ep, parts.data(), nullptr, 5, FI_ADDR_UNSPEC, nullptr), 0) << i;
  ASSERT_EQ(
      fi_recv(b->ep, kept(std::vector<uint8_t>(5)).data(), 5, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  iovec* const all = parts.data();
  fi_msg msg{all, nullptr, 5, to_b, nullptr, 0};
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, FI_DELIVERY_COMPLETE), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
}

// [LF-057] A cancelled receive ends in FI_ECANCELED and takes no message.
TEST_F(MessageTest, CancelledReceiveTakesNoMessage) {
  open();
  uint8_t first = 0;
  uint8_t second = 0;
  ASSERT_EQ(fi_trecv(b->ep, &first, 1, nullptr, FI_ADDR_UNSPEC, 5, 0, &first), 0);
  ASSERT_EQ(fi_trecv(b->ep, &second, 1, nullptr, FI_ADDR_UNSPEC, 5, 0, &second), 0);
  ASSERT_EQ(fi_cancel(&b->ep->fid, &first), 0);
  const Done cancelled = next(b->rx_cq);
  EXPECT_EQ(cancelled.err, FI_ECANCELED);
  EXPECT_EQ(cancelled.context, &first);
  EXPECT_EQ(fi_cancel(&b->ep->fid, &first), -FI_ENOENT);
  const uint8_t octet = 0x5A;
  ASSERT_EQ(fi_tinject(a->ep, &octet, 1, to_b, 5), 0);
  EXPECT_EQ(next(b->rx_cq).context, &second);
  EXPECT_EQ(second, 0x5A);
  EXPECT_EQ(first, 0);
}

// [LF-095, SES-137] A message that is too long is cut, and both lengths are reported.
TEST_F(MessageTest, TruncationTellsBothLengths) {
  open();
  const std::vector<uint8_t>& sent = kept(pattern(10000, 3));
  std::vector<uint8_t> got(6000, 0xEE);
  ASSERT_EQ(fi_recv(b->ep, got.data(), 5000, nullptr, FI_ADDR_UNSPEC, got.data()), 0);
  ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_b, nullptr), 0);
  const Done done = next(b->rx_cq);
  EXPECT_EQ(done.err, FI_ETRUNC);
  EXPECT_EQ(done.context, got.data());
  EXPECT_EQ(done.len, 5000u);
  EXPECT_EQ(done.olen, 5000u);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 5000, sent.begin()));
  EXPECT_EQ(got[5000], 0xEE);
}

// [LF-096] One buffer takes message after message until too little is left.
TEST_F(MessageTest, MultiReceiveFillsOneBuffer) {
  open();
  size_t min = 100;
  ASSERT_EQ(fi_setopt(&b->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)), 0);
  size_t read_back = 0;
  size_t length = sizeof(read_back);
  ASSERT_EQ(fi_getopt(&b->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &read_back, &length), 0);
  EXPECT_EQ(read_back, min);
  std::vector<uint8_t> buffer(1000);
  iovec iov{buffer.data(), buffer.size()};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = FI_ADDR_UNSPEC;
  msg.context = &buffer;
  ASSERT_EQ(fi_recvmsg(b->ep, &msg, FI_MULTI_RECV), 0);
  size_t filled = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const std::vector<uint8_t> sent = pattern(250, i);
    ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_b, nullptr), 0);
    const Done done = next(b->rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, &buffer);
    EXPECT_EQ(done.buf, buffer.data() + filled);
    EXPECT_EQ(done.len, 250u);
    EXPECT_EQ(std::memcmp(done.buf, sent.data(), 250), 0);
    EXPECT_EQ(done.flags, FI_RECV | FI_MSG | (i == 3 ? FI_MULTI_RECV : 0)) << i;
    EXPECT_EQ(next(a->tx_cq).err, 0);
    filled += 250;
  }
}

// [LF-096] The rest of a buffer is given back when a message of usual size does not fit into it.
TEST_F(MessageTest, MultiReceiveKeepsSixteenKibibytesByDefault) {
  open();
  size_t min = 0;
  size_t length = sizeof(min);
  ASSERT_EQ(fi_getopt(&b->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, &length), 0);
  EXPECT_EQ(min, 16384u);
  std::vector<uint8_t> buffer(16384 + 200);
  iovec iov{buffer.data(), buffer.size()};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_recvmsg(b->ep, &msg, FI_MULTI_RECV), 0);
  const std::vector<uint8_t> sent = pattern(101, 1);
  for (const uint64_t released : {uint64_t{0}, uint64_t{FI_MULTI_RECV}}) {
    ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_b, nullptr), 0);
    EXPECT_EQ(next(b->rx_cq).flags, FI_RECV | FI_MSG | released);
    EXPECT_EQ(next(a->tx_cq).err, 0);
  }
}

// [LF-073] max_msg_size bounds messages; a buffer may have room for more than one can bring.
TEST_F(MessageTest, ReceiveBuffersMayBeLongerThanAMessage) {
  open();
  constexpr size_t kBytes = size_t{5} << 30;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  iovec iov{memory, kBytes};
  fi_msg msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = FI_ADDR_UNSPEC;
  const std::vector<uint8_t> sent = pattern(5000, 1);
  for (const uint64_t flags : {uint64_t{0}, uint64_t{FI_MULTI_RECV}}) {
    ASSERT_EQ(fi_recvmsg(b->ep, &msg, flags), 0);
    ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_b, nullptr), 0);
    const Done done = next(b->rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.len, sent.size());
    EXPECT_EQ(std::memcmp(memory, sent.data(), sent.size()), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
  }
  a.reset();
  b.reset();
  munmap(memory, kBytes);
}

// [LF-046, SES-119] A directed receive waits for its sender.
TEST_F(MessageTest, DirectedReceiveTakesOnlyItsSender) {
  open();
  Node other;
  const fi_addr_t other_to_b = other.insert(b->name());
  const fi_addr_t b_to_other = b->insert(other.name());
  uint8_t from_a = 0;
  uint8_t from_other = 0;
  ASSERT_EQ(fi_recv(b->ep, &from_a, 1, nullptr, to_a, &from_a), 0);
  ASSERT_EQ(fi_recv(b->ep, &from_other, 1, nullptr, b_to_other, &from_other), 0);
  const uint8_t two = 2;
  ASSERT_EQ(fi_inject(other.ep, &two, 1, other_to_b), 0);
  const Done done = next(b->rx_cq);
  EXPECT_EQ(done.context, &from_other);
  EXPECT_EQ(done.from, b_to_other);
  EXPECT_EQ(from_other, 2);
  EXPECT_EQ(from_a, 0);
  const uint8_t one = 1;
  ASSERT_EQ(fi_inject(a->ep, &one, 1, to_b), 0);
  EXPECT_EQ(next(b->rx_cq).context, &from_a);
  EXPECT_EQ(from_a, 1);
}

// Whether this test was started with FI_UET_MODE=rud, under which no order is kept.
bool is_rud_only() {
  const char* const mode = std::getenv("FI_UET_MODE");
  return mode != nullptr && std::string_view(mode) == "rud";
}

// [LF-089] With FI_ORDER_SAS messages are matched in the order they were sent, or not offered.
TEST_F(MessageTest, SendAfterSendOrderIsKept) {
  NodeOptions options;
  options.order = FI_ORDER_SAS;
  if (is_rud_only()) {
    const Answer answer =
        ask_with([](fi_info& h) { h.tx_attr->msg_order = h.rx_attr->msg_order = FI_ORDER_SAS; },
                 "127.0.0.1", nullptr, FI_SOURCE);
    EXPECT_EQ(answer.result, -FI_ENODATA);
    return;
  }
  open(options, options);
  constexpr uint32_t kCount = 500;
  std::vector<uint32_t> got(kCount, ~0u);
  std::vector<uint32_t> sent(kCount);
  for (uint32_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, sizeof(g), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    sent[i] = i;
    ssize_t rc = -FI_EAGAIN;
    ASSERT_TRUE(run_until([&] {
      rc = fi_send(a->ep, &sent[i], sizeof(sent[i]), nullptr, to_b, nullptr);
      return rc != -FI_EAGAIN;
    }));
    ASSERT_EQ(rc, 0);
  }
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(next(b->rx_cq).err, 0);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(got, sent);
}

// [LF-097] Counters count operations that ended, with success or in error.
TEST_F(MessageTest, CountersCountBothEnds) {
  NodeOptions options;
  options.counters = true;
  open(options, options);
  uint8_t octet = 1;
  uint8_t got[3] = {};
  for (uint8_t& g : got) {
    ASSERT_EQ(fi_recv(b->ep, &g, 1, nullptr, FI_ADDR_UNSPEC, &g), 0);
  }
  ASSERT_EQ(fi_send(a->ep, &octet, 1, nullptr, to_b, nullptr), 0);
  ASSERT_EQ(fi_inject(a->ep, &octet, 1, to_b), 0);
  EXPECT_TRUE(run_until([&] { return fi_cntr_read(b->rx_counter) == 2; }));
  EXPECT_TRUE(run_until([&] { return fi_cntr_read(a->tx_counter) == 2; }));
  ASSERT_EQ(fi_cancel(&b->ep->fid, &got[2]), 0);
  EXPECT_TRUE(run_until([&] { return fi_cntr_readerr(b->rx_counter) == 1; }));
  EXPECT_EQ(fi_cntr_read(b->rx_counter), 2u);
  EXPECT_EQ(fi_cntr_readerr(a->tx_counter), 0u);
}

// [LF-059] Peek finds, claims and discards messages without a receive.
class PeekTest : public MessageTest {
 protected:
  ssize_t call(uint64_t flags, void* buffer, size_t bytes) {
    iov_ = {buffer, bytes};
    fi_msg_tagged msg{};
    msg.msg_iov = &iov_;
    msg.iov_count = 1;
    msg.addr = FI_ADDR_UNSPEC;
    msg.tag = 7;
    msg.context = &context_;
    return fi_trecvmsg(b->ep, &msg, flags);
  }
  Done peek_until_found(uint64_t flags) {
    Done done;
    EXPECT_TRUE(run_until([&] {
      EXPECT_EQ(call(flags, nullptr, 0), 0);
      done = next(b->rx_cq);
      return done.err != FI_ENOMSG;
    }));
    return done;
  }

  fi_context context_{};
  iovec iov_{};
};

TEST_F(PeekTest, PeekFindsAnArrivedMessageAndLeavesIt) {
  open();
  ASSERT_EQ(call(FI_PEEK, nullptr, 0), 0);
  EXPECT_EQ(next(b->rx_cq).err, FI_ENOMSG);
  const std::vector<uint8_t>& sent = kept(pattern(300, 1));
  ASSERT_EQ(fi_tsenddata(a->ep, sent.data(), 300, nullptr, 99, to_b, 7, nullptr), 0);
  const Done found = peek_until_found(FI_PEEK);
  EXPECT_EQ(found.err, 0);
  EXPECT_EQ(found.context, &context_);
  EXPECT_EQ(found.flags, uint64_t{FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA});
  EXPECT_EQ(found.len, 300u);
  EXPECT_EQ(found.tag, 7u);
  EXPECT_EQ(found.data, 99u);
  EXPECT_EQ(found.from, to_a);
  std::vector<uint8_t> got(300);
  ASSERT_EQ(fi_trecv(b->ep, got.data(), 300, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).len, 300u);
  EXPECT_EQ(got, sent);
}

TEST_F(PeekTest, ClaimedMessageIsOnlyForItsClaimer) {
  open();
  const std::vector<uint8_t>& sent = kept(pattern(300, 2));
  ASSERT_EQ(fi_tsend(a->ep, sent.data(), 300, nullptr, to_b, 7, nullptr), 0);
  EXPECT_EQ(peek_until_found(FI_PEEK | FI_CLAIM).len, 300u);
  std::vector<uint8_t>& other = kept(std::vector<uint8_t>(300));
  ASSERT_EQ(fi_trecv(b->ep, other.data(), 300, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
  EXPECT_TRUE(stays_empty(b->rx_cq)) << "another receive took a claimed message";
  std::vector<uint8_t> got(300);
  ASSERT_EQ(call(FI_CLAIM, got.data(), got.size()), 0);
  const Done done = next(b->rx_cq);
  EXPECT_EQ(done.err, 0) << done.text;
  EXPECT_EQ(done.context, &context_);
  EXPECT_EQ(got, sent);
}

TEST_F(PeekTest, ADiscardedMessageIsNotReceived) {
  open();
  const std::vector<uint8_t>& first = kept(pattern(300, 3));
  const std::vector<uint8_t>& second = kept(pattern(200, 4));
  const std::vector<uint8_t>& third = kept(pattern(100, 5));
  ASSERT_EQ(fi_tsend(a->ep, first.data(), 300, nullptr, to_b, 7, nullptr), 0);
  EXPECT_EQ(peek_until_found(FI_PEEK | FI_DISCARD).len, 300u);
  ASSERT_EQ(fi_tsend(a->ep, second.data(), 200, nullptr, to_b, 7, nullptr), 0);
  EXPECT_EQ(peek_until_found(FI_PEEK | FI_CLAIM).len, 200u);
  ASSERT_EQ(call(FI_CLAIM | FI_DISCARD, nullptr, 0), 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  ASSERT_EQ(fi_tsend(a->ep, third.data(), 100, nullptr, to_b, 7, nullptr), 0);
  std::vector<uint8_t> got(300);
  ASSERT_EQ(fi_trecv(b->ep, got.data(), 300, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).len, 100u);
  EXPECT_EQ(std::memcmp(got.data(), third.data(), 100), 0);
}

TEST_F(PeekTest, DiscardAloneAndClaimWithoutContextAreInvalid) {
  open();
  EXPECT_EQ(call(FI_DISCARD, nullptr, 0), -FI_EINVAL);
  fi_msg_tagged msg{};
  msg.addr = FI_ADDR_UNSPEC;
  EXPECT_EQ(fi_trecvmsg(b->ep, &msg, FI_PEEK | FI_CLAIM), -FI_EINVAL);
}

// [LF-046] Messages that come before their receives wait for them, whatever their size.
TEST_F(MessageTest, UnexpectedMessagesOfAllSizesWaitForTheirReceives) {
  open();
  const size_t sizes[] = {0, 1, 100, 4096, 5000, 100000};
  std::vector<const std::vector<uint8_t>*> sent;
  for (uint32_t i = 0; i < 6; ++i) sent.push_back(&kept(pattern(sizes[i], i)));
  for (uint32_t i = 0; i < 6; ++i) {
    ASSERT_EQ(fi_tsend(a->ep, sent[i]->data(), sizes[i], nullptr, to_b, i, nullptr), 0);
  }
  EXPECT_TRUE(stays_empty(b->rx_cq));
  for (uint32_t i = 6; i-- > 0;) {
    std::vector<uint8_t> got(sizes[i]);
    ASSERT_EQ(fi_trecv(b->ep, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, i, 0, &got), 0);
    const Done done = next(b->rx_cq);
    EXPECT_EQ(done.context, &got);
    EXPECT_EQ(done.len, sizes[i]);
    EXPECT_EQ(got, *sent[i]);
  }
}

}  // namespace
}  // namespace uet::prov::test
