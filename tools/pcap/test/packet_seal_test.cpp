// uet_pcap seals and opens the vectors of the TSS reference, part D, to the same octets. The
// vectors in wire/test/data/tss-vectors.json were not made by this code. [TSS-122..130]
#include "tools/pcap/packet_seal.h"
#include "tools/pcap/packet_language.h"
#include "tools/pcap/packet_unseal.h"

#include "wire/reader.h"
#include "wire/test/octets_of.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace uet::tools {
namespace {

using Json = nlohmann::json;
using wire::test::hex_of;
using wire::test::Octets;
using wire::test::octets_of;

Json vectors(const char* part) {
  std::ifstream file(UET_SOURCE_DIR "/wire/test/data/tss-vectors.json");
  return Json::parse(file).at(part);
}

std::string text(const Json& object, const char* field) {
  return object.contains(field) ? object.at(field).get<std::string>() : std::string();
}

wire::IpAddress address_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  wire::IpAddress address;
  address.family = octets.size() == 4 ? wire::IpFamily::v4 : wire::IpFamily::v6;
  std::memcpy(address.octets.data(), octets.data(), octets.size());
  return address;
}

// The fields of a key line for a key derivation of the vectors; direct mode derives no key.
std::string derivation_fields(const std::string& id) {
  for (const Json& kdf : vectors("kdf")) {
    if (kdf.at("id") != id) continue;
    const std::string rekey = kdf.at("mode") == "cluster"
                                  ? " rekey_mask=0x" + text(kdf, "rekey_mask") + " rekey_shift=0x" +
                                        text(kdf, "rekey_shift")
                                  : "";
    return " key=" + text(kdf, "master") + rekey;
  }
  return "";
}

std::string key_line(const Json& packet) {
  const size_t clear = std::stoul(text(packet, "crypto_offset"), nullptr, 16) -
                       text(packet, "tss_header").size() / 2;
  std::string derived = derivation_fields(text(packet, "kdf"));
  if (derived.empty()) derived = " key=" + text(packet, "key");
  const std::string context = text(packet, "kdf_ssi_v6");
  return "sdi=0x" + text(packet, "sdi") + " an=" + std::to_string(packet.at("an").get<int>()) +
         " mode=" + text(packet, "mode") + derived + " clear=" + std::to_string(clear) +
         (context.empty() ? "" : " kdf_ssi_v6=" + context);
}

Seal how_of(const Json& packet) {
  Seal how;
  const uint64_t tsc = std::stoull(text(packet, "tsc"), nullptr, 16);
  how.sdi = static_cast<uint32_t>(std::stoul(text(packet, "sdi"), nullptr, 16));
  how.an = packet.at("an").get<uint32_t>();
  how.epoch = static_cast<uint32_t>(tsc >> 48);
  how.counter = tsc & 0xFFFFFFFFFFFF;
  if (packet.at("sp") == 1) {
    how.ssi =
        static_cast<uint32_t>(std::stoul(text(packet, "tss_header").substr(8, 8), nullptr, 16));
  }
  how.from_server = packet.at("mode") == "server" && text(packet, "src") == "c0a82a02";
  return how;
}

TEST(SealerTest, PacketsEqualTheVectors) {
  size_t compared = 0;
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    Sealer sealer;
    ASSERT_EQ(sealer.take_keys(key_line(packet)), "");
    const Seal how = how_of(packet);
    const Octets transport = octets_of(text(packet, "encap_header"));
    const SealedRoute route{address_of(text(packet, "src")), address_of(text(packet, "dst")),
                            transport};
    const std::string uet = text(packet, "uet");
    const size_t clear_at = text(packet, "tss_header").size();
    const size_t clear = 2 * std::stoul(text(packet, "crypto_offset"), nullptr, 16) - clear_at;
    const Octets content = octets_of(uet.substr(clear_at, clear) + text(packet, "plaintext"));
    Octets out;
    ASSERT_EQ(sealer.seal(how, route, content, out), "");
    EXPECT_EQ(hex_of(out), uet);
    EXPECT_EQ(out.size(), content.size() + Sealer::overhead(how));
    ++compared;
  }
  EXPECT_EQ(compared, 18U);
}

