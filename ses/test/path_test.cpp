// Messages with packets that are too long for the route, and packets that cannot leave because of
// the system or the end of a PDC.
#include "ses/counters.h"
#include "ses/test/pair.h"

#include <cerrno>

namespace uet::ses::test {
namespace {

class PathTest : public PairTest {
 protected:
  void SetUp() override {
    config_.payload_mtu = 4096;
    start();
  }
  void send(const Octets& data, uintptr_t context = 1) {
    ASSERT_TRUE(a_->ses->send(a_->ep, send_request(stored(data), context), now_).ok());
  }
  void post(Octets& room) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
  // From A to B only packets of 1,024 octets of payload pass.
  void lower() {
    a_->peers[PeerId(0)].lower_payload(1024);
    a_->exchange->on_path_lowered(PeerId(0), now_);
  }
  size_t longest_packet() {
    size_t most = 0;
    for (const Parcel& p : network_) most = std::max(most, p.octets.size());
    return most;
  }
  // The result of the ended operation.
  static pds::FailureReason why(const Node& node) { return node.completions.at(0).failure.reason; }

  const Octets data_ = pattern(10'000);
  Octets room_ = Octets(10'000);
};

// [LF-141, PDS-250]
TEST_F(PathTest, AMessageThatHasNotBegunGoesInPacketsThatFit) {
  post(room_);
  send(data_);
  lower();
  transmit();
  EXPECT_EQ(network_.size(), 10u);
  EXPECT_LE(longest_packet(), 1024u + wire::StandardRequest::kSize);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 10000 #1");
  EXPECT_EQ(room_, data_);
}

// [LF-141, SES-043] A header for one packet becomes one for many.
TEST_F(PathTest, AMessageOfOnePacketBecomesOneOfSeveral) {
  config_.medium_headers = true;
  start();
  const Octets data = pattern(3000);
  Octets room(3000);
  post(room);
  send(data);
  lower();
  transmit();
  EXPECT_EQ(network_.size(), 3u);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 3000 #1");
  EXPECT_EQ(room, data);
}

// [LF-141, SES-135] No receive was posted, so it was refused; it comes again in packets that fit.
TEST_F(PathTest, AMessageThatWaitsToComeAgainDoesSoInPacketsThatFit) {
  config_.unexpected_bytes = 0;
  start();
  send(data_);
  deliver_all();
  ASSERT_EQ(take(*a_), "");
  lower();
  post(room_);
  elapse(Duration::milliseconds(200));
  EXPECT_EQ(take(*a_), "send ok 10000 #1");
  EXPECT_EQ(room_, data_);
}

// [LF-141] Its first packets had the old size, in which all of its packets go.
TEST_F(PathTest, AMessageHalfWayEndsIfItsRestDoesNotFit) {
  a_->pds.window = 1;
  post(room_);
  send(data_);
  transmit();
  lower();
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(why(*a_), pds::FailureReason::too_long);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  deliver_all();
  EXPECT_TRUE(a_->ses->idle());
}

// [LF-141] 4,096 and 904 octets: the last packet passes, the first one has its own fate.
TEST_F(PathTest, AMessageHalfWayContinuesIfItsRestFits) {
  a_->pds.window = 1;
  const Octets data = pattern(5000);
  Octets room(5000);
  post(room);
  send(data);
  transmit();
  lower();
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(room, data);
}

// [LF-141, SES-104]
TEST_F(PathTest, ADatagramCannotBeCut) {
  options_.mode = pds::Mode::uud;
  start();
  send(pattern(3000), 1);
  send(pattern(1000), 2);
  lower();
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(why(*a_), pds::FailureReason::too_long);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 1000 #2");
}

// [LF-141, SES-105, SES-106] The PSN is taken, so that a MSG_ERROR goes in place of the packet.
TEST_F(PathTest, APacketThatIsTooLongBecomesAnErrorAtBothEnds) {
  post(room_);
  send(data_);
  transmit();
  network_.clear();
  EXPECT_EQ(a_->pds.shorten_requests(), 3u);
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(why(*a_), pds::FailureReason::too_long);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  a_->pds.resend_all();
  EXPECT_LE(longest_packet(), wire::StandardRequest::kSize);
  deliver_all();
  EXPECT_FALSE(a_->pds.has_outstanding());
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-105] The short headers have no room for an error.
TEST_F(PathTest, APacketWithAShortHeaderHasNoShorterForm) {
  config_.medium_headers = true;
  start();
  send(pattern(3000));
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  ASSERT_EQ(network_[0].next_hdr, wire::NextHeader::medium);
  EXPECT_EQ(a_->pds.shorten_requests(), 0u);
  EXPECT_EQ(take(*a_), "");
}

// [LF-141] The system says so of the packet itself.
TEST_F(PathTest, APacketThatTheSystemFindsTooLongEndsItsMessage) {
  send(data_);
  transmit();
  a_->pds.fail_sends(EMSGSIZE, now_);
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(why(*a_), pds::FailureReason::too_long);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
}

TEST_F(PathTest, APacketThatTheSystemRefusesEndsItsMessage) {
  send(data_);
  transmit();
  a_->pds.fail_sends(EPERM, now_);
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(a_->completions[0].local_error, EPERM);
  EXPECT_EQ(take(*a_), "send fault 0 #1");
  a_->pds.fail_sends(EPERM, now_);  // once is enough
  EXPECT_EQ(take(*a_), "");
}

// A read of B's memory whose answers are under way.
class ReadPathTest : public PathTest {
 protected:
  void SetUp() override {
    PathTest::SetUp();
    const uint64_t key = expose(data_);
    b_->pds.window = 1;  // further answers wait behind the first
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, room_, key), now_).ok());
    transmit();
    while (std::any_of(network_.begin(), network_.end(), is_request)) {
      deliver(0);
      transmit();
    }
    ASSERT_TRUE(b_->pds.has_outstanding());
  }
  static bool is_request(const Parcel& p) { return !p.is_answer && !p.is_return; }
};

// The system cannot read the memory: the reader gets an error instead of waiting.
TEST_F(ReadPathTest, AnAnswerThatTheSystemCannotReadGoesAsAnError) {
  b_->pds.fail_sends(EFAULT, now_);
  network_.clear();
  b_->pds.resend_all();
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "read refused HOST_UNSUCCESS_CMPL 0 #1");
  EXPECT_FALSE(b_->pds.has_outstanding());
}

