// The start of secured PDCs, with a double for TSS: each packet carries the domain that it was
// sealed and verified under, and nothing else of TSS is there. [PDS 4.2, PDS-V8]
#include "pds/door/secure_start.h"
#include "pds/test/bench.h"
#include "pds/test/pair.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

constexpr uint32_t kDomain = 77;

class SecureTest : public ::testing::Test {
 protected:
  // A SYN of the peer that begins at `start`.
  static wire::Request syn(const Bench& b, uint32_t start) {
    wire::Request h = b.request(start);
    h.psn_offset = 0;
    h.clear_psn_offset = -1;
    return h;
  }
  static wire::Nack only_nack(Bench& b) {
    const auto out = b.tx();
    EXPECT_EQ(out.size(), 1u);
    if (out.empty() || out[0].type() != wire::PdsType::nack) {
      ADD_FAILURE() << "no NACK";
      return {};
    }
    EXPECT_EQ(out[0].sdi, kDomain) << "sealed like the SYN [PDS-054]";
    return out[0].as<wire::Nack>();
  }
  Config config_;
};

// --- target ---

// [PDS 4.2 EXPECTED_0RTT_START, PDS-053, PDS-T13, TSS-063, TSS-066, WIRE-051] A source without a
// floor chooses its start; the closing ACK carries the floor: one above everything received or
// sent.
TEST_F(SecureTest, FirstStartIsFreeAndTheCloseRaisesTheFloor) {
  Bench b;
  b.sdi = kDomain;
  b.open_target();
  b.rx(b.request(1001, false));
  for (const auto& o : b.tx()) EXPECT_EQ(o.sdi, kDomain);
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  wire::Reader r(out[0].octets);
  const auto h = wire::Ack::parse(r);
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->has_expected_psn());
  EXPECT_EQ(h->expected_start_psn, Psn(1003));
  EXPECT_EQ(h->cack_psn, Psn(1002));
  EXPECT_EQ(out[0].sdi, kDomain);
}

// [PDS-T2, PDS-T5, PDS-T6, PDS-052, TSS-060, TSS-061] A SYN below the floor delivers nothing; each
// one is answered with the start to use, and a SYN there is accepted.
TEST_F(SecureTest, RecordedSynDoesNotOpenAgain) {
  Bench b;
  b.sdi = kDomain;
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  b.lines();
  b.elapse(401_ms);  // the tombstone is gone
  b.rx(syn(b, 1000));
  wire::Nack told = only_nack(b);
  EXPECT_EQ(told.nack_code, NackCode::new_start_psn);
  EXPECT_EQ(told.payload, 1002u);
  EXPECT_EQ(told.nack_psn, Psn(1000));
  EXPECT_EQ(told.dpdcid, kPeerId);
  EXPECT_EQ(b.client.received.times.size(), 1u);
  b.rx(syn(b, 5000));
  told = only_nack(b);
  EXPECT_EQ(told.payload, 1002u);
  b.client.script.names_are_unique = false;
  b.rx(syn(b, 1002));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Ack>().cack_psn, Psn(1002));
  EXPECT_EQ(b.client.received.times.size(), 2u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-T7, PDS-052, PDS-162] No matching SYN within New_PDC_Time: freed without a message. Packets
// without SYN do not count.
TEST_F(SecureTest, PendingTimesOut) {
  config_.start_method = StartMethod::random_1rtt;
  Bench b(config_);
  b.sdi = kDomain;
  b.rx(syn(b, 1000));
  const wire::Nack told = only_nack(b);
  b.own = told.spdcid;
  wire::Request h = b.request(told.payload, false);
  b.rx(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_syn_state), 1u);
  b.rx_header(b.control(CtlType::noop, told.payload));
  EXPECT_EQ(only_nack(b).nack_code, NackCode::unexp_event);
  b.elapse(999_ms);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::new_pdc_timeout), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_TRUE(b.client.received.times.empty());
}