// A packet as wire::decode takes it apart: `octets` from the transport header on.
wire::DecodedPacket taken_apart(const Json& packet, const Octets& octets) {
  wire::DecodedPacket out;
  const wire::IpAddress source = address_of(text(packet, "src"));
  const wire::IpAddress destination = address_of(text(packet, "dst"));
  if (source.family == wire::IpFamily::v4) {
    wire::Ipv4Header ip;
    ip.src = source;
    ip.dst = destination;
    out.ip = ip;
  } else {
    wire::Ipv6Header ip;
    ip.src = source;
    ip.dst = destination;
    out.ip = ip;
  }
  const size_t transport = text(packet, "encap_header").size() / 2;
  if (transport == wire::UdpHeader::kSize) out.udp.emplace();
  if (transport == wire::EntropyHeader::kSize) out.entropy.emplace();
  wire::Reader r{std::span<const std::byte>(octets).subspan(transport)};
  out.tss = wire::TssHeader::read(r);
  const auto sealed = r.rest();
  out.ciphertext = sealed.first(sealed.size() - tss::kIcvBytes);
  out.icv = sealed.last(tss::kIcvBytes);
  return out;
}

TEST(UnsealTest, PacketsOfTheVectorsAreOpened) {
  size_t compared = 0;
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    PacketKeys keys;
    ASSERT_EQ(keys.take(key_line(packet)), "");
    const std::string uet = text(packet, "uet");
    Octets octets = octets_of(text(packet, "encap_header") + uet);
    const size_t clear_at = text(packet, "tss_header").size();
    const size_t clear = 2 * std::stoul(text(packet, "crypto_offset"), nullptr, 16) - clear_at;
    Octets content;
    ASSERT_EQ(unseal(keys, taken_apart(packet, octets), content), Opening::opened);
    EXPECT_EQ(hex_of(content), uet.substr(clear_at, clear) + text(packet, "plaintext"));
    ++compared;

    octets.back() ^= std::byte{1};
    EXPECT_EQ(unseal(keys, taken_apart(packet, octets), content), Opening::refused);
    EXPECT_TRUE(content.empty());
    wire::DecodedPacket other = taken_apart(packet, octets);
    other.tss->an = !other.tss->an;
    EXPECT_EQ(unseal(keys, other, content), Opening::no_key);
    other.icv = {};
    EXPECT_EQ(unseal(keys, other, content), Opening::not_sealed);
  }
  EXPECT_EQ(compared, 18U);
}

class LineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string key(64, '1');
    ASSERT_EQ(sealer_.take_keys("sdi=1 an=0 mode=direct key=" + key +
                                "\n# a comment\n"
                                "sdi=1 an=1 mode=direct key=" +
                                key + "\nsdi=2 an=0 mode=cluster key=" + key + "\n"),
              "");
  }
  // The security header of a line, or the problem of the line.
  std::string header_of(const std::string& options, size_t octets = 12) {
    const Line line = parse_line("0 10.0.0.1 > 10.0.0.2 " + options + " | ACK spdcid=1", &sealer_);
    if (!line.frame) return line.problem;
    return hex_of(line.frame->octets).substr(2 * (14 + 20 + 8), 2 * octets);
  }

  Sealer sealer_;
};

