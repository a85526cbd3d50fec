// Wrong posts and the errors in the manual pages: fi_msg(3), fi_tagged(3), fi_rma(3), fi_atomic(3).
// A refused post must never complete.
#include "prov/uet/test/misuse.h"

namespace uet::prov::test {
namespace {

constexpr size_t kTooLong = size_t{1} << 33;
constexpr fi_addr_t kNobody = 4711;

int posted(ssize_t rc) { return static_cast<int>(rc); }

// fi_msg(3)
const Misuse kMessages[] = {
    {"a peer that is not in the AV", -FI_EADDRNOTAVAIL,
     [](Pair& p) { return posted(fi_send(p.a->ep, p.octets, 1, nullptr, kNobody, nullptr)); }},
    {"no buffer", -FI_EINVAL,
     [](Pair& p) { return posted(fi_send(p.a->ep, nullptr, 1, nullptr, p.to_b, nullptr)); }},
    {"a message longer than max_msg_size", -FI_EMSGSIZE,
     [](Pair& p) {
       return posted(fi_send(p.a->ep, p.octets, kTooLong, nullptr, p.to_b, nullptr));
     }},
    {"injecting more than inject_size", -FI_EMSGSIZE,
     [](Pair& p) {
       return posted(fi_inject(p.a->ep, p.octets, p.a->info->tx_attr->inject_size + 1, p.to_b));
     }},
    {"more buffers than iov_limit", -FI_EINVAL,
     [](Pair& p) {
       std::vector<iovec> many(p.a->info->tx_attr->iov_limit + 1, iovec{p.octets, 1});
       return posted(fi_sendv(p.a->ep, many.data(), nullptr, many.size(), p.to_b, nullptr));
     }},
    {"more receive buffers than iov_limit", -FI_EINVAL,
     [](Pair& p) {
       std::vector<iovec> many(p.a->info->rx_attr->iov_limit + 1, iovec{p.octets, 1});
       return posted(fi_recvv(p.a->ep, many.data(), nullptr, many.size(), 0, nullptr));
     }},
    {"a receive from an unknown address", -FI_EADDRNOTAVAIL,
     [](Pair& p) { return posted(fi_recv(p.a->ep, p.octets, 8, nullptr, kNobody, nullptr)); }},
    {"a triggered receive", -FI_EOPNOTSUPP,
     [](Pair& p) {
       iovec iov{p.octets, 1};
       fi_msg msg{&iov, nullptr, 1, FI_ADDR_UNSPEC, nullptr, 0};
       return posted(fi_recvmsg(p.a->ep, &msg, FI_TRIGGER));
     }},
    {"no receive buffer", -FI_EINVAL,
     [](Pair& p) { return posted(fi_recv(p.a->ep, nullptr, 8, nullptr, 0, nullptr)); }},
    {"persistent memory, which is not offered", -FI_EOPNOTSUPP,
     [](Pair& p) {
       iovec iov{p.octets, 1};
       fi_msg msg{&iov, nullptr, 1, p.to_b, nullptr, 0};
       return posted(fi_sendmsg(p.a->ep, &msg, FI_COMMIT_COMPLETE));
     }},
};

// fi_tagged(3)
const Misuse kTagged[] = {
    {"no buffer", -FI_EINVAL,
     [](Pair& p) { return posted(fi_tsend(p.a->ep, nullptr, 1, nullptr, p.to_b, 1, nullptr)); }},
    {"a peer that is not in the AV", -FI_EADDRNOTAVAIL,
     [](Pair& p) { return posted(fi_tsend(p.a->ep, p.octets, 1, nullptr, kNobody, 1, nullptr)); }},
    {"a message longer than max_msg_size", -FI_EMSGSIZE,
     [](Pair& p) {
       return posted(fi_tsend(p.a->ep, p.octets, kTooLong, nullptr, p.to_b, 1, nullptr));
     }},
    {"injecting more than inject_size", -FI_EMSGSIZE,
     [](Pair& p) { return posted(fi_tinject(p.a->ep, p.octets, sizeof p.octets, p.to_b, 1)); }},
    {"claiming without a peek", -FI_EINVAL,
     [](Pair& p) {
       fi_msg_tagged msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 1, 0, nullptr, 0};
       return posted(fi_trecvmsg(p.a->ep, &msg, FI_CLAIM));
     }},
    {"discarding what was neither peeked nor claimed", -FI_EINVAL,
     [](Pair& p) {
       fi_msg_tagged msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 1, 0, p.octets, 0};
       return posted(fi_trecvmsg(p.a->ep, &msg, FI_DISCARD));
     }},
};

