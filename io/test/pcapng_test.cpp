// The blocks against octets written by hand from the pcapng specification, for a little-endian
// machine. tshark reads a whole file in pcap_tap_test.cpp.
#include "io/tap/pcapng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace uet::io {
namespace {

class PcapngTest : public ::testing::Test {
 protected:
  std::string hex() const {
    std::string out;
    char two[4];
    for (const std::byte b : writer_.written()) {
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(b));
      out += two;
    }
    return out;
  }
  static std::string without_blanks(std::string text) {
    std::erase(text, ' ');
    return text;
  }

  std::array<std::byte, 8192> room_{};
  PcapngWriter writer_{room_};
};

TEST_F(PcapngTest, ASectionHasItsByteOrderAndNoLength) {
  writer_.section();
  EXPECT_EQ(hex(),
            without_blanks("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"));
  EXPECT_EQ(writer_.used(), PcapngWriter::kSectionBytes);
}

TEST_F(PcapngTest, AnInterfaceHasOnlyTheGivenTexts) {
  // Type 1, 32, Ethernet, snap length 0, if_tsresol 9, end, 32
  const std::string bare =
      without_blanks("01000000 20000000 0100 0000 00000000 0900 0100 09000000 0000 0000 20000000");
  writer_.interface({});
  EXPECT_EQ(hex(), bare);
  EXPECT_EQ(writer_.used(), PcapngWriter::interface_bytes({}));
  writer_.clear();

  // The same with if_name "ab", padded to four, and a comment of five octets
  const PcapngInterface named{kLinkRawIp, "ab", "prog7"};
  writer_.interface(named);
  EXPECT_EQ(hex(), without_blanks("01000000 34000000 6500 0000 00000000 0200 0200 61620000"
                                  "0900 0100 09000000 0100 0500 70726f67 37000000 0000 0000"
                                  "34000000"));
  EXPECT_EQ(writer_.used(), PcapngWriter::interface_bytes(named));
}

TEST_F(PcapngTest, TextsAreCut) {
  const std::string text(5000, 'x');
  const PcapngInterface interface { kLinkEthernet, text, "" };
  EXPECT_EQ(PcapngWriter::interface_bytes(interface), 32U + 4 + 4096);
  writer_.interface(interface);
  EXPECT_EQ(writer_.used(), 32U + 4 + 4096);
}

TEST_F(PcapngTest, APacketIsPaddedAndSaysItsDirectionIfItIsKnown) {
  PcapngPacket packet{.interface = 1, .time_ns = 0x0102030405060708, .bytes = 5};
  writer_.begin_packet(packet);
  writer_.put("abc", 3);
  writer_.take(2)[0] = std::byte{'d'};
  EXPECT_EQ(writer_.packet().size(), 5U);
  writer_.packet()[4] = std::byte{'e'};
  writer_.end_packet();
  // Type 6, 40, interface, time (the upper half first), 5 octets captured of 5, 3 of padding, 40
  EXPECT_EQ(hex(), without_blanks("06000000 28000000 01000000 04030201 08070605 05000000 05000000"
                                  "6162636465 000000 28000000"));
  EXPECT_EQ(writer_.used(), PcapngWriter::packet_bytes(packet));
  writer_.clear();

  packet.direction = PcapngPacket::Direction::outbound;
  packet.bytes = 4;
  writer_.begin_packet(packet);
  writer_.put("abcd", 4);
  writer_.end_packet();
  // epb_flags outbound, and the end of the options, before the length
  EXPECT_EQ(hex(), without_blanks("06000000 30000000 01000000 04030201 08070605 04000000 04000000"
                                  "61626364 0200 0400 02000000 0000 0000 30000000"));
  EXPECT_EQ(writer_.used(), PcapngWriter::packet_bytes(packet));
}

using PcapngDeathTest = PcapngTest;

TEST_F(PcapngDeathTest, NothingIsWrittenBeyondTheRoom) {
  std::array<std::byte, 27> little{};
  PcapngWriter writer(little);
  EXPECT_DEATH(writer.section(), "");
}

}  // namespace
}  // namespace uet::io
