// Operations without a waiting user: which of them PDS need not ask an ACK for, and what changes
// that. pds/test/quiet_test.cpp has the effect in PDS.
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

class QuietTest : public PairTest {
 protected:
  void send(uint32_t flags, size_t bytes = 8) {
    SendRequest s = send_request(stored(pattern(bytes)));
    s.flags = flags;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  }
  void write(uint32_t flags, uint64_t key, size_t bytes = 8) {
    RmaRequest r = rma_request(false, stored(pattern(bytes)), key);
    r.flags = flags;
    ASSERT_TRUE(a_->ses->rma(a_->ep, r, now_).ok());
  }
  void post(Octets& room) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
  // One character for each packet that PDS pulled since: 'q' quiet, 'w' an operation waits.
  std::string pulls() {
    std::string out;
    for (const bool quiet : a_->pds.asked.quiet) out += quiet ? 'q' : 'w';
    a_->pds.asked.quiet.clear();
    return out;
  }
};

// [PDS-064] Only on request, only single packets, and not where completion means more.
TEST_F(QuietTest, OnlyOperationsWithoutAWaitingUserAreQuiet) {
  const Octets memory(2048);
  const uint64_t key = expose(memory);
  send(kOpInject | kOpQuiet);
  send(kOpInject);
  send(kOpQuiet | kOpDeliveryComplete);
  send(kOpQuiet, 1024);
  send(kOpQuiet, 1025);
  write(kOpInject | kOpQuiet, key);
  write(kOpQuiet, key, 1025);
  Octets room(2048);
  for (int i = 0; i < 5; ++i) post(room);
  deliver_all();
  EXPECT_EQ(pulls(), "qwwqwwqww");
  EXPECT_EQ(take(*a_),
            "send ok 8 #1 | send ok 8 #1 | send ok 8 #1 | send ok 1024 #1 | send ok 1025 #1 | "
            "write ok 8 #1 | write ok 1025 #1");
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [PDS-064] From half of the queue on the user may be waiting for room in it.
TEST_F(QuietTest, AHalfFullQueueIsWaitedFor) {
  for (const auto& [size, expected] : {std::pair{1u, "w"}, {2u, "qw"}, {5u, "qqwww"}}) {
    options_.tx_size = size;
    start();
    Octets room(8);
    for (uint32_t i = 0; i < size; ++i) {
      post(room);
      send(kOpInject | kOpQuiet);
    }
    EXPECT_EQ(a_->ses->send(a_->ep, send_request(stored(pattern(8))), now_).error(), Errc::again);
    deliver_all();
    EXPECT_EQ(pulls(), expected);
  }
}

// [PDS-064, LF-136] A copied message is complete for its user, unless a completion of the peer is
// wanted. When more than half of the copy buffers are taken the user may soon wait for one.
TEST_F(QuietTest, RetainedOperationsAreQuiet) {
  options_.tx_size = 1024;
  start();
  constexpr int kQuiet = 112;  // of 224 buffers
  Octets room(1000);
  for (int i = 0; i < kQuiet + 3; ++i) post(room);
  send(kOpRetain | kOpFence);
  for (int i = 0; i < kQuiet; ++i) send(kOpRetain, 1000);
  send(kOpRetain, 1000);
  send(kOpRetain, 1000);
  deliver_all();
  EXPECT_EQ(pulls(), "w" + std::string(kQuiet, 'q') + "ww");
}

// [PDS-064, LF-060] A fence waits for all earlier operations: ACKs are requested for sent packets,
// and unsent ones go with AR.
TEST_F(QuietTest, AFenceAsksForEarlierOperations) {
  const Octets memory(100);
  const uint64_t key = expose(memory);
  write(kOpInject | kOpQuiet, key);
  transmit();
  write(kOpInject | kOpQuiet, key);
  EXPECT_EQ(a_->pds.asked.answers, 0u);
  write(kOpFence, key);
  EXPECT_EQ(a_->pds.asked.answers, 1u);
  deliver_all();
  EXPECT_EQ(pulls(), "qww");
  EXPECT_EQ(take(*a_), "write ok 8 #1 | write ok 8 #1 | write ok 8 #1");
  write(kOpFence, key);
  EXPECT_EQ(a_->pds.asked.answers, 1u) << "nothing is before it";
}

// [PDS-064, SES-135] What found no receive goes again the same way.
TEST_F(QuietTest, ARetryIsQuietAsWell) {
  config_.unexpected_bytes = 0;
  start();
  send(kOpInject | kOpQuiet);
  deliver_all();
  Octets room(8);
  post(room);
  elapse(Duration::milliseconds(210));
  EXPECT_EQ(pulls(), "qq");
  EXPECT_EQ(take(*a_), "send ok 8 #1");
}

// [LF-136] There are 32 buffers of 64 KiB: the next payload stays with its user.
TEST_F(QuietTest, WithoutABufferAPayloadIsNotRetained) {
  const Octets data = pattern(64 * 1024);
  SendRequest s = send_request(data);
  s.flags = kOpRetain;
  for (int i = 0; i < 32; ++i) {
    const auto taken = a_->ses->send(a_->ep, s, now_);
    ASSERT_TRUE(taken.ok());
    EXPECT_EQ(*taken, Taken::retained) << i;
  }
  const auto taken = a_->ses->send(a_->ep, s, now_);
  ASSERT_TRUE(taken.ok());
  EXPECT_NE(*taken, Taken::retained);
  EXPECT_EQ(a_->ses->counters()[Counter::tx_retain_no_room], 1u);
}

// [LF-136] One octet more than the largest buffer has stays with its user.
TEST_F(QuietTest, ALongPayloadIsNotRetained) {
  for (const auto& [bytes, expected] :
       {std::pair{65536u, Taken::retained}, {65537u, Taken::posted}}) {
    SendRequest s = send_request(stored(pattern(bytes)));
    s.flags = kOpRetain;
    const auto taken = a_->ses->send(a_->ep, s, now_);
    ASSERT_TRUE(taken.ok());
    EXPECT_EQ(*taken, expected) << bytes;
  }
  EXPECT_EQ(a_->ses->counters()[Counter::tx_retained], 1u);
}

}  // namespace
}  // namespace uet::ses::test
