// A peer whose SACK named packets that it no longer has, for example because their SES headers
// turned out to be wrong at their turn. [PDS-078, PDS-093, PDS-L6]
#include "pds/test/bench.h"

#include <algorithm>
#include <set>

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class TakenBackTest : public ::testing::Test {
 protected:
  TakenBackTest() {
    config_.rto_init = config_.rto_max = 10_ms;
    config_.probe = false;
  }
  // A ROD PDC; packet +0 is answered, a SACK names +1 to +count.
  void open(Bench& b, uint32_t count) {
    b.client.script.sack_completes = false;
    b.open_initiator(count + 1, Mode::rod);
    wire::AckCc h;
    h.ack = b.ack(b.start);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 128;
    h.sack_psn_offset = 1;
    h.sack_bitmap = (uint64_t{1} << count) - 1;
    b.rx_header(h);
    EXPECT_EQ(b.lines(), Lines{});
  }
  // The packets that ACK Requests ask for in one more time-out, as distances from the first.
  static std::vector<uint32_t> asked(Bench& b) {
    b.elapse(11_ms);
    std::vector<uint32_t> all;
    const std::string head = "CP ACK_REQ psn ";
    for (const std::string& line : b.lines()) {
      if (line.compare(0, head.size(), head) != 0) continue;
      all.push_back(static_cast<uint32_t>(std::stoul(line.substr(head.size()))) - b.start.value());
    }
    return all;
  }
  Config config_;
};

// [PDS-078] The packet that a peer waits for goes again at once, even if a SACK named it; later
// packets that the SACK named do not.
TEST_F(TakenBackTest, ThePacketThatThePeerWaitsForGoesAgain) {
  Bench b(config_);
  open(b, 4);
  b.rx_header(b.nack(NackCode::rod_ooo, b.start + 4, (b.start + 1).value()));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_go_back_n), 1u);
}

// [PDS-L6] More packets wait for an answer than one turn asks for: each time-out asks for the
// oldest, which holds up all others, and each packet is asked for again and again.
TEST_F(TakenBackTest, EachPacketIsAskedForInTurn) {
  constexpr uint32_t kPackets = 40;
  Bench b(config_);
  open(b, kPackets);
  for (int i = 0; i < 12; ++i) asked(b);  // the times between requests do not grow any more
  for (int round = 0; round < 4; ++round) {
    std::set<uint32_t> seen;
    for (int i = 0; i < 3; ++i) {
      const std::vector<uint32_t> now = asked(b);
      EXPECT_LT(now.size(), kPackets) << "else nothing is left over";
      EXPECT_EQ(std::count(now.begin(), now.end(), 1u), 1) << round;
      seen.insert(now.begin(), now.end());
    }
    EXPECT_EQ(seen.size(), kPackets) << round;
  }
}

// [PDS-L6] Packets that one turn leaves over are asked for even if all others are answered
// meanwhile.
TEST_F(TakenBackTest, TheRestIsAskedForSeparately) {
  constexpr uint32_t kPackets = 40;
  Bench b(config_);
  open(b, kPackets);
  const std::vector<uint32_t> first = asked(b);
  const uint32_t newest = *std::max_element(first.begin(), first.end());
  ASSERT_LT(newest, kPackets);
  b.rx_header(b.ack(b.start + static_cast<int32_t>(newest)));
  std::set<uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    for (const uint32_t psn : asked(b)) seen.insert(psn);
  }
  EXPECT_EQ(seen.size(), kPackets - newest);
}

}  // namespace
}  // namespace uet::pds::test
