// Which messages are tried again and which fail: no match, generations, lost PDCs, cancelled and
// closed sends.
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

class RetryTest : public PairTest {
 protected:
  void send(const Octets& data, uintptr_t context = 1, uint64_t tag = 0) {
    SendRequest s = send_request(stored(data), context);
    s.tagged = tag != 0;
    s.tag = tag;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  }
  void post(Octets& room, uintptr_t context = 2) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room, context), now_).ok());
  }
  // The request has been answered; its data is the one parcel on the network.
  void read_until_data_is_on_its_way(Octets& back, uint64_t key) {
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
    transmit();
    deliver(0);
    deliver(0);
    transmit();
    ASSERT_EQ(network_.size(), 1u);
  }
};

// [SES-128, SES-135] Without room to keep it, the message is answered by NO_MATCH, and is sent
// again after 50 to 100 ms until it fits.
TEST_F(RetryTest, NoMatchIsTriedAgainUntilAReceiveIsThere) {
  config_.unexpected_bytes = 0;
  start();
  const Octets data = pattern(5000);
  Octets room(5000);
  send(data);
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  EXPECT_GE(a_->next_deadline() - now_, Duration::milliseconds(50));
  EXPECT_LE(a_->next_deadline() - now_, Duration::milliseconds(101));
  elapse(Duration::seconds(30));
  EXPECT_EQ(take(*a_), "");
  // Capped at 200 ms: some 150 tries in 30 s, not five.
  EXPECT_GE(a_->ses->counters()[Counter::tx_retried], 145u);
  EXPECT_LE(a_->ses->counters()[Counter::tx_retried], 200u);
  post(room);
  elapse(Duration::milliseconds(210));
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(room, data);
}

// [SES-135] The specification's profile: at most five tries.
TEST_F(RetryTest, ARetryLimitIsKept) {
  config_.unexpected_bytes = 0;
  config_.retry_limit = 5;
  start();
  send(pattern(10));
  deliver_all();
  elapse(Duration::seconds(2));
  EXPECT_EQ(a_->ses->counters()[Counter::tx_retried], 5u);
  EXPECT_EQ(take(*a_), "send refused NO_MATCH 0 #1");
}

// A message larger than all the room there is: NO_MATCH, and it is not cut.
TEST_F(RetryTest, TheUnexpectedPoolIsNeverExceeded) {
  config_.unexpected_bytes = 32 * 4096;
  start();
  const Octets large = pattern(33 * 4096), small = pattern(4096);
  send(large, 1);
  deliver_all();
  EXPECT_EQ(b_->ses->counters()[Counter::rx_no_match], 1u);
  for (int i = 0; i < 20; ++i) send(small, 2, 9);
  deliver_all();
  // 32 pages, half of them for one peer: sixteen messages are kept, the rest must come again.
  EXPECT_EQ(b_->ses->counters()[Counter::rx_unexpected], 16u);
  EXPECT_EQ(a_->completions.size(), 16u);
  a_->completions.clear();
  std::vector<Octets> rooms(20, Octets(4096));
  for (Octets& room : rooms) {
    ReceiveRequest r = receive_request(room);
    r.tagged = true;
    r.tag = 9;
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  }
  elapse(Duration::milliseconds(250));
  EXPECT_EQ(a_->completions.size(), 4u);
  for (const Octets& room : rooms) EXPECT_EQ(room, small);
}

