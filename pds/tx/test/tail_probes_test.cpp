// Probes: when one is due, and what its answer or its refusal shows. [PDS-145, PDS-163]
#include "pds/tx/tail_probes.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class TailProbesPartTest : public AllParts {
 protected:
  // Sends the Probe that is due, and returns it.
  wire::Control probe(Pdc& pdc, Instant now) {
    batch_.clear();
    EXPECT_TRUE(probes_.flush_probe(pdc, batch_, now));
    EXPECT_EQ(batch_.size(), 1u);
    if (batch_.empty()) return {};
    const TxPacket& packet = batch_.packets()[0];
    wire::Reader in({packet.header, packet.header_bytes});
    return *wire::Control::parse(in);
  }
  wire::Ack answer(const wire::Control& probe) const {
    wire::Ack ack;
    ack.p = true;
    ack.probe_opaque = probe.probe_opaque;
    ack.cack_psn = kFirst - 1;
    return ack;
  }
  wire::Nack refusal(int offset) const {
    wire::Nack nack;
    nack.nack_code = wire::NackCode::unexp_event;
    nack.nack_psn = kFirst + offset;
    return nack;
  }
};

// [PDS-145] Silence of Tail_Loss_Time brings a Probe, then each wait is twice the one before.
TEST_F(TailProbesPartTest, SilenceBringsAProbe) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  Instant next = Instant::never();
  EXPECT_TRUE(probes_.check_tail(pdc, next, kNow + kRto / 2));
  EXPECT_EQ(next, kNow + kRto);
  EXPECT_FALSE(pdc.tail.is_due());
  EXPECT_TRUE(probes_.check_tail(pdc, next, kNow + kRto));
  EXPECT_TRUE(pdc.tail.is_due());
  const wire::Control h = probe(pdc, kNow + kRto);
  EXPECT_EQ(h.ctl_type, wire::CtlType::probe);
  EXPECT_EQ(h.psn, kFirst + 1) << "the last one that was sent";
  EXPECT_EQ(h.payload, kFirst.value()) << "the first one of which nothing is known";
  next = Instant::never();
  EXPECT_TRUE(probes_.check_tail(pdc, next, kNow + kRto * 2));
  EXPECT_FALSE(pdc.tail.is_due());
  EXPECT_TRUE(probes_.check_tail(pdc, next, kNow + kRto * 4));
  EXPECT_TRUE(pdc.tail.is_due());
}

// [PDS-145] A peer that knows no Probes gets the newest packet once more.
TEST_F(TailProbesPartTest, WithoutProbesTheNewestPacketGoesAgain) {
  peers_[peer_].no_probe = true;
  Pdc& pdc = initiator();
  send(pdc, 2);
  Instant next = Instant::never();
  EXPECT_TRUE(probes_.check_tail(pdc, next, kNow + kRto));
  EXPECT_EQ(lost(pdc), "+1");
  EXPECT_FALSE(pdc.tail.is_due());
}

// [PDS-145] The peer has the Probe and not what was sent before it.
TEST_F(TailProbesPartTest, AnAnswerShowsThatThePacketsBeforeTheProbeAreLost) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  pdc.tail.want_losses();
  const Instant sent = kNow + kRto;
  const wire::Control h = probe(pdc, sent);
  send(pdc, 1);
  slot(pdc, 2).note_sent(sent + kRto / 5);
  const Instant at = sent + kRto / 2;
  probes_.on_probe_answer(pdc, answer(h), at, at);
  EXPECT_EQ(lost(pdc), "+0 +1");
  EXPECT_EQ(counted(Count::retx_tail), 2u);
}

// [PDS-145] An answer that took long shows only that the peer is alive.
TEST_F(TailProbesPartTest, ALateAnswerShowsNoLoss) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  pdc.tail.want_losses();
  const wire::Control h = probe(pdc, kNow + kRto);
  const Instant at = kNow + kRto * 3;
  probes_.on_probe_answer(pdc, answer(h), at, at);
  EXPECT_EQ(lost(pdc), "");
  EXPECT_EQ(counted(Count::probe_answer_rx), 1u);
}

// [PDS-145] The answer names the Probe by a number that only the peer has seen.
TEST_F(TailProbesPartTest, AnAnswerToNoProbeIsDropped) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  pdc.tail.want_losses();
  wire::Control h = probe(pdc, kNow + kRto);
  ++h.probe_opaque;
  probes_.on_probe_answer(pdc, answer(h), kNow + kRto, kNow + kRto);
  EXPECT_EQ(counted(Count::drop_probe_answer), 1u);
  EXPECT_EQ(lost(pdc), "");
}

// [PDS-163] A peer that does not know Probes refuses them: no other goes there, and nothing fails.
TEST_F(TailProbesPartTest, ARefusedProbeIsTheLastOne) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  EXPECT_FALSE(probes_.refuses_probe(pdc, refusal(1))) << "no Probe went";
  pdc.tail.want();
  probe(pdc, kNow + kRto);
  EXPECT_FALSE(probes_.refuses_probe(pdc, refusal(2))) << "of a PSN behind the Probe";
  EXPECT_TRUE(probes_.refuses_probe(pdc, refusal(1)));
  EXPECT_TRUE(peers_[peer_].no_probe);
  EXPECT_EQ(lost(pdc), "");
}

// [PDS-162, PDS-163] Several Probes may meet an initiator in SYN. Their refusals prove that it is
// there, and do not show that it knows no Probes.
TEST_F(TailProbesPartTest, AnInitiatorInSynMayRefuseSeveral) {
  Pdc& pdc = target(Mode::rud, /*is_proven=*/false);
  send(pdc, 1);
  pdc.proof.earn(100);
  for (int i = 0; i < 2; ++i) {
    pdc.tail.want();
    probe(pdc, kNow + kRto * (i + 1));
  }
  wire::Nack nack = refusal(0);
  nack.spdcid = pdc.peer_id;
  EXPECT_TRUE(probes_.refuses_probe(pdc, nack));
  EXPECT_TRUE(pdc.proof.is_confirmed());
  EXPECT_TRUE(probes_.refuses_probe(pdc, nack));
  EXPECT_FALSE(peers_[peer_].no_probe);
  // One that it refuses later shows that it knows none.
  pdc.tail.want();
  probe(pdc, kNow + kRto * 3);
  EXPECT_TRUE(probes_.refuses_probe(pdc, nack));
  EXPECT_TRUE(peers_[peer_].no_probe);
}

}  // namespace
}  // namespace uet::pds::part
