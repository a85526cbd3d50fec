// Packets that a switch has cut, by way of Demux. [PDS 11, PDS-V2]
#include "pds/test/demux_part.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;
using wire::PdsType;

using TrimmedPartTest = DemuxPartTest;

// [PDS-130, PDS-131] A cut packet that is missing is refused, with the code of its DSCP.
TEST_F(TrimmedPartTest, ACutRequestThatIsMissingIsRefused) {
  Pdc& pdc = target();
  EXPECT_EQ(outcome_cut(octets_of(request(pdc))), (Calls{"nack TRIMMED psn 1000", "trimmed_rx"}));
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.dscp = res_.config.trimmed_lasthop_dscp}),
            (Calls{"nack TRIMMED_LASTHOP psn 1000", "trimmed_rx"}));
  EXPECT_EQ(pdc.rx.classify(kFirst), Arrival::fresh) << "it has not arrived";
  EXPECT_EQ(pdc.told.rcvd_bytes(), 0u) << "nothing was accepted [CMS-167]";
  wire::Request h = request(pdc);
  h.psn = kFirst - 1;
  EXPECT_EQ(outcome_cut(octets_of(h)), (Calls{"on_trimmed_duplicate 999", "trimmed_rx"}));
  h.psn = kFirst + (1 << 20);
  EXPECT_EQ(outcome_cut(octets_of(h)), (Calls{"trimmed_rx", "drop_trimmed"}));
}

// [PDS-132, T-37] It opens no PDC, and says nothing for another sender.
TEST_F(TrimmedPartTest, ACutPacketMustBelongToItsPdc) {
  const Calls dropped{"trimmed_rx", "drop_trimmed"};
  Pdc& pdc = target();
  EXPECT_EQ(outcome_cut(octets_of(syn())), (Calls{"nack_stranger TRIMMED psn 1000", "trimmed_rx"}));
  ASSERT_TRUE(table_.bind_peer(pdc));
  EXPECT_EQ(outcome_cut(octets_of(syn())), (Calls{"nack TRIMMED psn 1000", "trimmed_rx"}));
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.from = 8, .dscp = res_.config.trimmed_dscp}),
            dropped);
  wire::Request h = request(pdc);
  h.spdcid = Pdcid(8);
  EXPECT_EQ(outcome_cut(octets_of(h)), dropped);
  h = request(pdc);
  h.type = PdsType::rod_request;
  EXPECT_EQ(outcome_cut(octets_of(h)), dropped) << "another mode";
  h = request(pdc);
  h.dpdcid = kUnknown;
  EXPECT_EQ(outcome_cut(octets_of(h)), dropped);
  EXPECT_EQ(outcome_cut(octets_of(request(in_syn()))), dropped);
}

// [CMS-141, CMS-167] Its demand for credit counts, unless the packet ought to have been sealed.
TEST_F(TrimmedPartTest, ACutRequestAsksForCredit) {
  Pdc& pdc = target();
  wire::Request h = request(pdc);
  h.type = PdsType::rud_cc_request;
  h.credit_target = 40;
  EXPECT_EQ(outcome_cut(octets_of(h)),
            (Calls{"on_demand 40", "on_received trimmed", "nack TRIMMED psn 1000", "trimmed_rx"}));
  h.psn = kFirst - 1;
  EXPECT_EQ(outcome(octets_of(h), {.dscp = res_.config.trimmed_lasthop_dscp}),
            (Calls{"on_demand 40", "on_received at the last hop duplicate",
                   "on_trimmed_duplicate 999", "trimmed_rx"}));
  h.psn = kFirst;
  pdc.sdi = kSdi;
  EXPECT_EQ(outcome_cut(octets_of(h)), (Calls{"nack TRIMMED psn 1000", "trimmed_rx"}));
}

// [TSS-081, CMS-169] A cut secured packet may only say that a PSN is missing, once in a round trip.
TEST_F(TrimmedPartTest, ACutSecuredRequestIsRefusedOnce) {
  Pdc& pdc = secured();
  const uint32_t sdi = kSdi | wire::kUnverifiedSdi;
  const Octets whole = octets_of(request(pdc));
  const Calls dropped{"trimmed_rx", "drop_trimmed"};
  EXPECT_EQ(outcome_cut(whole, sdi + 1), dropped) << "another domain";
  wire::Request h = request(pdc);
  h.psn = kFirst - 1;
  EXPECT_EQ(outcome_cut(octets_of(h), sdi), dropped) << "it was received";
  EXPECT_EQ(outcome_cut(octets_of(ack(pdc)), sdi), dropped);
  EXPECT_EQ(outcome_cut(octets_of(syn()), sdi), dropped) << "no PDC, no answer";
  EXPECT_EQ(outcome_cut(whole, sdi), (Calls{"nack TRIMMED psn 1000", "trimmed_rx"}));
  EXPECT_EQ(outcome_cut(whole, sdi), (Calls{"trimmed_rx", "drop_nack_limited"}));
}

// [PDS-134] The data of a response is lost: its request goes again, but not twice in a round trip.
TEST_F(TrimmedPartTest, ACutResponseIsAskedForAgain) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  pdc.rtt.on_rtt(Duration::microseconds(50));
  wire::Ack h = ack(pdc);
  const auto later = [&](int us) {
    return outcome(octets_of(h),
                   {.dscp = res_.config.trimmed_dscp, .at = kNow + Duration::microseconds(us)});
  };
  const Calls dropped{"trimmed_rx", "drop_trimmed"};
  EXPECT_EQ(later(60), dropped) << "an ACK without data [PDS-135]";
  h.next_hdr = wire::NextHeader::response_data;
  EXPECT_EQ(later(40), dropped) << "its request has just left";
  h.spdcid = Pdcid(8);
  EXPECT_EQ(later(60), dropped) << "another PDC";
  h.spdcid = kPeerId;
  EXPECT_EQ(later(60), (Calls{"forget", "mark_lost 1000", "trimmed_rx"}));
  context_.mark(pdc, slot(pdc, 0), kFirst, LossSign::reported);
  EXPECT_EQ(later(60), dropped) << "it goes again already";
}

// [PDS-135] Of RUDI, requests are refused; all else that was cut is dropped and counted.
TEST_F(TrimmedPartTest, OtherCutPacketsAreDropped) {
  Pdc& pdc = target();
  EXPECT_EQ(outcome_cut(octets_of(control(pdc))),
            (Calls{"cut connectionless TRIMMED", "trimmed_rx", "drop_trimmed"}));
  answers().to_demux.refused_without_pdc.emplace().nack.nack_code = NackCode::trimmed;
  wire::RudiRequest rudi;
  EXPECT_EQ(outcome_cut(octets_of(rudi)),
            (Calls{"cut connectionless TRIMMED", "refuse TRIMMED", "trimmed_rx"}));
}

}  // namespace
}  // namespace uet::pds::part
