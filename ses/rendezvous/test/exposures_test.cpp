// The source of a rendezvous send, from the post until the target has all it wants. [ses.md 4.4]
#include "ses/rendezvous/exposures.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>
#include <initializer_list>
#include <string>

namespace uet::ses::test {
namespace {

using wire::ReturnCode;

class ExposuresTest : public PartTest {
 protected:
  ExposuresTest() {
    uet::test::calls().clear();
    answers() = {};
    EXPECT_TRUE(exposures_.create().ok());
    remote_.key.peer = peer_;
  }
  // A send of 3000 octets to a peer with these profiles.
  TxMessage& send(uint8_t theirs = kHpc) {
    message_.kind = OpKind::send;
    message_.opcode = wire::SesOpcode::send;
    message_.mtu = 1024;
    message_.job = kJob;
    message_.remote = &remote_;
    message_.push_length = message_.segment_length = static_cast<uint32_t>(octets_.size());
    const IoSlice slice{octets_.data(), octets_.size()};
    exposures_.expose(open(), message_, {&slice, 1}, theirs);
    return message_;
  }
  AnswerEnd answer(uint16_t length, bool has_data = true) const {
    const Exposure& x = *message_.exposure;
    return {.exposed = x.handle,
            .attempt = x.attempt,
            .length = length,
            .end = 3000,
            .has_data = has_data,
            .is_unsure = !has_data};
  }
  // Silence and probe for each of these answers: which key each probe had, and how it ended.
  static std::string asked(Exposure& x, std::initializer_list<ReturnCode> answers) {
    std::string out;
    for (const ReturnCode code : answers) {
      out += out.empty() ? "" : ", ";
      if (!Exposures::on_silence(x)) return out + "given up";
      out += x.probe_key() == x.source.read_memory_key ? "source" : "another";
      if (Exposures::on_probe_answered(x, code)) return out + ": over";
    }
    return out;
  }

  MemoryRegions memory_;
  Exposures exposures_{res_, memory_};
  Remote remote_{RemoteKey{}};
  TxMessage message_;
  std::array<std::byte, 3000> octets_{};
};

// [SES-088]
TEST_F(ExposuresTest, FirstPacketIsPushedAndTheRestIsForTheTargetAlone) {
  const TxMessage& m = send();
  ASSERT_NE(m.exposure, nullptr);
  EXPECT_EQ(m.opcode, wire::SesOpcode::rendezvous_send);
  EXPECT_EQ(m.push_length, 1024u);
  EXPECT_EQ(m.exposure->wanted, 3000u - 1024u);
  EXPECT_EQ(exposures_.of_region(m.exposure->region, peer_), m.exposure);
  EXPECT_EQ(exposures_.of_region(m.exposure->region, another_peer(2)), nullptr);
}

// [SES-185]
TEST_F(ExposuresTest, SendToAPeerWithoutTheProfileStaysAPlainOne) {
  const TxMessage& m = send(kAiBase);
  EXPECT_EQ(m.exposure, nullptr);
  EXPECT_EQ(m.opcode, wire::SesOpcode::send);
  EXPECT_EQ(m.push_length, 3000u);
}

// [SES-091]
TEST_F(ExposuresTest, SourceIsReadOutWhenAllAnswersHaveArrived) {
  TxMessage& m = send();
  Exposure& x = *m.exposure;
  EXPECT_EQ(exposures_.on_read_begun(x, 1024, 1976), nullptr);
  EXPECT_EQ(exposures_.on_answer_end(answer(1024)), &m);
  EXPECT_FALSE(x.is_read_out());
  EXPECT_EQ(exposures_.on_answer_end(answer(952)), &m);
  EXPECT_TRUE(x.is_read_out());
  EXPECT_EQ(Exposures::end_of(m), Completion::Status::ok);
}

// [SES-091]
TEST_F(ExposuresTest, ReadFromTheStartOfTheRestBeginsANewAttempt) {
  Exposure& x = *send().exposure;
  exposures_.on_read_begun(x, 1024, 1976);
  const AnswerEnd old = answer(1976);
  exposures_.on_read_begun(x, 1024, 1976);
  EXPECT_EQ(exposures_.on_answer_end(old), nullptr);  // of the attempt before
  EXPECT_EQ(x.served, 0u);
}

// [SES-091]
TEST_F(ExposuresTest, ReadOfNothingAtTheStartSaysThatTheTargetHasGivenUp) {
  TxMessage& m = send();
  EXPECT_EQ(exposures_.on_read_begun(*m.exposure, 0, 0), &m);
  EXPECT_TRUE(m.exposure->is_read_out());
  EXPECT_EQ(Exposures::end_of(m), Completion::Status::undeliverable);
}

// [SES-051, SES-192]
TEST_F(ExposuresTest, TargetThatReadsNothingAndAcceptsEveryProbeIsGivenUp) {
  Exposure& x = *send().exposure;
  EXPECT_EQ(asked(x, {ReturnCode::null, ReturnCode::null}), "source, source");
  EXPECT_EQ(asked(x, {ReturnCode::null}), "another: over");
}

// [SES-051, SES-192]
TEST_F(ExposuresTest, TargetThatRefusesAnUnknownKeyIsBelievedWhenItKnowsTheMessage) {
  Exposure& x = *send().exposure;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(asked(x, {ReturnCode::null, ReturnCode::null, ReturnCode::bad_mkey}),
              "source, source, another");
  }
  exposures_.on_read_begun(x, 1024, 1976);
  EXPECT_EQ(asked(x, {ReturnCode::null, ReturnCode::bad_mkey}), "source, source");
  EXPECT_FALSE(Exposures::on_silence(x)) << "it began, and does not know the message any more";
}

// [SES-191, SES-192] They say nothing about the message, and may last.
TEST_F(ExposuresTest, RefusalForLackOfAReceiveIsNoLook) {
  Exposure& x = *send().exposure;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(asked(x, {ReturnCode::disabled_gen, ReturnCode::bad_generation}), "source, source");
  }
  EXPECT_EQ(asked(x, {ReturnCode::null, ReturnCode::null}), "source, source");
  EXPECT_EQ(asked(x, {ReturnCode::no_match, ReturnCode::bad_generation}), "another, another");
  EXPECT_EQ(asked(x, {ReturnCode::bad_mkey}), "another");
}

