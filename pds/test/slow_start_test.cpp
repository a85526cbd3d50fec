// How fast a transfer takes up what its path carries, and what its first packets ask of a receiver.
#include "pds/test/pair.h"

#include <bit>

namespace uet::pds::test {
namespace {

using namespace uet::literals;

cms::Config cms_of(uint32_t payload) {
  cms::Config c;
  c.algorithm = cms::Algorithm::aimd;
  c.mtu_bytes = payload + 104 + 40;
  return c;
}

Config config_of(uint32_t payload) {
  Config c;
  c.payload_mtu = payload;
  c.mpr = 16;
  return c;
}

// A path of 8 Gb/s and 600 us there and back holds 150 packets, five times the first window, and
// has room for more.
TEST(SlowStartTest, ALongPathIsFullAfterFourRoundTrips) {
  constexpr uint32_t kPayload = 4096;
  constexpr Duration kPacketTime = 4_us;
  const Config config = config_of(kPayload);
  Pair pair(config, config, 1, cms_of(kPayload));
  pair.keep_sent = false;
  Instant is_free = pair.now();
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.side == 0) return {300_us};
    is_free = std::max(is_free, pair.now()) + kPacketTime;
    return {is_free - pair.now() + 300_us};
  };
  pair.side[0].client.mtu = kPayload;
  pair.side[0].client.post(pair.flow(0), 1, 4000 * kPayload);
  pair.run(600_us * 4);
  const uint64_t before = pair.side[1].client.received.bytes;
  pair.run(600_us * 10);
  const uint64_t packets = (pair.side[1].client.received.bytes - before) / kPayload;
  EXPECT_GE(packets, 1450u) << "of 1500 that the path carries in this time";
  for (const Count c : {Count::retx_rto, Count::retx_ooo, Count::retx_ev, Count::retx_tail}) {
    EXPECT_EQ(pair.count(0, c), 0u);
  }
}

// Kernel memory for a datagram that waits at a socket: a block of a power of two octets for data,
// headers and description, and the packet record.
uint64_t room_at_receiver(size_t octets) { return std::bit_ceil(octets + 60 + 320) + 256; }

// The receiver reads nothing before all of the first packets have arrived.
TEST(SlowStartTest, AStockReceiveBufferTakesTheFirstRoundTrip) {
  constexpr uint64_t kStockBuffer = 2 * 212'992;
  for (const uint32_t payload : {1024u, 2048u, 4096u, 8192u}) {
    SCOPED_TRACE(payload);
    const Config config = config_of(payload);
    Pair pair(config, config, 1, cms_of(payload));
    uint64_t room = 0;
    uint64_t octets = 0;
    pair.fate = [&](const InPipe& p) -> Fate {
      if (p.side == 1) {
        room += room_at_receiver(p.octets.size());
        octets += p.octets.size();
      }
      return {1_ms};
    };
    pair.side[0].client.mtu = payload;
    pair.side[0].client.post(pair.flow(0), 1, 4 << 20);
    pair.run(1_ms);
    EXPECT_LE(room, kStockBuffer);
    EXPECT_GE(octets, 128u * 1024) << "small packets do not begin more slowly";
  }
}

}  // namespace
}  // namespace uet::pds::test
