// The language of uet_pcap against octets computed by hand, and capture files read back and cut.
#include "tools/pcap/packet_language.h"
#include "tools/pcap/packet_words.h"
#include "tools/pcap/pcap_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace uet::tools {
namespace {

std::string hex_of(const std::vector<std::byte>& octets, size_t from) {
  std::string text;
  for (size_t i = from; i < octets.size(); ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(octets[i]));
    text += two;
  }
  return text;
}

// The octets of a line's headers, without Ethernet, IPv4 and UDP.
std::string uet_of(const std::string& headers) {
  const Line line = parse_line("0 10.0.0.1 > 10.0.0.2 | " + headers);
  EXPECT_EQ(line.problem, "");
  return line.frame ? hex_of(line.frame->octets, 14 + 20 + 8) : "";
}

std::string problem_of(const std::string& text) { return parse_line(text).problem; }

// [WIRE-107..111] The vectors of the wire reference, section 14, computed by hand.
TEST(PacketLanguageTest, HeadersHaveTheOctetsOfTheReference) {
  EXPECT_EQ(uet_of("RUD_REQ ar syn clear_psn_offset=-1 psn=0x10 spdcid=1 | STANDARD").substr(0, 24),
            "118cffff0000001000010000");
  EXPECT_EQ(uet_of("ACK epsn cack_psn=0x10 spdcid=1 dpdcid=2 payload=0x100"),
            "38400000000000100001000200000100");
  EXPECT_EQ(uet_of("ACK_CCX cack_psn=0x10 spdcid=1 dpdcid=2 ccx_type=14 mpr=8 sack_bitmap=1"),
            "48000000000000100001000"
            "2e0080000000000000000000100000000000000000000000000000000");
  EXPECT_EQ(
      uet_of("NACK_CCX nack_code=TRIMMED nack_psn=5 spdcid=1 dpdcid=2 payload=6 nccx_type=14"),
      "60000100000000050001000200000006e0000000000000000000000000000000");
  EXPECT_EQ(uet_of("CP ctl_type=PROBE ar probe_opaque=0x9876 psn=7 spdcid=1 dpdcid=2 payload=3"),
            "5b089876000000070001000200000003");
}

// Octets in the forms that the manual names.
TEST(PacketLanguageTest, OctetsCountUpOrRepeat) {
  EXPECT_EQ(uet_of("UUD_REQ | raw 0aFF *3 *2+254 5e*2").substr(8), "0aff000102feff5e5e");
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 | raw 5*2"), "5*2: no octets");
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 | raw 5e*2+1"), "5e*2+1: no octets");
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 | raw *"), "*: no octets");
}

// The output uses the words of the language: names of codes, negative offsets, no field that is 0.
TEST(PacketLanguageTest, HeadersPrintAsTheyAreWritten) {
  for (const std::string text :
       {"RUD_REQ retx ar clear_psn_offset=-1 psn=16 spdcid=1 dpdcid=2 | STANDARD opcode=SEND eom "
        "som "
        "job_id=7 match_bits=0x1122334455667788 request_length=100",
        "ACK_CC req=CLEAR ack_psn_offset=-3 cack_psn=9 spdcid=1 mpr=8 "
        "sack_bitmap=0x80000000000000ff "
        "ack_cc_state=0x1000000000000 | RESPONSE response_opcode=RESPONSE return_code=NO_MATCH",
        "NACK nack_code=ROD_OOO nack_psn=5", "CP ctl_type=PROBE ar probe_opaque=39030",
        "UUD_REQ | SMALL opcode=ATOMIC eom som | ATOMIC atomic_opcode=SUM "
        "atomic_datatype=UINT64"}) {
    Parts parts;
    std::string rest = text;
    while (!rest.empty()) {
      const size_t bar = std::min(rest.find(" | "), rest.size());
      EXPECT_EQ(take_header(parts, words_of(std::string_view(rest).substr(0, bar))), "");
      rest = bar == rest.size() ? "" : rest.substr(bar + 3);
    }
    EXPECT_EQ(print(parts), text);
  }
}