// [SES-192]
TEST_F(ExposuresTest, TargetThatBeginsToReadDuringTheTrialIsNotGivenUp) {
  Exposure& x = *send().exposure;
  EXPECT_EQ(asked(x, {ReturnCode::null, ReturnCode::null}), "source, source");
  EXPECT_TRUE(Exposures::on_silence(x));
  exposures_.on_read_begun(x, 1024, 1976);
  EXPECT_FALSE(Exposures::on_probe_answered(x, ReturnCode::null));
}

// [SES-180, SES-192]
TEST_F(ExposuresTest, TargetThatRefusesEveryProbeForAnotherReasonIsGivenUp) {
  Exposure& x = *send().exposure;
  EXPECT_EQ(asked(x, {ReturnCode::uncor_trnsnt, ReturnCode::uncor_trnsnt}), "source, source");
  EXPECT_FALSE(Exposures::on_silence(x));
}

// [SES-090]
TEST_F(ExposuresTest, TargetWithoutAReceiveIsAskedForAsLongAsItAnswers) {
  TxMessage& m = send();
  Exposures::note_delivered(m, wire::ListCode::overflow, 1024);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(asked(*m.exposure, {ReturnCode::null}), "source");
}

// [LF-141]
TEST_F(ExposuresTest, AnswerThatMayHaveArrivedIsCountedApart) {
  TxMessage& m = send();
  Exposure& x = *m.exposure;
  exposures_.on_read_begun(x, 1024, 1976);
  const Instant late = exposures_.next_look(m);
  EXPECT_EQ(exposures_.on_answer_end(answer(1976, /*has_data=*/false)), &m);
  EXPECT_FALSE(x.is_read_out());
  EXPECT_TRUE(x.may_be_read_out());
  EXPECT_LT(exposures_.next_look(m), late);  // the target is asked soon
  EXPECT_TRUE(Exposures::on_probe_answered(x, ReturnCode::bad_mkey));
}

// [SES-092]
TEST_F(ExposuresTest, SourceCannotBeReadWhenTheSendIsOver) {
  TxMessage& m = send();
  const RegionId region = m.exposure->region;
  exposures_.conceal(m);
  EXPECT_EQ(exposures_.of_region(region, peer_), nullptr);
  EXPECT_TRUE(uet::test::was_called("remove region"));
}

}  // namespace
}  // namespace uet::ses::test
