// Reports of the system about the route to a peer. [PDS-249, PDS-250]
#include "pds/pdc/path_reports.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class PathReportsPartTest : public AllParts {
 protected:
  PathReportsPartTest() { peers_[peer_].agree_payload(4096); }

  std::optional<PathChange> limit(uint32_t datagram_bytes, uint32_t payload) {
    return reports_.on_path_limit(address(9), {datagram_bytes, payload}, kNow);
  }

  Connectionless connectionless_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
  PathReports reports_{res_, table_, connectionless_, schedule_, closing_, ending_, loss_};
};

// [PDS-249] A series of reports begins with the first one, and ends when none came for a while.
TEST_F(PathReportsPartTest, ReportsOfAnUnreachablePeerMakeASeries) {
  const Duration limit = res_.config.unreachable_time;
  reports_.on_unreachable(address(9), kNow);
  reports_.on_unreachable(address(9), kNow + limit / 2);
  EXPECT_EQ(peers_[peer_].unreachable_since, kNow);
  EXPECT_EQ(peers_[peer_].unreachable_last, kNow + limit / 2);
  reports_.on_unreachable(address(9), kNow + limit * 2);
  EXPECT_EQ(peers_[peer_].unreachable_since, kNow + limit * 2);
  reports_.on_unreachable(address(1), kNow);
  EXPECT_EQ(counted(Count::unreachable_reports), 3u) << "that one is not known";
}

// [PDS-250] A report about a packet that is not in flight may be forged, and changes nothing.
TEST_F(PathReportsPartTest, AReportAboutNoPacketIsIgnored) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  EXPECT_FALSE(limit(4096, 2048).has_value());
  EXPECT_EQ(peers_[peer_].payload_toward(4096), 4096u);
  EXPECT_EQ(counted(Count::path_reports_ignored), 1u);
}

// [PDS-250] A packet that is too long fails with its PDC, and later messages are shorter.
TEST_F(PathReportsPartTest, APacketThatIsTooLongFails) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  slot(pdc, 1).bytes = 200;
  const auto change = limit(500, 512);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->before, 4096u);
  EXPECT_EQ(change->after, 512u);
  EXPECT_EQ(peers_[peer_].payload_toward(4096), 512u);
  EXPECT_EQ(calls_of("give_up"), Calls{"give_up 1000"});
  EXPECT_EQ(pdc.state(), PdcState::error) << "the peer may hold its end";
}

}  // namespace
}  // namespace uet::pds::part
