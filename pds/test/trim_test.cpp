// Packets that a switch has cut, at the destination and at the source. [PDS 11]
#include "pds/test/bench.h"
#include "pds/test/pair.h"

#include "wire/tss.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

constexpr uint8_t kTrimmed = 16;  // [WIRE-016]
constexpr uint8_t kLastHop = 18;

class TrimTest : public ::testing::Test {
 protected:
  // The part of a request behind its PDS header does not matter.
  static void rx_trimmed(Bench& b, const wire::Request& h, uint8_t dscp = kTrimmed,
                         uint32_t octets_left = 16) {
    std::vector<std::byte> octets(octets_left);
    std::vector<std::byte> whole(64);
    wire::Writer w(whole);
    h.emit(w);
    std::copy_n(whole.begin(), octets_left, octets.begin());
    b.marks.dscp = dscp;
    b.rx_octets(octets);
    b.marks.dscp = 0;
  }
  // Octets of an ACK whose response is cut off.
  static void rx_trimmed_ack(Bench& b, wire::Ack h, wire::NextHeader next_hdr) {
    h.next_hdr = next_hdr;
    b.marks.dscp = kTrimmed;
    b.rx_header(h);
    b.marks.dscp = 0;
  }
};

// [PDS-V2, PDS-130, PDS-131] A new PSN is refused at once and leaves no trace.
TEST_F(TrimTest, NewRequestIsNacked) {
  Bench b;
  b.open_target();
  wire::Request h = b.request(1001, false);
  h.retx = true;
  b.marks.ecn = Ecn::ce;
  rx_trimmed(b, h);
  rx_trimmed(b, b.request(1002, false), kLastHop);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(b.picture(out[0]), "NACK TRIMMED psn 1001 from own to 7 payload 1001");
  EXPECT_EQ(b.picture(out[1]), "NACK TRIMMED_LASTHOP psn 1002 from own to 7 payload 1001");
  EXPECT_TRUE(out[0].as<wire::Nack>().retx);
  EXPECT_TRUE(out[0].as<wire::Nack>().m);
  EXPECT_EQ(out[0].ev, b.marks.ev);
  b.marks.ecn = Ecn::ect0;
  EXPECT_EQ(b.client.received.times.size(), 1u);
  // The resent packet counts as new.
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.client.received.times.size(), 2u);
  EXPECT_EQ(b.count(Count::nack_tx_trimmed), 1u);
  EXPECT_EQ(b.count(Count::nack_tx_trimmed_lasthop), 1u);
  EXPECT_EQ(b.count(Count::trimmed_rx), 2u);
}

// [PDS-131, PDS-A4] What has arrived before is acknowledged, not refused.
TEST_F(TrimTest, ReceivedRequestIsAcknowledged) {
  Bench b;
  b.open_target();
  wire::Request h = b.request(1000, false);
  h.retx = true;
  rx_trimmed(b, h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000 retx"}));
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// [CMS-167] A received packet that comes again and was cut is acknowledged even without AR: the
// switch does not know which packets were received.
TEST_F(TrimTest, ReceivedRequestIsAcknowledgedUnasked) {
  Bench b;
  b.open_target();
  b.rx(b.request(1001, false));
  b.tx();
  wire::Request h = b.request(1001, false);
  h.ar = false;
  rx_trimmed(b, h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.count(Count::nack_tx_trimmed), 0u);
  b.rx(h);
  EXPECT_EQ(b.lines(), Lines{}) << "a whole copy is not worth an answer";
}

// [CMS-167, CMS-041] Cut packets do not count as received: the first request has 68 nominal octets,
// the last one 1,092; together 5 units of 256, as if the two cut ones of 64 had not been there.
TEST_F(TrimTest, CutPacketsAreNotReceivedOctets) {
  Config config;
  config.ack_form = AckForm::cc;
  Bench b(config);
  b.open_target();
  rx_trimmed(b, b.request(1001, false));
  rx_trimmed(b, b.request(1002, false), kLastHop);
  b.tx();
  b.rx(b.request(1001, false), 1024);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(wire::NsccState::unpack(out[0].as<wire::AckCc>().state).rcvd_bytes, 5u);
}

// [PDS-132] A cut SYN opens nothing, and says so under no PDCID.
TEST_F(TrimTest, SynWithoutPdcLeavesNothing) {
  Bench b;
  b.own = Pdcid(99);  // so that 0 is shown as 0
  rx_trimmed(b, b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"NACK TRIMMED psn 1000 from 0 to 7 payload 0"}));
  EXPECT_EQ(b.pds->usage(), Usage{});
  b.open_target();
  rx_trimmed(b, b.request(1001));  // known by its key
  EXPECT_EQ(b.lines(), (Lines{"NACK TRIMMED psn 1001 from own to 7 payload 1001"}));
  wire::Request other = b.request(1001);
  other.psn_offset = 0;  // another start: a forgery, or a restarted peer
  rx_trimmed(b, other);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_trimmed), 1u);
}

