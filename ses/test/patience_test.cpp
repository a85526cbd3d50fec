// How long a send waits for a target that answers: without limit for a slow application; after
// other refusals as long as for a PDC without progress.
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

class PatienceTest : public PairTest {
 protected:
  void send(const Octets& data) {
    ASSERT_TRUE(a_->ses->send(a_->ep, send_request(stored(data)), now_).ok());
  }
  void post(Octets& room) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
};

// [SES-135, SES-155, SES-191] An application that posts no receive for ten minutes is slow, and no
// error: its peer answers each time.
TEST_F(PatienceTest, ASlowApplicationIsWaitedForWithoutEnd) {
  for (const pds::Mode mode : {pds::Mode::rud, pds::Mode::rod}) {
    for (const bool disable_index : {false, true}) {
      SCOPED_TRACE(testing::Message() << (mode == pds::Mode::rod) << disable_index);
      config_.unexpected_bytes = 0;
      config_.disable_index = disable_index;
      options_.mode = mode;
      start();
      const Octets data = pattern(2000);
      Octets room(2000);
      send(data);
      deliver_all();
      elapse(Duration::seconds(600));
      EXPECT_EQ(take(*a_), "");
      post(room);
      elapse(Duration::milliseconds(300));
      EXPECT_EQ(take(*a_), "send ok 2000 #1");
      EXPECT_EQ(room, data);
    }
  }
}

// [SES-180, SES-191] A peer that refuses for another reason, however often it is asked, makes no
// progress: five times the patience, then that is the error.
TEST_F(PatienceTest, APeerThatOnlyRefusesIsGivenUpAfterFiveTimesThePatience) {
  config_.retry_patience = Duration::seconds(2);
  start();
  send(pattern(10));
  b_->pds.only_answers = wire::ReturnCode::uncor_trnsnt;
  deliver_all();
  elapse(Duration::milliseconds(9'900));
  EXPECT_EQ(take(*a_), "");
  elapse(Duration::milliseconds(400));
  EXPECT_EQ(take(*a_), "send refused UNCOR_TRNSNT 0 #1");
}

// [SES-145, SES-191] Nor does it wait without end for the answer that NO_RESPONSE promises: the
// buffer, the place in the queue and the message ID are free after five times the patience.
TEST_F(PatienceTest, APromiseOfAnAnswerIsGivenUpAfterFiveTimesThePatience) {
  config_.retry_patience = Duration::seconds(2);
  start();
  send(pattern(10));
  pds::StartedMessage started;
  pds::PacketRef ref;
  ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(9), started, now_));
  ASSERT_TRUE(a_->exchange->pull(started.message, ref));
  Octets promise(12);
  promise[0] = std::byte{0x03};  // list 0, opcode NO_RESPONSE
  promise[1] = std::byte{0x01};  // version 0, OK
  a_->exchange->on_response(ref, {wire::NextHeader::response, promise, now_}, now_);
  now_ = now_ + Duration::milliseconds(9'900);
  a_->advance(now_);
  EXPECT_EQ(take(*a_), "");
  now_ = now_ + Duration::milliseconds(200);
  a_->advance(now_);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  EXPECT_TRUE(a_->ses->idle());
}

}  // namespace
}  // namespace uet::ses::test
