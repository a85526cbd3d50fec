// The order in which a batch is filled, and which PDCs get a turn. [PDS 6, PDS-244]
#include "pds/schedule/turns.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class TurnsPartTest : public AllParts {
 protected:
  TurnsPartTest() {
    res_.config.max_pdcs = 8;
    res_.config.newcomer_percent = 0;
    EXPECT_TRUE(contexts_.create(arena_, Room{4, 8}).ok());
  }
  Pdc& with_message() {
    Pdc& pdc = initiator();
    pdc.messages.start(kMessage, false);
    return pdc;
  }
  // Which PDCs got a turn, in order: by the order of `pdcs`.
  std::string turns(std::initializer_list<const Pdc*> pdcs) const {
    std::string all;
    for (const std::string& call : calls_of("turn of ")) {
      char name = 'a';
      for (const Pdc* const pdc : pdcs) {
        if (call == "turn of " + std::to_string(pdc->id.value())) all += name;
        ++name;
      }
    }
    return all;
  }
  uint32_t transmit(Lead lead = Lead::answers) {
    calls().clear();
    batch_.clear();
    return turns_.transmit(batch_, kNow, lead);
  }
  // A flow with messages and without a PDC.
  Flow& ready_flow(Mode mode = Mode::rud) {
    const auto id = flow_desk_.flow({peer_, TrafficClass(0), mode, JobId(1)});
    EXPECT_TRUE(id.ok());
    Flow& flow = *flows_.get(*id);
    flow.ready = true;
    schedule_.wake_flow(flow);
    return flow;
  }

  Connectionless connectionless_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
  Flows flow_desk_{res_, flows_, connectionless_, contexts_, closing_, ending_};
  Initiators initiators_{res_, table_, schedule_, idle_, secure_psn_, ending_, reclaim_};
  AnswerTurns answer_turns_{schedule_, replies_, outbox_, probes_, destination_, acks_, steps_};
  Turns turns_{res_, connectionless_, schedule_, outbox_, flow_desk_, initiators_, answer_turns_};
};

// [PDS-060] Answers come first, and of what is sent resends before new packets.
TEST_F(TurnsPartTest, ABatchBeginsWithAnswers) {
  Pdc& fresh = with_message();
  Pdc& lossy = with_message();
  send(lossy, 1);
  context_.mark(lossy, slot(lossy, 0), kFirst, LossSign::reported);
  for (Pdc* const pdc : {&fresh, &lossy}) schedule_.want_send(*pdc);
  schedule_.want_control(fresh);
  transmit();
  EXPECT_EQ(turns({&fresh, &lossy}), "ba");
  const std::string ids[] = {std::to_string(fresh.id.value()), std::to_string(lossy.id.value())};
  EXPECT_EQ(calls(), (Calls{"send_replies", "send_probe_answers", "send_responses", "send_answers",
                            "flush_acks " + ids[0], "progress_close", "connectionless",
                            "turn of " + ids[1], "turn of " + ids[0]}));
}

// [decision 9] In a call of the application payload leads, and answers share its batch.
TEST_F(TurnsPartTest, PayloadMayLead) {
  Pdc& pdc = with_message();
  schedule_.want_send(pdc);
  schedule_.want_control(pdc);
  transmit(Lead::payload);
  const std::string id = std::to_string(pdc.id.value());
  EXPECT_EQ(calls(),
            (Calls{"connectionless", "turn of " + id, "send_replies", "send_probe_answers",
                   "send_responses", "send_answers", "flush_acks " + id, "progress_close"}));
}

// [decision 9] While there is more payload than a batch takes, answers wait, for four batches.
TEST_F(TurnsPartTest, PayloadLeadsForFourBatches) {
  schedule_.want_send(with_message());
  while (!batch_.full()) {
    batch_.begin();
    batch_.commit(0, address(1), Entropy(1), 0, Ecn::ect0);
  }
  for (int i = 0; i < 4; ++i) {
    calls().clear();
    turns_.transmit(batch_, kNow, Lead::payload);
    EXPECT_EQ(calls(), Calls{"connectionless"}) << i;
  }
  calls().clear();
  turns_.transmit(batch_, kNow, Lead::payload);
  EXPECT_EQ(calls().front(), "send_replies");
}

// [PDS-244] One turn each, in the order in which they came.
TEST_F(TurnsPartTest, EachPdcHasOneTurn) {
  Pdc& a = with_message();
  Pdc& b = with_message();
  for (Pdc* const pdc : {&a, &b}) schedule_.want_send(*pdc);
  transmit();
  EXPECT_EQ(turns({&a, &b}), "ab");
  transmit();
  EXPECT_EQ(turns({&a, &b}), "") << "a stub wants no further turn";
}

// [PDS-244, CMS-012, CMS-013] A PDC that could send nothing waits for the window of the context,
// and no other overtakes it.
TEST_F(TurnsPartTest, APdcThatIsBlockedIsNotOvertaken) {
  Pdc& a = with_message();
  Pdc& b = with_message();
  schedule_.want_send(a);
  answers().turn = {Step::blocked, false};
  transmit();
  EXPECT_EQ(context_.blocked.front(), &a);
  schedule_.want_send(b);
  answers().turn = {Step::idle, true};
  transmit();
  EXPECT_EQ(turns({&a, &b}), "") << "b waits behind a";
  schedule_.wake_context(context_);
  transmit();
  EXPECT_EQ(turns({&a, &b}), "ab");
  EXPECT_FALSE(context_.is_wanted());
}