// [SES-105, SES-107] A long message that is refused early sends no more than a MSG_ERROR, and both
// sides forget it.
TEST_F(RetryTest, ARefusedMessageStopsWithMsgError) {
  const Octets data = pattern(60'000);
  Octets memory(100);
  const uint64_t key = expose(memory);
  a_->pds.window = 4;
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key), now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 4u);
  deliver_all();
  EXPECT_EQ(take(*a_), "write refused BAD_ADDR 0 #1");
  EXPECT_EQ(b_->ses->counters()[Counter::rx_bad_address], 1u);
  EXPECT_LE(b_->ses->counters()[Counter::rx_repeated_error], 4u);
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [SES-132..134, SES-029] ROD, where indices are disabled: the first unmatched message does that,
// nothing overtakes, and after the receive is posted everything arrives in order.
TEST_F(RetryTest, RodKeepsOrderAcrossARefusal) {
  config_.unexpected_bytes = 4096;
  config_.disable_index = true;
  options_.mode = pds::Mode::rod;
  start();
  std::vector<Octets> data, rooms(6, Octets(9000));
  for (uint8_t i = 0; i < 6; ++i) data.push_back(pattern(i % 2 == 0 ? 8000u : 10u, i));
  for (size_t i = 0; i < 6; ++i) send(data[i], 10 + i);
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  EXPECT_EQ(b_->ses->counters()[Counter::rx_no_match], 1u);
  EXPECT_GE(b_->ses->counters()[Counter::rx_disabled], 1u);
  for (size_t i = 0; i < 6; ++i) post(rooms[i], 20 + i);
  const Octets later = pattern(10, 99);
  send(later, 16);
  deliver_all();
  EXPECT_EQ(take(*a_), "");  // waits behind the earlier ones
  elapse(Duration::milliseconds(300));
  EXPECT_GE(b_->ses->counters()[Counter::rx_bad_generation], 1u);
  EXPECT_EQ(a_->completions.size(), 7u);
  ASSERT_GE(b_->completions.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(b_->completions[i].context.op, reinterpret_cast<void*>(20 + i));
    EXPECT_TRUE(std::equal(data[i].begin(), data[i].end(), rooms[i].begin())) << i;
  }
}

// [SES-029, SES-132..134] However often and wherever messages are refused: ROD delivers in order.
TEST_F(RetryTest, RodOrderHoldsUnderRandomRefusals) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    config_.unexpected_bytes = rng.below(6) * 4096;
    config_.rx_messages = 2 + static_cast<uint32_t>(rng.below(8));
    config_.disable_index = rng.chance(0.5);
    options_.mode = pds::Mode::rod;
    start();
    a_->pds.window = 1 + static_cast<uint32_t>(rng.below(12));
    std::deque<Octets> rooms;
    uint64_t sent = 0;
    for (int round = 0; round < 400 && b_->completions.size() < 30; ++round) {
      if (sent < 30 && rng.chance(0.7)) send(pattern(rng.below(9000)), 1, ++sent);
      // A few packets and answers, in order, perhaps with a receive posted in the middle.
      transmit();
      for (uint64_t n = rng.below(12); n != 0 && !network_.empty(); --n) {
        deliver(0);
        transmit();
      }
      if (rng.chance(0.5)) {
        ReceiveRequest r = receive_request(rooms.emplace_back(9000));
        r.tagged = true;
        r.ignore = ~uint64_t{0};
        ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
      }
      now_ = now_ + Duration::milliseconds(static_cast<int64_t>(rng.below(150)));
      a_->advance(now_);
      b_->advance(now_);
      if (rng.chance(0.3)) {
        deliver_all();
        a_->pds.resend_all();
      }
    }
    ASSERT_EQ(b_->completions.size(), 30u);
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(b_->completions[i].tag, i + 1);
    for (const Completion& c : b_->completions) EXPECT_TRUE(c.ok());
  }
}

// [LF-039, SES-133] Room that comes back enables the index too: otherwise a receive that is posted
// already would never get a message.
TEST_F(RetryTest, ADisabledIndexComesBackWithTheRoom) {
  config_.unexpected_bytes = 4096;
  config_.disable_index = true;
  options_.mode = pds::Mode::rod;
  start();
  send(pattern(4096), 1, 7);  // kept: the pool is full
  deliver_all();
  Octets wanted(10), first(4096);
  ReceiveRequest r = receive_request(wanted, 30);
  r.tagged = true;
  r.tag = 9;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  send(pattern(20), 2, 8);  // disables
  send(pattern(10), 3, 9);
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 4096 #1");
  r = receive_request(first, 31);
  r.tagged = true;
  r.tag = 7;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  elapse(Duration::milliseconds(300));
  EXPECT_EQ(take(*a_), "tagged_send ok 20 #2 | tagged_send ok 10 #3");
  EXPECT_EQ(take(*b_), "tagged_recv ok 4096 tag 7 #31 | tagged_recv ok 10 tag 9 #30");
}