// Sums can be looked at, not written.
TEST(PacketLanguageTest, SumsFollowFromOtherFields) {
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 | ACK ack_psn=5"),
            "ack_psn follows from other fields");
  Parts parts;
  EXPECT_EQ(take_header(parts, words_of("ACK_CC cack_psn=10 ack_psn_offset=-3 sack_psn_offset=6")),
            "");
  const wire::FieldList fields = fields_of(parts, Section::pds);
  EXPECT_EQ(fields.find("ack_psn")->value, 7u);
  EXPECT_EQ(fields.find("sack_base")->value, 16u);
}

// [WIRE-112..113] Extensions, behind their requests.
TEST(PacketLanguageTest, ExtensionsFollowTheRequest) {
  EXPECT_EQ(uet_of("UUD_REQ | STANDARD opcode=RENDEZVOUS_SEND | RENDEZVOUS eager_length=4096 "
                   "read_ri_generation=0x63 read_pid_on_fep=0x345 read_resource_index=0x123 "
                   "read_offset=0x1122334455667788 read_memory_key=0x99aabbccddeeff00")
                .substr(2 * (4 + 44)),
            "0000100063345123112233445566778899aabbccddeeff00");
  EXPECT_EQ(uet_of("UUD_REQ | SMALL opcode=ATOMIC | ATOMIC atomic_opcode=SUM "
                   "atomic_datatype=UINT64 sem_ctl=3 | payload 0102 *3")
                .substr(2 * (4 + 20)),
            "020703000102000102");
}

// [WIRE-114..115] Native IP, entropy header and CRC, the whole example.
TEST(PacketLanguageTest, NativePacketsEndInTheirCrc) {
  const Line line = parse_line(
      "0 192.168.1.1:0xBEEF > 192.168.1.2 native crc | UUD_REQ | SMALL opcode=DATAGRAM_SEND");
  EXPECT_EQ(line.problem, "192.168.1.1:0xBEEF: no address");
  const Line good = parse_line(
      "0 192.168.1.1:48879 > 192.168.1.2 native crc | UUD_REQ | SMALL opcode=DATAGRAM_SEND "
      "request_length=4 job_id=1 pid_on_fep=5 resource_index=7 | payload deadbeef");
  ASSERT_EQ(good.problem, "");
  EXPECT_EQ(hex_of(good.frame->octets, 14 + 12),
            "c0a80101c0a80102beef00003080000007030004000000010005000700000000000000"
            "00deadbeefd5644626");
}

TEST(PacketLanguageTest, MacAddressesMakeFramesWithoutIp) {
  const Line line = parse_line(
      "0 02:00:00:00:00:01 > 01:80:c2:00:00:0E ethertype=0x88B5 | raw 0213 5c01abcde6000000");
  ASSERT_EQ(line.problem, "");
  EXPECT_EQ(hex_of(line.frame->octets, 0), "0180c200000e02000000000188b502135c01abcde6000000");
  const std::string both = "MAC addresses on both sides, and ethertype, or none of them";
  EXPECT_EQ(problem_of("0 02:00:00:00:00:01 > 10.0.0.2 ethertype=1 | raw 00"), both);
  EXPECT_EQ(problem_of("0 02:00:00:00:00:01 > 02:00:00:00:00:02 | raw 00"), both);
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 ethertype=1 | raw 00"), both);
  EXPECT_EQ(problem_of("0 02:00:00:00:00:0g > 10.0.0.2 | raw 00"), "02:00:00:00:00:0g: no address");
}

TEST(PacketLanguageTest, EmptyLinesAndCommentsAreNoPackets) {
  for (const char* text : {"", "   ", "# RUD_REQ", "  # 0 10.0.0.1 > 10.0.0.2 | UUD_REQ"}) {
    EXPECT_FALSE(parse_line(text).frame.has_value()) << text;
    EXPECT_EQ(problem_of(text), "") << text;
  }
}

