// What PDS says and asks goes to the half that it concerns, and the ends of SES's own operations to
// the target half: Exchange alone, both halves are stubs. [ses.md 2, 5]
#include "ses/exchange.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"
#include "wire/ses.h"

#include <cerrno>

namespace uet::ses::test {
namespace {

using pds::FailureReason;
using pds::MessageHandle;
using uet::test::calls;
using uet::test::Calls;

constexpr MessageHandle kOurs(3);               // of an operation that was posted
constexpr MessageHandle kAnswer(1 << 21 | 70);  // of an answer of 70 octets of an exposed source
constexpr pds::PdcHandle kPdc(5);
constexpr Instant kLater = Instant::from_ns(2'000'000'000);

pds::PacketRef packet(MessageHandle message) {
  pds::PacketRef ref;
  ref.message = message;
  return ref;
}

class ExchangePartTest : public PartTest {
 protected:
  ExchangePartTest() {
    answers() = {};
    create();
  }
  void create() {
    outgoing_.emplace(res_, endpoints_, memory_);
    answers_.emplace(res_, memory_);
    incoming_.emplace(res_, endpoints_, memory_, *answers_, *outgoing_);
    exchange_.emplace(res_, *outgoing_, *answers_, *incoming_);
    EXPECT_TRUE(outgoing_->create(1).ok());
    EXPECT_TRUE(answers_->create().ok());
    EXPECT_TRUE(incoming_->create(1).ok());
  }
  // What one call of Exchange calls, while a number of operations of SES itself end.
  template <class Act>
  Calls of(Act&& act, uint32_t ends = 0) {
    answers().to_exchange.ends = ends;
    calls().clear();
    act(*exchange_);
    return calls();
  }
  Instant now() { return res_.now; }
  static pds::Failure failure(FailureReason reason) { return {.reason = reason}; }

  MemoryRegions memory_;
  std::optional<Outgoing> outgoing_;
  std::optional<ReadAnswers> answers_;
  std::optional<Incoming> incoming_;
  std::optional<Exchange> exchange_;
};

// [SES-074] Read data comes as requests, and belongs to the operation that reads.
TEST_F(ExchangePartTest, ReturnDataGoesToTheInitiatorHalf) {
  pds::RxRequest request;
  for (const auto next : {wire::NextHeader::response_data, wire::NextHeader::response_data_small}) {
    request.next_hdr = next;
    pds::Verdict verdict;
    EXPECT_EQ(of([&](Exchange& x) { verdict = x.on_request(request, kLater); }, 1),
              (Calls{"on_return_data", "end of pull 1"}));
    EXPECT_EQ(verdict.kind, pds::Verdict::Kind::nack);
    EXPECT_EQ(now(), kLater);
  }
  for (const auto next : {wire::NextHeader::small, wire::NextHeader::medium,
                          wire::NextHeader::standard, wire::NextHeader::response}) {
    request.next_hdr = next;
    pds::Verdict verdict;
    EXPECT_EQ(of([&](Exchange& x) { verdict = x.on_request(request, kLater); }),
              Calls{"on_request"});
    EXPECT_EQ(verdict.kind, pds::Verdict::Kind::accept);
  }
}

// The handle of a message says which half has it.
TEST_F(ExchangePartTest, PacketsArePulledFromTheHalfThatHasTheMessage) {
  pds::PacketRef out;
  TxBatch batch;
  std::array<std::byte, 8> octets{};
  wire::Writer w(octets);
  pds::StartedMessage started;
  EXPECT_EQ(of([&](Exchange& x) { EXPECT_TRUE(x.start(pds::FlowId(4), kPdc, started, kLater)); }),
            Calls{"start 4"});
  EXPECT_EQ(now(), kLater);
  EXPECT_EQ(of([&](Exchange& x) { EXPECT_TRUE(x.pull(kOurs, out)); }), Calls{"pull 3"});
  EXPECT_EQ(of([&](Exchange& x) { EXPECT_TRUE(x.pull(kAnswer, out)); }), Calls{"pull an answer"});
  EXPECT_EQ(of([&](Exchange& x) { x.encode(packet(kOurs), w, batch); }), Calls{"encode 3"});
  EXPECT_EQ(of([&](Exchange& x) { x.encode(packet(kAnswer), w, batch); }),
            Calls{"encode an answer"});
  answers().to_exchange.has_packet = answers().to_exchange.has_message = false;
  EXPECT_EQ(of([&](Exchange& x) { EXPECT_FALSE(x.pull(kOurs, out)); }, 1),
            (Calls{"pull 3", "end of pull 1"}))
      << "a message without a packet is over";
  EXPECT_EQ(of([&](Exchange& x) { EXPECT_FALSE(x.pull(kAnswer, out)); }), Calls{"pull an answer"});
  EXPECT_FALSE(exchange_->start(pds::FlowId(4), kPdc, started, kLater));
}

// The ends of operations of SES itself are reported to the half that posted them, whatever the
// cause.
TEST_F(ExchangePartTest, EachEndIsPassedOn) {
  const Calls two{"end of pull 2", "end of pull 1"};
  const auto expect = [&](const std::string& call, auto&& act) {
    Calls expected = two;
    expected.insert(expected.begin(), call);
    EXPECT_EQ(of(act, 2), expected);
  };
  const pds::Failure closed = failure(FailureReason::closed);
  expect("on_response 3", [](Exchange& x) { x.on_response(packet(kOurs), {}, kLater); });
  EXPECT_EQ(now(), kLater);
  expect("on_failed 3", [&](Exchange& x) { x.on_failed(packet(kOurs), closed, kLater); });
  expect("on_aborted 3", [&](Exchange& x) { x.on_aborted(kOurs, closed, kLater); });
  expect("shorten 3", [](Exchange& x) { EXPECT_TRUE(x.shorten(packet(kOurs))); });
  expect("on_send_failed 3 by 14", [](Exchange& x) { x.on_send_failed(3, EFAULT, kLater); });
  expect("on_path_lowered", [&](Exchange& x) { x.on_path_lowered(peer_, kLater); });
  answers().to_exchange.is_shortened = false;
  expect("shorten 3", [](Exchange& x) { EXPECT_FALSE(x.shorten(packet(kOurs))); });
}

// [TSS-146]
TEST_F(ExchangePartTest, TheEndOfADomainEndsItsOperations) {
  EXPECT_EQ(of([](Exchange& x) { x.end_domain(9, kLater); }, 1),
            (Calls{"end_domain 9", "end of pull 1"}));
  EXPECT_EQ(now(), kLater);
}

// The operations on a closed PDC are reported first, so that the target half knows their ends.
TEST_F(ExchangePartTest, AClosedPdcIsReportedToBothHalves) {
  EXPECT_EQ(of([&](Exchange& x) { x.on_pdc_closed(kPdc, peer_, true, kLater); }, 1),
            (Calls{"on_pdc_closed", "end of pull 1", "incoming on_pdc_closed"}));
}

// [SES-191] The target half keeps what waits behind the packet.
TEST_F(ExchangePartTest, TheTargetHalfHearsThatAPacketFoundNoPlace) {
  EXPECT_EQ(of([&](Exchange& x) { x.on_no_place(kPdc, kLater); }), Calls{"held up"});
  EXPECT_EQ(now(), kLater);
}

// [PDS-108] However the peer answers it, an answer to a READ is over.
TEST_F(ExchangePartTest, AnAnswerEndsWithItsResponse) {
  EXPECT_EQ(of([](Exchange& x) { x.on_response(packet(kAnswer), {}, kLater); }),
            Calls{"answer of 70 ended, of an exposed source"});
}

// [PDS-092, PDS-108] Answers to successive packets: each message gets all of its own in one call,
// and an answer to a READ among them goes to the half that gave it.
TEST_F(ExchangePartTest, AnswersInARowGoToTheirMessages) {
  constexpr MessageHandle kOther(4);
  const std::array<pds::PacketRef, 4> refs{packet(kOurs), packet(kOurs), packet(kOther),
                                           packet(kAnswer)};
  EXPECT_EQ(of([&](Exchange& x) { x.on_responses(refs, {}, kLater); }, 1),
            (Calls{"on_responses 3 of 2 packets", "end of pull 1", "on_response 4",
                   "answer of 70 ended, of an exposed source"}));
  EXPECT_EQ(now(), kLater);
}

// [SES-075] A peer that closes the PDC has all that it wanted; another failure says nothing about
// the source that is exposed, and an answer that did not leave counts as not read.
TEST_F(ExchangePartTest, OnlyAClosedPdcShowsThatAnAnswerHasArrived) {
  const auto fail = [&](FailureReason reason) {
    return of([&](Exchange& x) { x.on_failed(packet(kAnswer), failure(reason), kLater); });
  };
  EXPECT_EQ(fail(FailureReason::closed), Calls{"answer of 70 ended, of an exposed source"});
  for (const auto reason : {FailureReason::timeout, FailureReason::nack, FailureReason::aborted}) {
    EXPECT_EQ(fail(reason), Calls{"answer of 70 ended"});
  }
  const pds::Failure closed = failure(FailureReason::closed);
  EXPECT_EQ(of([&](Exchange& x) { x.on_aborted(kAnswer, closed, kLater); }),
            Calls{"answer of 70 ended"});
}

// [SES-164] If the system cannot read memory, the resend reports that to the reader.
TEST_F(ExchangePartTest, AnAnswerThatTheSystemRefusesBecomesAnError) {
  EXPECT_EQ(of([](Exchange& x) { x.on_send_failed(kAnswer.value(), EFAULT, kLater); }),
            Calls{"on_unreadable"});
  EXPECT_EQ(of([](Exchange& x) { x.on_send_failed(kAnswer.value(), EMSGSIZE, kLater); }),
            Calls{"answer of 70 cut"});
}

// [LF-141, SES-164] Longer answers than the route carries are cut, those of that peer alone.
TEST_F(ExchangePartTest, AShorterRouteCutsLongerAnswers) {
  EXPECT_EQ(of([](Exchange& x) { EXPECT_TRUE(x.shorten(packet(kAnswer))); }),
            Calls{"answer of 70 cut"});
  answers().to_exchange.held = {600, 400, 512};
  answers().to_exchange.reader = peer_.value();
  create();
  peers_[peer_].agree_payload(512);
  EXPECT_EQ(of([&](Exchange& x) { x.on_path_lowered(peer_, kLater); }),
            (Calls{"answer of 600 cut", "on_path_lowered"}));
  EXPECT_EQ(of([&](Exchange& x) { x.on_path_lowered(another_peer(2), kLater); }),
            Calls{"on_path_lowered"});
}

// One timer is of the initiator half, the deadline of the other half is its own.
TEST_F(ExchangePartTest, TheEarlierDeadlineIsTheNextOne) {
  const Instant soon = kLater + Duration::milliseconds(1);
  EXPECT_TRUE(exchange_->next_deadline().is_never());
  answers().to_exchange.deadline = kLater + Duration::seconds(1);
  EXPECT_EQ(exchange_->next_deadline(), kLater + Duration::seconds(1));
  TimerNode timer(0);
  res_.timers.arm(timer, soon);
  EXPECT_GE(exchange_->next_deadline(), soon);
  EXPECT_LT(exchange_->next_deadline(), kLater + Duration::seconds(1));
  EXPECT_EQ(of([](Exchange& x) { x.advance(kLater); }), Calls{"incoming advance"});
  EXPECT_EQ(of([&](Exchange& x) { x.advance(soon + Duration::milliseconds(1)); }, 1),
            (Calls{"on_timer", "end of pull 1", "incoming advance"}));
}

// An answer that is on its way keeps SES from being idle.
TEST_F(ExchangePartTest, AnAnswerIsUnfinishedWork) {
  EXPECT_TRUE(exchange_->idle());
  answers().to_exchange.held = {100};
  create();
  EXPECT_FALSE(exchange_->idle());
}

// [T-02] The job that the PDC of a first request belongs to; of a header that is cut off none.
TEST_F(ExchangePartTest, TheJobStandsInTheHeader) {
  wire::StandardRequest h;
  h.common.job_id = JobId(0x123456);
  std::array<std::byte, wire::StandardRequest::kSize> octets{};
  wire::Writer w(octets);
  h.emit(w);
  EXPECT_EQ(exchange_->job_of(octets), JobId(0x123456));
  const std::span<const std::byte> all(octets);
  EXPECT_EQ(exchange_->job_of(all.first(wire::RequestCommon::kSize)), JobId(0x123456));
  for (size_t length = 0; length < wire::RequestCommon::kSize; ++length) {
    EXPECT_EQ(exchange_->job_of(all.first(length)), JobId(0));
  }
}

}  // namespace
}  // namespace uet::ses::test