// [PDS-149] Certainly not executed: once more on another PDC. Unknown outcome: an error.
TEST_F(RetryTest, OnlyMessagesThatWereNotExecutedAreSentAgain) {
  const Octets data = pattern(3000);
  Octets room(3000);
  post(room);
  send(data);
  transmit();
  network_.clear();
  pds::Failure failure{.reason = pds::FailureReason::nack, .not_delivered = true};
  a_->pds.fail_flow(0, failure, now_);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 3000 #1");
  EXPECT_EQ(room, data);
  send(data);
  transmit();
  network_.clear();
  failure.not_delivered = false;
  a_->pds.fail_flow(0, failure, now_);
  deliver_all();
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  EXPECT_TRUE(a_->ses->idle());
}

// [PDS-149, PDS-190] The peer lost the PDC of a message: one packet of it that was not executed, or
// never sent, proves that the message did not count as complete, whatever happened to the others.
TEST_F(RetryTest, AnIncompleteMessageGoesAgainAfterThePeerForgotIt) {
  const Octets data = pattern(3000);
  Octets room(3000);
  post(room);
  for (const bool lacks_a_packet : {true, false}) {
    send(data);
    pds::StartedMessage started;
    pds::PacketRef ref;
    ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(9), started, now_));
    pds::Failure failure{.reason = pds::FailureReason::nack, .nack = wire::NackCode::inv_dpdcid};
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    a_->exchange->on_response(ref, {}, now_);
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    failure.not_delivered = lacks_a_packet;
    a_->exchange->on_failed(ref, failure, now_);
    failure.not_delivered = false;
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    a_->exchange->on_failed(ref, failure, now_);
    deliver_all();
    EXPECT_EQ(take(*a_), lacks_a_packet ? "send ok 3000 #1" : "send undeliverable 0 #1");
  }
  EXPECT_EQ(room, data);

  Octets again(3000);
  post(again);
  send(data);
  pds::StartedMessage started;
  pds::PacketRef ref;
  ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(9), started, now_));
  ASSERT_TRUE(a_->exchange->pull(started.message, ref));
  a_->exchange->on_response(ref, {}, now_);
  pds::Failure failure{.reason = pds::FailureReason::nack, .nack = wire::NackCode::inv_dpdcid};
  a_->exchange->on_aborted(started.message, failure, now_);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 3000 #1");
  EXPECT_EQ(again, data);
}

TEST_F(RetryTest, ASilentPeerIsNotTriedAgain) {
  send(pattern(10));
  transmit();
  network_.clear();
  a_->pds.fail_flow(0, {.reason = pds::FailureReason::timeout, .not_delivered = true}, now_);
  deliver_all();
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(a_->completions[0].failure.reason, pds::FailureReason::timeout);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
}

// A read changes nothing at the target, so it is repeated as a whole while the peer lives, also
// when its PDC closes between the answers and the data.
TEST_F(RetryTest, ReadsAreRepeatedAsAWhole) {
  const Octets memory = pattern(9000);
  const uint64_t key = expose(memory);
  for (const int step : {1, 2}) {
    Octets back(9000);
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
    transmit();
    ASSERT_EQ(network_.size(), 9u);
    if (step == 2) {
      while (!network_.empty()) deliver(0);  // requests and their answers, no data yet
    }
    network_.clear();
    a_->pds.fail_flow(0, {.reason = pds::FailureReason::closed}, now_);
    deliver_all();
    EXPECT_EQ(take(*a_), "read ok 9000 #1");
    EXPECT_EQ(back, memory);
  }
  // Data for the first attempts arrived on another PDC, or for old IDs: it was not accepted.
  EXPECT_TRUE(a_->ses->idle());
}

