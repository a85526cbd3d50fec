// Shared receive contexts through the libfabric API: two endpoints of one domain, each with its CQ,
// take their messages from one context. [LF-133, fi_endpoint, SHARED CONTEXTS]
#include "prov/uet/test/node.h"

#include <algorithm>

namespace uet::prov::test {
namespace {

class SharedContextTest : public PairTest {
 protected:
  // `b` is one endpoint, `second_` another of its domain; `a` sends.
  void open_both(NodeOptions options = {}, uint64_t binding = 0) {
    options.shares_receives = true;
    open({}, options);
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_TAGGED;
    EXPECT_EQ(fi_cq_open(b->domain, &attr, &second_cq_, nullptr), 0);
    EXPECT_EQ(fi_endpoint(b->domain, b->info, &second_, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(second_, &second_cq_->fid, FI_TRANSMIT | FI_RECV | binding), 0);
    EXPECT_EQ(fi_ep_bind(second_, &b->av->fid, 0), 0);
    EXPECT_EQ(fi_ep_bind(second_, &b->srx->fid, 0), 0);
    EXPECT_EQ(fi_enable(second_), 0);
    std::vector<uint8_t> name(256);
    size_t length = name.size();
    EXPECT_EQ(fi_getname(&second_->fid, name.data(), &length), 0);
    to_second_ = a->insert(name);
  }
  void TearDown() override {
    close_second();
    if (second_cq_ != nullptr) {
      EXPECT_EQ(fi_close(&second_cq_->fid), 0);
    }
    PairTest::TearDown();
  }
  void close_second() {
    if (second_ != nullptr) {
      EXPECT_EQ(fi_close(&second_->fid), 0);
    }
    second_ = nullptr;
  }
  // Posts room that lives until both nodes are closed; its octets are the context.
  std::vector<uint8_t>& post(size_t bytes, fi_addr_t from = FI_ADDR_UNSPEC) {
    std::vector<uint8_t>& room = kept(std::vector<uint8_t>(bytes));
    EXPECT_EQ(fi_recv(b->srx, room.data(), bytes, nullptr, from, room.data()), 0);
    return room;
  }
  std::vector<uint8_t>& tpost(uint64_t tag, uint64_t ignore = 0) {
    std::vector<uint8_t>& room = kept(std::vector<uint8_t>(100));
    EXPECT_EQ(fi_trecv(b->srx, room.data(), 100, nullptr, FI_ADDR_UNSPEC, tag, ignore, room.data()),
              0);
    return room;
  }
  const std::vector<uint8_t>& send(fi_addr_t to, size_t bytes, uint32_t seed = 1) {
    const std::vector<uint8_t>& data = kept(pattern(bytes, seed));
    EXPECT_EQ(fi_send(a->ep, data.data(), bytes, nullptr, to, nullptr), 0);
    return data;
  }
  void expect_received(fid_cq* cq, const std::vector<uint8_t>& room,
                       const std::vector<uint8_t>& sent) {
    const Done done = next(cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, room.data());
    EXPECT_EQ(done.flags, uint64_t{FI_RECV | FI_MSG});
    EXPECT_EQ(done.len, sent.size());
    EXPECT_EQ(done.from, to_a);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), room.begin()));
  }

  fid_ep* second_ = nullptr;
  fid_cq* second_cq_ = nullptr;  // of both directions
  fi_addr_t to_second_ = FI_ADDR_UNSPEC;
};

