// What a hostile or confused peer cannot do, and the settings for peers with special behaviour.
// [PDS 22, T-01, T-04, T-06, T-08]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class GuardTest : public ::testing::Test {
 protected:
  // A SYN of peer number n, alone on its PDC.
  static void syn_from(Bench& b, uint8_t n, bool reserved = false) {
    b.from = address(n, 50000);
    wire::Request h = b.request(1000);
    h.use_rsv_pdc = reserved;
    b.rx(h);
  }
  static std::string refusal(Bench& b) {
    const auto lines = b.lines();
    return lines.size() == 1 && lines[0].substr(0, 4) == "NACK" ? lines[0].substr(5, 12) : "none";
  }
  Config config_;
};

// [T-06] Bits for PSNs that were never sent complete nothing, lose nothing and are counted.
TEST_F(GuardTest, SackBitsBeyondTheSentPsnsAreIgnored) {
  Bench b;
  b.client.script.sack_completes = false;
  b.open_initiator(3);
  wire::AckCc h;
  h.ack = b.ack(b.start - 1);
  h.ack.ack_psn_offset = 1;
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.sack_psn_offset = 4;  // base: start + 3, the first that was not sent
  h.sack_bitmap = ~uint64_t{0};
  b.rx_header(h);
  EXPECT_EQ(b.count(Count::sack_beyond), 1u);
  EXPECT_EQ(b.count(Count::sack_rx), 0u);
  EXPECT_EQ(b.lines(), Lines{});
  h.sack_psn_offset = INT16_MIN;
  b.rx_header(h);
  h.sack_psn_offset = INT16_MAX;
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.client.responded.size(), 1u) << "the one that ACK_PSN names";
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
}

