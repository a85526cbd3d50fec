// The rows of PDS 7.1: the checks that a packet must pass, in this order. Each row has a packet
// that fails it and nothing before it; then pairs of faults show that the first failure decides.
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using wire::NextHeader;

// The fault that the packet has. A packet may have several.
struct Faults {
  bool cut = false;           // V1: shorter than any header
  bool trimmed = false;       // V2
  bool odd_type = false;      // V4: reserved PDS type
  bool odd_next = false;      // V4: reserved next header
  bool unknown_id = false;    // V6: unknown DPDCID
  bool other_peer = false;    // V7: address
  bool other_id = false;      // V7: SPDCID
  bool other_domain = false;  // V8
  bool other_mode = false;    // V9
  bool after_close = false;   // V10: beyond the close PSN
  bool beyond = false;        // V11: above the window
  bool refused = false;       // V13: the client refuses
};

// A target of a secured domain or of none, with a Close at PSN 1900 that waits for its gap.
struct Outcome {
  Count counted;
  Lines answer;
};

Outcome expect(Count counted, Lines answer = {}) { return {counted, std::move(answer)}; }

void expect_outcome(const Faults& f, const Outcome& expected, uint32_t sdi = 0) {
  TableBench b;
  b.sdi = sdi;
  b.to_target();
  if (f.after_close) b.rx_header(b.control(CtlType::close_cmd, 1900));
  b.lines();
  b.client.verdict = [&](PacketName, const RxRequest&) {
    return f.refused ? Verdict::refused(NackCode::no_ses_msg_avail) : Verdict::accepted();
  };
  wire::Request h = b.request(f.beyond ? 3000 : f.after_close ? 1901 : 1001, false);
  if (f.other_mode) h.type = wire::PdsType::rod_request;
  if (f.unknown_id) h.dpdcid = Pdcid(static_cast<uint16_t>(b.own.value() ^ 1));
  if (f.other_id) h.spdcid = Pdcid(8);
  if (f.odd_next) h.next_hdr = NextHeader{9};
  std::vector<std::byte> octets(h.size() + 8);
  wire::Writer w(octets);
  h.emit(w);
  w.u32(h.psn.value());
  w.u32(0);
  if (f.odd_type) octets[0] = std::byte{0xFF};
  if (f.cut) octets.resize(1);
  if (f.trimmed) b.marks.dscp = Config{}.trimmed_dscp;
  if (f.other_peer) b.from = address(8, 50000);
  if (f.other_domain) b.sdi = sdi + 1;
  const uint64_t before = b.count(expected.counted);
  const size_t delivered = b.client.received.times.size();
  b.rx_octets(octets);
  EXPECT_EQ(b.count(expected.counted), before + 1) << name(expected.counted);
  EXPECT_EQ(b.client.received.times.size(), delivered);
  EXPECT_EQ(b.lines(), expected.answer);
}

const char* const kMismatch = "NACK PDC_HDR_MISMATCH psn 1001 from 0 to 7 payload 0";

// [PDS-V1]
TEST(ValidationTable, V1CutPacketIsDropped) {
  expect_outcome({.cut = true}, expect(Count::drop_too_short));
}

// [PDS-V2] A new PSN is refused at once; nothing of the packet is believed.
TEST(ValidationTable, V2TrimmedPacketIsRefused) {
  expect_outcome({.trimmed = true},
                 expect(Count::trimmed_rx, {"NACK TRIMMED psn 1001 from own to 7 payload 1001"}));
}

// [PDS-V4]
TEST(ValidationTable, V4MalformedPacketIsDropped) {
  expect_outcome({.odd_type = true}, expect(Count::drop_type_reserved));
  expect_outcome({.odd_next = true}, expect(Count::drop_malformed));
}

// [PDS-V5] RUDI and UUD look for no PDC.
TEST(ValidationTable, V5ConnectionlessModesAreDistinguished) {
  TableBench b;
  wire::RudiRequest rudi;
  rudi.next_hdr = NextHeader::standard;
  rudi.pkt_id = PktId(5);
  b.client.script.check_octets = false;
  b.rx_header(rudi);
  EXPECT_EQ(b.count(Count::drop_no_pdc), 0u);
  EXPECT_EQ(b.count(Count::rudi_rx), 1u);
}

// [PDS-V6]
TEST(ValidationTable, V6UnknownPdcidIsRefused) {
  expect_outcome({.unknown_id = true},
                 expect(Count::drop_no_pdc, {"NACK INV_DPDCID psn 1001 from 0 to 7 payload 0"}));
}

