// Flows that their client gives back. [PDS-247]
#include "pds/test/bench.h"

#include <gtest/gtest.h>

namespace uet::pds::test {
namespace {

using Lines = std::vector<std::string>;

// [PDS-247] Its PDC is closed in order; with the PDC its place is free for another one.
TEST(FlowTest, AReleasedFlowMakesRoom) {
  Config c;
  c.max_flows = 1;
  Bench b(c);
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  const auto other = b.peers.find_or_add(address(3), b.now);
  const auto want = [&] { return b.pds->flow(*other, TrafficClass(0), Mode::rud, JobId(1)); };
  EXPECT_FALSE(want().ok());
  b.pds->release(b.flow);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLOSE_CMD psn " + std::to_string(b.start.value() + 1) + " ar payload 0"}));
  EXPECT_FALSE(want().ok()) << "its PDC is still there";
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  b.tx();
  EXPECT_TRUE(want().ok());
}

}  // namespace
}  // namespace uet::pds::test
