// How a close begins, from either side. [PDS 15.1]
#include "pds/pdc/closing.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

class ClosingPartTest : public PartTest {
 protected:
  Schedule schedule_{res_};
  Closing closing_{res_, schedule_};
};

// [PDS-I10, PDS-I21] An initiator takes no more messages; what its flow has goes elsewhere.
TEST_F(ClosingPartTest, AnInitiatorBeginsToClose) {
  Pdc& pdc = initiator();
  flow_.ready = true;
  closing_.begin_close(pdc);
  EXPECT_EQ(pdc.state(), PdcState::quiesce);
  EXPECT_FALSE(pdc.may_take_message());
  EXPECT_EQ(calls(), (Calls{"wake_flow", "want_control"}));
  flow_.ready = false;
  calls().clear();
  closing_.begin_close(pdc);
  EXPECT_EQ(calls(), Calls{}) << "it closes";
}

// [PDS-I22] In SYN the wish is kept: the peer's PDCID is not known.
TEST_F(ClosingPartTest, AnInitiatorInSynClosesLater) {
  Pdc& pdc = in_syn();
  closing_.begin_close(pdc);
  EXPECT_EQ(pdc.state(), PdcState::syn);
  EXPECT_TRUE(pdc.life.close_asked());
  EXPECT_EQ(calls(), Calls{});
}

// [PDS-I18] What has failed ends in its own way.
TEST_F(ClosingPartTest, AnInitiatorThatFailedDoesNotClose) {
  Pdc& pdc = initiator();
  pdc.life.change(PdcEvent::failed);
  closing_.begin_close(pdc);
  EXPECT_EQ(pdc.state(), PdcState::error);
  EXPECT_EQ(calls(), Calls{});
}

// [PDS-170, PDS-T10] A target asks for the Close, and waits no longer than Close_REQ_Time. Once.
TEST_F(ClosingPartTest, ATargetAsksForTheClose) {
  Pdc& pdc = target();
  closing_.ask_close(pdc, kNow);
  EXPECT_EQ(pdc.state(), PdcState::close_wait);
  EXPECT_EQ(pdc.end.at(), kNow + res_.config.close_req);
  EXPECT_EQ(calls(), (Calls{"arm_by 1000000us", "want_control"}));
  closing_.ask_close(pdc, kNow + kRto);
  EXPECT_EQ(pdc.end.at(), kNow + res_.config.close_req);
  EXPECT_EQ(calls().size(), 2u);
}

// [PDS-T7] A pending target has no peer that could answer: it sends no Close Request.
TEST_F(ClosingPartTest, APendingTargetSendsNoCloseRequest) {
  Pdc& pdc = *table_.allocate(false, random_);
  pdc.open_as({.event = PdcEvent::start_needed, .peer = peer_, .context = &context_}, res_.config,
              kNow);
  closing_.ask_close(pdc, kNow);
  EXPECT_EQ(pdc.state(), PdcState::pending);
  EXPECT_EQ(calls(), Calls{});
}

}  // namespace
}  // namespace uet::pds::part
