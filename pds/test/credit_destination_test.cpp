// Credit at the destination: which source gets credit, what its ACKs report, and the effect of
// hostile demands. Figures by hand: a grant is 4 packets of 1,024 octets, 16 units, which take 331
// ns.
#include "pds/test/credit_bench.h"
#include "pds/test/pair.h"

namespace uet::pds::test {
namespace {

using Units = std::vector<uint32_t>;

// [CMS-130, CMS-132, CMS-134, CMS-135, CMS-137] A request with a target is granted it, a few
// packets at a time and no faster than the link.
TEST(CreditDestinationTest, DemandsAreGranted) {
  CreditBench b;
  b.open_target();
  b.rx(b.cc_request(1001, 3, 40));
  EXPECT_EQ(b.grants(), (Units{16}));
  b.elapse(Duration::nanoseconds(320));
  EXPECT_EQ(b.grants(), Units{});
  b.elapse(Duration::nanoseconds(20));
  EXPECT_EQ(b.grants(), (Units{32}));
  EXPECT_EQ(b.grants_within(10_us), (Units{40}));
  EXPECT_EQ(b.count(Count::credit_tx), 3u);
  EXPECT_TRUE(b.pds->next_deadline() > b.now + 100_us) << "no source asks any more";
}

// [CMS-135, CMS-128] A Credit Request CP is answered, though it asks for nothing new: the answer to
// the one before may be lost.
TEST(CreditDestinationTest, RequestsAreAnswered) {
  CreditBench b;
  b.open_target();
  b.ask(3, 10);
  EXPECT_EQ(b.grants_within(2_us), (Units{10}));
  b.ask(3, 10);
  EXPECT_EQ(b.grants_within(2_us), (Units{10}));
  b.ask(3, 4);
  EXPECT_EQ(b.count(Count::creq_old), 1u);
  EXPECT_EQ(b.grants_within(2_us), (Units{10}));
}

// [CMS-006, CMS-133] Each context of a source has its own credit.
TEST(CreditDestinationTest, ContextsAreDistinguished) {
  CreditBench b;
  b.open_target();
  b.ask(3, 10);
  EXPECT_EQ(b.grants_within(2_us), (Units{10}));
  b.ask(4, 7);
  EXPECT_EQ(b.grants_within(2_us), (Units{7}));
}

// [CMS-135, CMS-167] A packet that was cut asks as well.
TEST(CreditDestinationTest, ATrimmedPacketAsks) {
  CreditBench b;
  b.open_target();
  b.marks.dscp = 16;
  b.rx(b.cc_request(1001, 3, 12));
  EXPECT_EQ(b.grants_within(2_us), (Units{12}));
  EXPECT_EQ(b.count(Count::nack_tx_trimmed), 1u);
}

// [CMS-167, CMS-169] A trimmed packet of a secured PDC is not authenticated: it causes a NACK, and
// no demand.
TEST(CreditDestinationTest, ATrimmedPacketOfASecuredPdcDoesNotAsk) {
  for (const uint32_t sdi : {0u, 77u}) {
    CreditBench b;
    b.sdi = sdi;
    b.open_target();
    b.sdi = 0;
    b.marks.dscp = 16;
    b.rx(b.cc_request(1001, 3, 12));
    EXPECT_EQ(b.grants_within(2_us), sdi == 0 ? (Units{12}) : Units{});
    EXPECT_EQ(b.count(Count::credit_request_rx), sdi == 0 ? 1u : 0u);
    EXPECT_EQ(b.count(Count::nack_tx_trimmed), 1u);
  }
}

// [CMS-043, CMS-137] ACKs carry credit if it is the only congestion control, and the state of NSCC
// if NSCC works as well.
TEST(CreditDestinationTest, AcksCarryTheStateThatTheSourceUses) {
  for (const auto algorithm : {cms::Algorithm::rccc, cms::Algorithm::both}) {
    CreditBench b(algorithm);
    b.open_target();
    b.rx(b.cc_request(1001, 3, 10));
    uint32_t acks = 0;
    for (const Bench::Out& o : b.tx()) {
      if (o.type() != wire::PdsType::ack_cc) continue;
      const auto h = o.as<wire::AckCc>();
      ++acks;
      if (algorithm == cms::Algorithm::rccc) {
        EXPECT_EQ(h.cc_type, wire::CcType::credit);
        EXPECT_EQ(wire::CreditState::unpack(h.state).credit, 10u);
      } else {
        EXPECT_EQ(h.cc_type, wire::CcType::nscc);
        EXPECT_GT(wire::NsccState::unpack(h.state).rcvd_bytes, 0u);
      }
    }
    EXPECT_EQ(acks, 1u);
    EXPECT_EQ(b.count(Count::credit_tx), 1u);
  }
}

// A destination that remembers one source, which has had its grants for that time; the next packet
// is from another source.
struct FullBench : CreditBench {
  explicit FullBench(Duration served_for) : CreditBench(cms::Algorithm::rccc, of_one_source()) {
    client.script.names_are_unique = false;
    open_target();
    rx(cc_request(1001, 3, 10));
    grants_within(served_for);
    from = address(8, 50000);
  }
  static Config of_one_source() {
    Config config = credit_pds();
    config.credit_sources = 1;
    return config;
  }
};

// [CMS-007] Without room for its context a request is refused: the source tries again later.
TEST(CreditDestinationTest, WithoutRoomARequestIsRefused) {
  FullBench b(2_us);
  b.open_target();
  b.rx(b.cc_request(1001, 3, 10));
  const Lines lines = b.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].rfind("NACK NO_CCC_AVAIL psn 1001", 0), 0u) << lines[0];
  EXPECT_EQ(b.count(Count::creq_drop), 1u);
  b.elapse(1_ms);  // the first one rests for longer than a source waits
  b.rx(b.cc_request(1001, 3, 10));
  EXPECT_EQ(b.grants_within(2_us), (Units{10}));
}