// [SES-122] Receives are used in the order of posting, whatever their length, and the endpoint that
// got the message reports it.
TEST_F(SharedContextTest, TheEndpointOfTheMessageReportsIt) {
  open_both();
  std::vector<std::vector<uint8_t>*> rooms;
  for (const size_t bytes : {10u, 1'000'000u, 10u, 200'000u}) rooms.push_back(&post(bytes));
  EXPECT_EQ(fi_rx_size_left(b->srx), 1020);
  EXPECT_EQ(fi_rx_size_left(second_), 1020);
  expect_received(second_cq_, *rooms[0], send(to_second_, 10, 1));
  expect_received(b->rx_cq, *rooms[1], send(to_b, 1'000'000, 2));
  expect_received(b->rx_cq, *rooms[2], send(to_b, 7, 3));
  expect_received(second_cq_, *rooms[3], send(to_second_, 200'000, 4));
  EXPECT_EQ(fi_rx_size_left(b->srx), 1024);
}

// [SES-122, SES-130] What came first is taken first, whichever endpoint it came to.
TEST_F(SharedContextTest, EarlyMessagesWaitInOneLine) {
  open_both();
  const std::vector<uint8_t>& first = send(to_second_, 5000, 1);
  EXPECT_TRUE(stays_empty(second_cq_));
  const std::vector<uint8_t>& second = send(to_b, 20, 2);
  EXPECT_TRUE(stays_empty(b->rx_cq));
  expect_received(second_cq_, post(5000), first);
  expect_received(b->rx_cq, post(5000), second);
}

// [LF-045, SES-120, SES-121] Tags, masks and senders of the receives, and both kinds apart.
TEST_F(SharedContextTest, TaggedAndDirectedReceivesAreShared) {
  open_both();
  Node other;
  const fi_addr_t other_to_b = other.insert(b->name());
  const fi_addr_t from_other = b->insert(other.name());
  std::vector<uint8_t>& exact = tpost(5);
  std::vector<uint8_t>& any = tpost(0, ~uint64_t{0});
  std::vector<uint8_t>& untagged = post(100, from_other);
  for (const fi_addr_t to : {to_second_, to_b}) {
    ASSERT_EQ(fi_tinject(a->ep, "tagged", 7, to, 5), 0);
    const Done done = next(to == to_b ? b->rx_cq : second_cq_);
    EXPECT_EQ(done.context, to == to_b ? any.data() : exact.data());
    EXPECT_EQ(done.tag, 5u);
    EXPECT_EQ(done.flags, uint64_t{FI_RECV | FI_TAGGED});
  }
  ASSERT_EQ(fi_inject(a->ep, "nobody's", 9, to_b), 0);
  ASSERT_EQ(fi_inject(other.ep, "directed", 9, other_to_b), 0);
  Done done;
  ASSERT_TRUE(run_until([&] {
    fi_cq_read(other.rx_cq, nullptr, 0);
    return read_one(b->rx_cq, done);
  }));
  EXPECT_EQ(done.context, untagged.data());
  EXPECT_STREQ(reinterpret_cast<const char*>(untagged.data()), "directed");
}

// [LF-098] Whether success is reported is a matter of the endpoint's binding and the post's flags.
TEST_F(SharedContextTest, SelectiveCompletionIsTheEndpoints) {
  open_both({}, FI_SELECTIVE_COMPLETION);
  post(10);
  expect_received(b->rx_cq, post(10), (send(to_second_, 1), send(to_b, 2)));
  EXPECT_TRUE(stays_empty(second_cq_));
  std::vector<uint8_t>& room = kept(std::vector<uint8_t>(10));
  iovec iov{room.data(), room.size()};
  const fi_msg msg{&iov, nullptr, 1, FI_ADDR_UNSPEC, room.data(), 0};
  ASSERT_EQ(fi_recvmsg(b->srx, &msg, FI_COMPLETION), 0);
  expect_received(second_cq_, room, send(to_second_, 3));
}

TEST_F(SharedContextTest, CountersAreTheEndpoints) {
  NodeOptions options;
  options.counters = true;
  open_both(options);
  post(10);
  post(10);
  send(to_second_, 1);
  send(to_b, 1);
  EXPECT_EQ(next(second_cq_).err, 0);
  EXPECT_EQ(next(b->rx_cq).err, 0);
  EXPECT_EQ(fi_cntr_read(b->rx_counter), 1u);
}

// [LF-096] Each completion names the address of its message; the last one releases the buffer.
TEST_F(SharedContextTest, MultiReceivesAreShared) {
  open_both();
  const size_t least = 200;
  ASSERT_EQ(fi_setopt(&b->srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least),
            0);
  std::vector<uint8_t>& room = kept(std::vector<uint8_t>(1000));
  iovec iov{room.data(), room.size()};
  const fi_msg msg{&iov, nullptr, 1, FI_ADDR_UNSPEC, room.data(), 0};
  ASSERT_EQ(fi_recvmsg(b->srx, &msg, FI_MULTI_RECV), 0);
  for (size_t i = 0; i < 3; ++i) {
    const bool is_second = i % 2 == 0;
    const std::vector<uint8_t>& sent = send(is_second ? to_second_ : to_b, 300, uint32_t(i));
    const Done done = next(is_second ? second_cq_ : b->rx_cq);
    EXPECT_EQ(done.context, room.data());
    EXPECT_EQ(done.buf, room.data() + i * 300);
    EXPECT_EQ(done.flags, FI_RECV | FI_MSG | (i == 2 ? FI_MULTI_RECV : 0)) << i;
    EXPECT_EQ(std::memcmp(done.buf, sent.data(), 300), 0);
  }
}

// [LF-057] The oldest endpoint reports receives without a message.
TEST_F(SharedContextTest, CancelledReceivesAreReported) {
  open_both();
  std::vector<uint8_t>& room = post(10);
  EXPECT_EQ(fi_cancel(&b->srx->fid, &room), -FI_ENOENT);
  EXPECT_EQ(fi_cancel(&b->ep->fid, room.data()), -FI_ENOENT) << "it was not posted there";
  EXPECT_EQ(fi_cancel(&b->srx->fid, room.data()), 0);
  const Done done = next(b->rx_cq);
  EXPECT_EQ(done.err, FI_ECANCELED);
  EXPECT_EQ(done.context, room.data());
  const std::vector<uint8_t>& sent = send(to_b, 10);
  EXPECT_TRUE(stays_empty(b->rx_cq));
  expect_received(b->rx_cq, post(10), sent);
}

// [decision 11] A queue that is not read holds up its endpoint, loses nothing, and does not affect
// the other endpoint.
TEST_F(SharedContextTest, AFullQueueHoldsUpItsEndpointOnly) {
  NodeOptions options;
  options.rx_size = 1;
  options.cq_size = 1;
  options.srx_size = 32;
  open_both(options);
  std::vector<uint8_t*> rooms;
  for (int i = 0; i < 12; ++i) rooms.push_back(post(10).data());
  for (uint32_t i = 0; i < 8; ++i) send(to_b, 4, i);
  // Two fit: the one asked for and the one of the endpoint's own receive.
  Done done;
  ASSERT_FALSE(
      run_until([&] { return fi_rx_size_left(b->srx) > 32 - 10; }, std::chrono::milliseconds(100)));
  EXPECT_EQ(fi_rx_size_left(b->srx), 32 - 10);
  const std::vector<uint8_t>& sent = send(to_second_, 5, 99);
  const Done other = next(second_cq_);
  EXPECT_EQ(other.err, 0);
  EXPECT_EQ(other.context, rooms[2]);
  EXPECT_EQ(std::memcmp(rooms[2], sent.data(), 5), 0);
  std::vector<void*> got;
  for (int i = 0; i < 8; ++i) got.push_back(next(b->rx_cq).context);
  std::vector<void*> wanted(rooms.begin(), rooms.begin() + 9);
  wanted.erase(wanted.begin() + 2);
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(got, wanted);
}

// [LF-059] The endpoint of the message reports it.
TEST_F(SharedContextTest, PeeksAreAnsweredByTheEndpointThatHasTheMessage) {
  open_both();
  fi_context context{};
  fi_msg_tagged msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 9, 0, &context, 0};
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_PEEK), 0);
  EXPECT_EQ(next(b->rx_cq).err, FI_ENOMSG);
  const std::vector<uint8_t>& sent = kept(pattern(300, 1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(fi_tsend(a->ep, sent.data(), 300, nullptr, to_second_, 9, nullptr), 0);
  }
  EXPECT_TRUE(stays_empty(second_cq_));
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_PEEK | FI_CLAIM), 0);
  Done done = next(second_cq_);
  EXPECT_EQ(done.err, 0);
  EXPECT_EQ(done.len, 300u);
  std::vector<uint8_t>& room = kept(std::vector<uint8_t>(300));
  iovec iov{room.data(), room.size()};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_CLAIM), 0);
  done = next(second_cq_);
  EXPECT_EQ(done.context, &context);
  EXPECT_EQ(room, sent);
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_PEEK | FI_CLAIM), 0);
  EXPECT_EQ(next(second_cq_).len, 300u);
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_CLAIM | FI_DISCARD), 0);
  EXPECT_EQ(next(second_cq_).err, 0);
  ASSERT_EQ(fi_trecvmsg(b->srx, &msg, FI_CLAIM | FI_DISCARD), 0) << "it is gone";
  EXPECT_EQ(next(b->rx_cq).err, FI_ENOMSG);
}