// [PDS-V7] Another address, another PDCID.
TEST(ValidationTable, V7StrangerIsRefused) {
  expect_outcome({.other_peer = true}, expect(Count::drop_bad_peer, {kMismatch}));
  expect_outcome(
      {.other_id = true},
      expect(Count::drop_bad_pdcid, {"NACK PDC_HDR_MISMATCH psn 1001 from 0 to 8 payload 0"}));
}

// [PDS-V7, TSS-073] On a secured PDC without a word.
TEST(ValidationTable, V7StrangerToASecuredPdcIsDropped) {
  expect_outcome({.other_peer = true}, expect(Count::drop_bad_peer), kDomain);
  expect_outcome({.other_id = true}, expect(Count::drop_bad_pdcid), kDomain);
}

// [PDS-V8]
TEST(ValidationTable, V8OtherDomainIsDropped) {
  expect_outcome({.other_domain = true}, expect(Count::drop_sdi), kDomain);
}

// [PDS-V9]
TEST(ValidationTable, V9OtherModeIsRefused) {
  expect_outcome({.other_mode = true},
                 expect(Count::nack_tx_pdc_mode_mismatch,
                        {"NACK PDC_MODE_MISMATCH psn 1001 from own to 7 payload 1001"}));
}

// [PDS-V10] Packets with a PSN beyond the Close, and packets that no state allows.
TEST(ValidationTable, V10StateMustAllowIt) {
  expect_outcome(
      {.after_close = true},
      expect(Count::nack_tx_closing, {"NACK CLOSING psn 1901 from own to 7 payload 1901"}));
  TableBench b;
  b.to_target();
  b.rx_header(b.control(CtlType::close_req, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK UNEXP_EVENT psn 1001 from own to 7 payload 1001"}));
}

// [PDS-V11]
TEST(ValidationTable, V11PsnMustBeInTheWindow) {
  expect_outcome(
      {.beyond = true},
      expect(Count::psn_beyond, {"NACK PSN_OOR_WINDOW psn 3000 from own to 7 payload 1001"}));
}

// [PDS-V12] Room for the response is asked for before the client is.
TEST(ValidationTable, V12RoomIsNeeded) {
  Config config;
  config.gd_per_pdc = 1;
  TableBench b(config);
  b.to_target();
  b.client.verdict = [](PacketName, const RxRequest&) { return StubClient::plain_answer(); };
  b.rx(b.request(1001, false));
  b.lines();
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines().at(0), "NACK NO_GTD_DEL_AVAIL psn 1002 from own to 7 payload 1002");
  EXPECT_EQ(b.count(Count::gd_full), 1u);
  EXPECT_EQ(b.client.received.times.size(), 2u);
}

// [PDS-V13]
TEST(ValidationTable, V13ClientMayRefuse) {
  expect_outcome({.refused = true},
                 expect(Count::nack_tx_no_ses_msg_avail,
                        {"NACK NO_SES_MSG_AVAIL psn 1001 from own to 7 payload 1001"}));
}

// Each pair of neighbours in the table: the earlier one decides.
TEST(ValidationTable, FirstFailureDecides) {
  expect_outcome({.cut = true, .trimmed = true}, expect(Count::drop_too_short));
  expect_outcome({.trimmed = true, .odd_type = true}, expect(Count::drop_trimmed));
  expect_outcome({.odd_next = true, .unknown_id = true}, expect(Count::drop_malformed));
  expect_outcome({.unknown_id = true, .other_peer = true},
                 expect(Count::drop_no_pdc, {"NACK INV_DPDCID psn 1001 from 0 to 7 payload 0"}));
  expect_outcome({.other_peer = true, .other_domain = true}, expect(Count::drop_bad_peer), kDomain);
  expect_outcome({.other_id = true, .other_domain = true}, expect(Count::drop_bad_pdcid), kDomain);
  expect_outcome({.other_domain = true, .other_mode = true}, expect(Count::drop_sdi), kDomain);
  expect_outcome({.other_mode = true, .after_close = true},
                 expect(Count::nack_tx_pdc_mode_mismatch,
                        {"NACK PDC_MODE_MISMATCH psn 1901 from own to 7 payload 1901"}));
  expect_outcome(
      {.after_close = true, .beyond = true},
      expect(Count::nack_tx_closing, {"NACK CLOSING psn 3000 from own to 7 payload 1901"}));
  expect_outcome(
      {.beyond = true, .refused = true},
      expect(Count::psn_beyond, {"NACK PSN_OOR_WINDOW psn 3000 from own to 7 payload 1001"}));
}

}  // namespace
}  // namespace uet::pds::test
