// Limits on the PDCs that one peer, one job and one secure domain may open, so that none of them
// excludes the others. [T-01, T-02]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

class ShareTest : public ::testing::Test {
 protected:
  ShareTest() {
    config_.max_pdcs = 8;  // all of them for targets
    config_.target_floor_percent = 0;
    config_.low_water_percent = 0;
    config_.job_share_percent = 100;
  }
  // Peer n opens a PDC that it calls `id`. True: it got one.
  static bool opens(Bench& b, uint8_t n, uint16_t id, bool reserved = false) {
    return opens_from(b, address(n, 50000), id, reserved);
  }
  // Port n, each a separate peer: the low four bits of a port do not count. [WIRE-121]
  static FabricAddress port(uint16_t n) {
    return address(20, static_cast<uint16_t>(20000 + 16 * n));
  }
  static bool opens_from(Bench& b, const FabricAddress& from, uint16_t id, bool reserved = false) {
    b.client.script.names_are_unique = false;
    b.from = from;
    wire::Request h = b.request(kFirst.value());
    h.private_mark = from.port < 50000;
    h.spdcid = Pdcid(id);
    h.use_rsv_pdc = reserved;
    b.rx(h);
    const auto out = b.tx();
    for (const auto& o : out) {
      if (o.type() == wire::PdsType::ack) b.own = o.as<wire::Ack>().spdcid;
      if (o.type() != wire::PdsType::nack) continue;
      EXPECT_EQ(o.as<wire::Nack>().nack_code, wire::NackCode::no_pdc_avail);
      return false;
    }
    return true;
  }
  // Opens one and shows that it heard the answer.
  static Pdcid opens_and_uses(Bench& b, uint8_t n, uint16_t id) {
    EXPECT_TRUE(opens(b, n, id));
    wire::Request h = b.request(kFirst.value() + 1, /*syn=*/false);
    h.spdcid = Pdcid(id);
    b.rx(h);
    b.tx();
    return b.own;
  }
  Config config_;
};

// [T-02, T-01] A peer leaves half of the PDCs that it does not hold, however many it opens; two
// such peers leave a third, and so on.
TEST_F(ShareTest, OnePeerHoldsAtMostAsManyAsItLeaves) {
  Bench b(config_);
  for (uint16_t id = 1; id <= 4; ++id) EXPECT_TRUE(opens(b, 20, id)) << id;
  EXPECT_FALSE(opens(b, 20, 5)) << "it has four, and four are free";
  EXPECT_FALSE(opens(b, 20, 5));
  EXPECT_EQ(b.count(Count::peer_share_limit), 2u);
  EXPECT_TRUE(opens(b, 21, 1));
  EXPECT_TRUE(opens(b, 21, 2));
  EXPECT_FALSE(opens(b, 21, 3)) << "it has two, and two are free";
  EXPECT_TRUE(opens(b, 22, 1));
  EXPECT_TRUE(opens(b, 23, 1)) << "the last one, for a peer without a PDC";
  EXPECT_EQ(b.count(Count::peer_share_limit), 3u);
  EXPECT_FALSE(opens(b, 24, 1));
  EXPECT_EQ(b.count(Count::peer_share_limit), 3u) << "none are left: that is another counter";
  EXPECT_EQ(b.count(Count::pdc_alloc_fail), 1u);
}

// [PDS-252, PDS-181, T-01] A secured PDC is half-open, too, until its peer uses our PDCID; then it
// is closed for others when it is idle.
TEST_F(ShareTest, IdleSecuredPdcsMakeRoom) {
  Bench b(config_);
  b.sdi = 77;
  Pdcid first;
  for (uint16_t id = 1; id <= 4; ++id) {
    const Pdcid own = opens_and_uses(b, 20, id);
    if (id == 1) first = own;
  }
  EXPECT_FALSE(opens(b, 20, 5));
  EXPECT_EQ(b.count(Count::pressure_closes), 2u);
  EXPECT_EQ(b.pds->usage().pdcs, 4u);
  wire::Control close = b.control(wire::CtlType::close_cmd, kFirst.value() + 2);
  close.spdcid = Pdcid(1);
  close.dpdcid = first;
  b.rx_header(close);
  EXPECT_EQ(b.pds->usage().pdcs, 3u);
}

// [T-61, T-02] An address with many ports gets three quarters; the rest is for other addresses.
TEST_F(ShareTest, ManyPortsOfOneAddressLeaveAQuarter) {
  Bench b(config_);
  uint16_t got = 0;
  for (uint16_t n = 1; n <= 20; ++n) got += opens_from(b, port(n), n);
  EXPECT_EQ(got, 6);
  EXPECT_EQ(b.count(Count::host_share_limit), 14u);
  EXPECT_TRUE(opens(b, 21, 1));
  EXPECT_TRUE(opens(b, 22, 1));
  EXPECT_EQ(b.count(Count::peer_share_limit), 0u);
}

