// The oracle of packets finds each breach of the PSN rules that it is there for.
#include "sim/oracles/wire_oracle.h"

#include "wire/pds.h"
#include "wire/writer.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace uet::sim {
namespace {

// Takes every packet, and delivers the one that the test sets.
class Card final : public io::PacketIo {
 public:
  io::IoCaps caps() const override { return {}; }
  FabricAddress local_address() const override { return {}; }
  void send(std::span<TxPacket> packets) override {
    for (TxPacket& packet : packets) packet.fate = TxFate::sent;
  }
  std::span<RxDatagram> receive() override { return {&arrived_, arrived_.bytes.empty() ? 0u : 1u}; }
  int wait_fd() const override { return -1; }
  void bring(std::span<std::byte> octets) { arrived_.bytes = octets; }

 private:
  RxDatagram arrived_{};
};

class WireOracleTest : public ::testing::Test {
 protected:
  static constexpr Psn kFirst{1000};

  WireOracleTest() { make(false); }
  void make(bool starts_repeat) {
    auto card = std::make_unique<Card>();
    card_ = card.get();
    oracle_ = std::make_unique<WireOracle>(std::move(card),
                                           WireOracle::Windows{4, 1024, true, starts_repeat});
  }
  void send_syn(uint32_t distance, uint8_t octet) {
    wire::Request h;
    h.next_hdr = wire::NextHeader::standard;
    h.syn = true;
    h.psn_offset = static_cast<uint16_t>(distance);
    h.spdcid = Pdcid(7);
    h.psn = kFirst + distance;
    give(h, octet);
  }
  // A request with that distance from the first PSN and one octet behind its header.
  void send(uint32_t distance, uint8_t octet, bool retx = false, Pdcid to = Pdcid(9)) {
    wire::Request h;
    h.next_hdr = wire::NextHeader::response_data;
    h.spdcid = Pdcid(7);
    h.dpdcid = to;
    h.psn = kFirst + distance;
    h.retx = retx;
    give(h, octet);
  }
  void give(const wire::Request& h, uint8_t octet) {
    std::array<std::byte, 64> octets{};
    wire::Writer w(octets);
    h.emit(w);
    w.u8(octet);
    TxPacket packet;
    packet.header = octets.data();
    packet.header_bytes = static_cast<uint16_t>(w.position());
    oracle_->send({&packet, 1});
  }
  // All packets up to that distance have arrived, and that one is named.
  void acknowledge(uint32_t distance) {
    wire::Ack h;
    h.spdcid = Pdcid(9);
    h.dpdcid = Pdcid(7);
    h.cack_psn = kFirst + distance;
    std::array<std::byte, 64> octets{};
    wire::Writer w(octets);
    h.emit(w);
    card_->bring(std::span(octets).first(w.position()));
    oracle_->receive();
    card_->bring({});
  }

  Card* card_ = nullptr;
  std::unique_ptr<WireOracle> oracle_;
};

TEST_F(WireOracleTest, PacketsThatKeepTheRulesPass) {
  for (uint32_t i = 0; i < 4; ++i) send(i, 1);
  send(2, 1, true);
  acknowledge(3);
  for (uint32_t i = 4; i < 8; ++i) send(i, 2);
  EXPECT_EQ(oracle_->violation(), "");
  EXPECT_EQ(oracle_->packets(), 9u);
}

TEST_F(WireOracleTest, AReusedPsnIsReported) {
  send(0, 1);
  send(1, 1);
  send(0, 1);
  EXPECT_EQ(oracle_->violation(), "PDC 7 PSN 1000 used for a second packet");
}

TEST_F(WireOracleTest, ARetxOfAFirstTransmissionIsFound) {
  send(0, 1);
  send(1, 1, true);
  EXPECT_EQ(oracle_->violation(), "PDC 7 PSN 1001: RETX on a first transmission");
}

// [PDS-053] Only a secured PDC may begin where the one before began.
TEST_F(WireOracleTest, AStartMayRepeatWhereThatIsTold) {
  for (const bool may : {false, true}) {
    make(may);
    for (int round = 0; round < 2; ++round) {
      for (uint32_t i = 0; i < 4; ++i) send_syn(i, static_cast<uint8_t>(round));
    }
    EXPECT_EQ(oracle_->violation(), may ? "" : "PDC 7 PSN 1000 used for a second packet");
  }
  send_syn(1, 9);
  EXPECT_EQ(oracle_->violation(), "PDC 7 PSN 1001 used for a second packet");
}

// Also when others have been sent and answered since.
TEST_F(WireOracleTest, AResendWithOtherOctetsIsFound) {
  send(0, 1);
  acknowledge(0);
  for (uint32_t i = 1; i < 4; ++i) send(i, 3);
  send(0, 1, true);
  EXPECT_EQ(oracle_->violation(), "");
  send(0, 2, true);
  EXPECT_EQ(oracle_->violation(), "PDC 7 PSN 1000: a resend with other octets");
}

// A window of four.
TEST_F(WireOracleTest, TooManyOutstandingAreFound) {
  for (uint32_t i = 0; i < 4; ++i) send(i, 1);
  acknowledge(0);
  send(4, 1);
  EXPECT_EQ(oracle_->violation(), "");
  send(5, 1);
  EXPECT_EQ(oracle_->violation(), "PDC 7: 5 packets outstanding");
}

// [PDS-019, PDS-053] The next PDC with that PDCID may begin near the one before.
TEST_F(WireOracleTest, AnotherPeerMeansAnotherPdc) {
  for (uint32_t i = 0; i < 4; ++i) send(i, 1);
  for (uint32_t i = 10; i < 14; ++i) send(i, 1, false, Pdcid(11));
  EXPECT_EQ(oracle_->violation(), "");
  send(14, 1, false, Pdcid(11));
  EXPECT_EQ(oracle_->violation(), "PDC 7: 5 packets outstanding");
}

// A Close Request takes the fifth PSN, and its answer comes before a sixth packet leaves.
TEST_F(WireOracleTest, AClosingPacketThatIsAnsweredIsNotOutstanding) {
  for (uint32_t i = 0; i < 4; ++i) send(i, 1);
  acknowledge(4);
  for (uint32_t i = 5; i < 9; ++i) send(i, 1);
  EXPECT_EQ(oracle_->violation(), "");
  send(9, 1);
  EXPECT_EQ(oracle_->violation(), "PDC 7: 5 packets outstanding");
}

}  // namespace
}  // namespace uet::sim
