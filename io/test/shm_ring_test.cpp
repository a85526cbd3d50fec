// [LF-142] A ring in shared memory: packets come out as put in, and no write of the other side does
// harm. Expected positions and octets are written by hand from the layout in io/shm/ring.h.
#include "io/shm/memory.h"
#include "io/shm/ring.h"
#include "io/test/udp_testing.h"

#include "base/rng.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace uet::io {
namespace {

constexpr Instant kNow = Instant::from_ns(5'000'000'000);

class ShmRingTest : public ::testing::Test {
 protected:
  ShmPut put(const std::string& text, uint16_t ev = 0) {
    Outbox out;
    out.add(ipv4(1), text, ev);
    return writer_.put(out.packets()[0], kNow);
  }
  // The next packet: "-" if there is none, "!" if the ring is invalid, else the text.
  std::string take() {
    ShmPacket packet;
    switch (reader_.take(packet)) {
      case ShmTake::none:
        return "-";
      case ShmTake::broken:
        return "!";
      case ShmTake::packet:
        break;
    }
    last_ = packet;
    return {reinterpret_cast<char*>(packet.octets.data()), packet.octets.size()};
  }
  // A word of the cell of a position: 0 turn, 8 octets, 12 place.
  uint32_t& cell(uint32_t position, uint32_t at) {
    return *reinterpret_cast<uint32_t*>(memory_ + kShmHeadBytes + position * kShmCellBytes + at);
  }
  uint32_t& head() { return *reinterpret_cast<uint32_t*>(memory_); }

  std::unique_ptr<std::byte, void (*)(std::byte*)> owned_{
      static_cast<std::byte*>(std::aligned_alloc(4096, (kShmRingBytes + 4095) / 4096 * 4096)),
      [](std::byte* p) { std::free(p); }};
  std::byte* memory_ = static_cast<std::byte*>(std::memset(owned_.get(), 0, kShmRingBytes));
  ShmRingWriter writer_{memory_};
  ShmRingReader reader_{memory_};
  ShmPacket last_;
};

TEST_F(ShmRingTest, PacketsComeOutUnchanged) {
  EXPECT_EQ(take(), "-");
  const std::string longest(kShmPacketBytesMax, 'l');
  const std::string inside(kShmInlineBytes, 'i');
  const std::string outside(kShmInlineBytes + 1, 'o');
  EXPECT_EQ(put("a", 77), ShmPut::done);
  EXPECT_EQ(put(longest), ShmPut::done);
  EXPECT_EQ(put(inside), ShmPut::done);
  EXPECT_EQ(put(outside), ShmPut::done);
  EXPECT_EQ(put(""), ShmPut::done);
  EXPECT_TRUE(reader_.has_packet());
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(last_.ev, Entropy(77));
  EXPECT_EQ(last_.dscp, 8);
  EXPECT_EQ(last_.ecn, Ecn::ect0);
  EXPECT_EQ(last_.sent, kNow);
  EXPECT_TRUE(last_.is_short);
  EXPECT_EQ(take(), longest);
  EXPECT_FALSE(last_.is_short);
  EXPECT_EQ(take(), inside);
  EXPECT_TRUE(last_.is_short);
  EXPECT_EQ(take(), outside);
  EXPECT_FALSE(last_.is_short);
  EXPECT_EQ(take(), "");
  EXPECT_EQ(take(), "-");
  EXPECT_FALSE(reader_.has_packet());
}

TEST_F(ShmRingTest, ManyLapsOfRandomLengthsKeepTheOrder) {
  Rng rng(7);
  std::deque<std::string> inside;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const auto bytes = static_cast<size_t>(rng.below(4) == 0 ? rng.below(9000) : rng.below(300));
    const std::string text(bytes, static_cast<char>('a' + i % 26));
    while (put(text) == ShmPut::full) {
      ASSERT_FALSE(inside.empty());
      ASSERT_EQ(take(), inside.front());
      inside.pop_front();
      reader_.release();
    }
    inside.push_back(text);
    if (rng.below(8) == 0) writer_.begin();
  }
  for (const std::string& text : inside) ASSERT_EQ(take(), text);
  EXPECT_EQ(take(), "-");
}

TEST_F(ShmRingTest, IsFullUntilTheReaderReleases) {
  for (uint32_t i = 0; i < kShmCells; ++i) ASSERT_EQ(put("x"), ShmPut::done);
  EXPECT_EQ(put("y"), ShmPut::full);
  EXPECT_EQ(take(), "x");
  EXPECT_EQ(put("y"), ShmPut::full);  // it may still be read
  reader_.release();
  EXPECT_EQ(put("y"), ShmPut::done);
  EXPECT_EQ(put("z"), ShmPut::full);
  EXPECT_EQ(writer_.written() - writer_.read(), kShmCells);
}

TEST_F(ShmRingTest, LongPacketsAloneFillIt) {
  const std::string text(16'000, 'x');  // 32 of 16,000 rounded up to 16,000: 250 lines each
  uint32_t count = 0;
  while (put(text) == ShmPut::done) ++count;
  EXPECT_EQ(count, kShmDataBytes / 16'000);
  EXPECT_EQ(put("short"), ShmPut::done);
  EXPECT_EQ(take(), text);
  reader_.release();
  EXPECT_EQ(put(text), ShmPut::done);
}

TEST_F(ShmRingTest, AnEmptyRingUsesTheSameMemoryAgain) {
  const std::string text(16'000, 'x');
  std::vector<std::byte*> places;
  for (uint32_t i = 0; i < 12; ++i) {
    writer_.begin();
    ASSERT_EQ(put(text), ShmPut::done);
    ASSERT_EQ(take(), text);
    places.push_back(last_.octets.data());
    reader_.release();
  }
  // Five packets use up 64 KiB; then the ring is known to be empty and starts again.
  EXPECT_EQ(places[5], places[0]);
  EXPECT_EQ(places[10], places[0]);
}

TEST_F(ShmRingTest, OnlyASleepingReaderIsWoken) {
  ASSERT_EQ(put("a"), ShmPut::done);
  EXPECT_FALSE(writer_.end());
  reader_.set_asleep(true);
  EXPECT_FALSE(reader_.is_called());
  ASSERT_EQ(put("b"), ShmPut::done);
  EXPECT_TRUE(writer_.end());
  EXPECT_TRUE(reader_.is_called());
  ASSERT_EQ(put("c"), ShmPut::done);
  EXPECT_FALSE(writer_.end());  // once is enough
}

TEST_F(ShmRingTest, DescriptionsThatMakeNoSenseAreRefused) {
  const struct {
    uint32_t bytes, place;
  } nonsense[] = {
      {kShmInlineBytes + 1, UINT32_MAX},
      {UINT32_MAX, UINT32_MAX},
      {kShmPacketBytesMax + 1, 0},
      {100, 1},              // between lines
      {100, kShmDataBytes},  // behind the end
      {65, kShmDataBytes - 64},
      {UINT32_MAX, kShmDataBytes - 64},
      {100, UINT32_MAX - 63},
  };
  for (const auto& [bytes, place] : nonsense) {
    cell(0, 8) = bytes;
    cell(0, 12) = place;
    cell(0, 0) = 1;
    EXPECT_EQ(take(), "!") << bytes << " at " << place;
  }
  cell(0, 8) = 64;
  cell(0, 12) = kShmDataBytes - 64;
  EXPECT_EQ(take().size(), 64u);
}

TEST_F(ShmRingTest, AReaderThatClaimsTooMuchIsNotBelieved) {
  for (uint32_t i = 0; i < kShmCells; ++i) ASSERT_EQ(put("x"), ShmPut::done);
  head() = kShmCells + 1;  // more than was written
  EXPECT_EQ(put("y"), ShmPut::broken);
  head() = 10;
  EXPECT_EQ(put("y"), ShmPut::done);
  for (uint32_t i = 0; i < 9; ++i) ASSERT_EQ(put("y"), ShmPut::done);
  head() = 9;  // less than before
  EXPECT_EQ(put("z"), ShmPut::broken);
}

// Possible writes of the other process at any time: the reader stays within the ring.
TEST_F(ShmRingTest, NoiseDoesNotLeadOutOfTheRing) {
  Rng rng(11);
  for (uint32_t i = 0; i < 200'000; ++i) {
    const uint32_t position =
        rng.below(4) == 0 ? static_cast<uint32_t>(rng.below(kShmCells)) : i % kShmCells;
    cell(position, 0) = static_cast<uint32_t>(rng.below(kShmCells * 4));
    cell(position, 8) = static_cast<uint32_t>(rng.below(uint64_t{1} << rng.below(33)));
    cell(position, 12) = static_cast<uint32_t>(rng.below(uint64_t{1} << rng.below(33))) & ~63u;
    ShmPacket packet;
    if (reader_.take(packet) == ShmTake::packet) {
      ASSERT_GE(packet.octets.data(), memory_ + kShmHeadBytes);
      ASSERT_LE(packet.octets.data() + packet.octets.size(), memory_ + kShmRingBytes);
    }
    reader_.release();
  }
}

TEST(ShmMemoryTest, IsSharedAndCannotShrink) {
  Fd descriptor;
  const ShmMemory made = ShmMemory::make(descriptor);
  ASSERT_TRUE(made);
  const ShmMemory mapped = ShmMemory::map(descriptor);
  ASSERT_TRUE(mapped);
  made.get()[kShmRingBytes - 1] = std::byte{42};
  EXPECT_EQ(mapped.get()[kShmRingBytes - 1], std::byte{42});
  EXPECT_NE(::ftruncate(descriptor.get(), 0), 0);
}

TEST(ShmMemoryTest, AFileThatCouldShrinkIsRefused) {
  Fd plain(::memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(plain.get(), kShmRingBytes), 0);
  EXPECT_FALSE(ShmMemory::map(plain));
  Fd small(::memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(small.get(), kShmRingBytes - 4096), 0);
  ASSERT_EQ(::fcntl(small.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(ShmMemory::map(small));
  EXPECT_FALSE(ShmMemory::map(Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC))));
  EXPECT_FALSE(ShmMemory::map(Fd()));
}

}  // namespace
}  // namespace uet::io
