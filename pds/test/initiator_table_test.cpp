// The rows of PDS 5.1 that open a PDC and carry data, one test each: it starts in the row's state,
// applies the row's event, checks action and next state. Closing: initiator_close_table_test.cpp.
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

// [PDS-I1] CLOSED, a message: PDCID, Start_PSN, first packet with SYN, RTO armed. -> SYN
TEST(InitiatorTable, I1MessageOpensThePdc) {
  TableBench b;
  EXPECT_EQ(b.state(), "CLOSED");
  b.client.post(b.flow(), 1, 10);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  const auto first = out[0].as<wire::Request>();
  b.own = first.spdcid;
  b.start = first.psn;
  EXPECT_NE(b.own, Pdcid(0));
  EXPECT_EQ(b.picture(out[0]), "REQ psn +0 syn ar clear -1");
  EXPECT_EQ(first.psn_offset, 0);
  EXPECT_EQ(b.state(), "SYN");
  b.elapse(Config{}.shortest_rto() + 2_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 syn retx ar clear -1"}));
  EXPECT_EQ(b.state(), "SYN");
}

// [PDS-I2] SYN, another message: the same PDC, SYN, the next psn_offset. -> SYN
TEST(InitiatorTable, I2SynSendsOnWithSyn) {
  TableBench b;
  b.to_syn();
  b.client.post(b.flow(), 2, 10);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "REQ psn +2 syn ar clear -3");
  EXPECT_EQ(out[0].as<wire::Request>().psn_offset, 2);
  EXPECT_EQ(out[0].as<wire::Request>().spdcid, b.own);
  EXPECT_EQ(b.state(), "SYN");
}

// [PDS-I3] SYN, a valid ACK: DPDCID is learnt, the ACK is read. -> ESTABLISHED
TEST(InitiatorTable, I3FirstAckEstablishes) {
  TableBench b;
  b.to_syn();
  b.rx_header(b.ack(b.start + 2));  // for a packet that was never sent: not valid
  EXPECT_EQ(b.state(), "SYN");
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.state(), "ESTABLISHED");
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{1, 0}, 1}}));
  b.elapse(6_ms);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "REQ psn +1 retx ar clear -1");
  EXPECT_EQ(out[0].as<wire::Request>().dpdcid, kPeerId);
}

// [PDS-I4] SYN, NACK NEW_START_PSN: all that is outstanding goes again from the new start. -> SYN
TEST(InitiatorTable, I4NewStartIsTaken) {
  TableBench b;
  b.sdi = kDomain;
  b.to_syn();
  const Psn told = b.start + 70000;
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, told.value()));
  EXPECT_EQ(b.state(), "SYN");
  b.start = told;
  EXPECT_EQ(b.lines(),
            (Lines{"REQ psn +0 syn retx ar clear -1", "REQ psn +1 syn retx ar clear -2"}));
  EXPECT_EQ(b.state(), "SYN");
}

// [PDS-I5] SYN, a NACK that may be waited out: resent after NACK_Retx_Time, which doubles with the
// count of NACKs. -> SYN
TEST(InitiatorTable, I5RetryableNackDelaysTheResend) {
  for (const NackCode code :
       {NackCode::no_pdc_avail, NackCode::no_ccc_avail, NackCode::no_bitmap,
        NackCode::no_pkt_buffer, NackCode::no_gtd_del_avail, NackCode::no_ses_msg_avail,
        NackCode::no_resource, NackCode::psn_oor_window, NackCode::exp_nack_normal}) {
    SCOPED_TRACE(wire::name(code));
    TableBench b;
    b.to_syn();
    for (const Duration wait : {2_ms, 4_ms, 8_ms}) {
      b.rx_header(b.nack(code, b.start));
      b.rx_header(b.nack(code, b.start + 1));
      EXPECT_EQ(b.state(), "SYN");
      b.elapse(wait - 2_us);
      EXPECT_EQ(b.lines(), Lines{});
      b.elapse(4_us);
      EXPECT_EQ(b.lines(),
                (Lines{"REQ psn +0 syn retx ar clear -1", "REQ psn +1 syn retx ar clear -2"}));
    }
    EXPECT_EQ(b.count(Count::nacks_rx), 6u);
    EXPECT_EQ(b.state(), "SYN");
    EXPECT_TRUE(b.client.failed.empty());
  }
}

// [PDS-I6] SYN, a fatal NACK: everything fails, and no Close is sent. -> CLOSED
TEST(InitiatorTable, I6FatalNackInSynEndsWithoutClose) {
  for (const NackCode code :
       {NackCode::pdc_hdr_mismatch, NackCode::closing_in_err, NackCode::gtd_resp_unavail,
        NackCode::invalid_syn, NackCode::pdc_mode_mismatch, NackCode::unexp_event,
        NackCode::exp_nack_fatal}) {
    SCOPED_TRACE(wire::name(code));
    TableBench b;
    b.to_syn();
    b.rx_header(b.nack(code, b.start));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 0}, 1}, {{1, 1024}, 1}}));
    EXPECT_EQ(b.lines(), Lines{});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-I6] SYN, the retries are exhausted: the same. -> CLOSED