// [CMS-007, PDS-252] A source that has not proven its address yet is not refused for that: it could
// never prove it. It has no credit before.
TEST(CreditDestinationTest, WithoutRoomANewSourceMayProveItself) {
  FullBench b(1_ms);
  wire::Request syn = b.request(kFirst.value());
  syn.type = wire::PdsType::rud_cc_request;
  syn.credit_target = 10;
  b.rx(syn);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NE(out[0].type(), wire::PdsType::nack);
  EXPECT_EQ(b.count(Count::creq_drop), 1u);
  b.own = out[0].as<wire::Ack>().spdcid;
  b.rx(b.cc_request(1001, 0, 10));
  EXPECT_EQ(b.grants_within(2_us), (Units{10})) << "it takes the record of the one that rested";
}

// A grant is dropped if its PDC is gone, or if its source is unproven and has no octets left; it
// does not use the turns of other sources. [T-34, T-38, PDS-252]
TEST(CreditDestinationTest, GrantsNeedAPdc) {
  CreditBench b;
  b.open_target();
  b.rx(b.cc_request(1001, 3, 200));
  EXPECT_EQ(b.grants(), (Units{16}));
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  b.tx();
  ASSERT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.grants_within(10_us), Units{});
  EXPECT_EQ(b.count(Count::credit_no_pdc), 1u);

  CreditBench forged;
  wire::Request h = forged.request(kFirst.value());
  h.type = wire::PdsType::rud_cc_request;
  h.credit_target = 600;
  forged.rx(h);
  forged.grants_within(20_us);
  EXPECT_EQ(forged.count(Count::credit_unproven), 1u);
  EXPECT_LT(forged.count(Count::credit_tx), 10u);
}

