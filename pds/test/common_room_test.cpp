// The store of responses and the reorder buffer, which all peers share: what one peer, one host and
// a source that may be forged can take of them. [PDS-079, PDS-109, PDS-255, T-01, T-02]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;

class CommonRoomTest : public testing::Test {
 protected:
  CommonRoomTest() {
    config_.peer_share_percent = 100;  // of PDCs, which are not what this is about
    config_.newcomer_percent = 0;
    config_.gd_entries = 16;
  }
  static void answer_everything(Bench& b) {
    b.client.script.names_are_unique = b.client.script.check_octets = false;
    b.client.verdict = [](PacketName, const RxRequest&) {
      Verdict v = StubClient::plain_answer();
      v.guaranteed = true;
      return v;
    };
  }
  // Peer `n` opens a PDC that it calls `id`, with a request that has the default answer, and shows
  // that it hears us.
  static void open(Bench& b, uint8_t n, uint16_t id = 7, Mode mode = Mode::rud) {
    b.from = address(n, 50000);
    const auto answering = std::exchange(b.client.verdict, nullptr);
    send(b, id, kFirst.value(), /*syn=*/true, mode);
    b.own = Pdcid(0);
    for (const auto& out : b.tx()) {
      if (out.type() != wire::PdsType::nack) b.own = out.as<wire::Ack>().spdcid;
    }
    send(b, id, kFirst.value(), /*syn=*/false, mode);
    b.client.verdict = answering;
    b.tx();
  }
  static void send(Bench& b, uint16_t id, uint32_t psn, bool syn = false, Mode mode = Mode::rud) {
    wire::Request h = b.request(psn, syn);
    if (mode == Mode::rod) h.type = wire::PdsType::rod_request;
    h.spdcid = Pdcid(id);
    b.rx(h);
  }
  // The first request from `psn` on that finds no room for its answer.
  static uint32_t first_refused(Bench& b, uint16_t id, uint32_t psn, bool syn = false) {
    for (const uint32_t end = psn + 2000; psn != end; ++psn) {
      const uint64_t before = b.count(Count::gd_full);
      send(b, id, psn, syn);
      b.tx();
      if (b.count(Count::gd_full) != before) return psn;
    }
    return psn;
  }
  // Peer 20 opens the PDCs 7 and 8. The store has two places; the response to a request of 7 above
  // a gap takes both. Returns our PDCIDs of 7 and 8; the bench sends to 7 then.
  static std::pair<Pdcid, Pdcid> fill_by_one_of_two(Bench& b) {
    answer_everything(b);
    open(b, 20, 7);
    const Pdcid full = b.own;
    open(b, 20, 8);
    const Pdcid other = std::exchange(b.own, full);
    EXPECT_EQ(first_refused(b, 7, 1002), 1003u);
    return {full, other};
  }
  Config config_;
};

// [T-02, PDS-255] One peer keeps at most as many responses as it leaves room for, its host three
// quarters of all places; a peer without any finds room. The first one gets the one place beyond
// the shares, too. [PDS-109]
TEST_F(CommonRoomTest, APeerLeavesRoomForOtherPeersResponses) {
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  EXPECT_EQ(first_refused(b, 7, 1001), 1001u + 8 + 1);
  open(b, 21);
  EXPECT_EQ(first_refused(b, 7, 1001), 1001u + 4);
  open(b, 22);
  EXPECT_EQ(first_refused(b, 7, 1001), 1001u + 2);
  EXPECT_EQ(b.pds->usage().stored_responses, 14u + 1);
  open(b, 23);
  EXPECT_EQ(first_refused(b, 7, 1001), 1001u + 1);
}

// [T-02, PDS-102, PDS-255] What a peer has cleared is room again, for it and for others.
TEST_F(CommonRoomTest, ClearedResponsesFreeTheirRoom) {
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  EXPECT_EQ(first_refused(b, 7, 1001), 1010u) << "8 of 16, and one beyond the share";
  b.rx_header(b.control(wire::CtlType::clear_cmd, 0, 1004));
  EXPECT_EQ(first_refused(b, 7, 1010), 1014u);
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
  open(b, 20, 8);
  EXPECT_EQ(first_refused(b, 8, 1001), 1010u);
}

// [PDS-101, PDS-109] A response above a gap takes the place of the packet that fills the gap, too:
// other peers may take all other places, and the gap can still be filled and all be cleared.
TEST_F(CommonRoomTest, AGapCanBeFilledInAFullStore) {
  config_.gd_entries = 8;
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  const Pdcid waiting = b.own;
  EXPECT_EQ(first_refused(b, 7, 1002), 1004u) << "two, which count as four of eight";
  for (uint8_t peer = 21; peer < 24; ++peer) {
    open(b, peer);
    first_refused(b, 7, 1001);
  }
  EXPECT_EQ(b.pds->usage().stored_responses, 2u + 2 + 1 + 1 + 1)
      << "two places are left, for gaps; one host has a place beyond its share";
  b.from = address(20, 50000);
  b.own = waiting;
  send(b, 7, 1001);
  EXPECT_EQ(b.pds->usage().stored_responses, 8u);
  b.rx_header(b.control(wire::CtlType::clear_cmd, 0, 1003));
  EXPECT_EQ(b.pds->usage().stored_responses, 5u);
}

