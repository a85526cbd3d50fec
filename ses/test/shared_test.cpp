// Receives that several endpoints share: one order of posting and of arrival for all of them, room
// for a completion only at the endpoint of the message, and endpoints that close while others stay.
// [LF-133]
#include "ses/test/shared_fixture.h"

#include <algorithm>

namespace uet::ses::test {
namespace {

// [SES-122] Whichever endpoint a message comes to, it takes the oldest receive and reports it.
TEST_F(SharedTest, MessagesTakeReceivesInTheOrderOfPosting) {
  Octets rooms[4] = {Octets(10), Octets(10), Octets(3000), Octets(10)};
  for (uintptr_t i = 0; i < 4; ++i) post(rooms[i], 10 + i);
  const Octets longer = pattern(3000, 7);
  for (const Sharer* to : {&y_, &x_}) send(*to, pattern(5));
  send(y_, longer);
  send(x_, pattern(10));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 5 #11 | recv ok 10 #13; Y recv ok 5 #10 | recv ok 3000 #12");
  EXPECT_EQ(rooms[2], longer);
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
  EXPECT_TRUE(is_balanced());
}

// [SES-122, SES-120, SES-121] So do exact, wildcard and directed tagged ones.
TEST_F(SharedTest, TaggedReceivesKeepTheOrderAcrossKinds) {
  Octets rooms[4] = {Octets(10), Octets(10), Octets(10), Octets(10)};
  ReceiveRequest from_another = request_of(rooms[0], 10, 5);
  from_another.directed = true;
  from_another.from = PeerId(0);
  from_another.from_initiator = 999;
  ASSERT_TRUE(b_->ses->receive(shared_, from_another, now_).ok());
  ReceiveRequest any = request_of(rooms[1], 11, 4);
  any.ignore = 1;
  ASSERT_TRUE(b_->ses->receive(shared_, any, now_).ok());
  post(rooms[2], 12, 5);
  ReceiveRequest from_a = request_of(rooms[3], 13, 5);
  from_a.directed = true;
  from_a.from = PeerId(0);
  from_a.from_initiator = 100;
  ASSERT_TRUE(b_->ses->receive(shared_, from_a, now_).ok());
  for (const Sharer* to : {&x_, &y_, &x_}) send(*to, pattern(3), 5);
  deliver_all();
  EXPECT_EQ(
      told(),
      "X tagged_recv ok 3 tag 5 #11 | tagged_recv ok 3 tag 5 #13; Y tagged_recv ok 3 tag 5 #12");
  EXPECT_EQ(b_->ses->receives_open(shared_), 1u);
}

// [SES-122, SES-126, SES-130] What came too early is taken in the order in which it came, across
// the endpoints, whole or still arriving.
TEST_F(SharedTest, KeptMessagesAreTakenInTheOrderOfArrival) {
  const Octets longer = pattern(2500, 9);
  send(y_, pattern(1, 1));
  send(x_, longer);
  send(y_, pattern(3, 3));
  transmit();
  for (int i = 0; i < 3; ++i) deliver(0);  // the message to Y, and two of three packets to X
  Octets rooms[3] = {Octets(10), Octets(2500), Octets(10)};
  post(rooms[0], 10);
  EXPECT_EQ(told(), "Y recv ok 1 #10");
  post(rooms[1], 11);
  EXPECT_EQ(told(), "");
  deliver_all();
  post(rooms[2], 12);
  EXPECT_EQ(told(), "X recv ok 2500 #11; Y recv ok 3 #12");
  EXPECT_EQ(rooms[1], longer);
  EXPECT_TRUE(is_balanced());
}

// [decision 11] Posting books nothing. A message without room for its completion is sent again
// until there is some, and delays no other endpoint.
TEST_F(SharedTest, RoomIsBookedWhenAMessageComes) {
  x_.slots = 0;
  Octets rooms[2] = {Octets(10), Octets(10)};
  post(rooms[0], 10);
  post(rooms[1], 11, 5);
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "nack NO_RESOURCE");
  wire::StandardRequest tagged = request(SesOpcode::tagged_send, 4);
  tagged.match_bits = 5;
  EXPECT_EQ(said(standard(tagged, 4)), "nack NO_RESOURCE");
  EXPECT_EQ(count(Counter::rx_no_completion_slot), 2u);
  tagged.common.resource_index = kRiOfY;
  EXPECT_EQ(said(standard(tagged, 4)), "accept");
  EXPECT_EQ(told(), "Y tagged_recv ok 4 tag 5 #11");
  x_.slots = 1;
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "accept");
  EXPECT_EQ(told(), "X recv ok 4 #10");
  EXPECT_EQ(x_.slots, 0u);
}

