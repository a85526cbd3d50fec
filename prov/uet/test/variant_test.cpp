// Every variant of the send and receive calls, each against the others.
#include "prov/uet/test/node.h"

#include <memory>

namespace uet::prov::test {
namespace {

constexpr uint64_t kData = 0x1122'3344'5566'7788;
constexpr uint64_t kTag = 0xABCD;

// One message of 200 octets in two pieces, into a buffer of two other pieces.
class VariantTest : public PairTest {
 protected:
  struct Variant {
    const char* name;
    bool is_tagged;
    bool has_data;
    bool completes;
    std::function<ssize_t()> send;
  };

  void SetUp() override {
    open();
    msg_.msg_iov = out_;
    msg_.iov_count = 2;
    msg_.addr = to_b;
    msg_.data = kData;
    tagged_.msg_iov = out_;
    tagged_.iov_count = 2;
    tagged_.addr = to_b;
    tagged_.tag = kTag;
    tagged_.data = kData;
  }

  // Posts a receive that takes the message; `by_struct` chooses between the two ways.
  ssize_t post_receive(bool is_tagged, bool by_struct) {
    if (is_tagged && !by_struct) {
      return fi_trecvv(b->ep, in_, nullptr, 2, FI_ADDR_UNSPEC, kTag, 0, nullptr);
    }
    if (!by_struct) return fi_recvv(b->ep, in_, nullptr, 2, FI_ADDR_UNSPEC, nullptr);
    if (!is_tagged) {
      fi_msg msg{};
      msg.msg_iov = in_;
      msg.iov_count = 2;
      msg.addr = FI_ADDR_UNSPEC;
      return fi_recvmsg(b->ep, &msg, 0);
    }
    fi_msg_tagged msg{};
    msg.msg_iov = in_;
    msg.iov_count = 2;
    msg.addr = FI_ADDR_UNSPEC;
    msg.tag = kTag & ~uint64_t{0xFF};
    msg.ignore = 0xFF;
    return fi_trecvmsg(b->ep, &msg, 0);
  }

  void check(const Variant& variant, bool by_struct) {
    SCOPED_TRACE(variant.name);
    std::fill(got_.begin(), got_.end(), uint8_t{0});
    ASSERT_EQ(post_receive(variant.is_tagged, by_struct), 0);
    ASSERT_EQ(variant.send(), 0);
    const Done received = next(b->rx_cq);
    const uint64_t kind = variant.is_tagged ? FI_TAGGED : FI_MSG;
    EXPECT_EQ(received.err, 0) << received.text;
    EXPECT_EQ(received.flags, FI_RECV | kind | (variant.has_data ? FI_REMOTE_CQ_DATA : 0));
    EXPECT_EQ(received.len, 200u);
    EXPECT_EQ(received.data, variant.has_data ? kData : 0);
    EXPECT_EQ(received.tag, variant.is_tagged ? kTag : 0);
    EXPECT_EQ(received.from, to_a);
    EXPECT_EQ(got_, sent_);
    if (!variant.completes) {
      EXPECT_TRUE(stays_empty(a->tx_cq)) << "an inject call made a completion";
      return;
    }
    const Done done = next(a->tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.flags, FI_SEND | kind);
  }

