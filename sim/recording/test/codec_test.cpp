// Numbers and octets of a recording: written values are read back, and wrong input is refused.
#include "sim/recording/codec.h"

#include "sim/recording/events.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::recording {
namespace {

Octets octets_of(std::initializer_list<int> values) {
  Octets out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// Seven bits an octet, the lowest first: 300 is 0b10'0101100. Worked out by hand.
TEST(CodecTest, NumbersTakeSevenBitsAnOctet) {
  Encoder out;
  out.number(uint32_t{300});
  out.number(uint8_t{5});
  EXPECT_EQ(out.written(), octets_of({0xAC, 0x02, 0x05}));
}

TEST(CodecTest, TheLargestNumbersComeBack) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, UINT64_MAX}) {
    Encoder out;
    out.number(value);
    Decoder in(out.written());
    uint64_t read = 1;
    in.number(read);
    EXPECT_TRUE(in.ok() && in.is_at_end());
    EXPECT_EQ(read, value);
  }
}

TEST(CodecTest, ANumberThatDoesNotFitFails) {
  Encoder out;
  out.number(uint32_t{256});
  Decoder narrow(out.written());
  uint8_t octet = 1;
  narrow.number(octet);
  EXPECT_FALSE(narrow.ok());
  EXPECT_EQ(octet, 0);

  // Ten octets that say more than 64 bits.
  const Octets wide = octets_of({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02});
  Decoder in(wide);
  uint64_t read = 0;
  in.number(read);
  EXPECT_FALSE(in.ok());
}

TEST(CodecTest, ALengthBeyondTheEndFails) {
  for (const int length : {3, 4, 5}) {  // 3: all that there is, with the length itself
    const Octets written = octets_of({length, 'a', 'b'});
    Decoder in(written);
    std::string text;
    in.text(text);
    EXPECT_FALSE(in.ok()) << length;
    EXPECT_EQ(text, "");
  }
}

Packets two_packets() {
  Packets packets;
  Packets::Packet& p = packets.all.emplace_back();
  p.to = FabricAddress::v4(0x0A000001);
  p.ev = Entropy(513);
  p.dscp = 46;
  p.ecn = Ecn::ect0;
  p.header = octets_of({1, 2, 3});
  p.payload_bytes = 7;
  p.payload_digest = 0x0123456789ABCDEF;
  packets.all.push_back(p);
  packets.all[1].payload_bytes = 0;
  packets.all[1].payload_digest = 0;
  return packets;
}

TEST(CodecTest, PacketsComeBack) {
  const Packets packets = two_packets();
  Packets read;
  ASSERT_TRUE(decode(encoded(packets), read));
  EXPECT_TRUE(read.all == packets.all);
}

TEST(CodecTest, ARecordThatIsCutOrTooLongIsBroken) {
  const Octets whole = encoded(two_packets());
  Packets read;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode(std::span(whole).first(length), read)) << length;
  }
  Octets longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer, read));
}

TEST(CodecTest, UnknownEnumeratorsAreRefused) {
  Octets changed = encoded(two_packets());
  const auto ecn = std::ranges::find(changed, std::byte{46}) + 1;  // it follows the DSCP
  ASSERT_EQ(*ecn, std::byte{2});
  *ecn = std::byte{4};
  Packets read;
  EXPECT_FALSE(decode(changed, read));
}

}  // namespace
}  // namespace uet::recording