TEST(PacketLanguageTest, ErrorsAreReported) {
  const std::string head = "1.5 10.0.0.1 > 10.0.0.2 ";
  EXPECT_EQ(problem_of(head), "no headers: TIME FROM > TO | HEADER ...");
  EXPECT_EQ(problem_of("x 10.0.0.1 > 10.0.0.2 | UUD_REQ"), "x: no time in seconds");
  EXPECT_EQ(problem_of("0 10.0.0.1 10.0.0.2 | UUD_REQ"), "a line begins with TIME FROM > TO");
  EXPECT_EQ(problem_of("0 10.0.0.1 > fd00::1 | UUD_REQ"), "addresses of two families");
  EXPECT_EQ(problem_of(head + "fast | UUD_REQ"), "no option fast");
  EXPECT_EQ(problem_of(head + "| RUD"), "no header RUD");
  EXPECT_EQ(problem_of(head + "| UUD_REQ psn=1"), "no field psn in this header");
  EXPECT_EQ(problem_of(head + "| RUD_REQ psn"), "psn needs a value");
  EXPECT_EQ(problem_of(head + "| NACK nack_code=NEVER"),
            "nack_code=NEVER: no such value; nack_code is 0 to 255, or the name of a code");
  EXPECT_EQ(problem_of(head + "| UUD_REQ | payload 123"), "123: no octets");
  EXPECT_EQ(problem_of(head + "| UUD_REQ || payload 12"), "nothing between two bars");
}

// A number that the field does not hold is an error that says what fits, also where the
// member of the header is wider than the field.
TEST(PacketLanguageTest, NumbersMustFitTheField) {
  const std::string head = "0 10.0.0.1 > 10.0.0.2 | ";
  for (const auto& [header, field, wrong, range] :
       {std::array{"RUD_REQ", "psn", "4294967296", "0 to 4294967295"},
        {"RUD_REQ", "psn", "-1", "0 to 4294967295"},
        {"RUD_REQ", "psn", "99999999999999999999", "0 to 4294967295"},
        {"RUD_REQ", "clear_psn_offset", "-32769", "-32768 to 32767"},
        {"RUD_REQ", "clear_psn_offset", "32768", "-32768 to 32767"},
        {"RUD_REQ", "clear_psn_offset", "0x10000", "-32768 to 32767"},
        {"RUD_CC_REQ", "credit_target", "-1", "0 to 16777215"},
        {"RUD_CC_REQ", "credit_target", "16777216", "0 to 16777215"},
        {"RUD_REQ syn", "psn_offset", "-1", "0 to 4095"},
        {"ACK_CC", "cc_flags", "16", "0 to 15"},
        {"CP ctl_type=CREDIT", "credit", "0x1000000", "0 to 16777215"},
        {"STANDARD", "payload_length", "16384", "0 to 16383"},
        {"STANDARD", "match_bits", "-1", "0 to 18446744073709551615"},
        {"STANDARD", "dc", "2", "0 to 1"}}) {
    const std::string word = std::string(field) + "=" + wrong;
    EXPECT_EQ(problem_of(head + header + " " + word),
              word + ": no such value; " + field + " is " + range);
  }
  EXPECT_EQ(uet_of("RUD_CC_REQ credit_target=16777215").substr(24), "00ffffff");
  EXPECT_EQ(uet_of("RUD_REQ clear_psn_offset=-32768").substr(4, 4), "8000");
  EXPECT_EQ(uet_of("RUD_REQ clear_psn_offset=0xffff").substr(4, 4), "ffff");
}

// An extension that could not be distinguished from another one is refused.
TEST(PacketLanguageTest, CompareSwapHasAnOpcodeThatCompares) {
  EXPECT_EQ(problem_of("0 10.0.0.1 > 10.0.0.2 | UUD_REQ | SMALL | COMPARE_SWAP atomic_opcode=SUM"),
            "COMPARE_SWAP has no atomic_opcode=SUM; ATOMIC has");
}

// [WIRE-057] The parts of a payload have separate names.
TEST(PacketLanguageTest, PartsOfACreditAreWrittenByName) {
  EXPECT_EQ(uet_of("CP ctl_type=CREDIT credit=5").substr(24), "00000500");
  EXPECT_EQ(uet_of("CP ctl_type=CREDIT_REQ ccc_id=2 credit_target=7").substr(24), "02000007");
}

