// [LF-142] Packets to a full ring are kept, sent by the socket or dropped.
#include "io/shm/door.h"
#include "io/shm/memory.h"
#include "io/shm/ring.h"
#include "io/test/shm_testing.h"

#include <chrono>

namespace uet::io {
namespace {

TEST_F(ShmIoTest, AFullRingIsAFullBufferWhileItIsReadElseTheSocketServes) {
  open_both();
  const auto fill = [&] {
    Outbox out;
    for (int i = 0; i < 64; ++i) out.add(b_->local_address(), std::string(8000, 'x'));
    for (int i = 0; i < 64; ++i) out.add(b_->local_address(), std::string(8000, 'y'));
    a_->send(out.packets());
    return out.fates();
  };
  const std::string first = fill();
  EXPECT_EQ(first.find('n'), std::string::npos);
  EXPECT_EQ(first.back(), 'l');
  EXPECT_EQ(a_->counters().tx_overflow, 0u);
  ::usleep(1000);
  EXPECT_EQ(fill().back(), 's');
  EXPECT_GT(a_->counters().tx_overflow, 0u);
  // The reader comes back: the ring is used again.
  (void)receive(*b_, a_->counters().tx_packets);
  (void)b_->receive();
  const uint64_t overflow = a_->counters().tx_overflow;
  send(*a_, b_->local_address(), "again");
  EXPECT_EQ(a_->counters().tx_overflow, overflow);
}

// [LF-142] A full ring delays the packets of other peers only while it is read at a minimum rate,
// not while its reader takes one packet now and then.
TEST_F(ShmIoTest, AReaderOfOnePacketNowAndThenHoldsNothingUp) {
  a_ = open_shm(ipv4(1));
  const std::unique_ptr<UdpIo> socket = open(at(ipv4(2)));
  const FabricAddress to = socket->local_address();
  ShmDoor door;
  ASSERT_TRUE(door.open(to));
  send(*a_, to, "first");
  Fd connection, descriptor;
  FabricAddress from;
  ASSERT_TRUE(door.accept(connection));
  ASSERT_EQ(read_connection(connection, from, descriptor), ShmNews::hello);
  const ShmMemory memory = ShmMemory::map(descriptor);
  ASSERT_TRUE(memory);
  ShmRingReader reader(memory.get());
  ASSERT_TRUE(send_welcome(connection));
  poll(*a_);
  ASSERT_EQ(a_->counters().rings_out, 1u);
  const auto post = [&](uint32_t count) {
    Outbox out;
    for (uint32_t i = 0; i < count; ++i) out.add(to, "x");
    a_->send(out.packets());
    return out.fates();
  };
  EXPECT_EQ(post(kShmCells + 1).back(), 'l');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= 50 && a_->counters().tx_overflow == 0; ++i) {
    while (std::chrono::steady_clock::now() - begin < i * std::chrono::microseconds(50)) {
    }
    ShmPacket packet;
    ASSERT_EQ(reader.take(packet), ShmTake::packet);
    reader.release();
    (void)post(2);  // one finds its place
  }
  EXPECT_GT(a_->counters().tx_overflow, 0u);
  EXPECT_EQ(post(8), "ssssssss");
  // A reader that reads at a rate is waited for again.
  ShmPacket packet;
  for (uint32_t i = 0; i < kShmCells / 8; ++i) ASSERT_EQ(reader.take(packet), ShmTake::packet);
  reader.release();
  EXPECT_EQ(post(kShmCells).back(), 'l');
}

}  // namespace
}  // namespace uet::io