// [PDS-244] Who used the window up waits behind those that got nothing.
TEST_F(TurnsPartTest, APdcThatSentWaitsBehindThoseThatDidNot) {
  Pdc& a = with_message();
  Pdc& b = with_message();
  answers().turn = {Step::blocked, true};
  schedule_.want_send(a);
  transmit();
  EXPECT_EQ(context_.sated.front(), &a);
  answers().turn = {Step::blocked, false};
  schedule_.want_send(b);
  transmit();
  EXPECT_EQ(context_.blocked.front(), &b);
  schedule_.wake_context(context_);
  transmit();
  EXPECT_EQ(turns({&a, &b}), "b") << "the window is full again";
  EXPECT_EQ(context_.blocked.front(), &b) << "it keeps its turn";
}

// [PDS-I1] A flow with messages and without a PDC gets one, and that PDC a turn.
TEST_F(TurnsPartTest, AReadyFlowGetsAPdc) {
  Flow& flow = ready_flow();
  transmit();
  ASSERT_EQ(flow.pdc_count, 1u);
  EXPECT_EQ(flow.pdcs.front()->state(), PdcState::syn);
  EXPECT_EQ(turns({flow.pdcs.front()}), "a");
  EXPECT_EQ(counted(Count::pdc_opened_initiator), 1u);
}

// Its messages were taken back meanwhile: nothing of the PDC stays. [PDS-I1]
TEST_F(TurnsPartTest, AFlowWithoutAMessageGetsNoPdc) {
  ready_flow();
  answers().has_message = false;
  transmit();
  EXPECT_TRUE(was_called("discard"));
  EXPECT_EQ(calls_of("turn of"), Calls{});
}

// [PDS-061] A busy PDC keeps a second message waiting: another PDC takes it, up to a limit.
TEST_F(TurnsPartTest, AFlowHasSomePdcs) {
  res_.config.pdcs_per_key = 2;
  Flow& flow = ready_flow();
  for (int i = 0; i < 4; ++i) {
    transmit();
    for (Pdc& pdc : flow.pdcs) pdc.messages.start(kMessage, false);
    schedule_.wake_flow(flow);
  }
  EXPECT_EQ(flow.pdc_count, 2u);
}

// [PDS-003] Ordered messages are all on one PDC.
TEST_F(TurnsPartTest, AnOrderedFlowHasOnePdc) {
  Flow& flow = ready_flow(Mode::rod);
  for (int i = 0; i < 3; ++i) {
    transmit();
    for (Pdc& pdc : flow.pdcs) pdc.messages.start(kMessage, false);
    schedule_.wake_flow(flow);
  }
  EXPECT_EQ(flow.pdc_count, 1u);
}

// [PDS-021] Without a free PDC the flow waits until one is.
TEST_F(TurnsPartTest, AFlowWaitsForAFreePdc) {
  while (Pdc* const pdc = table_.allocate(true, random_)) pdc->life.change(PdcEvent::opened);
  Flow& flow = ready_flow();
  transmit();
  EXPECT_EQ(flow.pdc_count, 0u);
  EXPECT_FALSE(schedule_.has_new_work());
  EXPECT_EQ(counted(Count::pdc_alloc_fail), 1u);
  schedule_.feed_starved();
  EXPECT_TRUE(schedule_.has_new_work());
}

// [PDS-247] A released flow closes its PDCs, and is gone with the last one.
TEST_F(TurnsPartTest, AReleasedFlowIsRetired) {
  Flow& flow = ready_flow();
  transmit();
  Pdc& pdc = *flow.pdcs.front();
  pdc.life.change(PdcEvent::first_ack);
  const FlowId id = flow.id;
  flow_desk_.release_flow(id);
  transmit();
  EXPECT_TRUE(was_called("begin_close"));
  EXPECT_NE(flows_.get(id), nullptr);
  flow.pdcs.erase(pdc);
  --flow.pdc_count;
  pdc.flow = nullptr;
  flows_.note_idle(flow);
  transmit();
  EXPECT_EQ(flows_.get(id), nullptr);
}

// [PDS-013] One flow for each (peer, class, mode, job), or, if so configured, for all jobs
// together.
TEST_F(TurnsPartTest, AFlowIsFoundByItsKey) {
  const FlowKey one{peer_, TrafficClass(0), Mode::rud, JobId(1)};
  FlowKey other = one;
  other.job = JobId(2);
  const FlowId id = *flow_desk_.flow(one);
  EXPECT_EQ(*flow_desk_.flow(one), id);
  EXPECT_NE(*flow_desk_.flow(other), id);
  res_.config.pdc_per_job = false;
  FlowKey third = one;
  third.tc = TrafficClass(3);
  const FlowId shared = *flow_desk_.flow(third);
  third.job = JobId(2);
  EXPECT_EQ(*flow_desk_.flow(third), shared);
}

}  // namespace
}  // namespace uet::pds::part
