// A peer that answers and refuses everything: the wait ends like the one for a silent peer, unless
// a packet passes now and then, or the peer reports that its application is the cause. [PDS-148,
// decision 4]
#include "pds/test/bench.h"
#include "pds/test/pair.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class RefusedTest : public ::testing::Test {
 protected:
  RefusedTest() {
    config_.peer_timeout = 2_s;
    config_.probe = false;
  }

  // The peer of an established PDC refuses all that it is sent, until `end`; it looks every `step`.
  static void refuse_until(Bench& b, NackCode code, Instant end, Duration step = 100_us) {
    while (b.now < end) {
      for (const Bench::Out& o : b.tx()) {
        if (o.type() == wire::PdsType::ack) continue;
        b.rx_header(b.nack(code, o.as<wire::Request>().psn, b.start.value()));
      }
      b.elapse(std::min(step, end - b.now));
    }
  }
  static void open(Bench& b, uint32_t packets, Mode mode = Mode::rud) {
    b.open_initiator(packets + 1, mode);
    b.rx_header(b.ack(b.start));
    ASSERT_EQ(b.client.responded.size(), 1u);
  }
  Config config_;
};

// [PDS-148] Exactly five times peer_timeout after the first refusal, and with a word to the peer,
// which is there.
TEST_F(RefusedTest, EndsAfterPeerTimeout) {
  for (const NackCode code :
       {NackCode::no_ses_msg_avail, NackCode::no_pkt_buffer, NackCode::psn_oor_window,
        NackCode::trimmed, NackCode::no_gtd_del_avail, NackCode::rcvr_infer_loss}) {
    SCOPED_TRACE(wire::name(code));
    Bench b(config_);
    open(b, 1);
    b.elapse(300_ms);
    b.tx();
    b.rx_header(b.nack(code, b.start + 1));
    const Instant end = b.now + config_.refusal_patience();
    refuse_until(b, code, end - 2_us);
    EXPECT_TRUE(b.client.failures.empty());
    refuse_until(b, code, end + 2_us);
    ASSERT_EQ(b.client.failures.size(), 1u);
    EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
    EXPECT_FALSE(b.client.failures[0].not_delivered) << "it would be sent again";
    EXPECT_EQ(b.count(Count::pdc_closed_refused), 1u);
    EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + std::to_string((b.start + 2).value()) +
                                " ar payload 0"}));
  }
}

// [PDS-148] A peer that accepts a packet now and then is never given up: the time restarts with the
// next refusal.
TEST_F(RefusedTest, ProgressRestartsTheTime) {
  Bench b(config_);
  open(b, 4);
  for (int passed = 1; passed <= 3; ++passed) {
    refuse_until(b, NackCode::no_ses_msg_avail, b.now + config_.refusal_patience() - 1_ms);
    b.rx_header(b.ack(b.start + passed));
    ASSERT_EQ(b.client.responded.size(), 1u + static_cast<size_t>(passed));
  }
  b.tx();
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 4));
  const Instant end = b.now + config_.refusal_patience();
  refuse_until(b, NackCode::no_ses_msg_avail, end - 2_us);
  EXPECT_TRUE(b.client.failures.empty());
  refuse_until(b, NackCode::no_ses_msg_avail, end + 2_us);
  EXPECT_EQ(b.client.failures.size(), 1u);
}

// [PDS-148] What arrived without being answered is progress as well.
TEST_F(RefusedTest, ASackRestartsTheTime) {
  Bench b(config_);
  b.client.script.sack_completes = false;
  open(b, 2);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 1));
  refuse_until(b, NackCode::no_ses_msg_avail, b.now + config_.refusal_patience() - 1_ms);
  wire::AckCc h;
  h.ack = b.ack(b.start);
  h.ack.type = wire::PdsType::ack_cc;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 2;  // PSN +2
  b.rx_header(h);
  refuse_until(b, NackCode::no_ses_msg_avail, b.now + config_.refusal_patience() - 1_ms);
  EXPECT_TRUE(b.client.failures.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-148] The application there is busy, or no receive is posted yet: the NACK says so, and such