// [TSS-026] A line of the language, sealed, is read back from the frame.
TEST_F(LineTest, SealedPacketsArePrintedInTheClear) {
  const Line line = parse_line(
      "0 10.0.0.1 > 10.0.0.2 sdi=2 | RUD_REQ syn psn=7 spdcid=9 | SMALL opcode=NO_OP som eom",
      &sealer_);
  ASSERT_TRUE(line.frame) << line.problem;
  PacketKeys keys;
  ASSERT_EQ(keys.take("sdi=2 an=0 mode=cluster key=" + std::string(64, '1')), "");
  wire::DecodeOptions how;
  how.start = wire::Start::ethernet;
  how.udp_port = 0;
  wire::DecodedPacket packet = wire::decode(line.frame->octets, how);
  EXPECT_EQ(packet.pds.index(), 0u);
  Octets content;
  ASSERT_EQ(unseal_headers(keys, packet, content), Opening::opened);
  const auto* const request = std::get_if<wire::Request>(&packet.pds);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->psn, Psn(7));
  EXPECT_EQ(request->spdcid, Pdcid(9));
  EXPECT_TRUE(std::holds_alternative<wire::SmallRequest>(packet.ses));
  EXPECT_EQ(packet.outcome, wire::Outcome::accept);
}

// [TSS-009]
TEST_F(LineTest, CountersGoUpForEachKeyAndSource) {
  EXPECT_EQ(header_of("sdi=2"), "080000020000000000000000");
  EXPECT_EQ(header_of("sdi=2"), "080000020000000000000001");
  EXPECT_EQ(header_of("sdi=2 epoch=258 counter=0x123456789abc"), "080000020102123456789abc");
  EXPECT_EQ(header_of("sdi=2 epoch=258"), "080000020102123456789abd");
  EXPECT_EQ(header_of("sdi=2 ssi=0x0a0b0c0d", 16), "0c0000020a0b0c0d0000000000000000");
  EXPECT_EQ(header_of("sdi=1"), "090000010000000000000000");
  EXPECT_EQ(header_of("sdi=1 an=0"), "080000010000000000000000");
  EXPECT_EQ(header_of("sdi=1 key_line=1"), "080000010000000000000001");
}

TEST_F(LineTest, ALineWithoutDomainIsClearUnlessAllAreSealed) {
  EXPECT_EQ(header_of(""), "380000000000000000010000");
  sealer_.sdi_of_all = 2;
  EXPECT_EQ(header_of(""), "080000020000000000000000");
}

TEST_F(LineTest, TheSameLineIsClearWithoutASealer) {
  const std::string options = "0 10.0.0.1 > 10.0.0.2";
  const Line plain = parse_line(options + " | ACK spdcid=1");
  const Line sealable = parse_line(options + " sdi=1 epoch=3 | ACK spdcid=1");
  ASSERT_TRUE(plain.frame && sealable.frame);
  EXPECT_EQ(hex_of(plain.frame->octets), hex_of(sealable.frame->octets));
}

// [TSS-006] A sealed packet is 28 octets longer, UDP and IP count them, and it has no CRC.
TEST_F(LineTest, LengthsCountTheHeaderAndTheIcv) {
  const std::string ends = "0 10.0.0.1 > 10.0.0.2 crc";
  const Line line = parse_line(ends + " sdi=2 | ACK spdcid=1", &sealer_);
  ASSERT_TRUE(line.frame.has_value());
  const std::string frame = hex_of(line.frame->octets);
  EXPECT_EQ(line.frame->octets.size(), 14U + 20 + 8 + 12 + 12 + 16);
  EXPECT_EQ(frame.substr(2 * 16, 4), "0044");  // 20 + 8 + 40
  EXPECT_EQ(frame.substr(2 * 38, 4), "0030");  // 8 + 40
}

TEST_F(LineTest, PacketsThatCannotBeSealedAreReported) {
  EXPECT_EQ(header_of("sdi=3"), "the key file has no such key");
  EXPECT_EQ(header_of("sdi=1 key_line=2"), "the key file has no such key");
  EXPECT_EQ(parse_line("0 fd00::1 > fd00::2 sdi=1 | ACK spdcid=1", &sealer_).problem,
            "IPv6 without ssi is for mode cluster");
  Sealer other;
  EXPECT_EQ(other.take_keys("# x\nsdi=1 an=2\n"), "2: an: an is 0 or 1");
}

}  // namespace
}  // namespace uet::tools