// Return data that never comes is an error at last.
TEST_F(RetryTest, AReadWithoutDataFailsAfterPatience) {
  const Octets memory = pattern(100);
  const uint64_t key = expose(memory);
  Octets back(100);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  transmit();
  deliver(0);
  deliver(0);
  network_.clear();
  now_ = now_ + Duration::seconds(61);
  a_->advance(now_);
  EXPECT_EQ(take(*a_), "read undeliverable 0 #1");
}

// [SES-076, PDS-076] Return data without a whole header does not name its read: it counts as never
// received and is sent again.
TEST_F(RetryTest, ReturnDataWithoutAHeaderIsSentAgain) {
  const Octets memory = pattern(100);
  const uint64_t key = expose(memory);
  Octets back(100);
  ASSERT_NO_FATAL_FAILURE(read_until_data_is_on_its_way(back, key));
  network_[0].octets.resize(10);
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  EXPECT_EQ(a_->ses->counters()[Counter::rx_response_malformed], 1u);
  b_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "read ok 100 #1");
  EXPECT_EQ(back, memory);
}

// [SES-076] Return data of another length than it says ends the read at once.
TEST_F(RetryTest, ReturnDataOfAWrongLengthEndsTheRead) {
  const Octets memory = pattern(100);
  const uint64_t key = expose(memory);
  Octets back(100);
  ASSERT_NO_FATAL_FAILURE(read_until_data_is_on_its_way(back, key));
  network_[0].octets.pop_back();
  deliver_all();
  EXPECT_EQ(take(*a_), "read refused UNCOR 0 #1");
  EXPECT_EQ(a_->ses->counters()[Counter::rx_response_malformed], 1u);
  EXPECT_TRUE(a_->ses->idle());
}

// A region that is removed while a read answer is on its way is not read again.
TEST_F(RetryTest, ARemovedRegionIsNotReadForAnAnswer) {
  Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  Octets back(3000);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, key), now_).ok());
  transmit();
  for (int i = 0; i < 3; ++i) deliver(0);
  b_->ses->memory().remove(region_);
  deliver_all();
  EXPECT_EQ(take(*a_), "read refused BAD_MKEY 0 #1");
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// [LF-058] Not started: gone without a trace. Partly sent: MSG_ERROR, and the target's receive
// fails with INITIATOR_ERR. All sent: too late.
TEST_F(RetryTest, CancelOfASend) {
  Octets room(60'000);
  const Octets data = pattern(60'000);
  post(room);
  a_->pds.window = 4;
  a_->pds.allows_void_resend = true;
  send(data, 5);
  transmit();
  send(data, 6);
  EXPECT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(6), now_));
  EXPECT_EQ(take(*a_), "send cancelled 0 #6");
  EXPECT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(5), now_));
  EXPECT_EQ(take(*a_), "send cancelled 0 #5");
  deliver_all();
  EXPECT_EQ(take(*b_), "recv refused INITIATOR_ERR 0 #2");
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  post(room);
  const Octets small = pattern(10);
  send(small, 7);
  transmit();
  EXPECT_FALSE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(7), now_));
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 10 #7");
}