// [decision 11] A kept message of X finds no room: it stays, no message of X overtakes it, and Y
// continues. [SES-122]
TEST_F(SharedTest, AFullQueueHoldsUpItsOwnEndpointOnly) {
  for (const uint64_t tag : {uint64_t{0}, uint64_t{5}}) {
    SCOPED_TRACE(tag);
    const std::string kind = tag == 0 ? "recv ok " : "tagged_recv ok ";
    const std::string mark = tag == 0 ? " #" : " tag 5 #";
    x_.slots = 0;
    send(x_, pattern(1), tag);
    send(y_, pattern(2), tag);
    deliver_all();
    Octets rooms[5] = {Octets(10), Octets(10), Octets(10), Octets(10), Octets(10)};
    post(rooms[0], 10, tag);
    EXPECT_EQ(told(), "Y " + kind + "2" + mark + "10");
    post(rooms[1], 11, tag);
    send(x_, pattern(3), tag);  // kept, too, although a receive waits
    deliver_all();
    EXPECT_EQ(told(), "");
    post(rooms[2], 12, tag);
    send(y_, pattern(4), tag);
    deliver_all();
    EXPECT_EQ(told(), "Y " + kind + "4" + mark + "11");
    EXPECT_FALSE(b_->next_deadline().is_never());
    x_.slots = 1;
    elapse(Duration::milliseconds(2));
    EXPECT_EQ(told(), "X " + kind + "1" + mark + "12");
    x_.slots = 1;
    send(x_, pattern(6), tag);
    deliver_all();
    post(rooms[3], 13, tag);
    post(rooms[4], 14, tag);
    EXPECT_EQ(told(), "X " + kind + "3" + mark + "13");
    x_.slots = 5;
    elapse(Duration::milliseconds(2));
    EXPECT_EQ(told(), "X " + kind + "6" + mark + "14");
    EXPECT_TRUE(b_->next_deadline().is_never());
    EXPECT_TRUE(is_balanced());
    a_->completions.clear();
  }
}

// [LF-096] A multi-receive takes messages of both; each books room where it came to, and the last
// one, whosever it is, releases the buffer.
TEST_F(SharedTest, AMultiReceiveServesAllEndpoints) {
  Octets room(3000);
  ReceiveRequest r = request_of(room, 2);
  r.multi = true;
  r.multi_min = 500;
  ASSERT_TRUE(b_->ses->receive(shared_, r, now_).ok());
  x_.slots = 1;
  y_.slots = 2;
  send(x_, pattern(1000, 1));
  send(y_, pattern(1200, 2));
  send(y_, pattern(700, 3));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 1000 #2; Y recv ok 1200 #2 | recv ok 700 done #2");
  EXPECT_EQ(x_.slots, 0u);
  EXPECT_EQ(y_.slots, 0u);
  EXPECT_TRUE(is_balanced());
}

// [LF-057] What no message got is reported by the endpoint that came first.
TEST_F(SharedTest, ACancelledReceiveIsReportedByTheOldestEndpoint) {
  Octets room(10);
  EXPECT_EQ(cancel(2).error(), Errc::not_found);
  post(room, 2);
  x_.slots = 0;
  EXPECT_EQ(cancel(2).error(), Errc::again);
  x_.slots = 1;
  EXPECT_TRUE(cancel(2).ok());
  EXPECT_EQ(told(), "X recv cancelled 0 #2");
  close(x_);
  post(room, 3);
  EXPECT_TRUE(cancel(3).ok());
  EXPECT_EQ(told(), "Y recv cancelled 0 #3");
  close(y_);
  post(room, 4);
  EXPECT_TRUE(cancel(4).ok());
  EXPECT_EQ(told(), "");
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
}

// [LF-057, LF-096] A multi-receive in use takes no more, and its last message releases it.
TEST_F(SharedTest, ACancelledMultiReceiveEndsWithItsLastMessage) {
  Octets room(5000), other(10);
  ReceiveRequest r = request_of(room, 2);
  r.multi = true;
  ASSERT_TRUE(b_->ses->receive(shared_, r, now_).ok());
  send(y_, pattern(2000));
  transmit();
  deliver(0);
  EXPECT_TRUE(cancel(2).ok());
  EXPECT_EQ(cancel(2).error(), Errc::not_found);
  post(other, 3);
  send(x_, pattern(4));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 4 #3; Y recv ok 2000 done #2");
  EXPECT_TRUE(is_balanced());
}

