// The route to a peer carries shorter packets than before: longer packets under way end at once,
// and others continue. [PDS-250]
#include "pds/test/rudi_bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

class PathLimitTest : public ::testing::Test {
 protected:
  static constexpr PathLimit kSmall{1472, 1024};

  // Packets of 4096 octets.
  static Config config() {
    Config c;
    c.payload_mtu = 4096;
    return c;
  }
  PathLimitTest() { b_.client.mtu = 4096; }
  std::string change(const FabricAddress& to, const PathLimit& limit = kSmall) {
    const auto c = b_.pds->path_reports().on_path_limit(to, limit, b_.now);
    if (!c.has_value()) return "ignored";
    return std::to_string(c->before) + " to " + std::to_string(c->after);
  }
  std::string failures() const {
    std::string text;
    for (const auto& f : b_.client.failures) {
      text += f.reason == FailureReason::too_long ? "too long " : "other ";
    }
    return text;
  }

  RudiBench b_{config()};
  FabricAddress to_ = address(9);
};

TEST_F(PathLimitTest, PacketsThatAreTooLongEndWithTheirPdc) {
  b_.open_initiator(2);
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(failures(), "too long too long ");
  EXPECT_EQ(b_.count(Count::pdc_closed_too_long), 1u);
  EXPECT_EQ(b_.count(Count::path_lowered), 1u);
  EXPECT_EQ(b_.peers[b_.peer()].payload_toward(4096), 1024u);
  EXPECT_TRUE(b_.peers[b_.peer()].is_beyond_path(1025));
  EXPECT_FALSE(b_.peers[b_.peer()].is_beyond_path(1024));
  EXPECT_EQ(b_.pds->open_pdcs(), 0u);
}

// They fail, too, but for another reason.
TEST_F(PathLimitTest, NeighboursOfAPacketThatCannotBeCutAreNotTooLong) {
  b_.open_initiator(1);
  b_.client.mtu = 500;
  b_.client.post(b_.Bench::flow, 2, 500);
  b_.tx();
  ASSERT_EQ(b_.pds->open_pdcs(), 1u);
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(failures(), "too long other ");
  EXPECT_EQ(b_.client.failures[1].reason, FailureReason::closed);
  EXPECT_EQ(b_.pds->open_pdcs(), 0u);
}

// The peer may hold state of the messages: an established PDC sends Close.
TEST_F(PathLimitTest, ThePeerGetsAClose) {
  b_.open_initiator(1);
  b_.rx_header(b_.ack(b_.start));
  b_.client.post(b_.Bench::flow, 2, 4096);
  b_.tx();
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(failures(), "too long ");
  const auto out = b_.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Control>().ctl_type, wire::CtlType::close_cmd);
}

TEST_F(PathLimitTest, ShortEnoughPacketsStay) {
  b_.open_initiator(2);
  EXPECT_EQ(change(to_, {4096 + 200, 4096}), "ignored");
  EXPECT_EQ(change(address(8)), "ignored");
  EXPECT_EQ(b_.client.failures.size(), 0u);
  EXPECT_EQ(b_.count(Count::path_reports), 1u);
  EXPECT_EQ(b_.count(Count::path_reports_ignored), 1u);
  EXPECT_EQ(b_.peers[b_.peer()].payload_toward(4096), 4096u);
}

// Packets that were answered or have arrived are not sent again.
TEST_F(PathLimitTest, ArrivedPacketsAreNotTooLong) {
  b_.open_initiator(2);
  b_.rx_header(b_.ack(b_.start + 1));
  EXPECT_EQ(change(to_), "ignored");
  EXPECT_EQ(b_.client.failures.size(), 0u);
}

TEST_F(PathLimitTest, ShortPacketsOfOtherPdcsStay) {
  b_.open_initiator(1);
  b_.client.mtu = 500;
  const FlowId other = b_.flow(Mode::rud, 2);
  b_.client.post(other, 2, 500);
  b_.tx();
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(failures(), "too long ");
  EXPECT_EQ(b_.pds->open_pdcs(), 1u);
}

// Shortened packets are resent at once, and the PDC closes normally when they are answered.
TEST_F(PathLimitTest, PacketsThatCanBeShortenedStay) {
  b_.open_initiator(2);
  b_.client.script.shortens = true;
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(b_.client.failures.size(), 0u);
  EXPECT_EQ(b_.count(Count::retx_too_long), 2u);
  EXPECT_EQ(b_.tx().size(), 2u);
  b_.rx_header(b_.ack(b_.start + 1));
  const auto out = b_.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Control>().ctl_type, wire::CtlType::close_cmd);
  EXPECT_EQ(b_.count(Count::pdc_closed_too_long), 0u);
}

TEST_F(PathLimitTest, RudiPacketsEndSeparately) {
  b_.send(1, 1);
  b_.client.mtu = 500;
  b_.send(2, 1);
  b_.send(3, 1, 1, 8);
  EXPECT_EQ(change(to_), "4096 to 1024");
  EXPECT_EQ(failures(), "too long ");
  EXPECT_EQ(b_.pds->usage().rudi_packets, 2u);
}

// Nothing is kept of answers to reads but how long they were, and for a second.
TEST_F(PathLimitTest, AnswersOfRudiConcernTheRouteForASecond) {
  uint32_t answer = 77;
  b_.client.verdict = [&](PacketName, const RxRequest&) {
    b_.client.messages[++answer] = {4096, 0, false, wire::NextHeader::response_data};
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.answer = MessageHandle(answer);
    return v;
  };
  b_.rx_octets(RudiBench::request(5));
  ASSERT_EQ(b_.tx().at(0).octets.size(), 16u + 4096);
  EXPECT_EQ(change(address(9), {16 + 4096, 1024}), "ignored");
  b_.elapse(1_s);
  EXPECT_EQ(change(address(9)), "ignored");
  b_.rx_octets(RudiBench::request(6));
  b_.tx();
  EXPECT_EQ(change(address(8)), "ignored");
  EXPECT_EQ(change(address(9)), "4096 to 1024");
}

}  // namespace
}  // namespace uet::pds::test
