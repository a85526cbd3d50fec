// Which packets show that a peer lives. A forged one does not: neither does it end a series of ICMP
// errors, nor prolong the wait for a silent peer. [PDS-256]
#include "pds/test/rudi_bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

constexpr uint32_t kDomain = 77;
constexpr uint32_t kReturn = 500;  // the handle of return data

class HeardTest : public ::testing::Test {
 protected:
  static PeerId peer(Bench& b) { return *b.peers.find_or_add(address(9), b.now); }
  static bool is_heard(Bench& b) { return b.peers[peer(b)].last_heard != Instant::zero(); }
  // Whether the peer counts as heard since a moment ago.
  template <class Receive>
  static bool hears(Bench& b, Receive receive) {
    b.now = b.now + 1_ms;
    receive();
    return b.peers[peer(b)].last_heard == b.now;
  }
  // The peer opens a PDC, and has not proved that it receives packets at its address.
  static void open_unproven(Bench& b) {
    b.proves = false;
    b.open_target();
  }
};

// [PDS-256, LF-136] A stranger opens a PDC under the peer's address, and sends on it what it can
// know: SYNs, refused ones included, and guesses.
TEST_F(HeardTest, ForgedPacketsDoNotShowThatThePeerLives) {
  Bench b;
  b.client.script.names_are_unique = false;
  open_unproven(b);
  EXPECT_FALSE(is_heard(b)) << "a SYN";
  b.rx(b.request(kFirst.value() + 1));
  b.rx(b.request(kFirst.value() + 1));
  EXPECT_FALSE(is_heard(b)) << "another one, twice";
  b.client.verdict = [](PacketName, const RxRequest&) {
    return Verdict::refused(NackCode::no_ses_msg_avail);
  };
  wire::Request refused = b.request(kFirst.value());
  refused.spdcid = Pdcid(8);
  b.rx(refused);
  EXPECT_EQ(b.count(Count::pdc_unused), 1u);
  EXPECT_FALSE(is_heard(b)) << "a refused SYN";

  b.rx(b.request(kFirst.value() + 5000, false));
  EXPECT_FALSE(is_heard(b)) << "our PDCID, and a PSN outside the window";
  b.rx_header(b.ack(kFirst - 1));
  EXPECT_FALSE(is_heard(b)) << "an ACK of nothing";
  const Pdcid own = b.own;
  b.own = Pdcid(static_cast<uint16_t>(own.value() ^ 1));
  b.rx(b.request(kFirst.value() + 1, false));
  b.rx_header(b.ack(kFirst));
  b.rx_header(b.nack(NackCode::no_resource, kFirst));
  EXPECT_FALSE(is_heard(b)) << "another PDCID";
}

// [PDS-256, PDS-252] A NACK without an SPDCID needs no more than a guess of one PDCID, of which the
// stranger can open many.
TEST_F(HeardTest, ANackWithoutTheOtherPdcidIsNoProof) {
  Bench b;
  open_unproven(b);
  b.client.messages[kReturn] = {1024, 0, false, wire::NextHeader::response_data};
  const PdcHandle pdc = b.client.received.tokens.at({kFirst.value(), 0}).pdc;
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(kReturn)));
  b.rx(b.request(kFirst.value() + 1), 4000);  // three times as much may go back
  b.tx();
  ASSERT_EQ(b.count(Count::tx_requests), 1u);
  wire::Nack nack = b.nack(NackCode::no_resource, kFirst);
  EXPECT_FALSE(hears(b, [&] { b.rx_header(nack); }));
  EXPECT_FALSE(is_heard(b));
  nack.spdcid = kPeerId;
  EXPECT_TRUE(hears(b, [&] { b.rx_header(nack); }));
}

// [PDS-256] What only the peer can know.
TEST_F(HeardTest, APacketThatProvesItsSourceShowsThatThePeerLives) {
  Bench by_request;
  open_unproven(by_request);
  EXPECT_TRUE(hears(by_request, [&] { by_request.prove(); }));
  EXPECT_TRUE(hears(by_request, [&] { by_request.rx(by_request.request(1001, false)); }));

  Bench by_control;
  open_unproven(by_control);
  EXPECT_TRUE(hears(by_control, [&] {
    by_control.rx_header(by_control.control(CtlType::ack_req, kFirst.value()));
  }));

  Bench by_answer;
  open_unproven(by_answer);
  by_answer.client.messages[kReturn] = {1024, 0, false, wire::NextHeader::response_data};
  const PdcHandle pdc = by_answer.client.received.tokens.at({kFirst.value(), 0}).pdc;
  ASSERT_TRUE(by_answer.pds->send_return(pdc, MessageHandle(kReturn)));
  const auto probes = by_answer.tx();
  ASSERT_EQ(probes.size(), 1u);
  wire::Ack answer = by_answer.ack(kFirst - 1);
  answer.p = true;
  answer.probe_opaque =
      static_cast<uint16_t>(probes[0].as<wire::Control>().probe_opaque + 1);  // a guess
  EXPECT_FALSE(hears(by_answer, [&] { by_answer.rx_header(answer); }));
  --answer.probe_opaque;
  EXPECT_TRUE(hears(by_answer, [&] { by_answer.rx_header(answer); }));
}

