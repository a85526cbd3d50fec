// Tombstones stay valid: the record of a peer is not given to another peer.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using Lines = std::vector<std::string>;

// [PDS-248, PDS-176] Other addresses fill the table of peers while the tombstone stands. The record
// of its peer is not theirs: the SYN that comes once more is not executed again.
TEST(TombstoneTest, AFloodOfAddressesLosesNoTombstone) {
  Bench b;
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  b.lines();
  ASSERT_EQ(b.client.received.times.size(), 1u);
  const FabricAddress peer = b.from;
  for (uint8_t i = 0; i < 200; ++i) {  // three times the size of the table
    b.from = address(100, 50000);
    b.from.ip[1] = i;
    std::vector<std::byte> octets(wire::Uud::kSize + 8);
    wire::Writer w(octets);
    wire::Uud h;
    h.next_hdr = wire::NextHeader::standard;
    h.emit(w);
    w.u32(5000u + i);
    w.u32(0);
    b.rx_octets(std::move(octets));
  }
  EXPECT_EQ(b.count(Count::uud_rx), 200u);
  b.client.received.times.clear();
  b.from = peer;
  b.rx(b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1000"}));
  EXPECT_EQ(b.count(Count::tombstone_hits), 1u);
  EXPECT_TRUE(b.client.received.times.empty());
  // It gives its peer back when its time is over.
  EXPECT_EQ(b.peers.spare(), 63u);
  b.elapse(401_ms);
  EXPECT_EQ(b.peers.spare(), 64u);
}

// [PDS-176, PDS-181] Pressure would reclaim a PDC with a gap, and it is too young for that. When it
// closes in order later, each of its packets has been answered: duplicates get an ACK.
TEST(TombstoneTest, APdcThatEscapedItsEndLeavesNoDoubt) {
  Config config;
  config.max_pdcs = 8;
  config.low_water_percent = 50;
  Bench b(config);
  b.client.script.names_are_unique = false;
  b.from = address(20);
  b.rx(b.request(1001));  // 1000 is missing
  const Pdcid own = b.tx().at(0).as<wire::Ack>().spdcid;
  for (uint8_t host = 21; host < 30; ++host) {
    b.from = address(host);
    b.rx(b.request(1000));
    b.lines();
  }
  ASSERT_GT(b.count(Count::pdc_alloc_fail), 0u);  // pressure
  ASSERT_EQ(b.count(Count::pdc_reclaimed), 0u);
  b.from = address(20);
  b.own = own;
  b.rx(b.request(1000));
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  b.lines();
  b.rx(b.request(1001));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1001"}));
  EXPECT_EQ(b.count(Count::tombstone_hits), 1u);
}

// [PDS-176] A PDC for which no tombstone is free is not closed: a peer that closes fast removes no
// tombstone, and waits itself.
TEST(TombstoneTest, ACloseWaitsForATombstone) {
  Config config;
  config.tombstones = 2;
  Bench b(config);
  b.client.script.names_are_unique = false;
  const auto closes = [&](uint8_t host) {
    b.from = address(host, 50000);
    b.rx(b.request(1000));
    b.own = b.tx().at(0).as<wire::Ack>().spdcid;
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    const Lines said = b.lines();
    return said.empty() ? std::string() : said.back();
  };
  const auto again = [&](uint8_t host) {
    b.from = address(host, 50000);
    b.rx(b.request(1000));
    b.tx();
  };
  EXPECT_EQ(closes(20), "ACK cack 1001 ack 1001");
  EXPECT_EQ(closes(21), "ACK cack 1001 ack 1001");
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  closes(22);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.count(Count::close_waits), 1u);
  again(20);
  again(21);
  again(22);
  EXPECT_EQ(b.count(Count::pdc_opened_target), 3u) << "each executed once";
  EXPECT_EQ(b.count(Count::tombstone_hits), 2u);
  b.elapse(401_ms);
  b.elapse(401_ms);
  EXPECT_EQ(b.pds->open_pdcs(), 0u) << "closed although no Close came again";
}

// [PDS-251, PDS-176] Two PDCs that one peer gives the same PDCID, one just after the other, get
// different Start_PSNs; otherwise the second would be taken for the first.
TEST(TombstoneTest, AChallengeNamesNoStartThatIsRemembered) {
  Config config;
  config.max_pdcs = 64;
  config.challenge_above = 1;
  Bench b(config);
  b.client.script.names_are_unique = false;
  b.proves = false;
  b.from = address(30, 50000);
  b.rx(b.request(1000));
  b.tx();
  b.from = address(31, 50000);
  const auto told = [&]() -> uint32_t {
    b.rx(b.request(1000));
    const auto out = b.tx();
    EXPECT_EQ(out.at(0).type(), wire::PdsType::nack);
    return out.at(0).as<wire::Nack>().payload;
  };
  const uint32_t first = told();
  EXPECT_EQ(told(), first) << "each SYN of a PDC gets the same answer";
  wire::Request syn = b.request(1000);
  syn.psn = Psn(first);
  syn.psn_offset = 0;
  b.rx(syn);
  b.own = b.tx().at(0).as<wire::Ack>().spdcid;
  b.rx_header(b.control(CtlType::close_cmd, first + 1));
  b.tx();
  EXPECT_EQ(b.pds->open_pdcs(), 1u) << "the second one came and went";
  EXPECT_NE(told(), first);
}

// [PDS-176, PDS-075] A peer uses the PDCID of a closed PDC for the next one, at once, and closes
// that as well. A copy of the first packet of the first one, which the network held up, finds the
// tombstone of the first PDC, and executes nothing.
TEST(TombstoneTest, APdcidThatIsUsedAgainHasATombstoneForEach) {
  Bench b;
  b.client.script.names_are_unique = false;
  for (const uint32_t first : {1000u, 700'000u}) {
    wire::Request syn = b.request(first);
    syn.psn_offset = 0;
    b.rx(syn);
    b.own = b.tx().at(0).as<wire::Ack>().spdcid;
    b.rx_header(b.control(CtlType::close_cmd, first + 1));
    b.tx();
    EXPECT_EQ(b.pds->open_pdcs(), 0u);
    b.elapse(10_ms);
  }
  for (const uint32_t first : {1000u, 700'000u}) {
    wire::Request late = b.request(first);
    late.psn_offset = 0;
    b.rx(late);
    b.tx();
  }
  EXPECT_EQ(b.count(Count::pdc_opened_target), 2u);
  EXPECT_EQ(b.client.received.order.size(), 2u);
  EXPECT_EQ(b.count(Count::tombstone_hits), 2u);
}

}  // namespace
}  // namespace uet::pds::test
