// ROD toward a peer that drops packets out of order: which packets wait behind a refused one, and
// which are resent with it. [PDS 7.3, PDS 12]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class GoBackTest : public ::testing::Test {
 protected:
  GoBackTest() {
    config_.rod_reorder = false;
    config_.rto_init = 100_ms;  // far behind NACK_Retx_Time, 2 ms
    config_.rto_max = 200_ms;
    config_.probe = false;
  }
  // An established PDC with packets +1 to +4 outstanding and +5 still to come.
  static void open(Bench& b) {
    b.client.mtu = 1024;
    b.open_initiator(5, Mode::rod);
    b.rx_header(b.ack(b.start));
  }
  static Lines again(int from, int to) {
    Lines all;
    for (int i = from; i <= to; ++i) {
      all.push_back("REQ psn +" + std::to_string(i) + " retx ar clear -" + std::to_string(i));
    }
    return all;
  }
  Config config_;
};

// [PDS-118, PDS-150] The peer would drop all packets behind one that is delayed: nothing goes until
// its delay ends, and then all of them in order, new ones last.
TEST_F(GoBackTest, NothingOvertakesARefusedPacket) {
  Bench b(config_);
  open(b);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 2));
  b.client.post(b.flow, 2, 1024);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.nack(NackCode::rod_ooo, b.start + 3, (b.start + 2).value()));
  EXPECT_EQ(b.lines(), Lines{}) << "the gap is known";
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(2_ms - 10_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(20_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -1", "REQ psn +3 retx ar clear -2",
                              "REQ psn +4 retx ar clear -3", "REQ psn +5 ar clear -4"}));
  EXPECT_EQ(b.count(Count::retx_delayed), 1u);
  EXPECT_EQ(b.count(Count::retx_go_back_n), 2u);
}

// [PDS-118, PDS-150] A second refused packet behind it goes along, whatever is left of its delay;
// one before it holds up both.
TEST_F(GoBackTest, TheOldestRefusedPacketDecides) {
  Bench b(config_);
  open(b);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 3));
  b.elapse(500_us);
  b.rx_header(b.nack(NackCode::no_pkt_buffer, b.start + 1));
  b.elapse(500_us);
  b.rx_header(b.nack(NackCode::no_pkt_buffer, b.start + 4));
  b.elapse(1_ms + 100_us);
  EXPECT_EQ(b.lines(), Lines{}) << "+3 alone is of no use";
  b.elapse(500_us);
  EXPECT_EQ(b.lines(), again(1, 4));
}

// [PDS-078, PDS-150] What is missing before the refused one does not wait for it.
TEST_F(GoBackTest, PacketsBeforeTheRefusedOneGo) {
  Bench b(config_);
  open(b);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 3));
  b.rx_header(b.nack(NackCode::rod_ooo, b.start + 2, (b.start + 1).value()));
  EXPECT_EQ(b.lines(), again(1, 2));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 4));
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
  EXPECT_EQ(b.lines(), again(1, 2));
  b.elapse(2_ms + 10_us);
  EXPECT_EQ(b.lines(), again(3, 4));
}

// [PDS-093, PDS-116] The refused one arrived after all: nothing holds up the rest.
TEST_F(GoBackTest, AnAnswerEndsTheWait) {
  Bench b(config_);
  open(b);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 4));
  b.client.post(b.flow, 2, 1024);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.ack(b.start + 4));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +5 ar clear -1"}));
}

// [PDS-118, PDS-079] A peer that keeps packets out of order gets the rest meanwhile.
TEST_F(GoBackTest, APeerThatKeepsPacketsGetsTheRest) {
  config_.rod_reorder = true;
  Bench b(config_);
  open(b);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 2));
  b.client.post(b.flow, 2, 1024);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +5 ar clear -5"}));
  b.elapse(2_ms + 10_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -2"}));
}

}  // namespace
}  // namespace uet::pds::test
