// Contents of a packet that leaves through SealedIo: the other end opens it by a route that the
// test writes itself. Whole processes are in prov/uet/test/secured_test.cpp.
#include "io/seal/sealed_io.h"

#include "tss/test/end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace uet::io {
namespace {

using tss::test::End;
using tss::test::kBegin;
using tss::test::kSdi;
using tss::test::Octets;

FabricAddress ipv4(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

// Keeps the packets; all leave from one port, with any entropy value.
class FakeIo final : public PacketIo {
 public:
  static constexpr uint16_t kPort = 0xC242;
  static constexpr uint32_t kBurstBytes = 100;  // so each packet leaves in a separate call

  explicit FakeIo(uint8_t ip_protocol) : ip_protocol_(ip_protocol) {}
  IoCaps caps() const override {
    return {.max_datagram_bytes = 1472, .burst_bytes = kBurstBytes, .ip_protocol = ip_protocol_};
  }
  FabricAddress local_address() const override { return ipv4(1); }
  uint16_t source_port(Entropy ev) override { return ip_protocol_ != 0 ? ev.value() : kPort; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& p : packets) {
      if (offered++ == held) {
        p.fate = TxFate::later;
        continue;
      }
      sent.emplace_back(p.header, p.header + p.header_bytes);
      p.fate = TxFate::sent;
    }
  }
  std::span<RxDatagram> receive() override {
    if (arriving.empty()) return {};
    const std::span<RxDatagram> next = arriving.front();
    arriving.erase(arriving.begin());
    return next;
  }
  int wait_fd() const override { return -1; }

  std::vector<Octets> sent;
  size_t offered = 0;
  size_t held = SIZE_MAX;  // the packet of this number stays behind
  std::vector<std::span<RxDatagram>> arriving;

 private:
  uint8_t ip_protocol_;
};

class SealedIoTest : public ::testing::TestWithParam<tss::Carriage> {
 protected:
  void SetUp() override {
    for (End* end : {&here_, &there_}) {
      end->add(tss::test::terms_of(tss::Mode::direct));
      end->take(tss::test::key_with(tss::Mode::direct, 3));
    }
    auto fake = std::make_unique<FakeIo>(uint8_t{is_native() ? uint8_t{253} : uint8_t{0}});
    fake_ = fake.get();
    SealedIo::Terms terms;
    terms.cut_dscps = uint64_t{1} << 16;
    terms.clock = [] { return kBegin; };
    terms.tend = [](Instant) { return Instant::never(); };
    io_ = std::make_unique<SealedIo>(std::move(fake), here_.domains, std::move(terms));
  }
  static bool is_native() { return GetParam() == tss::Carriage::native; }
  // [TSS-022, TSS-025] Of UDP the port that the packet leaves with; without UDP the entropy value.
  static tss::Route route(uint32_t from, uint32_t to) {
    return {.source = tss::test::v4(from),
            .destination = tss::test::v4(to),
            .carriage = GetParam(),
            .entropy = is_native() ? kEv : FakeIo::kPort,
            .destination_port = kUetPort};
  }

  static TxPacket to_there(Octets& content) {
    TxPacket packet;
    packet.header = content.data();
    packet.header_bytes = static_cast<uint16_t>(content.size());
    packet.to = ipv4(2);
    packet.ev = Entropy(kEv);
    packet.sdi = kSdi;
    return packet;
  }
  static RxDatagram from_there(Octets& sealed) {
    RxDatagram datagram;
    datagram.from = ipv4(2);
    if (!is_native()) datagram.from.port = FakeIo::kPort;
    datagram.ev = Entropy(is_native() ? kEv : FakeIo::kPort);
    datagram.bytes = sealed;
    return datagram;
  }

