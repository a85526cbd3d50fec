// The order of answers in a batch. [PDS 6, PDS-060]
#include "pds/schedule/answer_turns.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class AnswerTurnsPartTest : public AllParts {
 protected:
  void send() {
    calls().clear();
    batch_.clear();
    answer_turns_.send(batch_, kNow);
  }
  void fill() {
    while (!batch_.full()) {
      batch_.begin();
      batch_.commit(0, address(1), Entropy(1), 0, Ecn::ect0);
    }
  }

  AnswerTurns answer_turns_{schedule_, replies_, outbox_, probes_, destination_, acks_, steps_};
};

// [PDS-060] NACKs come first, then responses and ACKs, control packets last.
TEST_F(AnswerTurnsPartTest, ControlPacketsComeLast) {
  Pdc& pdc = target();
  schedule_.want_control(pdc);
  send();
  EXPECT_EQ(calls(), (Calls{"send_replies", "send_probe_answers", "send_responses", "send_answers",
                            "flush_acks " + std::to_string(pdc.id.value()), "progress_close"}));
}

// [CMS-132] Grants leave with the answers, on the PDC that asked.
TEST_F(AnswerTurnsPartTest, GrantsLeaveOnThePdcThatAsked) {
  answers().grants_on = &target();
  answers().may_spend = false;
  send();
  EXPECT_EQ(calls_of("grant"), Calls{"grant not sent"});
  EXPECT_EQ(calls_of("emit").size(), 1u);
}

// [PDS-060] Control packets alone, where a PDC must ask for credit at once.
TEST_F(AnswerTurnsPartTest, ControlPacketsMayGoAlone) {
  Pdc& pdc = target();
  schedule_.want_control(pdc);
  calls().clear();
  answer_turns_.send_control(batch_, kNow);
  EXPECT_EQ(calls(), (Calls{"flush_acks " + std::to_string(pdc.id.value()), "progress_close"}));
}

// A PDC that finds the batch full keeps its place for the next one.
TEST_F(AnswerTurnsPartTest, AFullBatchKeepsControlPackets) {
  Pdc& pdc = target();
  schedule_.want_control(pdc);
  fill();
  calls().clear();
  answer_turns_.send_control(batch_, kNow);
  EXPECT_EQ(calls(), Calls{});
  batch_.clear();
  answer_turns_.send_control(batch_, kNow);
  EXPECT_TRUE(was_called("progress_close"));
}

}  // namespace
}  // namespace uet::pds::part