// [PDS-135, T-37, CMS-169] All other trimmed packets, and those that match no PDC, are dropped.
TEST_F(TrimTest, TheRestIsDropped) {
  Bench b;
  b.open_target();
  uint64_t dropped = 0;
  const auto expect_dropped = [&](const char* what) {
    EXPECT_EQ(b.lines(), Lines{}) << what;
    EXPECT_EQ(b.count(Count::drop_trimmed), ++dropped) << what;
  };
  b.marks.dscp = kTrimmed;
  b.rx_header(b.control(CtlType::ack_req, 1000));
  expect_dropped("control packet");
  b.rx_header(b.nack(NackCode::inv_dpdcid, Psn(1000)));
  expect_dropped("NACK");
  b.rx_header(b.ack(Psn(999)));
  expect_dropped("plain ACK");
  b.rx_octets(std::vector<std::byte>(64, std::byte{0x30}));  // type 6
  expect_dropped("UUD request");
  b.rx_octets(std::vector<std::byte>(64, std::byte{0xF8}));  // type 31
  expect_dropped("reserved type");
  rx_trimmed(b, b.request(1001, false), kTrimmed, 11);
  expect_dropped("less than its header");
  wire::Request h = b.request(1001, false);
  h.type = wire::PdsType::rud_cc_request;
  rx_trimmed(b, h, kTrimmed, 15);
  expect_dropped("less than its longer header");
  h = b.request(1001, false);
  h.type = wire::PdsType::rod_request;
  rx_trimmed(b, h);
  expect_dropped("another mode");
  h = b.request(1001, false);
  h.spdcid = Pdcid(8);
  rx_trimmed(b, h);
  expect_dropped("another PDCID");
  h.spdcid = Pdcid(0);
  rx_trimmed(b, h);
  expect_dropped("no PDCID");
  h = b.request(1001, false);
  h.dpdcid = Pdcid(static_cast<uint16_t>(b.own.value() ^ 1));
  rx_trimmed(b, h);
  expect_dropped("no PDC");
  rx_trimmed(b, b.request(1000 + 1025, false));
  expect_dropped("beyond the window");
  rx_trimmed(b, b.request(1001u - 32769u, false));
  expect_dropped("far below the window");
  b.from = address(8, 50000);
  rx_trimmed(b, b.request(1001, false));
  expect_dropped("another source");
}

// [T-37] NACKs for cut packets count toward the budget of NACKs of their source.
TEST_F(TrimTest, NacksForThemAreLimited) {
  Config config;
  config.nacks_per_second_per_peer = 100;
  Bench b(config);
  b.open_target();
  for (uint32_t i = 0; i < 1000; ++i) rx_trimmed(b, b.request(1001, false));
  EXPECT_EQ(b.lines().size(), 10u) << "the bucket holds a tenth of a second";
}