// [PDS 4.2 RANDOM_1RTT_START, TSS-059] Whatever is offered, the target draws the start.
TEST_F(SecureTest, TargetDrawsTheStart) {
  config_.start_method = StartMethod::random_1rtt;
  Bench b(config_);
  b.sdi = kDomain;
  b.rx(syn(b, 1000));
  const wire::Nack told = only_nack(b);
  EXPECT_NE(told.payload, 1000u);
  b.rx(syn(b, 1000));
  EXPECT_EQ(only_nack(b).payload, told.payload) << "drawn once";
  EXPECT_TRUE(b.client.received.times.empty());
  b.rx(syn(b, told.payload));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Ack>().cack_psn, Psn(told.payload));
  EXPECT_EQ(b.client.received.times.size(), 1u);
  // There its own packets begin, too. [TSS-065]
  b.own = out[0].as<wire::Ack>().spdcid;
  b.rx(b.request(told.payload + 1, false));
  b.lines();
  b.pds->close_all(false, b.now);
  const auto asked = b.tx();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].as<wire::Control>().ctl_type, CtlType::close_req);
  EXPECT_EQ(asked[0].as<wire::Control>().psn, Psn(told.payload));
}

// [PDS-055] PSNs are the replay window: a recorded packet of a PDC is never executed again, while
// the PDC is open, after it has closed, and after its record is gone.
TEST_F(SecureTest, RecordedPacketsAreNeverExecutedAgain) {
  Bench b;
  b.sdi = kDomain;
  b.open_target();
  for (const uint32_t psn : {1001u, 1002u, 1003u}) b.rx(b.request(psn, false));
  b.lines();
  const auto replay = [&](const char* when) {
    SCOPED_TRACE(when);
    for (const bool syn : {true, false}) {
      for (uint32_t psn = 1000; psn <= 1003; ++psn) {
        b.rx(b.request(psn, syn));
        wire::Request again = b.request(psn, syn);
        again.retx = true;
        b.rx(again);
      }
    }
    b.rx(b.request(999, false));  // below Start_PSN
    b.lines();
    EXPECT_EQ(b.client.received.order.size(), 4u);
  };
  replay("open");
  b.rx_header(b.control(CtlType::close_cmd, 1004));
  b.lines();
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  replay("closed");
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  b.elapse(401_ms);  // the tombstone is gone
  replay("forgotten");
  b.elapse(2_s);
  EXPECT_EQ(b.pds->usage(), Usage{}) << "what a recorded SYN has opened was never established";
}

// [T-13, PDS-053] The same through a whole life, by either method: a PDC opens, works and closes,
// the next one does, and then all packets that one end ever sent arrive again. The domain's key is
// the same all the time, so only the starts of PSNs protect here.
TEST_F(SecureTest, ACaptureOpensNoPdcAgain) {
  for (const StartMethod method : {StartMethod::expected_0rtt, StartMethod::random_1rtt}) {
    config_.start_method = method;
    Pair pair({}, config_);
    pair.check_psns = false;  // a rebased packet repeats under another number
    for (uint32_t m = 1; m <= 2; ++m) {
      pair.side[0].client.post(pair.flow(0, Mode::rud, 1, kDomain), m, 5 * 1024);
      pair.run(1_ms);
      pair.side[0].pds->close_all(false, pair.now());
      pair.run(1_s);
      ASSERT_EQ(pair.side[1].pds->open_pdcs(), 0u);
    }
    const std::vector<InPipe> capture = pair.sent;
    for (int round = 0; round < 3; ++round) {
      for (InPipe p : capture) pair.arrive(p);
      pair.run(5_s);
    }
    EXPECT_EQ(pair.side[1].client.received.order.size(), 10u);
    EXPECT_EQ(pair.side[0].client.responded.size(), 10u);
    for (auto& side : pair.side) EXPECT_EQ(side.pds->usage(), Usage{});
  }
}