// a wait has no time limit.
TEST_F(RefusedTest, AnApplicationIsWaitedForWithoutLimit) {
  for (const NackCode code : {NackCode::rcvd_ses_procg, NackCode::no_resource}) {
    SCOPED_TRACE(wire::name(code));
    Bench b(config_);
    open(b, 1);
    for (int i = 0; i < 2000; ++i) {
      b.rx_header(b.nack(code, b.start + 1));
      b.elapse(10_ms);
      b.tx();
    }
    EXPECT_TRUE(b.client.failures.empty());
    b.rx_header(b.ack(b.start + 1));
    EXPECT_EQ(b.client.responded.size(), 2u);
  }
}

// [PDS-148] If another packet of the PDC is refused for another reason, such a wait does not end
// either.
TEST_F(RefusedTest, AWaitForTheApplicationIsNotCutShort) {
  Bench b(config_);
  open(b, 2);
  for (int i = 0; i < 2000; ++i) {
    b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 2));
    b.rx_header(b.nack(NackCode::rcvd_ses_procg, b.start + 1));
    b.elapse(10_ms);
    b.tx();
  }
  EXPECT_TRUE(b.client.failures.empty());
}

// [PDS-148] A target without a free PDC; there is then no PDC to close.
TEST_F(RefusedTest, ASynIsRefusedNoLongerEither) {
  Bench b(config_);
  b.open_initiator(1);
  b.rx_header(b.nack(NackCode::no_pdc_avail, b.start));
  const Instant end = b.now + config_.refusal_patience();
  refuse_until(b, NackCode::no_pdc_avail, end - 2_us);
  EXPECT_TRUE(b.client.failures.empty());
  refuse_until(b, NackCode::no_pdc_avail, end + 2_us);
  EXPECT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-148] With patience by count the limit is Max_NACK_Retx_Cnt, and 31 is no limit.
TEST_F(RefusedTest, WithPatienceByCountOnlyTheCountEndsIt) {
  config_.patience = Patience::retries;
  config_.nack_retx_max = 31;
  Bench b(config_);
  open(b, 1);
  refuse_until(b, NackCode::no_ses_msg_avail, b.now + config_.refusal_patience() * 3, 2_ms);
  EXPECT_TRUE(b.client.failures.empty());
  b.tx();
  EXPECT_GE(b.pds->next_deadline(), b.now + config_.nack_retx / 2) << "nothing to look at before";
}

// [PDS-I16, PDS-148] The same limit ends a Close command that the peer cannot take.
TEST_F(RefusedTest, ACloseThatIsRefusedIsGivenUp) {
  Bench b(config_);
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  ASSERT_EQ(b.tx().size(), 1u);
  b.rx_header(b.nack(NackCode::no_bitmap, b.start + 1));
  const Instant end = b.now + config_.refusal_patience();
  refuse_until(b, NackCode::no_bitmap, end - 2_us);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  refuse_until(b, NackCode::no_bitmap, end + 2_us);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
}

// [PDS-162, PDS 10.2, 0x19] It is the ACK Request that the peer cannot make anything of, not the
// request: then the request itself asks.
TEST_F(RefusedTest, ARefusedQuestionIsNoRefusedRequest) {
  Bench b(config_);
  b.client.script.sack_completes = false;
  open(b, 2);
  wire::AckCc h;
  h.ack = b.ack(b.start);
  h.ack.type = wire::PdsType::ack_cc;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 1;  // PSN +1
  b.rx_header(h);
  b.elapse(6_ms);
  const std::string asked = std::to_string((b.start + 1).value());
  EXPECT_EQ(b.lines(),
            (Lines{"CP ACK_REQ psn " + asked + " ar payload 0", "REQ psn +2 retx ar clear -2"}));
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 1));
  EXPECT_TRUE(b.client.failures.empty());
  b.elapse(config_.nack_retx);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
}