// [T-61, PDS-181] Its own idle ones make room, whatever their port.
TEST_F(ShareTest, IdlePdcsOfTheSameAddressGiveWay) {
  Bench b(config_);
  opens_and_uses(b, 30, 1);
  b.elapse(10_ms);
  for (uint16_t n = 1; n <= 6; ++n) {
    EXPECT_TRUE(opens_from(b, port(n), n)) << n;
    wire::Request h = b.request(kFirst.value() + 1, /*syn=*/false);
    h.spdcid = Pdcid(n);
    b.rx(h);
    b.tx();
    b.elapse(10_ms);
  }
  EXPECT_FALSE(opens_from(b, port(7), 7)) << "six of seven";
  EXPECT_EQ(b.count(Count::host_share_limit), 1u);
  EXPECT_EQ(b.count(Count::pressure_closes), 2u);
  EXPECT_EQ(b.count(Count::close_req_tx), 2u);
  EXPECT_EQ(b.pds->open_pdcs(), 7u);
}

// [PDS-253, T-01] Even without a share limit a host leaves some places to hosts that hold none; at
// that point idle PDCs are asked to close, so that it can have more.
TEST_F(ShareTest, SomePlacesAreLeftToHostsThatHoldNone) {
  config_.max_pdcs = 100;
  config_.peer_share_percent = 100;
  Bench b(config_);
  uint16_t got = 0;
  for (uint16_t id = 1; id <= 100; ++id) got += opens(b, 20, id);
  EXPECT_EQ(got, 88);
  EXPECT_EQ(b.count(Count::host_share_limit), 12u);
  EXPECT_EQ(b.count(Count::pressure_closes), 0u) << "none of its own has shown anything";
  for (uint8_t host = 30; host < 41; ++host) EXPECT_TRUE(opens(b, host, 1)) << int{host};
  EXPECT_FALSE(opens(b, 30, 2)) << "it has one by now";
  EXPECT_EQ(b.count(Count::host_share_limit), 13u);
  EXPECT_TRUE(opens(b, 42, 1));
  EXPECT_FALSE(opens(b, 43, 1)) << "all are taken";
  EXPECT_EQ(b.count(Count::pdc_alloc_fail), 1u);
}

// [PDS-253, PDS-181] Idle PDCs give way before the places for newcomers are used.
TEST_F(ShareTest, IdlePdcsGiveWayBeforeNewcomersPlacesAreTaken) {
  config_.max_pdcs = 100;
  config_.peer_share_percent = 100;
  Bench b(config_);
  for (uint16_t id = 1; id <= 88; ++id) opens_and_uses(b, 20, id);
  EXPECT_EQ(b.count(Count::pressure_closes), 0u);
  b.elapse(10_ms);
  EXPECT_FALSE(opens(b, 20, 89));
  EXPECT_EQ(b.count(Count::close_req_tx), 2u);
}

// [PDS-253, PDS-181] They do so a low water mark earlier: a host that holds PDCs finds the next
// place free, not just given up.
TEST_F(ShareTest, IdlePdcsGiveWayBeforeOnlyNewcomersPlacesAreFree) {
  config_.max_pdcs = 100;
  config_.low_water_percent = 5;
  config_.peer_share_percent = 100;
  Bench b(config_);
  for (uint16_t id = 1; id <= 83; ++id) opens_and_uses(b, 20, id);
  b.elapse(10_ms);
  EXPECT_TRUE(opens(b, 20, 84)) << "17 were free";
  EXPECT_EQ(b.count(Count::close_req_tx), 0u);
  EXPECT_TRUE(opens(b, 20, 85)) << "16 were free";
  EXPECT_GT(b.count(Count::close_req_tx), 0u);
}

// [T-02] PDCs that a peer has closed do not count in its share.
TEST_F(ShareTest, ClosedPdcsFreeTheirShare) {
  Bench b(config_);
  for (uint16_t id = 1; id <= 4; ++id) EXPECT_TRUE(opens(b, 20, id));
  EXPECT_FALSE(opens(b, 20, 5));
  wire::Control close = b.control(wire::CtlType::close_cmd, kFirst.value() + 1);
  close.spdcid = Pdcid(4);
  b.rx_header(close);
  EXPECT_EQ(b.pds->open_pdcs(), 3u);
  b.tx();
  EXPECT_TRUE(opens(b, 20, 5));
  EXPECT_FALSE(opens(b, 20, 6));
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
  for (uint16_t id = 11; id <= 14; ++id) EXPECT_TRUE(opens(b, 20, id));
}