// fi_rma(3)
const Misuse kRma[] = {
    {"a peer that is not in the AV", -FI_EADDRNOTAVAIL,
     [](Pair& p) {
       return posted(fi_write(p.a->ep, p.octets, 1, nullptr, kNobody, 0, 1, nullptr));
     }},
    {"no buffer", -FI_EINVAL,
     [](Pair& p) { return posted(fi_read(p.a->ep, nullptr, 8, nullptr, p.to_b, 0, 1, nullptr)); }},
    {"injecting more than inject_size", -FI_EMSGSIZE,
     [](Pair& p) {
       return posted(fi_inject_write(p.a->ep, p.octets, sizeof p.octets, p.to_b, 0, 1));
     }},
    {"local and remote lengths that differ", -FI_EINVAL,
     [](Pair& p) {
       iovec iov{p.octets, 8};
       fi_rma_iov remote{0, 9, 1};
       fi_msg_rma msg{&iov, nullptr, 1, p.to_b, &remote, 1, nullptr, 0};
       return posted(fi_writemsg(p.a->ep, &msg, 0));
     }},
    {"more remote buffers than rma_iov_limit", -FI_EINVAL,
     [](Pair& p) {
       const size_t count = p.a->info->tx_attr->rma_iov_limit + 1;
       iovec iov{p.octets, count};
       std::vector<fi_rma_iov> many(count, fi_rma_iov{0, 1, 1});
       fi_msg_rma msg{&iov, nullptr, 1, p.to_b, many.data(), count, nullptr, 0};
       return posted(fi_writemsg(p.a->ep, &msg, 0));
     }},
    {"a write longer than max_msg_size", -FI_EMSGSIZE,
     [](Pair& p) {
       const size_t length = p.a->info->ep_attr->max_msg_size + 1;
       return posted(fi_write(p.a->ep, p.octets, length, nullptr, p.to_b, 0, 1, nullptr));
     }},
    {"a read longer than max_msg_size in several segments", -FI_EMSGSIZE,
     [](Pair& p) {
       const size_t half = p.a->info->ep_attr->max_msg_size / 2 + 1;
       iovec iov[2] = {{p.octets, half}, {p.octets, half}};
       fi_rma_iov remote[2] = {{0, half, 1}, {half, half, 1}};
       fi_msg_rma msg{iov, nullptr, 2, p.to_b, remote, 2, nullptr, 0};
       return posted(fi_readmsg(p.a->ep, &msg, 0));
     }},
    {"injecting a read", -FI_EINVAL,
     [](Pair& p) {
       iovec iov{p.octets, 8};
       fi_rma_iov remote{0, 8, 1};
       fi_msg_rma msg{&iov, nullptr, 1, p.to_b, &remote, 1, nullptr, 0};
       return posted(fi_readmsg(p.a->ep, &msg, FI_INJECT));
     }},
};

TEST_F(MisuseTest, WrongMessagePosts) { expect_refusals(kMessages); }
TEST_F(MisuseTest, WrongTaggedPosts) { expect_refusals(kTagged); }
// [LF-073] Also one that is longer than max_msg_size.
TEST_F(MisuseTest, WrongRemoteMemoryPosts) { expect_refusals(kRma); }

// fi_atomic(3), ERRORS: the capability was not asked for.
TEST_F(MisuseTest, AtomicPostsWithoutTheCapability) {
  EXPECT_EQ(fi_atomic(a->ep, pair_.octets, 1, nullptr, to_b, 0, 1, FI_UINT64, FI_SUM, nullptr),
            -FI_EOPNOTSUPP);
  size_t count = 0;
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_UINT64, FI_MSWAP, &count), -FI_EOPNOTSUPP);
  expect_talk();
}

// fi_tagged(3), FI_PEEK: without a message there is an error entry, not an error of the call.
TEST_F(MisuseTest, PeekingAtNothingIsReportedInTheQueue) {
  fi_msg_tagged msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 99, 0, this, 0};
  ASSERT_EQ(fi_trecvmsg(a->ep, &msg, FI_PEEK), 0);
  const Done done = next(a->rx_cq);
  EXPECT_EQ(done.err, FI_ENOMSG);
  EXPECT_EQ(done.context, this);
}

// fi_cq(3): FI_EAVAIL reports an error entry at the head of the queue until it is read.
TEST_F(MisuseTest, ErrorEntriesBlockTheQueueUntilTheyAreRead) {
  fi_msg_tagged msg{nullptr, nullptr, 0, FI_ADDR_UNSPEC, 99, 0, this, 0};
  ASSERT_EQ(fi_trecvmsg(a->ep, &msg, FI_PEEK), 0);
  fi_cq_tagged_entry entry{};
  ASSERT_TRUE(run_until([&] { return fi_cq_read(a->rx_cq, &entry, 1) == -FI_EAVAIL; }));
  EXPECT_EQ(fi_cq_read(a->rx_cq, &entry, 1), -FI_EAVAIL);
  fi_cq_err_entry error{};
  EXPECT_EQ(fi_cq_readerr(a->rx_cq, &error, 0), 1);
  EXPECT_EQ(error.err, FI_ENOMSG);
  EXPECT_EQ(fi_cq_read(a->rx_cq, &entry, 1), -FI_EAGAIN);
}

}  // namespace
}  // namespace uet::prov::test