// [PDS-148, PDS-162] A target that refuses the first packets keeps its initiator in SYN, where that
// cannot take a Close Request. If it has accepted one it acknowledges it, and the same refusal ends
// the PDC.
TEST_F(RefusedTest, ACloseRequestThatComesTooEarlyIsNotRefused) {
  config_.idle_time = 100_ms;
  config_.rod_reorder = false;
  for (const bool is_taken : {false, true}) {
    SCOPED_TRACE(is_taken);
    Bench b(config_);
    b.client.verdict = [&](PacketName name, const RxRequest&) {
      const bool takes = is_taken && name.first == 1000;
      return takes ? Verdict::accepted() : Verdict::refused(NackCode::no_resource);
    };
    wire::Request h = b.request(1001);
    h.type = wire::PdsType::rod_request;
    b.rx(h);  // behind a gap: the PDC stays
    const Instant end = b.now + config_.refusal_patience() + 2_s;
    while (b.now < end && b.pds->open_pdcs() != 0) {
      for (const Bench::Out& o : b.tx()) {
        if (o.type() != wire::PdsType::control) continue;
        const auto asked = o.as<wire::Control>();
        b.own = asked.spdcid;
        wire::Nack refusal = b.nack(NackCode::unexp_event, asked.psn);
        refusal.spdcid = kPeerId;
        b.rx_header(refusal);
      }
      h.psn = Psn(1000);
      h.psn_offset = 0;
      b.rx(h);
      b.elapse(500_ms);
    }
    EXPECT_GT(b.count(Count::nack_rx_unexp_event), 5u);
    EXPECT_EQ(b.count(Count::pdc_closed_refused), is_taken ? 1u : 0u);
  }
}