// [T-03] An attacker without keys guesses a peer's address and PDCID and opens the PDC first with
// another start. The peer's sealed SYN takes over the place with its own start; the guess holds it
// for a time only, and never against a proven peer.
TEST_F(SecureTest, AGuessInTheClearGivesWayToASealedSyn) {
  Bench b;
  b.rx(syn(b, 7'000'000));
  ASSERT_EQ(b.tx().size(), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.sdi = kDomain;
  b.rx(syn(b, 1000));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Ack>().cack_psn, Psn(1000));
  EXPECT_EQ(out[0].sdi, kDomain);
  b.own = out[0].as<wire::Ack>().spdcid;
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.count(Count::pdc_displaced), 1u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  b.sdi = 0;  // and it does not come back
  b.rx(syn(b, 7'000'000));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_sdi), 1u);
  b.sdi = kDomain;
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));

  Bench known;  // in the clear, and it has used our PDCID
  known.open_target();
  known.rx(known.request(1001, false));
  known.lines();
  known.sdi = kDomain;
  known.rx(syn(known, 5000));
  EXPECT_EQ(known.count(Count::drop_sdi), 1u);
  EXPECT_EQ(known.count(Count::pdc_displaced), 0u);
}

// [PDS-133] A NACK TRIMMED counts for a secured PDC when it is sealed itself, and only then.
TEST_F(SecureTest, TrimmedNackMustBeSealed) {
  Bench b;
  b.sdi = kDomain;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  for (const uint32_t other : {0u, kDomain + 1}) {
    b.sdi = other;
    b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
    EXPECT_EQ(b.lines(), Lines{});
  }
  EXPECT_EQ(b.count(Count::drop_sdi), 2u);
  b.sdi = kDomain;
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_nack), 1u);
}

// [PDS-V8, TSS-073, TSS-078, TSS-092, T-18] Another domain, or none: dropped without an answer, in
// either role.
TEST_F(SecureTest, OtherDomainsAreNotHeard) {
  Bench b;
  b.sdi = kDomain;
  b.open_target();
  for (const uint32_t other : {0u, kDomain + 1}) {
    b.sdi = other;
    b.rx(b.request(1001, false));
    b.rx(b.request(1001));
    b.rx(syn(b, 9000));
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    EXPECT_EQ(b.lines(), Lines{}) << other;
  }
  EXPECT_EQ(b.count(Count::drop_sdi), 8u);
  EXPECT_EQ(b.client.received.times.size(), 1u);

  Bench i;
  i.sdi = kDomain;
  i.open_initiator(2);
  i.sdi = 0;
  i.rx_header(i.ack(i.start));
  i.rx_header(i.nack(NackCode::no_resource, i.start));
  EXPECT_EQ(i.count(Count::drop_sdi), 2u);
  EXPECT_TRUE(i.client.responded.empty());
  i.sdi = kDomain;
  i.rx_header(i.ack(i.start));
  EXPECT_EQ(i.client.responded.size(), 1u);
}

// [PDS-053, T-13] PSNs go round. The first ones of a source that has used a quarter of them are
// soon above its floor again: it is believed no more.
TEST_F(SecureTest, TheStartOfASourceThatUsedManyPsnsIsNotAccepted) {
  constexpr uint32_t kQuarter = KnownStart::kUsedMax;
  Bench b;
  b.client.script.names_are_unique = false;
  b.sdi = kDomain;
  for (const uint32_t start : {1000u, 1000u + kQuarter / 2, 1000u + kQuarter}) {
    b.rx(syn(b, start));
    b.own = b.tx().at(0).as<wire::Ack>().spdcid;
    b.rx_header(b.control(CtlType::close_cmd, start + 1));
    b.tx();
    b.elapse(401_ms);
  }
  const size_t delivered = b.client.received.order.size();
  EXPECT_EQ(delivered, 3u);
  for (const uint32_t start : {1000u, 1000u + kQuarter / 2, 1002u + kQuarter}) {
    b.rx(syn(b, start));
    const wire::Nack told = only_nack(b);
    EXPECT_EQ(told.nack_code, NackCode::new_start_psn);
    EXPECT_NE(told.payload, 1002u + kQuarter) << "a random one, not the floor";
    b.elapse(1001_ms);
    b.tx();
  }
  EXPECT_EQ(b.client.received.order.size(), delivered);
}

