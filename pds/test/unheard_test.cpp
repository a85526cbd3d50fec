// A message is cancelled after a PDC was opened for it, and before its first packet left. The peer
// has no state for the PDC, so it is freed without a Close when it is not needed. Before, it was
// never freed. [PDS 5.1, 15]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using Lines = std::vector<std::string>;

class UnheardPdcTest : public ::testing::Test {
 protected:
  static FlowId flow(Bench& b, uint8_t number) {
    const PeerId peer = *b.peers.find_or_add(address(number), b.now);
    return *b.pds->flow(peer, TrafficClass(0), Mode::rud, JobId(1));
  }
  static void open(Bench& b) {
    b.client.messages[1].is_taken_back = true;
    b.client.post(flow(b, 9), 1, 10);
    EXPECT_EQ(b.lines(), Lines{});
    EXPECT_EQ(b.pds->open_pdcs(), 1u);
  }
  static void expect_gone(Bench& b) {
    EXPECT_EQ(b.lines(), Lines{});
    EXPECT_EQ(b.pds->usage(), Usage{});
    EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  }
  Config config_;
};

TEST_F(UnheardPdcTest, AnUnheardPdcGoesWhenIdle) {
  Bench b;
  open(b);
  b.elapse(config_.idle_time + 1_ms);
  expect_gone(b);
}

TEST_F(UnheardPdcTest, AnUnheardPdcGoesWhenAllAreToClose) {
  Bench b;
  open(b);
  b.pds->close_all(/*abort=*/false, b.now);
  expect_gone(b);
}

TEST_F(UnheardPdcTest, AnUnheardPdcGoesWhenPdcsAreScarce) {
  config_.max_pdcs = 2;
  config_.target_floor_percent = 0;
  Bench b(config_);
  open(b);
  b.client.post(flow(b, 10), 2, 10);
  b.client.post(flow(b, 11), 3, 10);
  EXPECT_EQ(b.tx().size(), 2u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
}

// [PDS-021] All PDCs were at work when the last one opened, and are idle when one more is needed:
// the longest idle ones are closed then, and the message is sent.
TEST_F(UnheardPdcTest, IdlePdcsAreClosedWhenOneIsNeeded) {
  config_.max_pdcs = 3;
  config_.target_floor_percent = 0;
  Bench b(config_);
  std::vector<wire::Request> first;
  for (uint8_t i = 0; i < 3; ++i) {
    b.client.post(flow(b, static_cast<uint8_t>(10 + i)), 1u + i, 10);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    first.push_back(out[0].as<wire::Request>());
  }
  const auto answer = [&](uint8_t i, Psn psn) {
    b.from = address(static_cast<uint8_t>(10 + i));
    b.own = first[i].spdcid;
    b.rx_header(b.ack(psn));
  };
  for (uint8_t i = 0; i < 3; ++i) answer(i, first[i].psn);
  EXPECT_EQ(b.lines(), Lines{});
  b.client.post(flow(b, 20), 4, 10);
  b.tx();
  EXPECT_EQ(b.tx().size(), 2u) << "what assigning found out leaves with the next call";
  EXPECT_EQ(b.count(Count::pressure_closes), 2u);
  answer(0, first[0].psn + 1);
  b.tx();
  EXPECT_EQ(b.client.messages[4].pulled, 10u) << "it found a PDC";
}

TEST_F(UnheardPdcTest, AnUnheardPdcTakesTheNextMessage) {
  Bench b;
  open(b);
  b.client.post(flow(b, 9), 2, 10);
  EXPECT_EQ(b.tx().size(), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

}  // namespace
}  // namespace uet::pds::test