// [T-02] The peers of one job together leave some to another job.
TEST_F(ShareTest, OneJobDoesNotShutOutAnother) {
  config_.job_share_percent = 75;
  Bench b(config_);
  for (uint8_t n = 20; n < 26; ++n) EXPECT_TRUE(opens(b, n, 1)) << int{n};
  EXPECT_FALSE(opens(b, 26, 1)) << "six of eight";
  EXPECT_EQ(b.count(Count::job_share_limit), 1u);
  b.client.script.job = JobId(2);
  EXPECT_TRUE(opens(b, 26, 1));
  EXPECT_TRUE(opens(b, 27, 1));
  EXPECT_EQ(b.count(Count::peer_share_limit), 0u);
}

// [T-02] The same of a secure domain, whatever jobs its members invent.
TEST_F(ShareTest, OneDomainDoesNotShutOutAnother) {
  config_.job_share_percent = 75;
  Bench b(config_);
  b.sdi = 5;
  for (uint8_t n = 20; n < 26; ++n) {
    b.client.script.job = JobId(n);
    EXPECT_TRUE(opens(b, n, 1)) << int{n};
  }
  b.client.script.job = JobId(26);
  EXPECT_FALSE(opens(b, 26, 1));
  EXPECT_EQ(b.count(Count::job_share_limit), 1u);
  b.sdi = 6;
  EXPECT_TRUE(opens(b, 26, 1));
}

// [T-02, PDS-181] A peer at its limit makes room among its own idle PDCs, the longest idle first;
// PDCs of other peers stay.
TEST_F(ShareTest, IdlePdcsOfTheSamePeerGiveWay) {
  Bench b(config_);
  opens_and_uses(b, 30, 1);
  b.elapse(10_ms);
  for (uint16_t id = 1; id <= 4; ++id) {
    opens_and_uses(b, 20, id);
    b.elapse(10_ms);
  }
  EXPECT_FALSE(opens(b, 20, 5)) << "four of seven";
  EXPECT_EQ(b.count(Count::pressure_closes), 2u);
  EXPECT_EQ(b.count(Count::close_req_tx), 2u);
  EXPECT_EQ(b.pds->open_pdcs(), 5u);
}

// [T-01, T-02] SYNs with the forged address of a peer do not close its real PDCs: only unproven
// PDCs are closed.
TEST_F(ShareTest, AFloodUnderAPeersAddressClosesNoneOfItsPdcs) {
  Bench b(config_);
  opens_and_uses(b, 20, 1);
  for (uint16_t id = 2; id <= 4; ++id) EXPECT_TRUE(opens(b, 20, id));
  for (uint16_t id = 5; id < 50; ++id) EXPECT_FALSE(opens(b, 20, id));
  EXPECT_EQ(b.count(Count::pressure_closes), 0u);
  EXPECT_EQ(b.count(Count::peer_share_limit), 45u);
  b.elapse(config_.close_req + 1_ms);
  EXPECT_FALSE(opens(b, 20, 50)) << "two of the invented ones make room";
  EXPECT_EQ(b.count(Count::pdc_reclaimed), 2u);
  EXPECT_TRUE(opens(b, 20, 51));
}

// [T-01, T-61] The same when the SYNs carry other ports of its host.
TEST_F(ShareTest, AFloodUnderAHostsAddressClosesNoneOfItsPdcs) {
  Bench b(config_);
  opens_and_uses(b, 20, 1);
  uint16_t n = 1;
  while (opens_from(b, port(n), 1)) ++n;
  EXPECT_EQ(n, 6) << "six of eight";
  for (uint16_t other = 50; other < 60; ++other) EXPECT_FALSE(opens_from(b, port(other), 1));
  EXPECT_EQ(b.count(Count::pressure_closes), 0u);
  EXPECT_EQ(b.count(Count::host_share_limit), 11u);
}

// [PDS-017] The reserved pool is separate, and its PDCs count for no share.
TEST_F(ShareTest, ReservedPdcsDoNotCount) {
  config_.max_pdcs = 10;
  config_.reserved_pdcs = 2;
  Bench b(config_);
  EXPECT_TRUE(opens(b, 20, 1, /*reserved=*/true));
  for (uint16_t id = 2; id <= 5; ++id) EXPECT_TRUE(opens(b, 20, id)) << id;
  EXPECT_FALSE(opens(b, 20, 6));
  EXPECT_TRUE(opens(b, 20, 7, /*reserved=*/true)) << "it asks for no share";
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

}  // namespace
}  // namespace uet::pds::test
