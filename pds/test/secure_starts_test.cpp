// Stored starts of secured PDCs, through the whole sublayer. [PDS 4.2]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

constexpr uint32_t kStartsDomain = 77;

// [PDS-053, TSS-060, TSS-066] The floor above 0xFFFFFFFF is 0: used PSNs lie below it, new ones
// above.
TEST(SecureStartsTest, TheFloorGoesRoundWithTheNumbers) {
  for (const uint32_t next : {0xFFFFFFFEu, 5u}) {
    Bench b;
    b.sdi = kStartsDomain;
    b.client.script.names_are_unique = false;
    const auto answer_to = [&](uint32_t start) {
      wire::Request h = b.request(start);
      h.psn_offset = 0;
      h.clear_psn_offset = -1;
      b.rx(h);
      return b.tx().at(0);
    };
    b.own = answer_to(0xFFFFFFFE).as<wire::Ack>().spdcid;
    b.rx_header(b.control(wire::CtlType::close_cmd, 0xFFFFFFFF));
    b.lines();
    b.elapse(401_ms);  // the tombstone is gone
    const Bench::Out out = answer_to(next);
    if (next == 5) {
      EXPECT_EQ(out.as<wire::Ack>().cack_psn, Psn(5));
    } else {
      EXPECT_EQ(out.as<wire::Nack>().nack_code, wire::NackCode::new_start_psn);
      EXPECT_EQ(out.as<wire::Nack>().payload, 0u);
    }
  }
}

}  // namespace
}  // namespace uet::pds::test