// [LF-141, PDS-250]
TEST_F(ReadPathTest, AnAnswerThatTheSystemFindsTooLongGoesAsAnError) {
  b_->pds.fail_sends(EMSGSIZE, now_);
  network_.clear();
  b_->pds.resend_all();
  transmit();
  EXPECT_LE(longest_packet(), wire::ResponseData::kSize);
}

// An unreadable answer ends the operation: the result at the target is unknown.
TEST_F(PathTest, AnAnswerThatCannotBeReadEndsTheMessage) {
  post(room_);
  send(pattern(100));
  transmit();
  deliver(0);
  ASSERT_TRUE(network_[0].is_answer);
  network_[0].next_hdr = wire::NextHeader::response;
  network_[0].octets = Octets(5);  // a response has 12
  deliver(0);
  EXPECT_EQ(take(*a_), "send refused UNCOR 0 #1");
  EXPECT_EQ(a_->ses->counters()[Counter::rx_response_malformed], 1u);
}

// The PDC ends: B forgets its answers and their resources.
TEST_F(ReadPathTest, AnswersEndWithTheirConnection) {
  b_->pds.fail_returns({pds::FailureReason::timeout, {}, false}, now_);
  EXPECT_TRUE(b_->ses->idle());
  EXPECT_EQ(b_->ses->memory().size(), 1u) << "the region stays";
}

}  // namespace
}  // namespace uet::ses::test