// [TSS-081, PDS-132, PDS-133] A sealed packet that was cut cannot be verified: it causes one
// NACK, sealed, about a PSN that is missing, once in a round trip.
TEST_F(TrimTest, ASecuredRequestThatWasCutIsNackedOnce) {
  Bench b;
  b.sdi = 5;
  b.open_target();
  b.sdi = 5 | wire::kUnverifiedSdi;
  rx_trimmed(b, b.request(1001, false));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "NACK TRIMMED psn 1001 from own to 7 payload 1001");
  EXPECT_EQ(out[0].sdi, 5u);
  rx_trimmed(b, b.request(1001, false));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_nack_limited), 1u);
  rx_trimmed(b, b.request(1002, false), kLastHop);
  EXPECT_EQ(b.lines(), (Lines{"NACK TRIMMED_LASTHOP psn 1002 from own to 7 payload 1001"}));
  b.elapse(100_us);
  rx_trimmed(b, b.request(1001));  // the SYN bit of a PDC that is there
  EXPECT_EQ(b.lines(), (Lines{"NACK TRIMMED psn 1001 from own to 7 payload 1001"}));
}

// [TSS-081, T-37] It opens nothing, acknowledges nothing, moves nothing, and binds by its domain.
TEST_F(TrimTest, ASecuredPacketThatWasCutDoesNothingElse) {
  Bench b;
  b.sdi = 5 | wire::kUnverifiedSdi;
  rx_trimmed(b, b.request(1000));
  EXPECT_EQ(b.lines(), Lines{}) << "no PDC";
  EXPECT_EQ(b.pds->usage(), Usage{});
  b.sdi = 5;
  b.open_target();
  uint64_t dropped = b.count(Count::drop_trimmed);
  const auto expect_dropped = [&](const char* what) {
    EXPECT_EQ(b.lines(), Lines{}) << what;
    EXPECT_EQ(b.count(Count::drop_trimmed), ++dropped) << what;
  };
  b.sdi = 5 | wire::kUnverifiedSdi;
  rx_trimmed(b, b.request(1000, false));
  expect_dropped("it was received");
  rx_trimmed_ack(b, b.ack(Psn(999)), wire::NextHeader::response_data);
  expect_dropped("an ACK");
  b.sdi = 6 | wire::kUnverifiedSdi;
  rx_trimmed(b, b.request(1001, false));
  expect_dropped("another domain");
  // Only the mark of a switch makes the target accept such a packet.
  b.sdi = 5 | wire::kUnverifiedSdi;
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_sdi), 1u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// [TSS-081, TSS-145, T-37] At most 1,000 NACKs a second go to a source, or as many as configured.
TEST_F(TrimTest, NacksForSecuredPacketsThatWereCutAreLimited) {
  Config config;
  for (const uint32_t per_second : {config.trim_nacks_per_second, 50u}) {
    config.trim_nacks_per_second = per_second;
    Bench b(config);
    b.sdi = 5;
    b.open_target();
    b.sdi = 5 | wire::kUnverifiedSdi;
    const auto nacks = [&](uint32_t first) {
      size_t count = 0;
      for (uint32_t i = 0; i < 300; ++i) {
        rx_trimmed(b, b.request(first + i, false));
        count += b.lines().size();
      }
      return count;
    };
    EXPECT_EQ(nacks(1001), per_second / 10) << "the bucket holds a tenth of a second";
    b.elapse(Duration::milliseconds(40));
    EXPECT_EQ(nacks(1301), per_second / 25) << "what came in since";
  }
  EXPECT_EQ(Config().trim_nacks_per_second, 1000u);
}

// [PDS-134, CMS-168] The data of a response was cut off: the request goes again, once per round
// trip.
TEST_F(TrimTest, RequestOfACutResponseGoesAgain) {
  Bench b;
  b.open_initiator(2);
  b.elapse(1_ms);
  b.rx_header(b.ack(b.start));  // a round trip of 1 ms
  const wire::Ack cut = b.ack(b.start, 1);
  rx_trimmed_ack(b, cut, wire::NextHeader::response_data);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_trimmed_ack), 1u);
  rx_trimmed_ack(b, cut, wire::NextHeader::response_data_small);
  EXPECT_EQ(b.lines(), Lines{}) << "not before the next round trip";
  b.elapse(1_ms + 1_us);
  rx_trimmed_ack(b, cut, wire::NextHeader::response_data_small);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  // Without data, for an answered packet, or for no PDC: dropped, however late.
  b.elapse(1_ms + 1_us);
  rx_trimmed_ack(b, cut, wire::NextHeader::response);
  rx_trimmed_ack(b, b.ack(b.start), wire::NextHeader::response_data);
  wire::Ack other = cut;
  other.spdcid = Pdcid(8);
  rx_trimmed_ack(b, other, wire::NextHeader::response_data);
  EXPECT_EQ(b.count(Count::drop_trimmed), 4u);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.client.responded.size(), 1u);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.client.responded.size(), 2u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 0u);
}

