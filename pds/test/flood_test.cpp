// Peers that send many requests that no PDC limits. They are rate-limited, and other peers lose
// nothing. [tss.md, T-41]
#include "pds/test/rudi_bench.h"

namespace uet::pds::test {
namespace {

// [T-41] Datagrams and RUDI requests of each source have a rate limit, with a burst of a tenth.
// Packets above it are neither delivered nor answered, and other sources are not affected.
TEST(FloodTest, EachSourceHasASeparateRate) {
  Config config;
  config.source_packets_per_second = 1000;
  for (const bool is_rudi : {false, true}) {
    SCOPED_TRACE(is_rudi);
    RudiBench b(config);
    uint32_t id = 0;
    const auto send = [&](uint8_t who, int count) {
      b.from = address(who, 50000);
      for (int i = 0; i < count; ++i) {
        b.rx_octets(is_rudi ? RudiBench::request(++id) : RudiBench::datagram());
      }
      return b.tx().size();
    };
    EXPECT_EQ(send(9, 1000), is_rudi ? 100u : 0u);
    EXPECT_EQ(b.client.received.order.size(), 100u);
    EXPECT_EQ(b.count(Count::drop_source_rate), 900u);
    EXPECT_EQ(send(8, 50), is_rudi ? 50u : 0u);
    EXPECT_EQ(b.client.received.order.size(), 150u);
    b.elapse(10_ms);
    send(9, 1000);
    EXPECT_EQ(b.client.received.order.size(), 160u);
    EXPECT_EQ(b.count(Count::drop_source_rate), 1890u);
    EXPECT_EQ(b.count(Count::nacks_tx), 0u);
  }
}

// [T-41] No limit where none is wanted.
TEST(FloodTest, TheRateOfASourceCanBeLifted) {
  Config config;
  config.source_packets_per_second = 0;
  RudiBench b(config);
  for (int i = 0; i < 200'000; ++i) b.rx_octets(RudiBench::datagram());
  EXPECT_EQ(b.client.received.order.size(), 200'000u);
  EXPECT_EQ(b.count(Count::drop_source_rate), 0u);
}

}  // namespace
}  // namespace uet::pds::test
