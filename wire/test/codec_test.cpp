// The single headers against octets written by hand (wire reference, section 14), at every
// truncation, and over random field values.
#include "wire/ip.h"
#include "wire/pds.h"
#include "wire/ses.h"
#include "wire/tss.h"

#include "wire/test/octets_of.h"
#include "wire/test/random_headers.h"

#include <gtest/gtest.h>

namespace uet::wire {
namespace {

using test::emitted;
using test::for_each_header;
using test::hex_of;
using test::Octets;
using test::octets_of;
using test::Values;

template <class Header>
void expect_octets(const Header& header, std::string_view hex) {
  const Octets expected = octets_of(hex);
  EXPECT_EQ(hex_of(emitted(header)), hex_of(expected));
  Reader r(expected);
  const auto parsed = Header::parse(r);
  ASSERT_TRUE(parsed.ok()) << name(parsed.error());
  EXPECT_EQ(*parsed, header);
  EXPECT_EQ(r.remaining(), 0U);
}

// No prefix of a header parses; the whole does, and nothing behind it is touched.
template <class Header>
void expect_truncation_is_seen(const Header& header) {
  Octets octets = emitted(header);
  for (size_t n = 0; n < octets.size(); ++n) {
    Reader r(std::span<const std::byte>(octets).first(n));
    const auto parsed = Header::parse(r);
    ASSERT_FALSE(parsed.ok()) << n << " octets were enough";
    EXPECT_EQ(parsed.error(), ParseError::truncated) << n;
    EXPECT_EQ(r.position(), 0U) << "a refused header was consumed";
  }
  octets.push_back(std::byte{0xEE});
  Reader r(octets);
  ASSERT_TRUE(Header::parse(r).ok());
  EXPECT_EQ(r.remaining(), 1U);
}

template <class Header>
void expect_round_trip(const Header& header) {
  const Octets octets = emitted(header);
  ASSERT_EQ(octets.size() % 4, 0U);  // [WIRE-004]
  Reader r(octets);
  const auto parsed = Header::parse(r);
  ASSERT_TRUE(parsed.ok()) << name(parsed.error()) << " " << hex_of(octets);
  ASSERT_EQ(*parsed, header) << hex_of(octets);
  ASSERT_EQ(r.remaining(), 0U);
}

// [WIRE-025, WIRE-026, WIRE-105, WIRE-106]
TEST(CodecTest, TssHeaderHasTheOctetsWrittenByHand) {
  TssHeader h{.sp = false, .an = true, .sdi = 0xABCDEF, .ssi = 0, .tsc = 0x0102030405060708};
  EXPECT_EQ(h.epoch(), 0x0102);
  EXPECT_EQ(h.counter(), 0x030405060708U);
  expect_octets(h, "09abcdef 0102030405060708");
  h.sp = true;
  h.an = false;
  h.ssi = 0x11223344;
  expect_octets(h, "0cabcdef 11223344 0102030405060708");
}

// [WIRE-002, WIRE-040, WIRE-107, CMS-028]
TEST(CodecTest, SynRequestHasTheOctetsWrittenByHand) {
  Request h;
  h.next_hdr = NextHeader::standard;
  h.ar = h.syn = true;
  h.clear_psn_offset = -1;
  h.psn = Psn(0x10);
  h.spdcid = Pdcid(1);
  expect_octets(h, "118c ffff 00000010 0001 0000");
  EXPECT_EQ(h.clear_psn(), Psn(0x0F));
  h.psn_offset = 0x11;
  EXPECT_EQ(h.start_psn(), Psn(0xFFFFFFFF));  // wraps
}

// [WIRE-040, WIRE-121] The private mark is bit 0x2000 of the SYN overlay and of the RUDI reserved
// word.
TEST(CodecTest, PrivateMarkIsItsOwnBitInAllThreeHeaders) {
  Request request;
  request.syn = request.private_mark = true;
  request.spdcid = Pdcid(1);
  request.psn_offset = 0xABC;
  expect_octets(request, "1004 0000 00000000 0001 2abc");
  request.use_rsv_pdc = true;
  expect_octets(request, "1004 0000 00000000 0001 aabc");

  Control control;
  control.syn = control.private_mark = true;
  control.spdcid = Pdcid(1);
  expect_octets(control, "5804 0000 00000000 0001 2000 00000000");

  expect_octets(RudiRequest{NextHeader::small, false, true, PktId(7)}, "2080 2000 00000007");
}

// [WIRE-121] With syn=0 the same bit belongs to the dpdcid.
TEST(CodecTest, DpdcidOfConfirmedRequestIsNotTheOverlay) {
  Request h;
  h.spdcid = Pdcid(1);
  h.dpdcid = Pdcid(0xAABC);
  expect_octets(h, "1000 0000 00000000 0001 aabc");
}

// [WIRE-045, WIRE-050, WIRE-051, WIRE-108]
TEST(CodecTest, ClosingAckHasTheOctetsWrittenByHand) {
  Ack h;
  h.epsn = true;
  h.cack_psn = Psn(0x10);
  h.spdcid = Pdcid(1);
  h.dpdcid = Pdcid(2);
  h.expected_start_psn = Psn(0x100);
  expect_octets(h, "3840 0000 00000010 0001 0002 00000100");
}

// [CMS-026, CMS-027, CMS-029] By hand: M is 0x20 and RETX 0x10 of the flags of both; what state
// follows stands in the upper half of the octet behind the ACK.
TEST(CodecTest, EchoedFlagsAndTheKindOfStateHaveTheirBits) {
  Nack nack;
  nack.nack_code = NackCode::trimmed;
  nack.nack_psn = Psn(5);
  nack.spdcid = Pdcid(1);
  nack.dpdcid = Pdcid(2);
  nack.payload = 6;
  nack.m = true;
  expect_octets(nack, "5020 0100 00000005 0001 0002 00000006");
  nack.m = false;
  nack.retx = true;
  expect_octets(nack, "5010 0100 00000005 0001 0002 00000006");
  AckCc ack;
  ack.ack.m = true;
  ack.ack.cack_psn = Psn(0x10);
  ack.ack.spdcid = Pdcid(1);
  ack.ack.dpdcid = Pdcid(2);
  ack.cc_type = CcType::credit;
  ack.mpr = 8;
  expect_octets(ack, "4020 0000 00000010 0001 0002 1008 0000 0000000000000000 0000000000000000");
  ack.ack.m = false;
  ack.ack.retx = true;
  ack.cc_type = CcType::nscc;
  expect_octets(ack, "4010 0000 00000010 0001 0002 0008 0000 0000000000000000 0000000000000000");
}

// [WIRE-050] With an SES header behind it the flag does not lengthen the ACK.
TEST(CodecTest, ExpectedPsnFlagBeforeResponseIsIgnored) {
  Ack h;
  h.epsn = true;
  h.next_hdr = NextHeader::response;
  h.spdcid = Pdcid(1);
  expect_octets(h, "3a40 0000 00000000 0001 0000");
}

// [WIRE-049, WIRE-109]
TEST(CodecTest, AckCcxHasTheOctetsWrittenByHand) {
  AckCcx h;
  h.ack.cack_psn = Psn(0x10);
  h.ack.spdcid = Pdcid(1);
  h.ack.dpdcid = Pdcid(2);
  h.ccx_type = 14;
  h.mpr = 8;
  h.sack_bitmap = 1;
  for (size_t i = 0; i < 16; ++i) h.state[i] = static_cast<std::byte>(i * 0x11);
  expect_octets(h,
                "4800 0000 00000010 0001 0002 e008 0000 0000000000000001"
                "00112233445566778899aabbccddeeff");
}

// [WIRE-052, WIRE-054, WIRE-110]
TEST(CodecTest, NackCcxHasTheOctetsWrittenByHand) {
  NackCcx h;
  h.nack.nack_code = NackCode::trimmed;
  h.nack.nack_psn = Psn(5);
  h.nack.spdcid = Pdcid(1);
  h.nack.dpdcid = Pdcid(2);
  h.nack.payload = 6;
  h.nccx_type = 14;
  expect_octets(h,
                "6000 0100 00000005 0001 0002 00000006"
                "e0000000000000000000000000000000");
}

// [WIRE-056, WIRE-111, CMS-033]
TEST(CodecTest, ProbeHasTheOctetsWrittenByHand) {
  Control h;
  h.ctl_type = CtlType::probe;
  h.ar = true;
  h.probe_opaque = 0x9876;
  h.psn = Psn(7);
  h.spdcid = Pdcid(1);
  h.dpdcid = Pdcid(2);
  h.payload = 3;
  expect_octets(h, "5b08 9876 00000007 0001 0002 00000003");
}

// [WIRE-068, WIRE-112]
TEST(CodecTest, RendezvousHasTheOctetsWrittenByHand) {
  expect_octets(Rendezvous{4096, 0x63, PidOnFep(0x345), ResourceIndex(0x123), 0x1122334455667788,
                           0x99aabbccddeeff00},
                "00001000 63345123 1122334455667788 99aabbccddeeff00");
}

// [WIRE-070, WIRE-113]
TEST(CodecTest, AtomicHasTheOctetsWrittenByHand) {
  expect_octets(
      Atomic{AtomicOpcode::sum, AtomicDatatype::uint64, Atomic::kCacheable | Atomic::kCpuCoherent},
      "02070300");
}

// [WIRE-047, CMS-030] By hand: 0123 | 1, 45 | abcdef | 0067.
TEST(CodecTest, NsccStatePacksItsFields) {
  const NsccState state{0x0123, true, 0x45, 0xABCDEF, 0x0067};
  EXPECT_EQ(state.pack(), 0x0123C5ABCDEF0067U);
  EXPECT_EQ(NsccState::unpack(0x0123C5ABCDEF0067U), state);
}

// [WIRE-048, CMS-031] The 24 bits in the middle are reserved.
TEST(CodecTest, CreditStatePacksItsFields) {
  const CreditState state{0x123456, 0x0008};
  EXPECT_EQ(state.pack(), 0x1234560000000008U);
  EXPECT_EQ(CreditState::unpack(0x123456FFFFFF0008U), state);
}

// [WIRE-041, WIRE-057, CMS-032, CMS-034, CMS-035] Payloads of the two credit control packets.
TEST(CodecTest, CreditPayloadsPackTheirFields) {
  EXPECT_EQ((CreditRequest{0x21, 0x123456}.pack()), 0x21123456U);
  EXPECT_EQ(CreditRequest::unpack(0x21123456U), (CreditRequest{0x21, 0x123456}));
  EXPECT_EQ(pack_credit(0x123456), 0x12345600U);
  EXPECT_EQ(unpack_credit(0x123456FFU), 0x123456U);
}

// [WIRE-063, WIRE-064] Initiator token first.
TEST(CodecTest, RestartTokensArePackedIntoOneWord) {
  EXPECT_EQ(RestartTokens::unpack(0x98765432BA987654), (RestartTokens{0x98765432, 0xBA987654}));
  EXPECT_EQ((RestartTokens{1, 2}).pack(), 0x0000000100000002U);
}

// [WIRE-002, WIRE-046] SACK base and the packet acknowledged are relative to cack_psn, modulo 2^32.
TEST(CodecTest, OffsetsOfAnAckWrap) {
  AckCc h;
  h.ack.cack_psn = Psn(1);
  h.ack.ack_psn_offset = -3;
  h.sack_psn_offset = 0x7FFF;
  EXPECT_EQ(h.ack.ack_psn(), Psn(0xFFFFFFFE));
  EXPECT_EQ(h.sack_base(), Psn(0x8000));
}

// [T-42, WIRE-116] Fewer octets than the fixed size, at every octet of every header.
TEST(CodecTest, EveryHeaderSeesEveryTruncation) {
  Values v(116);
  for (int i = 0; i < 16; ++i) {
    for_each_header(v, [](const auto& h) { expect_truncation_is_seen(h); });
  }
}

// [WIRE-001, WIRE-004, WIRE-096] What is emitted parses to the same, whatever the values.
TEST(CodecTest, EveryHeaderSurvivesTheRoundTrip) {
  Values v(20250611);
  for (int i = 0; i < 2000 && !testing::Test::HasFatalFailure(); ++i) {
    for_each_header(v, [](const auto& h) { expect_round_trip(h); });
  }
}

template <class Header>
void expect_refused(std::string_view hex, ParseError cause) {
  const Octets octets = octets_of(hex);
  Reader r(octets);
  const auto parsed = Header::parse(r);
  ASSERT_FALSE(parsed.ok()) << hex;
  EXPECT_EQ(parsed.error(), cause) << hex << " " << name(parsed.error());
}

// [PDS-167] Return data is a request packet with a response header behind it.
TEST(CodecTest, RequestTypesCarryResponsesWithData) {
  for (const char* hex : {"1280 0000 00000000 0001 0001", "1b00 0000 00000000 0001 0001"}) {
    const auto octets = octets_of(hex);
    Reader r(octets);
    EXPECT_TRUE(Request::parse(r).ok()) << hex;
  }
}

// [WIRE-037, WIRE-116] Each cause a single header can be refused for.
TEST(CodecTest, EveryRuleOfRejectionHasItsCause) {
  expect_refused<Prologue>("0000", ParseError::pds_type_reserved);
  expect_refused<Prologue>("7800", ParseError::pds_type_reserved);
  expect_refused<Prologue>("f800", ParseError::pds_type_reserved);
  expect_refused<Request>("1380 0000 00000000 0001 0001", ParseError::next_hdr_reserved);
  expect_refused<Request>("1200 0000 00000000 0001 0001", ParseError::response_under_request_type);
  expect_refused<Request>("1180 0000 00000000 0000 0001", ParseError::spdcid_zero);
  expect_refused<Request>("3800 0000 00000000 0001 0001", ParseError::wrong_type);
  expect_refused<Ack>("3b80 0000 00000000 0001 0001", ParseError::next_hdr_reserved);
  expect_refused<Ack>("3880 0000 00000000 0001 0001", ParseError::request_under_response_type);
  expect_refused<Ack>("3800 0000 00000000 0000 0001", ParseError::spdcid_zero);
  expect_refused<Ack>("1180 0000 00000000 0001 0001", ParseError::wrong_type);
  expect_refused<Control>("5800 0000 00000000 0000 0001 00000000", ParseError::spdcid_zero);
  expect_refused<Control>("5000 0000 00000000 0001 0001 00000000", ParseError::wrong_type);
  expect_refused<Nack>("5800 0000 00000000 0001 0001 00000000", ParseError::wrong_type);
  expect_refused<RudiRequest>("2780 0000 00000000", ParseError::next_hdr_reserved);
  expect_refused<RudiRequest>("2200 0000 00000000", ParseError::response_under_request_type);
  expect_refused<RudiResponse>("2880 0000 00000000", ParseError::request_under_response_type);
  expect_refused<RudiResponse>("2b80 0000 00000000", ParseError::next_hdr_reserved);
  expect_refused<Uud>("3200 0000", ParseError::response_under_request_type);
  expect_refused<Uud>("3400 0000", ParseError::next_hdr_reserved);
  expect_refused<SmallRequest>("0143 0000 00000000 0000 0000 0000000000000000",
                               ParseError::ses_version);
  expect_refused<SmallRequest>("0102 0000 00000000 0000 0000 0000000000000000",
                               ParseError::single_packet_som_eom);
  expect_refused<SmallRequest>("0101 0000 00000000 0000 0000 0000000000000000",
                               ParseError::single_packet_som_eom);
  expect_refused<Response>("0041 0000 00000000 00000000", ParseError::ses_version);
  expect_refused<Response>("0201 0000 00000000 00000000", ParseError::response_opcode_mismatch);
  expect_refused<ResponseDataSmall>("0101 0000 00000000 00000000",
                                    ParseError::response_opcode_mismatch);
  expect_refused<ResponseDataSmall>("0201 2001 00000000 00000000",
                                    ParseError::payload_length_limit);
  expect_refused<TssHeader>("1180 0000 00000000 0001 0001", ParseError::wrong_type);
  expect_refused<Atomic>("0d000000", ParseError::wrong_type);
}

template <class... Headers>
size_t octets_of_all(const Headers&... headers) {
  return (emitted(headers).size() + ...);
}

// [WIRE-097] From the IP header to the payload, as the wire reference lists them. UDP over IPv4 is
// 28 octets, UDP over IPv6 48; an entropy header has 4 where UDP has 8.
TEST(CodecTest, HeadersOfAPacketAddUpAsListed) {
  Request with_cc;
  with_cc.type = PdsType::rud_cc_request;
  const size_t cases[][2] = {{octets_of_all(Request{}, StandardRequest{}), 84},
                             {octets_of_all(with_cc, StandardRequest{}), 88},
                             {octets_of_all(Request{}, MediumRequest{}), 72},
                             {octets_of_all(Request{}, SmallRequest{}), 60},
                             {octets_of_all(with_cc, SmallRequest{}), 64},
                             {octets_of_all(RudiRequest{}, StandardRequest{}), 80},
                             {octets_of_all(RudiRequest{}, MediumRequest{}), 68},
                             {octets_of_all(RudiRequest{}, SmallRequest{}), 56},
                             {octets_of_all(Uud{}, StandardRequest{}), 76},
                             {octets_of_all(Uud{}, MediumRequest{}), 64},
                             {octets_of_all(Ack{}, Response{}), 52},
                             {octets_of_all(Ack{}), 40},
                             {octets_of_all(AckCc{}, Response{}), 72},
                             {octets_of_all(AckCcx{}, Response{}), 80},
                             {octets_of_all(Ack{}, ResponseData{}), 60},
                             {octets_of_all(AckCc{}, ResponseData{}), 80},
                             {octets_of_all(AckCc{}, ResponseDataSmall{}), 72},
                             {octets_of_all(Nack{}), 44},
                             {octets_of_all(Control{}), 44}};
  for (const auto& [octets, over_udp_ipv4] : cases) {
    EXPECT_EQ(Ipv4Header::kSize + UdpHeader::kSize + octets, over_udp_ipv4);
    EXPECT_EQ(Ipv4Header::kSize + EntropyHeader::kSize + octets, over_udp_ipv4 - 4);
    EXPECT_EQ(Ipv6Header::kSize + UdpHeader::kSize + octets, over_udp_ipv4 + 20);
    EXPECT_EQ(Ipv6Header::kSize + EntropyHeader::kSize + octets, over_udp_ipv4 + 16);
  }
}

// [WIRE-003, WIRE-117] Reserved bits change nothing, except where they are kept for the record.
TEST(CodecTest, ReservedBitsAreIgnored) {
  const Octets octets = octets_of("11ef 0001 00000002 0003 d004");
  Reader r(octets);
  const auto parsed = Request::parse(r);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(hex_of(emitted(*parsed)),
            "118c0001000000020003"
            "8004");
}

// [WIRE-003, WIRE-065] The small header has no header data: the bit is sent as 0. Opcode 1, both
// ends; length 5; job 000102; process 7, key 1; offset 10.
TEST(CodecTest, ASmallHeaderIsSentWithoutTheBitOfHeaderData) {
  SmallRequest h;
  h.common.opcode = SesOpcode::write;
  h.common.hd = true;
  h.common.job_id = JobId(0x102);
  h.common.pid_on_fep = PidOnFep(7);
  h.common.resource_index = ResourceIndex(1);
  h.request_length = 5;
  h.buffer_offset = 10;
  EXPECT_EQ(hex_of(emitted(h)),
            "01030005"
            "00000102"
            "00070001"
            "000000000000000a");
}

// [WIRE-025] Only this type is read as a TSS header.
TEST(CodecTest, OnlyTypeOneIsATssHeader) {
  for (uint8_t type = 0; type < 32; ++type) {
    Octets octets(TssHeader::kSize);
    octets[0] = static_cast<std::byte>(type << 3);
    Reader r(octets);
    EXPECT_EQ(TssHeader::parse(r).ok(), type == 1) << int{type};
  }
}

// [WIRE-043] Type 6, next header 3; only this type is read as one.
TEST(CodecTest, UudHasTheOctetsWrittenByHand) {
  Uud h;
  h.next_hdr = NextHeader::standard;
  expect_octets(h, "3180 0000");
  expect_refused<Uud>("2180 0000", ParseError::wrong_type);
}

// [WIRE-060, WIRE-062] Behind the first packet the field is a length and an offset, whatever hd
// says: 1024 octets at 2048.
TEST(CodecTest, ALaterPacketHasNoHeaderData) {
  const Octets octets = octets_of(
      "0106 0007 00000102 00070003 0000000000000000 00000064 0000000000000009"
      "0000 0400 00000800 00000c00");
  Reader r(octets);
  const auto h = StandardRequest::parse(r);
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->common.hd);
  EXPECT_FALSE(h->common.som);
  EXPECT_EQ(h->header_data, 0U);
  EXPECT_EQ(h->payload_length, 1024);
  EXPECT_EQ(h->message_offset, 2048U);
  EXPECT_EQ(h->request_length, 3072U);
}

// [WIRE-119] Octets present against the length in the header.
TEST(CodecTest, SumCheckHoldsLaterPacketsToTheirLength) {
  StandardRequest h;
  h.common.opcode = SesOpcode::write;
  h.payload_length = 8;
  EXPECT_TRUE(h.check_sum(8).ok());
  EXPECT_FALSE(h.check_sum(7).ok());
  EXPECT_FALSE(h.check_sum(9).ok());
  h.common.opcode = SesOpcode::read;  // a READ asks for octets, it carries none
  EXPECT_TRUE(h.check_sum(0).ok());
  EXPECT_FALSE(h.check_sum(8).ok());
  h.common.som = true;  // the first packet has no payload_length
  EXPECT_TRUE(h.check_sum(8).ok());
}

}  // namespace
}  // namespace uet::wire