// [PDS-182, SES-177] An endpoint that closes drops its kept messages and frees the receive that one
// of its messages had; all other receives are still there for the rest.
TEST_F(SharedTest, AnEndpointThatClosesLeavesTheReceivesToOtherEndpoints) {
  Octets rooms[3] = {Octets(3000), Octets(10), Octets(10)};
  send(x_, pattern(7), 5);
  deliver_all();
  post(rooms[0], 10);
  post(rooms[1], 11);
  send(x_, pattern(3000));
  send(y_, pattern(4));
  transmit();
  deliver(0);
  close(x_);
  EXPECT_EQ(told(), "X recv aborted 0 #10");
  deliver_all();
  EXPECT_EQ(told(), "Y recv ok 4 #11");
  post(rooms[2], 12, 5);
  EXPECT_EQ(told(), "");
  send(y_, pattern(8), 5);
  deliver_all();
  EXPECT_EQ(told(), "Y tagged_recv ok 8 tag 5 #12");
  EXPECT_TRUE(is_balanced());
  // A new endpoint under the old name takes part again.
  open(x_);
  post(rooms[1], 13);
  send(x_, pattern(9));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 9 #13");
}

// [SES-177] The endpoint is closed while it is stalled: the queue no longer waits for it.
TEST_F(SharedTest, AStalledEndpointMayClose) {
  Octets room(10);
  x_.slots = 0;
  send(x_, pattern(1));
  deliver_all();
  post(room, 10);
  EXPECT_FALSE(b_->next_deadline().is_never());
  close(x_);
  EXPECT_TRUE(b_->next_deadline().is_never());
  send(y_, pattern(2));
  deliver_all();
  EXPECT_EQ(told(), "Y recv ok 2 #10");
}

// Receives posted when no endpoint shares them any more end without a report; then the place is
// free.
TEST_F(SharedTest, ClosingEndsPostedReceivesWithoutAReport) {
  Octets room(10);
  post(room, 10);
  close(x_);
  close(y_);
  b_->ses->close_shared(shared_, now_);
  EXPECT_EQ(told(), "");
  shared_ = *b_->ses->open_shared(rx_size_);
  open(x_);
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
  send(x_, pattern(3));
  deliver_all();
  post(room, 11);
  EXPECT_EQ(told(), "X recv ok 3 #11");
}

TEST_F(SharedTest, SizesAreKept) {
  rx_size_ = 2;
  begin();
  Octets room(10);
  post(room, 1);
  post(room, 2);
  EXPECT_EQ(b_->ses->receive(shared_, request_of(room, 3), now_).error(), Errc::again);
  EXPECT_EQ(b_->ses->open_shared(0).error(), Errc::invalid);
  EndpointOptions options;
  options.shared = ReceiveQueueId(4711);  // there is no endpoint
  const EndpointName name{kJob, kPid, ResourceIndex(9), 101, false};
  EXPECT_EQ(b_->ses->open_endpoint(name, options, {}, {}).error(), Errc::invalid);
}

// [SES-131..134] The index of each endpoint is disabled for itself; a receive enables all of them.
TEST_F(SharedTest, AReceiveEnablesTheIndicesOfAllEndpoints) {
  options_.mode = pds::Mode::rod;
  config_.unexpected_bytes = 0;
  config_.disable_index = true;
  begin();
  const auto at = [](const Sharer& s, uint8_t generation) {
    wire::StandardRequest h = request(SesOpcode::send, 4);
    h.common.resource_index = s.ri;
    h.common.ri_generation = generation;
    return h;
  };
  const auto ask = [&](const Sharer& s, uint8_t generation) {
    return said(standard(at(s, generation), 4, pds::Mode::rod));
  };
  EXPECT_EQ(ask(x_, 0), "DISABLED_GEN");
  EXPECT_EQ(ask(y_, 0), "DISABLED_GEN");
  Octets rooms[2] = {Octets(10), Octets(10)};
  post(rooms[0], 10);
  post(rooms[1], 11);
  EXPECT_EQ(ask(x_, 0), "BAD_GENERATION gen 1");
  EXPECT_EQ(ask(y_, 0), "BAD_GENERATION gen 1");
  EXPECT_EQ(ask(y_, 1), "accept");
  EXPECT_EQ(ask(x_, 1), "accept");
  EXPECT_EQ(told(), "X recv ok 4 #11; Y recv ok 4 #10");
  EXPECT_EQ(ask(x_, 1), "DISABLED_GEN gen 1");
  close(x_);
  post(rooms[0], 12);
  EXPECT_EQ(ask(y_, 1), "accept");
}