// [T-34] Packets with an unproven address neither raise nor redirect the credit of a known source,
// which takes precedence.
TEST(CreditDestinationTest, ForgedDemandsTakeNothing) {
  CreditBench b;
  b.client.script.names_are_unique = false;
  b.open_target();
  b.ask(3, 100);
  EXPECT_EQ(b.grants(), (Units{16}));
  wire::Request syn = b.request(kFirst.value() + 50'000);  // of the same address
  syn.type = wire::PdsType::rud_cc_request;
  syn.spdcid = Pdcid(77);
  syn.psn_offset = 0;
  syn.ccc_id = 3;
  syn.credit_target = 800;
  b.rx(syn);
  EXPECT_EQ(b.count(Count::pdc_opened_target), 2u);
  EXPECT_EQ(b.count(Count::creq_unproven), 1u);
  const auto rest = b.grants_within(10_us);
  EXPECT_EQ(rest.back(), 100u);
  EXPECT_EQ(b.count(Count::credit_unproven) + b.count(Count::credit_no_pdc), 0u);
}

// [T-34] Demands, however many and for however much, are believed for a window of a source, and for
// eight of its contexts.
TEST(CreditDestinationTest, HostileDemandsAreBounded) {
  CreditBench b;
  b.open_target();
  const Usage before = b.pds->usage();
  b.ask(3, 100);
  b.ask(3, 5000);
  EXPECT_EQ(b.count(Count::creq_clamped), 1u);
  for (int i = 0; i < 256; ++i) b.ask(static_cast<uint8_t>(i), 200);
  EXPECT_GE(b.count(Count::creq_drop), 248u);
  uint32_t granted = 0;
  for (const uint32_t units : b.grants_within(100_us)) granted = std::max(granted, units);
  EXPECT_LE(granted, 889u) << "225,000 and two packets, in units";
  EXPECT_EQ(b.pds->usage(), before);
}

// [CMS-030, CMS-111, CMS-116] A destination whose memory is full asks for less, and then that
// windows be restored; as long as it has no marks, never.
TEST(CreditDestinationTest, FreeMemoryIsReported) {
  for (const bool has_marks : {false, true}) {
    cms::Config cms = credit_cms(cms::Algorithm::nscc);
    if (has_marks) {
      cms.pressure_low_bytes = 1'000;
      cms.pressure_high_bytes = 2'000;
    }
    Bench b(credit_pds(), cms);
    b.open_target();
    uint32_t psn = 1000;
    const auto told = [&] {
      b.rx(b.request(++psn, false));
      return wire::NsccState::unpack(b.tx().at(0).as<wire::AckCc>().state);
    };
    b.pds->set_pressure(1'000, b.now);
    EXPECT_EQ(told().rcv_cwnd_pend, 0u);
    b.pds->set_pressure(1'500, b.now);
    EXPECT_EQ(told().rcv_cwnd_pend, has_marks ? 63u : 0u);
    b.pds->set_pressure(2'000, b.now);
    EXPECT_EQ(told().rcv_cwnd_pend, has_marks ? 127u : 0u);
    b.pds->set_pressure(0, b.now);
    const auto restored = told();
    EXPECT_EQ(restored.rcv_cwnd_pend, 0u);
    EXPECT_EQ(restored.rc, has_marks);
    b.elapse(12_us);
    EXPECT_FALSE(told().rc);
  }
}

// [CMS-192, CMS-140] If ACKs carry credit only, a destination grants more slowly as its
// memory fills: between marks of 1,000 and 5,000 octets, at 3,000 a quarter of the pace, 1,324 ns
// for a grant. Where NSCC works as well, its ACKs ask for less instead.
TEST(CreditDestinationTest, FullMemorySlowsThePace) {
  for (const auto algorithm : {cms::Algorithm::rccc, cms::Algorithm::both}) {
    const bool is_alone = algorithm == cms::Algorithm::rccc;
    SCOPED_TRACE(is_alone);
    cms::Config cms = credit_cms(algorithm);
    cms.pressure_low_bytes = 1'000;
    cms.pressure_high_bytes = 5'000;
    CreditBench b(cms);
    b.open_target();
    b.pds->set_pressure(3'000, b.now);
    b.rx(b.cc_request(1001, 3, 160));
    EXPECT_EQ(b.grants(), (Units{16}));
    b.elapse(Duration::nanoseconds(1'300));
    EXPECT_EQ(b.grants(), is_alone ? Units{} : (Units{32, 48, 64}));
    if (!is_alone) continue;
    b.elapse(Duration::nanoseconds(40));
    EXPECT_EQ(b.grants(), (Units{32}));
    b.pds->set_pressure(0, b.now);
    EXPECT_EQ(b.grants_within(1'340_ns), (Units{48})) << "the turn that has begun";
    EXPECT_EQ(b.grants_within(340_ns), (Units{64}));
  }
}

// Both ends: everything arrives, in either mode, with and without losses; and nothing is held
// after.
TEST(CreditPairTest, EverythingArrives) {
  for (const auto algorithm : {cms::Algorithm::rccc, cms::Algorithm::both}) {
    for (const Mode mode : {Mode::rud, Mode::rod}) {
      for (const uint32_t lose : {0u, 7u}) {
        SCOPED_TRACE(lose);
        Pair pair(credit_pds(), credit_pds(), 1, credit_cms(algorithm));
        if (lose != 0) {
          pair.fate = [&](InPipe& p) { return p.number % lose == 3 ? Fate{} : Fate{Pair::kDelay}; };
        }
        const FlowId flow = pair.flow(0, mode);
        for (uint32_t m = 1; m <= 5; ++m) pair.side[0].client.post(flow, m, 1000 * 1024);
        pair.run(Duration::seconds(2));
        EXPECT_EQ(pair.side[1].client.received.bytes, 5000u * 1024);
        EXPECT_GT(pair.count(1, Count::credit_tx), 1000u) << "5,480,000 octets / 4,096";
        pair.fate = {};
        pair.expect_all_given_back();
      }
    }
  }
}

}  // namespace
}  // namespace uet::pds::test