  std::vector<uint8_t> sent_ = pattern(200, 7);
  std::vector<uint8_t> got_ = std::vector<uint8_t>(200);
  iovec out_[2] = {{sent_.data(), 50}, {sent_.data() + 50, 150}};
  iovec in_[2] = {{got_.data(), 120}, {got_.data() + 120, 80}};
  fi_msg msg_{};
  fi_msg_tagged tagged_{};
};

// [LF-041, LF-042, LF-043, LF-053..056, LF-094, LF-100]
TEST_F(VariantTest, EveryUntaggedSendReachesItsReceive) {
  fid_ep* ep = a->ep;
  const auto by_msg = [&](uint64_t flags) {
    return [this, flags] { return fi_sendmsg(a->ep, &msg_, flags); };
  };
  const Variant variants[] = {
      {"send", false, false, true,
       [&] { return fi_send(ep, sent_.data(), 200, nullptr, to_b, this); }},
      {"sendv", false, false, true, [&] { return fi_sendv(ep, out_, nullptr, 2, to_b, this); }},
      {"sendmsg", false, false, true, by_msg(0)},
      {"data", false, true, true, by_msg(FI_REMOTE_CQ_DATA)},
      {"inject flag", false, false, true, by_msg(FI_INJECT)},
      {"inject complete", false, false, true, by_msg(FI_INJECT_COMPLETE)},
      {"transmit complete", false, false, true, by_msg(FI_TRANSMIT_COMPLETE)},
      {"delivery complete", false, false, true, by_msg(FI_DELIVERY_COMPLETE)},
      {"match complete, fence", false, false, true, by_msg(FI_MATCH_COMPLETE | FI_FENCE)},
      {"inject", false, false, false, [&] { return fi_inject(ep, sent_.data(), 200, to_b); }},
      {"senddata", false, true, true,
       [&] { return fi_senddata(ep, sent_.data(), 200, nullptr, kData, to_b, this); }},
      {"injectdata", false, true, false,
       [&] { return fi_injectdata(ep, sent_.data(), 200, kData, to_b); }},
  };
  for (const Variant& variant : variants) {
    check(variant, true);
    check(variant, false);
  }
  for (const uint64_t not_offered : {FI_COMMIT_COMPLETE, FI_TRIGGER, FI_MULTICAST}) {
    EXPECT_EQ(fi_sendmsg(ep, &msg_, not_offered), -FI_EOPNOTSUPP);
  }
}

// [LF-053, LF-054] A message that is kept at the target is transmitted; it is delivered when a
// receive has taken it.
TEST_F(VariantTest, DeliveryIsCompleteWhenAReceiveHasTheMessage) {
  uint8_t octets[2] = {1, 2};
  iovec part{octets, 1};
  fi_msg msg{&part, nullptr, 1, to_b, nullptr, 0};
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, FI_TRANSMIT_COMPLETE), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  part.iov_base = octets + 1;
  ASSERT_EQ(fi_sendmsg(a->ep, &msg, FI_DELIVERY_COMPLETE), 0);
  EXPECT_TRUE(stays_empty(a->tx_cq)) << "no receive has the message";
  uint8_t got[2] = {};
  for (uint8_t& octet : got) {
    ASSERT_EQ(fi_recv(b->ep, &octet, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(next(b->rx_cq).err, 0);
  }
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(got[1], 2);
}

// [LF-094, LF-045, LF-046]
TEST_F(VariantTest, EveryTaggedSendReachesItsReceive) {
  fid_ep* ep = a->ep;
  const Variant variants[] = {
      {"tsend", true, false, true,
       [&] { return fi_tsend(ep, sent_.data(), 200, nullptr, to_b, kTag, this); }},
      {"tsendv", true, false, true,
       [&] { return fi_tsendv(ep, out_, nullptr, 2, to_b, kTag, this); }},
      {"tsendmsg", true, false, true, [&] { return fi_tsendmsg(ep, &tagged_, 0); }},
      {"tsendmsg data", true, true, true,
       [&] { return fi_tsendmsg(ep, &tagged_, FI_REMOTE_CQ_DATA); }},
      {"tinject", true, false, false,
       [&] { return fi_tinject(ep, sent_.data(), 200, to_b, kTag); }},
      {"tsenddata", true, true, true,
       [&] { return fi_tsenddata(ep, sent_.data(), 200, nullptr, kData, to_b, kTag, this); }},
      {"tinjectdata", true, true, false,
       [&] { return fi_tinjectdata(ep, sent_.data(), 200, kData, to_b, kTag); }},
  };
  for (const Variant& variant : variants) {
    check(variant, true);
    check(variant, false);
  }
}

}  // namespace
}  // namespace uet::prov::test