// [LF-059] A peek sees messages to any of the endpoints and names the endpoint; a claim is for the
// shared receives.
TEST_F(SharedTest, PeeksAndClaimsNameTheEndpointOfTheMessage) {
  send(y_, pattern(3), 5);
  send(x_, pattern(4), 5);
  deliver_all();
  Octets room(10);
  const ReceiveRequest r = request_of(room, 2, 5);
  Peeked seen = b_->ses->claims().peek(x_.id, r, true, now_);
  ASSERT_TRUE(seen.found);
  EXPECT_EQ(seen.endpoint, y_.id);
  EXPECT_EQ(seen.bytes, 3u);
  EXPECT_EQ(*b_->ses->claims().endpoint_of(shared_, seen.claim), y_.id);
  EXPECT_EQ(b_->ses->claims().endpoint_of(shared_, 0).error(), Errc::not_found);
  y_.slots = 0;
  EXPECT_EQ(b_->ses->claims().receive(shared_, seen.claim, r, now_).error(), Errc::again);
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
  y_.slots = 1;
  EXPECT_TRUE(b_->ses->claims().receive(shared_, seen.claim, r, now_).ok());
  EXPECT_EQ(told(), "Y tagged_recv ok 3 tag 5 #2");
  seen = b_->ses->claims().peek(y_.id, r, true, now_);
  EXPECT_EQ(seen.endpoint, x_.id);
  EXPECT_TRUE(b_->ses->claims().discard(y_.id, seen.claim, now_));
  EXPECT_FALSE(b_->ses->claims().peek(y_.id, r, false, now_).found);
  EXPECT_TRUE(is_balanced());
}

// [SES-065, SES-118] An atomic that matches a receive books its room, and gives it back if the old
// values cannot be returned.
TEST_F(SharedTest, AMatchedAtomicBooksItsRoom) {
  uint64_t number = 40;
  IoSlice slice{reinterpret_cast<const std::byte*>(&number), 8};
  ReceiveRequest r;
  r.iov = {&slice, 1};
  r.tagged = true;
  r.tag = 6;
  ASSERT_TRUE(b_->ses->receive(shared_, r, now_).ok());
  const auto atomic = [&] {
    wire::StandardRequest h = request(SesOpcode::tsend_atomic, 8);
    h.match_bits = 6;
    Octets octets(wire::StandardRequest::kSize + wire::Atomic::kSize);
    wire::Writer w(octets);
    h.emit(w);
    const wire::Atomic sum{.atomic_opcode = wire::AtomicOpcode::sum,
                           .atomic_datatype = wire::AtomicDatatype::uint64};
    sum.emit(w);
    octets.resize(octets.size() + 7);
    octets.push_back(std::byte{2});
    return give_octets(octets, wire::NextHeader::standard);
  };
  x_.slots = 0;
  EXPECT_EQ(said(atomic()), "nack NO_RESOURCE");
  EXPECT_EQ(number, 40u);
  x_.slots = 1;
  EXPECT_EQ(said(atomic()), "accept");
  EXPECT_EQ(number, 42u);
  EXPECT_EQ(told(), "X tagged_recv ok 8 tag 6 #0");
  EXPECT_TRUE(is_balanced());
}

// [SES-088, SES-091] The rest of a rendezvous message is read for the endpoint that it came to.
TEST_F(SharedTest, RendezvousMessagesAreReadForTheirEndpoint) {
  config_.rendezvous_bytes = 2000;
  begin();
  const Octets first = pattern(9000, 1), second = pattern(7000, 2);
  Octets rooms[2] = {Octets(9000), Octets(7000)};
  const auto by_rendezvous = [&](const Sharer& to, const Octets& data, uintptr_t context) {
    SendRequest s = send_request(data, context);
    s.to.ri = to.ri;
    s.to.capabilities = kAiBase | kHpc;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  };
  post(rooms[0], 10);
  by_rendezvous(y_, first, 1);
  deliver_all();
  by_rendezvous(x_, second, 2);
  deliver_all();
  post(rooms[1], 11);
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 7000 #11; Y recv ok 9000 #10");
  EXPECT_EQ(take(*a_), "send ok 9000 #1 | send ok 7000 #2");
  EXPECT_EQ(rooms[0], first);
  EXPECT_EQ(rooms[1], second);
  EXPECT_EQ(a_->ses->counters()[Counter::tx_rendezvous], 2u);
  EXPECT_TRUE(is_balanced());
}

// [SES-106] A message that fails in a shared receive reports that with the room it has.
TEST_F(SharedTest, AMessageThatFailsReportsItWhereItCameTo) {
  Octets room(5000);
  post(room, 10);
  wire::StandardRequest h = request(SesOpcode::send, 3000);
  h.common.resource_index = kRiOfY;
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  wire::StandardRequest error = part(h, 1024, 0);
  error.common.opcode = SesOpcode::msg_error;
  error.common.eom = true;
  EXPECT_EQ(said(standard(error, 0)), "INITIATOR_ERR");
  EXPECT_EQ(told(), "Y recv refused INITIATOR_ERR 0 #10");
  EXPECT_TRUE(is_balanced());
}

}  // namespace
}  // namespace uet::ses::test