// [T-08] Codes that no peer can send in that state change nothing.
TEST_F(GuardTest, ImpossibleNacksAreIgnored) {
  Bench syn;
  syn.open_initiator(2);
  for (const NackCode code :
       {NackCode::inv_dpdcid, NackCode::pkt_not_rcvd, NackCode::ack_with_data, NackCode::rod_ooo}) {
    syn.rx_header(syn.nack(code, syn.start));
  }
  EXPECT_EQ(syn.count(Count::drop_nack_state), 4u);
  EXPECT_EQ(syn.lines(), Lines{});
  EXPECT_TRUE(syn.client.failed.empty());

  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  for (const NackCode code : {NackCode::invalid_syn, NackCode::new_start_psn, NackCode::rod_ooo}) {
    b.rx_header(b.nack(code, b.start + 1));
  }
  EXPECT_EQ(b.count(Count::drop_nack_state), 3u);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_TRUE(b.client.failed.empty());
  b.rx_header(b.nack(NackCode::pkt_not_rcvd, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"})) << "possible by now";
}

// [T-08, PDS-117] A NACK that is copied spends the budget of its packet once per round trip.
TEST_F(GuardTest, CopiesOfARefusalSpendTheBudgetOnce) {
  Bench b(Config::spec());
  b.open_initiator(2);
  b.elapse(900_us);
  b.rx_header(b.ack(b.start));
  for (int i = 0; i < 50; ++i) b.rx_header(b.nack(NackCode::no_resource, b.start + 1));
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-118] A packet that is refused within a round trip of each resend waits 2, 4 and 8 ms.
TEST_F(GuardTest, QuickRefusalsMakeTheDelayGrow) {
  Bench b;
  b.open_initiator(2);
  b.elapse(900_us);
  b.rx_header(b.ack(b.start));
  b.lines();
  for (const Duration delay : {2_ms, 4_ms, 8_ms}) {
    b.rx_header(b.nack(NackCode::no_resource, b.start + 1));
    b.elapse(delay - 100_us);
    EXPECT_EQ(b.lines(), Lines{});
    b.elapse(100_us + 2_us);
    EXPECT_EQ(b.lines().size(), 1u);
  }
  EXPECT_EQ(b.count(Count::retx_delayed), 3u);
}

// [T-01] Sources that never show that they heard us take no more than their share; when the peers
// of the oldest have been silent for Close_REQ_Time those give way.
TEST_F(GuardTest, HalfOpenPdcsAreLimited) {
  config_.max_pdcs = 8;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 0;
  config_.half_open_percent = 50;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  b.open_target();
  b.rx(b.request(1001, false));  // this peer has received our packets
  b.lines();
  for (uint8_t n = 20; n < 24; ++n) {
    syn_from(b, n);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 24);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL");
  EXPECT_EQ(b.count(Count::half_open_limit), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 5u);
  b.elapse(1_s + 1_ms);
  b.lines();
  syn_from(b, 24);
  EXPECT_EQ(refusal(b), "none");
  EXPECT_GE(b.count(Count::pdc_reclaimed), 1u);
  b.from = address(9, 50000);
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"})) << "undisturbed";
}

// [PDS-017] A message of the reserved pool uses only that pool, and other messages cannot use it.
TEST_F(GuardTest, ReservedPoolIsApart) {
  config_.max_pdcs = 4;
  config_.reserved_pdcs = 2;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 0;
  config_.half_open_percent = 100;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  for (uint8_t n = 20; n < 22; ++n) {
    syn_from(b, n, true);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 22, true);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL") << "two general ones are free";
  for (uint8_t n = 23; n < 25; ++n) {
    syn_from(b, n);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 25);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL");
  b.pds->close_all(true, b.now);
  syn_from(b, 26, true);
  EXPECT_EQ(refusal(b), "none") << "given back";
  syn_from(b, 27);
  EXPECT_EQ(refusal(b), "none");
}

// --- what strangers guess [T-04, T-11] ---
//
// An attacker who is not on the path sees no packet but may write any source address, so an address
// proves nothing. The attacker must guess our PDCID, the PDCID of the peer, and a PSN in its
// window. In each test one of them is wrong and everything else is right.

class GuessTest : public GuardTest {
 protected:
  struct Guess {
    Pdcid ours, theirs;
    Psn psn;
  };
  // One harmful packet of each kind.
  static void send_all(Bench& b, const Guess& g) {
    wire::Request request = b.request(g.psn.value(), false);
    request.dpdcid = g.ours;
    request.spdcid = g.theirs;
    b.rx(request);
    for (const CtlType type : {CtlType::close_cmd, CtlType::close_req}) {
      wire::Control h = b.control(type, g.psn.value());
      h.dpdcid = g.ours;
      h.spdcid = g.theirs;
      b.rx_header(h);
    }
    wire::Ack ack = b.ack(g.psn);
    ack.dpdcid = g.ours;
    ack.spdcid = g.theirs;
    b.rx_header(ack);
    wire::Nack nack = b.nack(NackCode::closing, g.psn);
    nack.dpdcid = g.ours;
    nack.spdcid = g.theirs;
    b.rx_header(nack);
  }
  static constexpr uint64_t kKinds = 5;
  // Calls fn(id) for PDCIDs over the whole space, including the neighbours of this one, but not for
  // this one. Returns the number of calls.
  template <class Fn>
  static uint64_t for_each_other(Pdcid right, Fn&& fn) {
    constexpr uint32_t kStep = 13;
    uint64_t count = 0;
    for (uint32_t id = 1; id < 65536; ++id) {
      const uint32_t distance = id > right.value() ? id - right.value() : right.value() - id;
      if (distance == 0 || (distance > 2 && id % kStep != 0)) continue;
      fn(Pdcid(static_cast<uint16_t>(id)));
      ++count;
    }
    return count;
  }

  // The guesses get few answers, and the peer continues undisturbed. [T-38]
  static void expect_unharmed_target(Bench& b, const Usage& before) {
    EXPECT_EQ(b.client.received.times.size(), 1u);
    EXPECT_TRUE(b.client.closed.empty());
    EXPECT_EQ(b.pds->usage(), before);
    EXPECT_LT(b.lines().size(), 1000u) << "what may be caused in a tenth of a second";
    b.from = address(9, 50000);
    b.rx(b.request(1001, false));
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  }
  // A bench whose three packets are out, the first one answered.
  static void open_established(Bench& b) {
    b.open_initiator(3);
    b.rx_header(b.ack(b.start));
    b.lines();
  }
  static void expect_unharmed_initiator(Bench& b, const Usage& before) {
    EXPECT_EQ(b.client.responded.size(), 1u);
    EXPECT_TRUE(b.client.failures.empty());
    EXPECT_TRUE(b.client.received.times.empty());
    EXPECT_EQ(b.pds->usage(), before);
    EXPECT_LT(b.lines().size(), 1000u);
    b.from = address(9, 50000);
    b.rx_header(b.ack(b.start + 2));
    EXPECT_EQ(b.client.responded.size(), 3u);
  }
};

// [T-04] A packet from the attacker's own address reaches no PDC, whatever its PDCID.
TEST_F(GuessTest, AnotherAddressReachesNoPdc) {
  Bench b;
  b.open_target();
  const Usage before = b.pds->usage();
  b.from = address(66, 50000);
  for (uint32_t id = 1; id < 65536; ++id) {
    send_all(b, {Pdcid(static_cast<uint16_t>(id)), kPeerId, Psn(1001)});
  }
  EXPECT_EQ(b.count(Count::drop_bad_peer), kKinds);
  EXPECT_EQ(b.count(Count::drop_no_pdc), kKinds * 65534);
  expect_unharmed_target(b, before);
}

// [T-04] From the address of the peer with another of our PDCIDs.
TEST_F(GuessTest, AWrongGuessOfOurPdcidReachesNoPdc) {
  Bench target;
  target.open_target();
  const Usage of_target = target.pds->usage();
  const uint64_t tried = for_each_other(target.own, [&](Pdcid id) {
    send_all(target, {id, kPeerId, Psn(1001)});
  });
  EXPECT_EQ(target.count(Count::drop_no_pdc), kKinds * tried);
  expect_unharmed_target(target, of_target);

  Bench initiator;
  open_established(initiator);
  const Usage of_initiator = initiator.pds->usage();
  const Psn next = initiator.start + 1;
  const uint64_t tried_there = for_each_other(initiator.own, [&](Pdcid id) {
    send_all(initiator, {id, kPeerId, next});
  });
  EXPECT_EQ(initiator.count(Count::drop_no_pdc), kKinds * tried_there);
  expect_unharmed_initiator(initiator, of_initiator);
}

// [T-04, PDS-V7] From the address of the peer with our PDCID and another one of the peer.
TEST_F(GuessTest, PdcidOfThePeerGuessedWrongIsRefused) {
  Bench target;
  target.open_target();
  const Usage of_target = target.pds->usage();
  const uint64_t tried = for_each_other(kPeerId, [&](Pdcid id) {
    send_all(target, {target.own, id, Psn(1001)});
  });
  EXPECT_EQ(target.count(Count::drop_bad_pdcid), kKinds * tried);
  expect_unharmed_target(target, of_target);

  Bench initiator;
  open_established(initiator);
  const Usage of_initiator = initiator.pds->usage();
  const Psn next = initiator.start + 1;
  for_each_other(kPeerId, [&](Pdcid id) { send_all(initiator, {initiator.own, id, next}); });
  EXPECT_EQ(initiator.count(Count::drop_bad_pdcid), kKinds * tried);
  expect_unharmed_initiator(initiator, of_initiator);
}

// [T-04, T-05, T-31] From the address of the peer with both PDCIDs right, and a PSN that is neither
// tracked nor outstanding.
TEST_F(GuessTest, AWronglyGuessedPsnChangesNothing) {
  Rng rng(4);
  Bench target;
  target.open_target();
  const Usage of_target = target.pds->usage();
  Bench initiator;
  open_established(initiator);
  const Usage of_initiator = initiator.pds->usage();
  for (int i = 0; i < 10'000; ++i) {
    // Two windows of 1,024 about the right PSN are left out.
    const auto wrong = static_cast<uint32_t>(2048 + rng.below((uint64_t{1} << 32) - 4096));
    send_all(target, {target.own, kPeerId, Psn(1001) + wrong});
    send_all(initiator, {initiator.own, kPeerId, initiator.start + wrong});
  }
  expect_unharmed_target(target, of_target);
  expect_unharmed_initiator(initiator, of_initiator);
}

// [T-01, T-38, PDS-252] Guesses do not confirm a PDC that was opened under a forged address: none
// of its data goes there.
TEST_F(GuessTest, GuessesConfirmNothing) {
  Bench b;
  b.proves = false;
  b.open_target();
  b.client.messages[5].bytes = 1 << 20;
  b.client.messages[5].next_hdr = wire::NextHeader::response_data;
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
  ASSERT_EQ(b.tx().size(), 1u) << "a Probe";
  const auto data_sent = [&b] {
    size_t count = 0;
    for (const Bench::Out& out : b.tx()) count += wire::is_request(out.type());
    return count;
  };
  for_each_other(b.own, [&](Pdcid id) { send_all(b, {id, kPeerId, kFirst}); });
  EXPECT_EQ(data_sent(), 0u);
  for_each_other(kPeerId, [&](Pdcid id) { send_all(b, {b.own, id, kFirst}); });
  EXPECT_EQ(data_sent(), 0u);
  b.rx_header(b.ack(kFirst));
  EXPECT_EQ(data_sent(), 0u) << "nothing was sent that it could answer";
  b.prove();
  EXPECT_GT(data_sent(), 100u) << "the peer itself";
}

// --- habits of the reference provider [PDS 22] ---

// It closes its PDC over 0x10, 0x13 and 0x19, and over control packets that it does not know.
TEST_F(GuardTest, NothingThatTheReferenceProviderClosesOver) {
  Config config;
  meet_refprov(config);
  EXPECT_EQ(config.default_mpr, 1);
  EXPECT_EQ(config.pdcs_per_key, 1u);
  config.gd_per_pdc = 4;
  Bench b(config);
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx_header(b.control(CtlType{12}, 1001));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_nack_muted), 1u);
  b.rx(b.request(1001, false));
  b.rx(b.request(1002, false));
  for (const std::string& line : b.lines()) EXPECT_EQ(line.substr(0, 3), "ACK") << line;

  Bench i(config);
  i.open_initiator(3);
  i.rx_header(i.nack(NackCode::exp_nack_err, i.start));  // no NOOP: it goes again
  EXPECT_TRUE(i.client.failed.empty());
  i.rx_header(i.ack(i.start));
  i.elapse(6_ms);
  for (const std::string& line : i.lines()) EXPECT_EQ(line.substr(0, 3), "REQ") << line;
  EXPECT_EQ(i.count(Count::probe_tx), 0u);
}

}  // namespace
}  // namespace uet::pds::test