// [PDS-109] A full store does not stop a packet with no gap below it: its host gets one place
// beyond its share until the response is cleared. Otherwise two messages could wait for each other
// without end: one needs a place here, the other holds it and needs a record of SES.
TEST_F(CommonRoomTest, AHostGetsOnePlaceBeyondItsShare) {
  config_.gd_entries = 2;
  Bench b(config_);
  const auto [full, other] = fill_by_one_of_two(b);
  b.own = other;
  EXPECT_EQ(first_refused(b, 8, 1002), 1002u) << "above a gap";
  EXPECT_EQ(first_refused(b, 8, 1001), 1002u) << "in order, but one is all";
  EXPECT_EQ(b.pds->usage().stored_responses, 2u);
  b.own = full;
  send(b, 7, 1001);
  EXPECT_EQ(b.pds->usage().stored_responses, 3u) << "the gap can still be filled";
  b.own = other;
  wire::Control clear = b.control(wire::CtlType::clear_cmd, 0, 1001);
  clear.spdcid = Pdcid(8);
  b.rx_header(clear);
  EXPECT_EQ(first_refused(b, 8, 1002), 1003u) << "the place is free again";
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-109] A response that waits for the application has that place only until another is free.
TEST_F(CommonRoomTest, AResponseThatIsAwaitedGivesThePlaceBeyondTheShareBack) {
  config_.gd_entries = 2;
  Bench b(config_);
  const auto [full, waiting] = fill_by_one_of_two(b);
  const auto answering = b.client.verdict;
  b.client.verdict = [](PacketName, const RxRequest&) {
    Verdict v;
    v.kind = Verdict::Kind::later;
    return v;
  };
  b.own = waiting;
  EXPECT_EQ(first_refused(b, 8, 1001), 1002u);
  b.client.verdict = answering;
  b.own = full;
  send(b, 7, 1001);
  EXPECT_EQ(b.pds->usage().stored_responses, 3u);
  b.rx_header(b.control(wire::CtlType::clear_cmd, 0, 1002));
  EXPECT_EQ(b.pds->usage().stored_responses, 1u);
  EXPECT_EQ(first_refused(b, 7, 1004), 1004u)
      << "one place is left, and the one for packets in order";
  EXPECT_EQ(first_refused(b, 7, 1003), 1004u);
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-109, T-01, T-02] There is such a place for one host in 64 places, and for no source that may
// be forged.
TEST_F(CommonRoomTest, PlacesBeyondTheSharesAreFew) {
  config_.gd_entries = 64;
  config_.challenge_above = 0;
  Bench b(config_);
  answer_everything(b);
  std::vector<Pdcid> owns;
  for (uint8_t peer = 20; peer < 24; ++peer) {
    open(b, peer);
    owns.push_back(b.own);
  }
  const auto refused_of = [&](uint8_t peer, uint32_t psn) {
    b.from = address(peer, 50000);
    b.own = owns[peer - 20u];
    return first_refused(b, 7, psn) - psn;
  };
  EXPECT_EQ(refused_of(20, 1001), 32u + 1);
  EXPECT_EQ(refused_of(21, 1001), 16u + 1);
  EXPECT_EQ(refused_of(22, 1001), 8u) << "both are taken";
  EXPECT_EQ(refused_of(20, 1034), 0u);
  b.from = address(66, 50000);
  b.own = Pdcid(0);
  const uint32_t forged = first_refused(b, 100, kFirst.value(), /*syn=*/true);
  EXPECT_EQ(forged, kFirst.value() + 1) << "the first of a new peer";
  EXPECT_EQ(b.pds->usage().stored_responses, 33u + 17 + 8 + 1);
  b.from = address(20, 50000);
  b.own = owns[0];
  b.rx_header(b.control(wire::CtlType::clear_cmd, 0, 1033));
  EXPECT_EQ(refused_of(22, 1009), 16u + 1) << "half of what the first one has left, and its place";
}

// [PDS-109] The place that was kept for a gap goes with what fills it, even when the response above
// the gap is given up first: it was owed by the client, which refuses the packet now.
TEST_F(CommonRoomTest, TheResponseAboveTheGapMayGoFirst) {
  config_.gd_entries = 8;
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  const auto answering = b.client.verdict;
  b.client.verdict = [](PacketName, const RxRequest&) {
    Verdict v;
    v.kind = Verdict::Kind::later;
    return v;
  };
  send(b, 7, 1002);
  b.client.verdict = answering;
  send(b, 7, 1001);
  const RxToken token = b.client.received.tokens.at({1002, 0});
  ASSERT_TRUE(b.pds->respond(token, Verdict::refused(NackCode::no_resource), b.now));
  EXPECT_EQ(b.pds->usage().stored_responses, 1u);
  for (uint8_t peer = 21; peer < 25; ++peer) {
    open(b, peer);
    first_refused(b, 7, 1001);
  }
  EXPECT_EQ(b.pds->usage().stored_responses, 8u + 1) << "all, and the one beyond the shares";
}