// [PDS-134, CMS-168] NACK TRIMMED_ACK of an older peer: its response is sent again.
TEST_F(TrimTest, TrimmedAckNackIsAnsweredWithTheResponse) {
  Bench b;
  b.client.verdict = [](PacketName, const RxRequest&) {
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response_data;
    v.response.length = 28;
    return v;
  };
  b.open_target();
  wire::Nack h = b.nack(NackCode::trimmed_ack, Psn(1000));
  h.spdcid = kPeerId;
  b.rx_header(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 999 ack 1000 req CLEAR sack 1000 ses 28"}));
  h.nack_psn = Psn(1001);  // never received
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_nack_range), 1u);
  EXPECT_EQ(b.count(Count::nack_rx_trimmed_ack), 1u);
}

// [PDS-150] An ordered peer that drops packets out of order needs all from the trimmed packet on.
TEST_F(TrimTest, OrderedPdcGoesBackInTheSpecProfile) {
  Bench spec(Config::spec());
  spec.open_initiator(4, Mode::rod);
  spec.rx_header(spec.nack(NackCode::trimmed, spec.start + 1));
  EXPECT_EQ(spec.lines(),
            (Lines{"REQ psn +1 syn retx ar clear -2", "REQ psn +2 syn retx ar clear -3",
                   "REQ psn +3 syn retx ar clear -4"}));
  Bench soft;
  soft.open_initiator(4, Mode::rod);
  soft.rx_header(soft.nack(NackCode::trimmed, soft.start + 1));
  EXPECT_EQ(soft.lines(), (Lines{"REQ psn +1 syn retx ar clear -2"}));
}

// [PDS-136] Trimmed and marked is one event: the window is halved once.
TEST_F(TrimTest, CutAndMarkedCountsOnce) {
  cms::Config halving;
  halving.algorithm = cms::Algorithm::aimd;
  Bench b({}, halving);
  b.client.mtu = 4096;
  const auto sent = b.open_initiator(32);
  const uint64_t all = b.pds->usage().inflight_bytes;
  wire::Nack h = b.nack(NackCode::trimmed, b.start);
  h.m = true;
  b.rx_header(h);
  EXPECT_EQ(b.pds->usage().inflight_bytes, all - all / sent.size());
  EXPECT_EQ(b.lines(), Lines{}) << "half the window is full: the resend waits";
  wire::AckCc arrived;  // 20 others: 11 in flight are more than a quarter of the window, not half
  arrived.ack = b.ack(b.start - 1, 2);
  arrived.ack.type = wire::PdsType::ack_cc;
  arrived.mpr = 8;
  arrived.sack_bitmap = 0x1FFFFE;
  arrived.sack_psn_offset = 1;
  b.rx_header(arrived);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 retx ar clear -1"}));
}

// [PDS-130, PDS-131] End to end: one packet in eight is cut; each costs a round trip, no time-out.
TEST_F(TrimTest, CutPacketsAreResentAtOnce) {
  Pair pair;
  uint32_t requests = 0;
  pair.fate = [&](InPipe& p) {
    if (p.is_request() && p.octets.size() > 200 && ++requests % 8 == 0) {
      p.octets.resize(16);
      p.dscp = kTrimmed;
    }
    return Fate{Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 100 * 1024);
  pair.run(3_ms);
  EXPECT_EQ(pair.side[0].client.responded.size(), 100u);
  EXPECT_EQ(pair.count(0, Count::retx_rto), 0u);
  EXPECT_EQ(pair.count(1, Count::nack_tx_trimmed), pair.count(0, Count::nack_rx_trimmed));
  EXPECT_GE(pair.count(0, Count::retx_nack), 12u);
}

}  // namespace
}  // namespace uet::pds::test