TEST(InitiatorTable, I6ExhaustedRetriesInSynEndWithoutClose) {
  TableBench b(Config::spec());
  b.to_syn();
  for (int ms = 0; ms < 200 && b.state() == "SYN"; ++ms) {
    for (const std::string& line : b.lines()) EXPECT_EQ(line.substr(0, 3), "REQ");
    b.elapse(1_ms);
  }
  EXPECT_EQ(b.state(), "CLOSED");
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 0}, 1}, {{1, 1024}, 1}}));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-I7] ESTABLISHED, a message: sent without SYN. -> ESTABLISHED
TEST(InitiatorTable, I7EstablishedSendsWithoutSyn) {
  TableBench b;
  b.to_established();
  b.client.post(b.flow(), 2, 10);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "REQ psn +2 ar clear -2");
  EXPECT_EQ(out[0].as<wire::Request>().dpdcid, kPeerId);
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-I8] ESTABLISHED, an ACK with a SACK: the packets that it names, covers and shows are
// completed. -> ESTABLISHED
TEST(InitiatorTable, I8AckAndSackComplete) {
  TableBench b;
  b.to_established();
  b.client.post(b.flow(), 2, 4 * 1024);  // PSNs +2 to +5
  EXPECT_EQ(b.lines().size(), 4u);
  wire::AckCc h;
  h.ack = b.ack(b.start + 1, 4);  // up to +1, and +5
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0b1010;  // +3 and +5
  b.rx_header(h);
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{
                                    {{1, 0}, 1}, {{1, 1024}, 1}, {{2, 1024}, 1}, {{2, 3072}, 1}}));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -1", "REQ psn +4 retx ar clear -3"}));
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-I9] ESTABLISHED, return data: to the client, and an ACK. -> ESTABLISHED
TEST(InitiatorTable, I9ReturnDataIsTaken) {
  TableBench b;
  b.to_established();
  wire::Request h = b.request(b.start.value(), false);
  h.next_hdr = wire::NextHeader::response_data;
  b.rx(h, 100);
  EXPECT_EQ(b.client.received.times, (std::map<PacketName, int>{{{b.start.value(), 0}, 1}}));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + b.at(0) + " ack " + b.at(0)}));
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-I20] Any state but CLOSED, packets of another PDCID of the peer: dropped, counted. -> same
TEST(InitiatorTable, I20PacketsOfAnOldPdcAreDropped) {
  for (const PdcState s : {PdcState::established, PdcState::quiesce, PdcState::ack_wait,
                           PdcState::close_ack_wait, PdcState::error}) {
    SCOPED_TRACE(name(s));
    TableBench b;
    b.to_initiator(s);
    const auto responded = b.client.responded;
    wire::Ack ack = b.ack(b.start + 1);
    ack.spdcid = Pdcid(8);
    b.rx_header(ack);
    wire::Nack nack = b.nack(NackCode::exp_nack_fatal, b.start + 1);
    nack.spdcid = Pdcid(8);
    b.rx_header(nack);
    wire::Request request = b.request(b.start.value(), false);
    request.next_hdr = wire::NextHeader::response_data;
    request.spdcid = Pdcid(8);
    b.rx(request);
    EXPECT_EQ(b.count(Count::drop_bad_pdcid), 3u);
    EXPECT_EQ(b.lines(),
              (Lines{"NACK PDC_HDR_MISMATCH psn " + b.at(0) + " from 0 to 8 payload 0"}));
    EXPECT_EQ(b.client.responded, responded);
    EXPECT_TRUE(b.client.received.times.empty());
    EXPECT_EQ(b.state(), name(s));
  }
}

// [PDS-I20] SYN: only an ACK teaches the peer's PDCID, because other packets cannot be checked yet.
// -> SYN
TEST(InitiatorTable, I20RequestsBeforeTheFirstAckAreDropped) {
  TableBench b;
  b.to_syn();
  wire::Request request = b.request(b.start.value(), false);
  request.next_hdr = wire::NextHeader::response_data;
  b.rx(request);
  EXPECT_EQ(b.count(Count::drop_syn_state), 1u);
  EXPECT_TRUE(b.client.received.times.empty());
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "SYN");
}

// [PDS-I22] SYN, a close is wanted: remembered, and acted on with the first ACK. -> SYN
TEST(InitiatorTable, I22CloseInSynIsRemembered) {
  TableBench b;
  b.to_syn();
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.state(), "SYN");
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.state(), "QUIESCE");
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + b.at(2) + " ar payload 0"}));
}

}  // namespace
}  // namespace uet::pds::test