// [T-01, PDS-255] Forged sources fill PDC after PDC with responses that are never cleared. Proven
// peers keep a quarter of the room, and a new peer finds room for its first response.
TEST_F(CommonRoomTest, ForgedSourcesDoNotFillTheStore) {
  config_ = Config{};
  config_.challenge_above = 0;
  config_.gd_entries = 4096;
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  const Pdcid proven = b.own;
  for (uint16_t id = 100; id < 400; ++id) {
    b.from = address(66, 50000);
    for (uint32_t i = 0; i < 64; ++i) send(b, id, kFirst.value() + i, /*syn=*/true);
    b.tx();
  }
  EXPECT_LE(b.pds->usage().stored_responses, 4096u * 3 / 4 + 300);
  b.from = address(20, 50000);
  b.own = proven;
  EXPECT_GE(first_refused(b, 7, 1001), 1001u + 64);
  b.from = address(67, 50000);
  const uint64_t full = b.count(Count::gd_full);
  send(b, 7, kFirst.value(), /*syn=*/true);
  EXPECT_EQ(b.count(Count::gd_full), full) << "the first one of a new peer";
}

// [T-01, PDS-255] Forged sources do not use the share of the peer whose address they carry; after a
// source has proven itself, its responses count.
TEST_F(CommonRoomTest, ForgedSourcesAreNotChargedToAPeer) {
  config_.gd_entries = 64;
  config_.challenge_above = 0;
  Bench b(config_);
  answer_everything(b);
  open(b, 20);
  const Pdcid proven = b.own;
  for (uint16_t id = 100; id < 102; ++id) {
    for (uint32_t i = 0; i < 20; ++i) send(b, id, kFirst.value() + i, /*syn=*/true);
  }
  EXPECT_EQ(b.pds->usage().stored_responses, 32u) << "16 each";
  Pdcid shown;
  for (const auto& out : b.tx()) {
    if (out.type() != wire::PdsType::nack) shown = out.as<wire::Ack>().spdcid;
  }
  b.own = proven;
  EXPECT_EQ(first_refused(b, 7, 1001), 1001u + 16 + 1) << "as without forged packets";
  b.rx_header(b.control(wire::CtlType::clear_cmd, 0, 1016));
  b.own = shown;
  send(b, 101, kFirst.value());  // a copy that names our PDCID
  b.own = proven;
  EXPECT_EQ(first_refused(b, 7, 1018), 1018u + 8) << "16 of 48 are its own from the start";
}

// [PDS-079, T-02, PDS-255] A peer that alone has held-back ROD packets leaves an eighth of the
// room; other peers find some, within their shares.
TEST_F(CommonRoomTest, APeerLeavesRoomForOtherPeersReorderedPackets) {
  config_.reorder_packets = 16;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  open(b, 20, 7, Mode::rod);
  for (uint32_t psn = 1002; psn < 1032; ++psn) send(b, 7, psn, false, Mode::rod);
  EXPECT_EQ(b.pds->usage().reordered_packets, 14u);
  EXPECT_EQ(b.count(Count::rod_no_room), 16u);
  open(b, 21, 7, Mode::rod);
  for (uint32_t psn = 1002; psn < 1032; ++psn) send(b, 7, psn, false, Mode::rod);
  EXPECT_EQ(b.pds->usage().reordered_packets, 15u);
  send(b, 7, 1001, false, Mode::rod);
  EXPECT_EQ(b.pds->usage().reordered_packets, 14u) << "delivered, and given back";
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-079, T-01, PDS-255] Unproven sources may have held-back packets, as new peers need them, and
// leave a quarter of the room. The peers whose addresses they carry are not charged.
TEST_F(CommonRoomTest, ForgedSourcesDoNotFillTheReorderBuffer) {
  config_.reorder_packets = 64;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  b.from = address(20, 50000);
  for (uint16_t id = 100; id < 103; ++id) {
    for (uint32_t i = 1; i < 40; ++i) send(b, id, kFirst.value() + i, /*syn=*/true, Mode::rod);
  }
  EXPECT_EQ(b.pds->usage().reordered_packets, 48u);
  b.tx();
  open(b, 20, 7, Mode::rod);
  for (uint32_t psn = 1002; psn < 1032; ++psn) send(b, 7, psn, false, Mode::rod);
  EXPECT_EQ(b.pds->usage().reordered_packets, 48u + 8);
  b.pds->close_all(/*abort=*/true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

}  // namespace
}  // namespace uet::pds::test