// [TSS-061, TSS-062] A SYN that was sent before the initiator heard where to begin comes late.
TEST_F(SecureTest, ALateSynDoesNotDisturbTheAgreedStart) {
  config_.start_method = StartMethod::random_1rtt;
  Bench b(config_);
  b.sdi = kDomain;
  b.rx(syn(b, 1000));
  const uint32_t told = only_nack(b).payload;
  b.rx(syn(b, told));
  b.tx();
  b.rx(syn(b, 1000));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_syn_state), 1u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// [TSS-059, TSS-067, T-13] A later floor may lie below PSNs that the source used before.
TEST_F(SecureTest, AfterAFloorWasForgottenNoStartIsAccepted) {
  config_.secure_starts = 1;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  for (const uint32_t domain : {kDomain + 1, kDomain}) {
    b.sdi = domain;
    b.open_target();
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    b.lines();
    b.elapse(401_ms);
  }
  const size_t delivered = b.client.received.order.size();
  b.rx(syn(b, 5000));  // above the floor, which is known
  EXPECT_EQ(only_nack(b).nack_code, NackCode::new_start_psn);
  EXPECT_EQ(b.client.received.order.size(), delivered);
}

// --- initiator ---

// [PDS-050, TSS-057] Low at first; then where the closing ACK said. [PDS-053, PDS-I14, TSS-063]
TEST_F(SecureTest, InitiatorBeginsAtTheAssignedStart) {
  Bench b;
  b.sdi = kDomain;
  const auto first = b.open_initiator(1);
  EXPECT_EQ(first[0].sdi, kDomain);
  EXPECT_GE(b.start.value(), 1u << 16);
  EXPECT_LT(b.start.value(), 1u << 31);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.tx().size(), 1u);
  wire::Ack closing = b.ack(b.start + 1);
  closing.epsn = true;
  closing.expected_start_psn = b.start + 4242;
  b.rx_header(closing);
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1), kDomain), 2, 10);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Request>().start_psn(), b.start + 4242);
}

// [PDS-051, PDS-I4, TSS-062] All that is outstanding moves, in order, with SYN and new offsets.
TEST_F(SecureTest, NewStartMovesEverything) {
  Bench b;
  b.sdi = kDomain;
  b.open_initiator(3);
  const uint64_t inflight = b.pds->usage().inflight_bytes;
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, b.start.value()));
  EXPECT_EQ(b.lines(), Lines{}) << "the same start is no news";
  const Psn told = b.start + 1000003;
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, told.value()));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    const auto h = out[i].as<wire::Request>();
    EXPECT_TRUE(h.syn);
    EXPECT_EQ(h.psn, told + static_cast<int32_t>(i));
    EXPECT_EQ(h.psn_offset, i);
    EXPECT_EQ(h.clear_psn_offset, -1 - static_cast<int>(i));
    EXPECT_EQ(wire::load_u32(out[i].octets.data() + 16), i * 1024) << "the octet it starts at";
  }
  EXPECT_EQ(b.pds->usage().inflight_bytes, inflight);
  EXPECT_EQ(b.count(Count::psn_rebased), 1u);
  b.rx_header(b.ack(b.start));  // of the old numbers
  EXPECT_EQ(b.count(Count::drop_ack_range), 1u);
  b.rx_header(b.ack(told + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
  // Established: not any more. [T-09]
  b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1), kDomain), 2, 10);
  b.lines();
  b.rx_header(b.nack(NackCode::new_start_psn, told + 3, 7));
  EXPECT_EQ(b.count(Count::drop_nack_state), 1u);
  EXPECT_EQ(b.count(Count::psn_rebased), 1u);
}