// [PDS-182] The buffer of a message that was on its way comes back; what else is posted stays.
TEST_F(SharedContextTest, AnEndpointThatClosesGivesTheBufferBack) {
  open_both();
  std::vector<uint8_t>& room = post(64 << 20);
  std::vector<uint8_t>& small = post(10);
  std::vector<uint8_t>& sent = kept(std::vector<uint8_t>(room.size(), 1));
  ASSERT_EQ(fi_send(a->ep, sent.data(), sent.size(), nullptr, to_second_, nullptr), 0);
  ASSERT_TRUE(run_until([&] { return room[0] == 1; }));
  close_second();
  const Done done = next(second_cq_);
  EXPECT_EQ(done.err, FI_ECANCELED);
  EXPECT_EQ(done.context, room.data());
  expect_received(b->rx_cq, small, send(to_b, 10));
}

// [fi_endpoint] Requirements of the manual for endpoints that share.
TEST_F(SharedContextTest, WrongUseIsRefused) {
  open_both();
  uint8_t octet = 0;
  EXPECT_EQ(fi_recv(b->ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_trecv(b->ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_send(b->srx, &octet, 1, nullptr, to_a, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_tsend(b->srx, &octet, 1, nullptr, to_a, 1, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_write(b->srx, &octet, 1, nullptr, to_a, 0, 1, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_ep_bind(b->srx, &b->rx_cq->fid, FI_RECV), -FI_EINVAL);
  EXPECT_EQ(fi_enable(b->srx), 0);
  EXPECT_EQ(fi_close(&b->srx->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&b->domain->fid), -FI_EBUSY);
  size_t value = 0;
  EXPECT_EQ(fi_setopt(&b->srx->fid, FI_OPT_ENDPOINT, 4711, &value, sizeof value), -FI_ENOPROTOOPT);
  size_t length = 1;
  EXPECT_EQ(fi_getopt(&b->srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &length),
            -FI_ETOOSMALL);
  EXPECT_EQ(fi_recv(b->srx, nullptr, 8, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_recv(b->srx, &octet, 1, nullptr, 4711, nullptr), -FI_EADDRNOTAVAIL);
  expect_received(b->rx_cq, post(10), send(to_b, 10));
}

TEST_F(SharedContextTest, WrongBindingsAreRefused) {
  open_both();
  fid_ep* other = nullptr;
  ASSERT_EQ(fi_endpoint(b->domain, b->info, &other, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(other, &second_cq_->fid, FI_TRANSMIT | FI_RECV), 0);
  fi_av_attr attr{};
  attr.type = FI_AV_TABLE;
  fid_av* other_av = nullptr;
  ASSERT_EQ(fi_av_open(b->domain, &attr, &other_av, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(other, &other_av->fid, 0), 0);
  EXPECT_EQ(fi_ep_bind(other, &b->srx->fid, 0), -FI_EINVAL) << "another address vector";
  EXPECT_EQ(fi_enable(other), -FI_EOPBADSTATE) << "the context is missing";
  EXPECT_EQ(fi_close(&other->fid), 0);

  ASSERT_EQ(fi_endpoint(b->domain, b->info, &other, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(other, &b->srx->fid, 0), 0);
  EXPECT_EQ(fi_ep_bind(other, &b->srx->fid, 0), -FI_EINVAL) << "twice";
  EXPECT_EQ(fi_ep_bind(other, &other_av->fid, 0), -FI_EINVAL) << "another address vector";
  EXPECT_EQ(fi_close(&other->fid), 0);
  EXPECT_EQ(fi_close(&other_av->fid), 0);

  ASSERT_EQ(fi_endpoint(a->domain, a->info, &other, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(other, &b->srx->fid, 0), -FI_EDOMAIN);
  fid_ep* srx = nullptr;
  ASSERT_EQ(fi_srx_context(a->domain, nullptr, &srx, nullptr), 0);
  EXPECT_EQ(fi_ep_bind(other, &srx->fid, 0), -FI_EINVAL) << "opened without FI_SHARED_CONTEXT";
  EXPECT_EQ(fi_close(&other->fid), 0);
  // No endpoint is bound to it: there is no queue for a report, and no vector of senders.
  uint8_t octet = 0;
  const fi_msg msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, nullptr, 0};
  EXPECT_EQ(fi_recvmsg(srx, &msg, FI_PEEK), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_recv(srx, &octet, 1, nullptr, to_b, nullptr), -FI_ENOAV);
  EXPECT_EQ(fi_recv(srx, &octet, 1, nullptr, FI_ADDR_UNSPEC, &octet), 0);
  EXPECT_EQ(fi_close(&srx->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
