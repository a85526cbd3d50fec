// A PDC that is opened, and the questions that it answers alone. [PDS 2, 5]
#include "pds/pdc/pdc.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

class PdcTest : public PartTest {
 protected:
  Pdc& fresh(bool is_initiator) { return *table_.allocate(is_initiator, random_); }
};

// [PDS-T1, PDS-031, TSS-065, PDS-140] A target has what its SYN says. Both directions begin at one
// PSN, and nothing is known of the round trip.
TEST_F(PdcTest, ATargetIsOpened) {
  Pdc& pdc = fresh(false);
  const Pdcid id = pdc.id;
  pdc.open_as({.mode = Mode::rod,
               .peer = peer_,
               .sdi = 77,
               .start = Psn(500),
               .context = &context_,
               .peer_id = kPeerId,
               .job = JobId(3)},
              res_.config, kNow);
  EXPECT_EQ(pdc.state(), PdcState::established);
  EXPECT_EQ(pdc.id, id);
  EXPECT_EQ(pdc.mode, Mode::rod);
  EXPECT_EQ(pdc.peer, peer_);
  EXPECT_EQ(pdc.peer_id, kPeerId);
  EXPECT_EQ(pdc.job, JobId(3));
  EXPECT_EQ(pdc.sdi, 77u);
  EXPECT_EQ(pdc.context, &context_);
  EXPECT_EQ(pdc.flow, nullptr);
  EXPECT_EQ(pdc.start.psn(), Psn(500));
  EXPECT_EQ(pdc.rx.base(), Psn(500));
  EXPECT_EQ(pdc.tx.next(), Psn(500));
  EXPECT_EQ(pdc.nack_hint(), Psn(500));
  EXPECT_EQ(pdc.last_active, kNow);
  EXPECT_EQ(pdc.rtt.rto(Duration::zero(), Duration::seconds(1), 0), res_.config.rto_init);
  EXPECT_FALSE(pdc.may_take_message());
}

// [PDS-T2, PDS-I1] By the event that opens it.
TEST_F(PdcTest, TheEventOpensIt) {
  Pdc& waits = fresh(false);
  waits.open_as({.event = PdcEvent::start_needed, .peer = peer_, .context = &context_}, res_.config,
                kNow);
  EXPECT_EQ(waits.state(), PdcState::pending);
  Pdc& starts = fresh(true);
  starts.open_as({.peer = peer_, .context = &context_, .flow = &flow_}, res_.config, kNow);
  EXPECT_EQ(starts.state(), PdcState::syn);
  EXPECT_EQ(starts.flow, &flow_);
  EXPECT_TRUE(starts.may_take_message());
}

// [PDS-247] An initiator that has sent nothing: its peer has no state for it.
TEST_F(PdcTest, AnInitiatorThatSentNothingIsUnheard) {
  Pdc& pdc = in_syn();
  EXPECT_TRUE(pdc.is_unheard());
  send(pdc, 1);
  EXPECT_FALSE(pdc.is_unheard());
  EXPECT_FALSE(target().is_unheard());
}

// [T-38] Only a target in the clear, whose source was not proven, may be forged.
TEST_F(PdcTest, ATargetIsUnverifiedUntilProven) {
  Pdc& pdc = target(Mode::rud, /*is_proven=*/false);
  EXPECT_TRUE(pdc.is_unverified());
  pdc.sdi = 77;
  EXPECT_FALSE(pdc.is_unverified());
  EXPECT_FALSE(initiator().is_unverified());
  EXPECT_FALSE(target().is_unverified());
}

// [PDS-035, PDS-245] No packet is in flight whose ACK could report that the peer tracks more.
TEST_F(PdcTest, APdcIsStalledAtTheEndOfTheRange) {
  Pdc& pdc = initiator();
  EXPECT_FALSE(pdc.is_stalled());
  pdc.range.on_refused();
  for (int i = 0; i < pdc.range.packets(); ++i) {
    ASSERT_TRUE(pdc.tx.reserve(res_.tx_pool));
    const Psn psn = pdc.tx.next();
    pdc.tx.push();
    pdc.tx.complete(psn);
  }
  EXPECT_TRUE(pdc.is_stalled());
  pdc.range.on_cack(kFirst);
  EXPECT_FALSE(pdc.is_stalled()) << "one more is admitted";
}

}  // namespace
}  // namespace uet::pds::part