  static constexpr uint16_t kEv = 0x1234;
  End here_, there_;
  FakeIo* fake_ = nullptr;
  std::unique_ptr<SealedIo> io_;
};

TEST_P(SealedIoTest, ThePeerOpensLeavingPackets) {
  Octets content = tss::test::content();
  const IoSlice payload{content.data() + 12, content.size() - 12};
  TxPacket packet = to_there(content);
  packet.header_bytes = 12;
  packet.slices = &payload;
  packet.slice_count = 1;
  packet.payload_bytes = static_cast<uint32_t>(payload.length);
  io_->send({&packet, 1});
  EXPECT_EQ(packet.fate, TxFate::sent);
  ASSERT_EQ(fake_->sent.size(), 1u);
  EXPECT_EQ(there_.unseal(fake_->sent[0], route(1, 2)), content);
  tss::Route other = route(1, 2);
  other.entropy ^= 1;
  EXPECT_NE(there_.verdict(fake_->sent[0], other), "ok") << "the entropy is under the seal";
}

TEST_P(SealedIoTest, PacketsThatThePeerSealedArriveOpened) {
  const Octets content = tss::test::content();
  Octets sealed = there_.seal(content, route(2, 1));
  RxDatagram datagram = from_there(sealed);
  fake_->arriving = {{&datagram, 1}};
  const std::span<RxDatagram> got = io_->receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(Octets(got[0].bytes.begin(), got[0].bytes.end()), content);
  EXPECT_EQ(got[0].sdi, kSdi);
}

// [TSS-039, TSS-040, TSS-109] The packets of a batch that can be sealed leave, each with a separate
// counter; the others have their fate, and none of their octets leave, above all not in the clear.
TEST_P(SealedIoTest, PacketsThatCannotBeSealedDoNotLeave) {
  Octets content = tss::test::content();
  std::array<TxPacket, 5> packets;
  packets.fill(to_there(content));
  packets[1].sdi = 0;
  packets[3].sdi = kSdi + 1;
  io_->send(packets);
  const auto said = [&](size_t i) { return std::pair(packets[i].fate, packets[i].error); };
  for (const size_t i : {0u, 2u, 4u}) EXPECT_EQ(said(i), std::pair(TxFate::sent, 0)) << i;
  for (const size_t i : {1u, 3u}) EXPECT_EQ(said(i), std::pair(TxFate::never, ENOKEY)) << i;
  ASSERT_EQ(fake_->sent.size(), 3u);
  std::set<Octets> counters;
  for (const Octets& one : fake_->sent) counters.insert({one.begin(), one.begin() + 12});
  EXPECT_EQ(counters.size(), 3u);
  here_.domains.find(kSdi)->remove(false);
  io_->send({packets.data(), 1});
  EXPECT_EQ(said(0), std::pair(TxFate::never, EKEYEXPIRED));
  EXPECT_EQ(fake_->sent.size(), 3u);
}

// No packet to the same destination overtakes one that stays behind; all others leave.
TEST_P(SealedIoTest, APacketThatStaysBehindKeepsItsPlace) {
  Octets content = tss::test::content();
  std::array<TxPacket, 5> packets;
  packets.fill(to_there(content));
  packets[3].to = ipv4(3);
  packets[4].ev = Entropy(kEv + 1);
  fake_->held = 1;
  io_->send(packets);
  std::string fates;
  for (const TxPacket& packet : packets) fates += "sln"[static_cast<size_t>(packet.fate)];
  EXPECT_EQ(fates, "sllss");
  EXPECT_EQ(fake_->offered, 4u) << "the third one was not even sealed";
}

// [TSS-084, TSS-103] Neither a packet in the clear nor one that does not open is seen; those behind
// it are.
TEST_P(SealedIoTest, PacketsThatDoNotOpenAreNotDelivered) {
  Octets clear = tss::test::content();
  Octets good = there_.seal(clear, route(2, 1));
  Octets bad = good;
  bad.back() ^= std::byte{1};
  std::array<RxDatagram, 3> datagrams{from_there(clear), from_there(bad), from_there(good)};
  fake_->arriving = {datagrams};
  const std::span<RxDatagram> got = io_->receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].sdi, kSdi);
  const tss::Counts counts = here_.domains.total_counts();
  EXPECT_EQ(counts[tss::Count::in_rx_encryption_bypass_pkts], 1u);
  EXPECT_EQ(counts[tss::Count::in_auth_fail_pkts], 1u);
  EXPECT_EQ(counts[tss::Count::in_auth_pkts], 1u);
}

// [TSS-081, TSS-104] A trimmed packet does not count as an attack. Its rest is read and marked as
// unverified, even if nothing is missing. A security header alone, or less, is ignored. Each packet
// is counted once.
TEST_P(SealedIoTest, ATrimmedPacketIsReadAsUnverified) {
  const Octets content = tss::test::content(200);
  Octets cut = there_.seal(content, route(2, 1));
  Octets whole = there_.seal(content, route(2, 1));
  Octets short_one(cut.begin(), cut.begin() + 11), bare(cut.begin(), cut.begin() + 12);
  cut.resize(12 + 20);
  std::array<RxDatagram, 4> datagrams{from_there(cut), from_there(short_one), from_there(bare),
                                      from_there(whole)};
  for (RxDatagram& one : datagrams) one.dscp = 16;
  fake_->arriving = {datagrams};
  const std::span<RxDatagram> got = io_->receive();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(got[0].bytes, std::span(content).first(20)));
  EXPECT_TRUE(std::ranges::equal(got[1].bytes, std::span(content).first(64)));
  for (const RxDatagram& one : got) EXPECT_EQ(one.sdi, 0x80000000u | kSdi);
  const tss::Counts counts = here_.domains.total_counts();
  EXPECT_EQ(counts[tss::Count::in_trim_unauth], 4u);
  EXPECT_EQ(counts[tss::Count::in_auth_pkts] + counts[tss::Count::in_auth_fail_pkts], 0u);
}

// A forged packet hides no later one.
TEST_P(SealedIoTest, ABatchOfNonsenseIsSkipped) {
  Octets forged = there_.seal(tss::test::content(), route(2, 1));
  forged.back() ^= std::byte{1};
  Octets good = there_.seal(tss::test::content(), route(2, 1));
  RxDatagram first = from_there(forged), second = from_there(good);
  fake_->arriving = {{&first, 1}, {&second, 1}};
  EXPECT_EQ(io_->receive().size(), 1u);
  EXPECT_EQ(here_.domains.total_counts()[tss::Count::in_auth_fail_pkts], 1u);
}

INSTANTIATE_TEST_SUITE_P(Carriages, SealedIoTest,
                         ::testing::Values(tss::Carriage::udp, tss::Carriage::native),
                         [](const auto& each) {
                           return each.param == tss::Carriage::udp ? "Udp" : "Native";
                         });

}  // namespace
}  // namespace uet::io