// [PDS-256, PDS-251] A SYN that answers a challenge proves its source.
TEST_F(HeardTest, AnAnsweredChallengeShowsThatThePeerLives) {
  Config config;
  config.max_pdcs = 64;
  config.challenge_above = 4;
  Bench b(config);
  b.client.script.names_are_unique = false;
  for (uint8_t i = 20; i < 24; ++i) {
    b.from = address(i, 50000);
    b.rx(b.request(kFirst.value()));
  }
  b.tx();
  b.from = address(9, 50000);
  EXPECT_FALSE(hears(b, [&] { b.rx(b.request(kFirst.value())); }));
  const auto told = b.tx();
  ASSERT_EQ(told.size(), 1u);
  const uint32_t start = told[0].as<wire::Nack>().payload;
  EXPECT_FALSE(hears(b, [&] { b.rx(b.syn_at(start + 1)); })) << "a guess";
  EXPECT_TRUE(hears(b, [&] { b.rx(b.syn_at(start)); }));
}

// [PDS-256, PDS-V8] On a secured PDC all that is sealed counts, its SYN included, and nothing else.
TEST_F(HeardTest, OnASecuredPdcSealedPacketsCount) {
  Bench b;
  b.proves = false;
  b.sdi = kDomain;
  EXPECT_TRUE(hears(b, [&] { b.open_target(); }));
  b.sdi = 0;
  EXPECT_FALSE(hears(b, [&] { b.rx(b.request(1001, false)); }));
  b.sdi = kDomain;
  EXPECT_TRUE(hears(b, [&] { b.rx(b.request(1001, false)); }));
}

// [PDS-256, PDS-054, TSS-068] If a new start may come in the clear, it is obeyed, but does not
// prove that the peer lives.
TEST_F(HeardTest, ANewStartInTheClearProvesNothing) {
  Config config;
  config.plain_new_start_psn = true;
  Bench b(config);
  b.sdi = kDomain;
  b.open_initiator(1);
  b.sdi = 0;
  EXPECT_FALSE(hears(b, [&] { b.rx_header(b.nack(NackCode::new_start_psn, b.start, 5000)); }));
  EXPECT_EQ(b.count(Count::psn_rebased), 1u);
  b.sdi = kDomain;
  EXPECT_TRUE(hears(b, [&] { b.rx_header(b.nack(NackCode::new_start_psn, Psn(5000), 6000)); }));
}

// [PDS-256] An initiator chose its PDCID and its PSNs at random: an answer to one of its packets
// proves that its sender received that packet.
TEST_F(HeardTest, AnAnswerToOurPacketShowsThatThePeerLives) {
  Bench b;
  b.open_initiator(2);
  EXPECT_FALSE(hears(b, [&] { b.rx_header(b.ack(b.start + 2)); })) << "never sent";
  EXPECT_FALSE(hears(b, [&] { b.rx_header(b.nack(NackCode::no_resource, b.start + 2)); }));
  EXPECT_TRUE(hears(b, [&] { b.rx_header(b.nack(NackCode::no_resource, b.start)); }));
  EXPECT_TRUE(hears(b, [&] { b.rx_header(b.ack(b.start)); }));
  EXPECT_FALSE(hears(b, [&] { b.rx_header(b.nack(NackCode::no_resource, b.start)); }))
      << "that packet was answered";

  RudiBench rudi;
  const auto out = rudi.send(1, 2);
  ASSERT_EQ(out.size(), 2u);
  const PktId first = RudiBench::id_of(out[0]);
  EXPECT_FALSE(hears(rudi, [&] { rudi.answer(PktId(first.value() ^ 0x8000'0000)); }));
  EXPECT_FALSE(hears(rudi, [&] { rudi.refuse(first, NackCode::rod_ooo); })) << "not of this mode";
  EXPECT_TRUE(hears(rudi, [&] { rudi.refuse(first, NackCode::no_resource); }));
  EXPECT_TRUE(hears(rudi, [&] { rudi.answer(RudiBench::id_of(out[1])); }));
}

// [PDS-256, PDS-249] The network reports that the port is closed. A forged SYN now and then does
// not put off the failure.
TEST_F(HeardTest, ForgedPacketsDoNotEndASeriesOfErrors) {
  for (const bool is_forged : {false, true}) {
    SCOPED_TRACE(is_forged);
    Bench b;
    b.client.script.names_are_unique = false;
    b.open_initiator(1);
    const Instant begin = b.now;
    for (int ms = 0; ms < 5000 && b.client.failures.empty(); ++ms) {
      b.pds->advance(b.now);
      b.tx();
      if (is_forged && ms % 500 == 250) b.rx(b.request(kFirst.value()));
      b.pds->path_reports().on_unreachable(address(9), b.now);
      b.now = b.now + 1_ms;
    }
    ASSERT_FALSE(b.client.failures.empty());
    EXPECT_EQ(b.client.failures[0].reason, FailureReason::unreachable);
    EXPECT_LE((b.now - begin).ms(), 2500);
  }
}

// [PDS-256, PDS-148] A peer that is gone counts as silent, although SYNs come in its name.
TEST_F(HeardTest, ForgedPacketsDoNotProlongTheWaitForASilentPeer) {
  Bench b;
  b.client.script.names_are_unique = false;
  b.open_initiator(1);
  const Instant begin = b.now;
  while (b.client.failures.empty() && b.now - begin < 100_s) {
    b.rx(b.request(kFirst.value()));
    b.tx();
    b.elapse(1_s);
  }
  ASSERT_FALSE(b.client.failures.empty());
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
  EXPECT_LE(b.now - begin, 62_s);
}

}  // namespace
}  // namespace uet::pds::test
