// The whole-packet decoder at its edges, and the one-line rendering.
#include "wire/packet.h"
#include "wire/print.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

namespace uet::wire {
namespace {

using test::hex_of;
using test::Octets;
using test::octets_of;

std::string line_of(std::string_view hex, DecodeOptions options = {}) {
  char text[512];
  const size_t n = print(text, octets_of(hex), options);
  EXPECT_EQ(n, std::string(text).size());
  return text;
}

// A confirmed RUD write of 8 octets over UDP and IPv4, checksums right.
constexpr std::string_view kWrite =
    "4502005c000040004011b73bc0a80101c0a80102beef12b900485f4d1188fffd000102030a010b02"
    "010b70015a0c0d0e03210456000000100000200000c0ffee8877665544332211"
    "0000000000000000000000080011223344556677";

// [WIRE-118] A frame cut anywhere is refused and never read beyond.
TEST(PacketTest, PacketCutAnywhereIsTruncated) {
  const Octets octets = octets_of(kWrite);
  DecodeOptions options;
  options.start = Start::ip;
  for (size_t n = 0; n < octets.size(); ++n) {
    const Octets cut(octets.begin(), octets.begin() + static_cast<ptrdiff_t>(n));
    const DecodedPacket packet = decode(cut, options);
    EXPECT_EQ(packet.outcome, Outcome::reject) << n;
    EXPECT_EQ(packet.error, ParseError::truncated) << n;
    EXPECT_LT(packet.shortfall.have, packet.shortfall.need) << n;
  }
}

// The shortfall is the size of the header with all its parts, not of its smallest form.
TEST(PacketTest, ShortfallCountsTagsAndExtensions) {
  DecodeOptions options;
  options.start = Start::ethernet;
  const std::string tagged = "020000000002 020000000001 8100 0064 8100 00";
  const DecodedPacket ethernet = decode(octets_of(tagged), options);
  EXPECT_EQ(ethernet.error, ParseError::truncated);
  EXPECT_EQ(ethernet.shortfall.need, 22U);
  EXPECT_EQ(ethernet.shortfall.have, 19U);

  options.start = Start::ip;  // hop-by-hop of 16 octets, 9 of them there
  const std::string v6 = "60000000 0009 00 40" + std::string(64, '0') + "11 01 00000000000000";
  const DecodedPacket extension = decode(octets_of(v6), options);
  EXPECT_EQ(extension.error, ParseError::truncated);
  EXPECT_STREQ(extension.shortfall.header, "ipv6_extension");
  EXPECT_EQ(extension.shortfall.need, 16U);
  EXPECT_EQ(extension.shortfall.have, 9U);
}

// [WIRE-006, WIRE-008]
TEST(PacketTest, OtherPortsAndProtocolsAreNotUet) {
  Octets octets = octets_of(kWrite);
  DecodeOptions options;
  options.start = Start::ip;
  options.udp_port = 4794;
  EXPECT_EQ(decode(octets, options).error, ParseError::wrong_type);
  options.udp_port = 0;
  EXPECT_EQ(decode(octets, options).outcome, Outcome::accept);
  options.start = Start::ethernet;
  EXPECT_EQ(decode(octets, options).error, ParseError::wrong_type);
}

// [WIRE-098, WIRE-100] More payload than any packet may carry.
TEST(PacketTest, PayloadBeyondTheLimitIsRefused) {
  Octets octets = octets_of(
      "31000000 070b0008 5a0c0d0e 03210456 0000001000002000 00c0ffee"
      "0000000000000000");
  octets.resize(octets.size() + 8192);
  EXPECT_EQ(decode(octets, {}).outcome, Outcome::accept);
  octets.resize(octets.size() + 1);
  EXPECT_EQ(decode(octets, {}).error, ParseError::payload_length_limit);
}

// [WIRE-073, WIRE-119] The two values of a compare and swap are its payload: a packet that states
// their 32 octets is right, and one that states none is not. RUD, standard, opcode 4 without SOM.
TEST(PacketTest, TheValuesOfACompareAndSwapCountAsPayload) {
  const std::string head =
      "1180 0000 00000001 0001 0002"
      "0402 0007 00000102 00070003 0000000000000000 00000064 0000000000000009";
  const std::string values(64, '0');
  const std::string tail =
      "00000000 00000020 0d070200" + values;  // offset, length, CSWAP of UINT64
  EXPECT_EQ(decode(octets_of(head + "0000 0020" + tail), {}).outcome, Outcome::accept);
  EXPECT_EQ(decode(octets_of(head + "0000 0000" + tail), {}).error, ParseError::sum_check);
}

// [WIRE-057] A negotiation packet has 20 octets in version 1.0.3. 16 octets are accepted too; 18
// are accepted as a header of 16 with two surplus octets.
TEST(PacketTest, NegotiationMayBeFourOctetsLonger) {
  const std::string cp = "5c88 0000 00000001 0001 0002 01020000";
  EXPECT_EQ(decode(octets_of(cp), {}).outcome, Outcome::accept);
  EXPECT_EQ(decode(octets_of(cp + "00000001"), {}).outcome, Outcome::accept);
  EXPECT_EQ(decode(octets_of(cp + "0000"), {}).tolerance, Tolerance::surplus_bytes);
}

// [WIRE-022] A trimmed packet shows its PDS header and nothing else, whatever its checksum.
TEST(PacketTest, TrimmedPacketKeepsItsPdsHeaderOnly) {
  DecodeOptions options;
  options.start = Start::ip;
  const DecodedPacket packet = decode(
      octets_of("4542002c000040004011b72bc0a80101c0a80102beef12b9044412346988fffd000102030a010b02"
                "210a0b0c"),
      options);
  EXPECT_EQ(packet.outcome, Outcome::accept);
  EXPECT_TRUE(packet.trimmed);
  EXPECT_TRUE(std::holds_alternative<Request>(packet.pds));
  EXPECT_EQ(packet.ses.index(), 0U);
  EXPECT_FALSE(packet.payload.has_value());
}

// [WIRE-089] Without the addresses a CRC can be taken off but not verified.
TEST(PacketTest, CrcBehindUnknownAddressesIsTakenOff) {
  DecodeOptions options;
  options.trailer = Trailer::crc;
  const DecodedPacket packet = decode(octets_of("3800fffe000102000b020a01 ab824617"), options);
  EXPECT_EQ(packet.outcome, Outcome::accept);
  ASSERT_TRUE(packet.crc.has_value());
  EXPECT_EQ(packet.crc->trailer.value, 0x174682ABU);
  EXPECT_EQ(packet.crc->covered_length, 0U);
  EXPECT_TRUE(packet.surplus.empty());
}

TEST(PacketTest, LineShowsTheWholePacket) {
  DecodeOptions options;
  options.start = Start::ip;
  EXPECT_EQ(line_of(kWrite, options),
            "192.168.1.1 > 192.168.1.2 dscp=0 ecn=2 udp 48879 > 4793"
            " | RUD_REQ ar psn=66051 clear=66048 spdcid=2561 dpdcid=2818"
            " | STANDARD WRITE rel som eom job=789774 pid=801 ri=1110 gen=90 msg=28673 length=8"
            " initiator=12648430 offset=0x1000002000 key=0x8877665544332211 | 8 octets");
}

TEST(PacketTest, LineOfEachPdsHeaderShowsItsOwnFields) {
  EXPECT_EQ(line_of("118c ffff 00000010 0001 a001"),
            "RUD_REQ ar syn psn=16 clear=15 spdcid=1 start=15 use_rsv_pdc private_mark"
            " | reject truncated ses_standard 0 of 44 octets");
  EXPECT_EQ(line_of("3840 0000 00000010 0001 0002 00000100"),
            "ACK cack=16 ack=16 spdcid=1 dpdcid=2 expected_start=256");
  EXPECT_EQ(line_of("402e 0007 00000010 0001 0002 0080 0001 8000000000000005 0123c5abcdef0067"),
            "ACK_CC m req=reserved cack=16 probe_opaque=0x0007 spdcid=1 dpdcid=2 mpr=128"
            " sack=17:0x8000000000000005 NSCC service_time=291 rc rcv_cwnd_pend=69"
            " rcvd_bytes=11259375 ooo=103");
  EXPECT_EQ(line_of("5008 1600 00000005 0000 0000 00000000"),
            "NACK PDC_MODE_MISMATCH(0x16) pkt_id=5 spdcid=0 dpdcid=0 payload=0");
  EXPECT_EQ(line_of("5b08 9876 00000007 0001 0002 00000003"),
            "CP PROBE ar psn=7 spdcid=1 dpdcid=2 probe_opaque=0x9876 payload=3");
  EXPECT_EQ(line_of("5e00 0000 00000007 0001 0002 00000000"),
            "CP reserved psn=7 spdcid=1 dpdcid=2 | tolerate reserved_code");
  EXPECT_EQ(line_of("0000"), "reject pds_type_reserved");
}

TEST(PacketTest, LineIsCutToTheBufferAndItsFullLengthIsReturned) {
  char text[10];
  const Octets octets = octets_of("3840 0000 00000010 0001 0002 00000100");
  EXPECT_EQ(print(text, octets, {}), 55U);
  EXPECT_STREQ(text, "ACK cack=");
}

// The write with another DSCP and the checksum of its IPv4 header made right again.
Octets write_with_dscp(uint8_t dscp) {
  Octets octets = octets_of(kWrite);
  octets[1] = std::byte(dscp << 2 | 2);
  octets[10] = octets[11] = std::byte{0};
  uint32_t sum = 0;
  for (size_t i = 0; i < 20; i += 2) {
    sum += std::to_integer<uint32_t>(octets[i]) << 8 | std::to_integer<uint32_t>(octets[i + 1]);
  }
  sum = (sum & 0xFFFF) + (sum >> 16);
  const uint32_t checksum = ~((sum & 0xFFFF) + (sum >> 16)) & 0xFFFF;
  octets[10] = std::byte(checksum >> 8);
  octets[11] = std::byte(checksum & 0xFF);
  return octets;
}

// [WIRE-021, WIRE-022] Switches that cut a packet rewrite its DSCP only: two DSCPs say that it was
// cut, and its lengths count no more. With any other DSCP it is a truncated one.
TEST(PacketTest, TwoDscpsSayThatASwitchHasCutAPacket) {
  DecodeOptions options;
  options.start = Start::ip;
  for (const auto& [dscp, is_trimmed] :
       {std::pair<uint8_t, bool>{0, false}, {8, false}, {16, true}, {17, false}, {18, true}}) {
    Octets octets = write_with_dscp(dscp);
    EXPECT_EQ(decode(octets, options).outcome, Outcome::accept) << int{dscp};
    octets.resize(20 + 8 + 12);  // up to the PDS header
    const DecodedPacket cut = decode(octets, options);
    EXPECT_EQ(cut.trimmed, is_trimmed) << int{dscp};
    EXPECT_EQ(cut.outcome, is_trimmed ? Outcome::accept : Outcome::reject) << int{dscp};
    EXPECT_EQ(std::holds_alternative<Request>(cut.pds), is_trimmed) << int{dscp};
  }
}

// [WIRE-024] A UDP checksum that is there is verified, unless a switch has cut the packet.
TEST(PacketTest, AWrongUdpChecksumIsRefused) {
  DecodeOptions options;
  options.start = Start::ip;
  Octets octets = octets_of(kWrite);
  octets.back() ^= std::byte{1};
  EXPECT_EQ(decode(octets, options).error, ParseError::udp_checksum);
  octets[26] = octets[27] = std::byte{0};
  EXPECT_EQ(decode(octets, options).outcome, Outcome::accept) << "there is none";
  octets = write_with_dscp(16);
  octets.back() ^= std::byte{1};
  EXPECT_EQ(decode(octets, options).outcome, Outcome::accept);
}

// [WIRE-033] The last 16 octets of a secured packet are its ICV; a switch that cuts the packet cuts
// it off.
TEST(PacketTest, TheIcvIsAtTheEnd) {
  const std::string packet =
      "08000000 00000001 00000002" + std::string(40, '7') + "000102030405060708090a0b0c0d0e0f";
  const Octets octets = octets_of(packet);
  const DecodedPacket whole = decode(octets, {});
  ASSERT_TRUE(whole.tss.has_value());
  EXPECT_EQ(whole.ciphertext.size(), 20U);
  EXPECT_EQ(whole.ciphertext.data(), octets.data() + 12);
  EXPECT_EQ(whole.icv.size(), 16U);
  EXPECT_EQ(whole.icv.data(), octets.data() + 32);
}

// [WIRE-088] A medium request of opcode 3 has the extension of an atomic; one of opcode 1 has none.
TEST(PacketTest, AMediumAtomicHasAnExtension) {
  const std::string head = "1100 0000 00000001 0001 0002";
  const std::string rest = "03 0008 00000102 0007 0003 0000000000000000 00000064 0000000000000009";
  const std::string sum_of_uint64 = "02070000 1122334455667788";
  const Octets atomic_octets = octets_of(head + "03" + rest + sum_of_uint64);
  const DecodedPacket atomic = decode(atomic_octets, {});
  EXPECT_TRUE(std::holds_alternative<Atomic>(atomic.extension));
  EXPECT_EQ(atomic.payload.value().size(), 8U);
  const Octets write_octets = octets_of(head + "01" + rest + sum_of_uint64);
  const DecodedPacket write = decode(write_octets, {});
  EXPECT_TRUE(std::holds_alternative<std::monostate>(write.extension));
  EXPECT_EQ(write.payload.value().size(), 12U);
}

// [WIRE-100] 14 bits hold more than the payload of any packet.
TEST(PacketTest, APayloadLengthBeyondTheLimitIsRefused) {
  EXPECT_TRUE(StandardRequest::check(0, 8192).ok());
  EXPECT_EQ(StandardRequest::check(0, 8193).error(), ParseError::payload_length_limit);
  EXPECT_EQ(StandardRequest::check(0, 16383).error(), ParseError::payload_length_limit);
}

}  // namespace
}  // namespace uet::wire