// [PDS-182, SES-049] After a close resends carry IE and zeros of the same length: the user's
// memory is not read, the target delivers nothing of them.
TEST_F(RetryTest, ClosedOperationsAreResentIntoTheVoid) {
  Octets data = pattern(5000);
  Octets room(5000), memory(5000);
  const uint64_t key = expose(memory);
  post(room);
  send(data, 5);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key), now_).ok());
  transmit();
  for (int i = 0; i < 8; ++i) network_.take();  // keep two packets of the write
  const std::vector<Parcel> kept(network_.begin(), network_.end());
  a_->ses->close_endpoint(a_->ep, now_);
  EXPECT_EQ(take(*a_), "send aborted 0 #5 | write aborted 0 #1");
  data.assign(5000, std::byte{0xEE});
  a_->pds.allows_void_resend = true;
  network_.clear();
  a_->pds.resend_all();
  for (const Parcel& p : network_) {
    ASSERT_GE(p.octets.size(), 44u);
    EXPECT_EQ(uint8_t(p.octets[1]) & 0x10, 0x10);  // IE
    EXPECT_TRUE(std::all_of(p.octets.begin() + 44, p.octets.end(),
                            [](std::byte b) { return b == std::byte{0}; }));
  }
  deliver_all();
  EXPECT_EQ(take(*b_), "");  // nothing matched: IE is judged before matching
  EXPECT_EQ(memory, Octets(5000));
  EXPECT_EQ(room, Octets(5000));
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
}

// A packet that the system refuses for good ends its operation; the errno is reported.
TEST_F(RetryTest, ALocalFaultEndsTheOperation) {
  const Octets data = pattern(100);
  send(data);
  transmit();
  a_->exchange->on_send_failed(1u << 22, 14, now_);  // the first message handle of a slab
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(a_->completions[0].local_error, 14);
  EXPECT_EQ(take(*a_), "send fault 0 #1");
  a_->pds.allows_void_resend = true;
  network_.clear();
  a_->pds.resend_all();
  deliver_all();
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-145, SES-149] NO_RESPONSE says only that the packet arrived; another answer ends the
// message.
TEST_F(RetryTest, NoResponseIsNotCompletion) {
  const Octets data = pattern(10);
  send(data);
  pds::StartedMessage started;
  pds::PacketRef ref;
  ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(9), started, now_));
  ASSERT_TRUE(a_->exchange->pull(started.message, ref));
  Octets answer(12);
  answer[0] = std::byte{0x03};
  answer[1] = std::byte{0x01};
  pds::RxResponse response{wire::NextHeader::response, answer, now_};
  a_->exchange->on_response(ref, response, now_);
  EXPECT_EQ(take(*a_), "");
  response.ses = {};
  a_->exchange->on_response(ref, response, now_);
  EXPECT_EQ(take(*a_), "send ok 10 #1");
}

// Every final return code of the table reaches the user as it came. [SES-142, SES-150..183]
TEST_F(RetryTest, EveryReturnCodeIsReportedOrRetried) {
  for (uint8_t code = 0; code < 0x40; ++code) {
    SCOPED_TRACE(testing::Message() << "code " << int(code));
    start();
    const Octets data = pattern(10);
    send(data);
    pds::StartedMessage started;
    pds::PacketRef ref;
    ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(9), started, now_));
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    Octets answer(12);
    answer[0] = std::byte{0x01};
    answer[1] = std::byte{code};
    a_->exchange->on_response(ref, {wire::NextHeader::response, answer, now_}, now_);
    const bool is_good = code <= 1;
    const bool is_retried = code == 2 || code == 4 || code == 5 || code == 0x21;
    EXPECT_EQ(a_->completions.size(), is_retried ? 0u : 1u);
    EXPECT_EQ(a_->ses->counters()[Counter::tx_retried], is_retried ? 1u : 0u);
    if (is_retried) continue;
    EXPECT_EQ(a_->completions[0].ok(), is_good);
    EXPECT_EQ(uint8_t(a_->completions[0].code), is_good ? 0 : code);
  }
}

// [SES-175] The region is removed while a write to it is half done.
TEST_F(RetryTest, AWriteToARemovedRegionIsRefused) {
  const Octets data = pattern(3000);
  Octets memory(3000);
  const uint64_t key = expose(memory);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(false, data, key), now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 3u);
  deliver(0);
  b_->ses->memory().remove(region_);
  deliver_all();
  EXPECT_EQ(take(*a_), "write refused BAD_MKEY 0 #1");
  EXPECT_EQ(memory[1024], std::byte{0}) << "what came later is not placed";
  EXPECT_TRUE(a_->ses->idle());
}

}  // namespace
}  // namespace uet::ses::test