// [PDS-142] The timer of a PDC is for whatever is due first.
TEST_F(RefusedTest, TheTimerIsForTheEarliestDeadline) {
  const auto expect_due = [](const Bench& b, Duration wait) {
    EXPECT_GE(b.pds->next_deadline(), b.now + wait - 2_us);
    EXPECT_LE(b.pds->next_deadline(), b.now + wait + 2_us);
  };
  config_.rto_init = 7_ms;
  config_.tail_loss = 50_ms;
  Bench b(config_);
  b.open_initiator(2);
  expect_due(b, 3'500_us);  // half of the RTO of both [PDS-145]
  b.elapse(1_ms);
  b.rx_header(b.nack(NackCode::no_pdc_avail, b.start + 1));
  expect_due(b, config_.nack_retx);  // sooner than the 6 ms that are left
  b.elapse(config_.nack_retx + 5_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 syn retx ar clear -2"}));
  expect_due(b, 500_us - 5_us);  // half of the RTO of the first one
  b.elapse(500_us);
  expect_due(b, 3_ms);  // half of that of the other one, which was sent again
}

// Two ends, and an attacker that reads the packets of the first one. The network loses packet
// `lost`; the attacker forges an ACK that says that it has arrived.
class ForgedAckTest : public ::testing::Test {
 protected:
  ForgedAckTest() { config_.peer_timeout = 2_s; }

  // Message 1 opens the PDC, message 2 has `packets`, of which the first one is lost.
  void start(Mode mode, uint32_t packets) {
    pair_ = std::make_unique<Pair>(config_, config_);
    client().script.sack_completes = false;
    client().post(pair_->flow(0, mode), 1, 100);
    pair_->run(1_ms);
    ASSERT_EQ(client().responded.size(), 1u);
    lost_ = pair_->sent.at(0).request().psn + 1;
    pair_->fate = [this](const InPipe& p) {
      const bool is_lost = p.side == 1 && p.is_request() && p.request().psn == lost_;
      return is_lost ? Fate{} : Fate{Pair::kDelay};
    };
    client().post(pair_->flow(0, mode), 2, packets * 1024);
  }
  void forge(bool is_cumulative) {
    pair_->flush();
    wire::Ack h;
    h.spdcid = pair_->sent.back().request().dpdcid;
    h.dpdcid = pair_->sent.back().request().spdcid;
    h.cack_psn = is_cumulative ? lost_ : lost_ - 1;
    h.ack_psn_offset = is_cumulative ? 0 : 1;
    std::vector<std::byte> octets(wire::Ack::kSize);
    wire::Writer w(octets);
    h.emit(w);
    pair_->inject(0, octets, address(2));
    EXPECT_EQ(client().responded.count({2, 0}), 1u) << "the lie is believed without TSS";
  }
  StubClient& client() { return pair_->side[0].client; }
  size_t unanswered() {
    return client().messages[2].pulled / 1024 + 1 - client().responded.size() -
           client().failed.size();
  }

  Config config_;
  Psn lost_;
  std::unique_ptr<Pair> pair_;
};

// [PDS-148] Packets behind the gap need a place that only packets in order may use.
TEST_F(ForgedAckTest, PacketsRefusedBehindTheGapFail) {
  start(Mode::rud, 4);
  pair_->side[1].client.verdict = [](PacketName, const RxRequest& r) {
    return r.in_order ? Verdict::accepted() : Verdict::refused(NackCode::no_ses_msg_avail);
  };
  forge(true);
  pair_->run(config_.refusal_patience() - 1_ms);
  EXPECT_EQ(unanswered(), 3u);
  pair_->run(2_ms);
  EXPECT_EQ(unanswered(), 0u);
  EXPECT_EQ(client().failed.size(), 3u);
  pair_->run(60_s);
  EXPECT_EQ(pair_->side[0].pds->usage(), Usage{});
  EXPECT_EQ(pair_->side[1].pds->usage(), Usage{});
}

// [PDS-079, PDS-148] The sequence cannot continue; packets that wait behind the gap do not count as
// work in progress.
TEST_F(ForgedAckTest, PacketsHeldBackBehindTheGapFail) {
  start(Mode::rod, 4);
  forge(true);
  pair_->run(config_.refusal_patience() + 50_ms);
  EXPECT_EQ(client().failed.size(), 3u);
  EXPECT_EQ(pair_->side[1].client.received.times.size(), 1u);
  pair_->run(60_s);
  EXPECT_EQ(pair_->side[0].pds->usage(), Usage{});
  EXPECT_EQ(pair_->side[1].pds->usage(), Usage{});
}

// [PDS-077, PDS-148] The same where the target keeps nothing.
TEST_F(ForgedAckTest, PacketsDroppedBehindTheGapFail) {
  config_.rod_reorder = false;
  start(Mode::rod, 4);
  forge(true);
  pair_->run(config_.refusal_patience() + 50_ms);
  EXPECT_EQ(client().failed.size(), 3u);
  pair_->run(60_s);
  EXPECT_EQ(pair_->side[0].pds->usage(), Usage{});
  EXPECT_EQ(pair_->side[1].pds->usage(), Usage{});
}

// [PDS-035, PDS-148] All packets are answered, but the cumulative ACK stays below the gap: the next
// packet is sooner or later beyond the peer's range, and ACK Requests do not help.
TEST_F(ForgedAckTest, AWindowThatNeverOpensEndsThePdc) {
  config_.mpr = config_.default_mpr = 1;
  config_.ack_form = AckForm::cc;
  start(Mode::rud, 200);
  forge(false);
  pair_->run(config_.refusal_patience() + 50_ms);
  EXPECT_EQ(client().aborted.count(2), 1u);
  EXPECT_EQ(unanswered(), 0u);
  EXPECT_EQ(pair_->count(0, Count::pdc_closed_refused), 1u);
  pair_->run(60_s);
  EXPECT_EQ(pair_->side[0].pds->usage(), Usage{});
  EXPECT_EQ(pair_->side[1].pds->usage(), Usage{});
}

// [PDS-118, PDS-245] A peer that refuses a thousand packets, one each microsecond, and tracks 128
// of them.
class UntrackedTest : public RefusedTest {
 protected:
  UntrackedTest() {
    config_.tx_window_packets = 1024;
    config_.rto_init = 100_ms;
    cms_.algorithm = cms::Algorithm::fixed;
    cms_.window_bytes_max = 4 << 20;
    cms_.base_rtt_probe = false;
    b_.emplace(config_, cms_);
    open(*b_, 1000);
    b_->tx();
    tracks(1, 0);
    for (uint32_t i = 1000; i >= 1; --i) {
      b_->now = b_->now + 1_us;
      b_->rx_header(b_->nack(NackCode::no_pkt_buffer, b_->start + static_cast<int32_t>(i)));
    }
  }

  // The peer has all below and at start + `below`, and tracks `units` of 128 above that.
  void tracks(uint8_t units, int32_t below) {
    wire::AckCc h;
    h.ack = b_->ack(b_->start + below);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = units;
    b_->rx_header(h);
  }
  // Runs every timer until `end`. How often one was due.
  uint32_t looks_until(Instant end) {
    uint32_t looks = 0;
    for (; b_->pds->next_deadline() <= end; ++looks) {
      b_->now = std::max(b_->now, b_->pds->next_deadline());
      b_->pds->advance(b_->now);
    }
    b_->now = end;
    return looks;
  }
  // The PSNs that are sent now, above start.
  std::vector<int32_t> sent() {
    std::vector<int32_t> psns;
    for (const Bench::Out& o : b_->tx()) psns.push_back(o.as<wire::Request>().psn - b_->start);
    return psns;
  }
  static std::vector<int32_t> from_to(int32_t first, int32_t last) {
    std::vector<int32_t> psns;
    for (int32_t i = first; i <= last; ++i) psns.push_back(i);
    return psns;
  }
  cms::Config cms_;
  std::optional<Bench> b_;
};

// Each packet that is set aside is examined once, and one packet in each NACK_Retx_Time. Examining
// each packet in each NACK_Retx_Time would be 21,577 times.
TEST_F(UntrackedTest, EachPacketSetAsideCostsOneLook) {
  EXPECT_LE(looks_until(b_->now + 100_ms), 1000u + 50u);
}

// The packets that the peer tracks were refused more often, so they wait behind the others.
TEST_F(UntrackedTest, PacketsSetAsideHideNoTrackedOne) {
  looks_until(b_->now + 10_ms);
  EXPECT_EQ(sent(), from_to(1, 128));
  for (int again = 0; again < 5; ++again) {
    b_->rx_header(b_->nack(NackCode::no_pkt_buffer, b_->start + 1));
    looks_until(b_->now + 300_ms);
    EXPECT_EQ(sent().front(), 1) << again;
  }
}

// Packets that enter the peer's range are sent at once, each once, in the order of PSNs.
TEST_F(UntrackedTest, PacketsThatEnterThePeersRangeGoAtOnce) {
  looks_until(b_->now + 10_ms);
  EXPECT_EQ(sent(), from_to(1, 128));
  tracks(1, 128);
  EXPECT_EQ(sent(), from_to(129, 256));
  tracks(3, 129);
  EXPECT_EQ(sent(), from_to(257, 513));
  tracks(3, 129);
  EXPECT_TRUE(sent().empty());
  tracks(0, 513);
  EXPECT_EQ(sent(), from_to(514, 1000));
}

// A range that shrinks and grows again. A packet that was refused twice is found below those set
// aside before it.
TEST_F(UntrackedTest, ARangeMayShrink) {
  tracks(2, 1);
  looks_until(b_->now + 10_ms);
  EXPECT_EQ(sent(), from_to(2, 257));
  tracks(1, 2);
  b_->rx_header(b_->nack(NackCode::no_pkt_buffer, b_->start + 200));
  looks_until(b_->now + 10_ms);
  tracks(2, 3);
  EXPECT_EQ(sent(), (std::vector<int32_t>{200, 258, 259}));
}

}  // namespace
}  // namespace uet::pds::test
