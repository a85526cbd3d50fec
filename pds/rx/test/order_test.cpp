// The order of ROD at a receiver, alone. [PDS 7.3]
#include "pds/rx/order.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace uet::pds {
namespace {

constexpr Psn kFirst(0xFFFFFFFE);  // so that the numbers wrap
const Instant kStart = Instant::from_ns(1'000'000'000);

class OrderTest : public testing::Test {
 protected:
  OrderTest() { order_.start(kFirst); }
  ~OrderTest() override {
    while (ReorderedPacket* const p = order_.first())
      static_cast<ListNode<ReorderTag>&>(*p).unlink();
  }
  // Packets arrive, as distances from the first PSN.
  void keep(std::initializer_list<int> offsets) {
    for (const int offset : offsets) {
      ReorderedPacket& packet = memory_[used_++];
      packet.trigger.psn = kFirst + offset;
      order_.keep(packet);
    }
  }
  // The waiting packets in the order in which they would be taken.
  std::string waiting() {
    std::string all;
    while (ReorderedPacket* const p = order_.first()) {
      all += (all.empty() ? "" : " ") + std::to_string(p->trigger.psn - kFirst);
      static_cast<ListNode<ReorderTag>&>(*p).unlink();
    }
    return all;
  }

  std::array<ReorderedPacket, 8> memory_;
  size_t used_ = 0;
  Order order_;
};

// [PDS-079] Packets wait in the order of their PSNs, however they came, also where these wrap.
TEST_F(OrderTest, PacketsWaitInTheOrderOfTheirPsns) {
  keep({3, 1, 4, 2});
  EXPECT_EQ(waiting(), "1 2 3 4");
}

// [PDS-077] Only the packet with the next PSN is due.
TEST_F(OrderTest, APacketIsDueWhenAllBeforeItHavePassed) {
  keep({2, 1});
  EXPECT_EQ(order_.due(), nullptr);
  EXPECT_TRUE(order_.is_next(kFirst));
  order_.pass();
  ASSERT_NE(order_.due(), nullptr);
  EXPECT_EQ(order_.due()->trigger.psn, kFirst + 1);
  EXPECT_FALSE(order_.is_next(kFirst));
  EXPECT_TRUE(order_.is_next(kFirst + 1));
}

// [PDS-077] A gap is refused once in the interval, another gap at once.
TEST_F(OrderTest, AGapIsRefusedOnceInTheInterval) {
  const Duration interval = Duration::milliseconds(5);
  EXPECT_FALSE(order_.has_nacked());
  EXPECT_TRUE(order_.take_nack(interval, kStart));
  EXPECT_TRUE(order_.has_nacked());
  EXPECT_FALSE(order_.take_nack(interval, kStart + Duration::milliseconds(4)));
  EXPECT_TRUE(order_.take_nack(interval, kStart + Duration::milliseconds(6)));
  order_.pass();
  EXPECT_FALSE(order_.has_nacked());
  EXPECT_TRUE(order_.take_nack(interval, kStart + Duration::milliseconds(7)));
}

// [PDS-077] Before anything was refused nothing was, also where the first PSN is 0.
TEST_F(OrderTest, NothingIsRefusedAtTheStart) {
  Order order;
  order.start(Psn(0));
  EXPECT_FALSE(order.has_nacked());
  EXPECT_TRUE(order.take_nack(Duration::milliseconds(5), Instant::zero()));
}

TEST_F(OrderTest, AStallIsRemembered) {
  EXPECT_FALSE(order_.is_stalled());
  order_.stall(true);
  EXPECT_TRUE(order_.is_stalled());
  order_.stall(false);
  EXPECT_FALSE(order_.is_stalled());
}

}  // namespace
}  // namespace uet::pds