std::vector<Captured> some_packets() {
  const Line first = parse_line("0 10.0.0.1 > 10.0.0.2 | UUD_REQ | SMALL");
  const Line second = parse_line("2.000000001 [fd00::1]:77 > fd00::2 | ACK spdcid=1");
  return {{first.frame->time_ns, kLinkEthernet, first.frame->octets},
          {second.frame->time_ns, kLinkEthernet, second.frame->octets}};
}

TEST(PcapFileTest, WrittenFilesAreReadBack) {
  std::string problem;
  const auto written = some_packets();
  const auto read = packets_of(pcapng_of(written, {{"", "a comment"}}), problem);
  EXPECT_EQ(problem, "");
  ASSERT_EQ(read.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].time_ns, written[i].time_ns);
    EXPECT_EQ(read[i].octets, written[i].octets);
    EXPECT_EQ(read[i].link_type, kLinkEthernet);
  }
  EXPECT_EQ(read[1].time_ns, 2000000001U);
}

// A text of two interfaces, and the file that it becomes.
TEST(PcapFileTest, EachInterfaceHasItsNameItsCommentAndItsPackets) {
  Text text;
  for (const char* line :
       {"interface a node 1, port p0  # the initiator", "interface b node 2",
        "0 10.0.0.1 > 10.0.0.2 | UUD_REQ | SMALL", "1 10.0.0.1 > 10.0.0.2 on=b | UUD_REQ | SMALL",
        "2 02:00:00:00:00:01 > 02:00:00:00:00:02 ethertype=1 on=a | raw 00"}) {
    EXPECT_EQ(text.take(parse_line(line)), "") << line;
  }
  std::string problem;
  std::vector<CapturePoint> points;
  const auto read = packets_of(pcapng_of(text.packets, text.points), problem, &points);
  EXPECT_EQ(problem, "");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].name, "a");
  EXPECT_EQ(points[0].comment, "node 1, port p0");
  EXPECT_EQ(points[1].name, "b");
  EXPECT_EQ(points[1].comment, "node 2");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].point, 0U);
  EXPECT_EQ(read[1].point, 1U);
  EXPECT_EQ(read[2].point, 0U);

  EXPECT_EQ(text.take(parse_line("interface b again")), "interface b is there already");
  EXPECT_EQ(text.take(parse_line("interface")), "interface NAME COMMENT...");
  EXPECT_EQ(text.take(parse_line("3 10.0.0.1 > 10.0.0.2 on=c | UUD_REQ")),
            "no interface c before this line");
}

TEST(PcapFileTest, FilesThatEndEarlyGiveTheirFirstPackets) {
  const auto whole = pcapng_of(some_packets(), {{}});
  size_t complete = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string problem;
    const auto read =
        packets_of({whole.begin(), whole.begin() + static_cast<long>(length)}, problem);
    EXPECT_LE(read.size(), 1U);
    if (problem.empty()) ++complete;  // cut between two blocks
  }
  EXPECT_EQ(complete, 3U);
}

// A pcap file of the other byte order, with microseconds, by hand.
TEST(PcapFileTest, OldFilesOfEitherOrderAreRead) {
  const unsigned char file[] = {0xA1, 0xB2, 0xC3, 0xD4, 0, 2, 0, 4, 0, 0,   0, 0, 0,    0,
                                0,    0,    0,    1,    0, 0, 0, 0, 0, 101, 0, 0, 0,    5,
                                0,    0,    0,    7,    0, 0, 0, 2, 0, 0,   0, 9, 0x45, 0};
  std::string problem;
  const auto* p = reinterpret_cast<const std::byte*>(file);
  const auto read = packets_of({p, p + sizeof file}, problem);
  EXPECT_EQ(problem, "");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].time_ns, 5000007000U);
  EXPECT_EQ(read[0].link_type, kLinkRawIp);
  EXPECT_EQ(read[0].octets.size(), 2U);
}

}  // namespace
}  // namespace uet::tools