// [PDS-051, TSS-069, TSS-145] Four times at most, or as often as configured.
TEST_F(SecureTest, OneNewStartMoreThanTheLimitFails) {
  EXPECT_EQ(config_.rebases_max, 4u);
  for (const uint32_t limit : {4u, 1u, 255u}) {
    config_.rebases_max = limit;
    Bench b(config_);
    b.sdi = kDomain;
    b.open_initiator(1);
    Psn at = b.start;
    for (uint32_t i = 1; i <= limit + 1; ++i) {
      EXPECT_TRUE(b.client.failed.empty()) << i << " of " << limit;
      b.rx_header(b.nack(NackCode::new_start_psn, at, at.value() + 100));
      at = at + 100;
      b.lines();
    }
    EXPECT_EQ(b.client.failed.size(), 1u);
    EXPECT_EQ(b.count(Count::psn_rebase_limit), 1u);
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-054, TSS-068, T-09] A plain NEW_START_PSN is accepted only if configured, other plain
// packets never.
TEST_F(SecureTest, PlainNewStartIsAcceptedOnlyWhenAllowed) {
  for (const bool allowed : {false, true}) {
    config_.plain_new_start_psn = allowed;
    Bench b(config_);
    b.sdi = kDomain;
    b.open_initiator(1);
    b.sdi = 0;
    b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start));
    b.rx_header(b.nack(NackCode::new_start_psn, b.start, b.start.value() + 50));
    EXPECT_EQ(b.lines().size(), allowed ? 1u : 0u);
    EXPECT_EQ(b.count(Count::drop_sdi), allowed ? 1u : 2u);
    EXPECT_TRUE(b.client.failed.empty());
  }
}

// [TSS-058] A secured PDC always closes before its PSNs repeat.
TEST_F(SecureTest, APdcClosesBeforeItsPsnsRepeat) {
  EXPECT_EQ(config_.psn_range_of(kDomain), uint32_t{1} << 31);
  config_.psn_range_packets = 0;
  EXPECT_EQ(config_.psn_range_of(0), 0u) << "no limit in the clear";
  EXPECT_EQ(config_.psn_range_of(kDomain), uint32_t{1} << 31);
  config_.psn_range_packets = 2048 + 10;
  Bench b(config_);
  b.sdi = kDomain;
  b.open_initiator(11);
  EXPECT_EQ(b.count(Count::psn_range_close), 1u);
  b.rx_header(b.ack(b.start + 10));
  b.lines();
  EXPECT_EQ(b.count(Count::close_cmd_tx), 1u);
}

// Both methods, end to end, with losses: every message arrives once. [TSS-064]
TEST_F(SecureTest, BothMethodsWorkTogether) {
  for (const StartMethod method : {StartMethod::expected_0rtt, StartMethod::random_1rtt}) {
    config_.start_method = method;
    Pair pair({}, config_);
    uint32_t n = 0;
    pair.check_psns = false;  // a rebased packet repeats under another number
    pair.fate = [&](const InPipe&) { return ++n % 9 == 0 ? Fate{} : Fate{Pair::kDelay}; };
    for (uint32_t m = 1; m <= 5; ++m) {
      pair.side[0].client.post(pair.flow(0, Mode::rud, 1, kDomain), m, 20 * 1024);
    }
    pair.run(2_s);
    EXPECT_EQ(pair.side[0].client.responded.size(), 100u);
    EXPECT_EQ(pair.side[1].client.received.times.size(), 100u);
    EXPECT_EQ(pair.count(0, Count::psn_rebased) > 0, method == StartMethod::random_1rtt);
    pair.expect_all_given_back();
  }
}

}  // namespace
}  // namespace uet::pds::test
