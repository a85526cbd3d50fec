// Messages over the modes without PDCs, with the real PDS below: RMA on RUDI, datagrams on UUD.
// [ses.md 4.2, 4.6]
#include "ses/test/stack.h"

#include "wire/pds.h"
#include "wire/ses.h"

namespace uet::ses::test {
namespace {

class ConnectionlessTest : public StackFixture, public ::testing::Test {
 protected:
  void open(pds::Mode mode, uint64_t seed = 1) {
    meet(seed, seed + 1000);
    a_->open(mode);
    b_->open(mode);
    to_ = a_->at(b_->self, now());
    to_.capabilities = kEveryProfile;
  }
  // Memory of B that may be read and written; returns its key.
  uint64_t expose(Octets& memory, bool idempotent_safe) {
    const IoSlice whole{memory.data(), memory.size()};
    RegionRequest region;
    region.iov = {&whole, 1};
    region.access = kRemoteRead | kRemoteWrite;
    region.idempotent_safe = idempotent_safe;
    const RegionId id = *b_->ses->memory().add(region);
    b_->ses->memory().enable(id);
    return b_->ses->memory().key(id);
  }
  void rma(bool read, const Octets& local, uint64_t key, uint32_t flags = kOpRudi) {
    const IoSlice slice{local.data(), local.size()};
    RmaRequest r;
    r.to = to_;
    r.read = read;
    r.iov = {&slice, 1};
    r.key = key;
    r.flags = flags;
    r.context.op = this;
    ASSERT_TRUE(a_->ses->rma(a_->ep, r, now()).ok());
    ++expected_;
  }
  Result<Taken> send(const Octets& data) {
    const IoSlice slice{data.data(), data.size()};
    SendRequest s;
    s.to = to_;
    s.iov = {&slice, 1};
    return a_->ses->send(a_->ep, s, now());
  }
  void receive(Octets& room) {
    const IoSlice slice{room.data(), room.size()};
    ReceiveRequest r;
    r.iov = {&slice, 1};
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now()).ok());
  }
  static Octets random(size_t bytes, Rng& rng) {
    Octets o(bytes);
    for (std::byte& b : o) b = std::byte(rng.u32());
    return o;
  }
  uint64_t sent_by_rudi() const { return a_->pds->counters()[pds::Count::rudi_tx]; }
  uint64_t refused(Counter c) const { return b_->ses->counters()[c]; }

  Destination to_;
};

// [SES-027, SES-074, SES-077, LF-091] Writes and reads of many packets through loss and reordering,
// without a PDC on either side.
TEST_F(ConnectionlessTest, RmaToSafeMemoryGoesByRudi) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    open(pds::Mode::rud, seed);
    expected_ = 0;
    Octets memory(50'001);
    const uint64_t key = expose(memory, true);
    const Octets data = random(memory.size(), rng);
    rma(false, data, key);
    run(rng, 0.1, 40'000);
    ASSERT_EQ(a_->done.size(), 1u);
    EXPECT_TRUE(a_->done[0].ok());
    EXPECT_EQ(memory, data);

    Octets back(memory.size());
    rma(true, back, key);
    run(rng, 0.1, 40'000);
    ASSERT_EQ(a_->done.size(), 2u);
    EXPECT_TRUE(a_->done[1].ok());
    EXPECT_EQ(a_->done[1].bytes, back.size());
    EXPECT_EQ(back, data);
    EXPECT_GE(sent_by_rudi(), 2 * 49u);
    EXPECT_EQ(a_->pds->counters()[pds::Count::pdc_opened_initiator], 0u);
    EXPECT_EQ(b_->pds->usage(), pds::Usage{});
  }
}

// [SES-027, SES-077, LF-091, SES-026] What RUDI may not carry goes the endpoint's way, and arrives.
TEST_F(ConnectionlessTest, OtherOperationsUseTheEndpointsMode) {
  Rng rng(1);
  open(pds::Mode::rud);
  Octets memory(5000), unsafe_memory(5000);
  const uint64_t safe = expose(memory, true);
  const uint64_t unsafe = expose(unsafe_memory, false);
  const Octets data = random(5000, rng);
  rma(false, data, safe, 0);                        // not asked for
  rma(false, data, unsafe);                         // replays would do harm
  rma(false, data, safe, kOpRudi | kOpRemoteData);  // a write with a completion is not idempotent
  to_.capabilities = kAiBase | kAiFull;
  rma(false, data, safe);  // the peer does not say that it serves RUDI
  run(rng, 0, 4000);
  ASSERT_EQ(a_->done.size(), 4u);
  for (const Completion& c : a_->done) EXPECT_TRUE(c.ok());
  EXPECT_EQ(sent_by_rudi(), 0u);

  open(pds::Mode::rod);  // an order was asked for
  expected_ = 0;
  rma(false, data, expose(memory, true));
  run(rng, 0, 4000);
  ASSERT_EQ(a_->done.size(), 1u);
  EXPECT_EQ(sent_by_rudi(), 0u);
}

// [PDS-206, SES-116, SES-077] An initiator that names the wrong memory gets an error.
TEST_F(ConnectionlessTest, UnsafeMemoryIsRefusedAtTheTarget) {
  Rng rng(1);
  open(pds::Mode::rud);
  Octets memory(3000);
  const uint64_t key = expose(memory, false);
  const Octets before = memory;
  const Octets data = random(3000, rng);
  rma(false, data, key | uint64_t{1} << 63);
  run(rng, 0, 4000);
  ASSERT_EQ(a_->done.size(), 1u);
  EXPECT_EQ(a_->done[0].status, Completion::Status::refused);
  EXPECT_EQ(a_->done[0].code, wire::ReturnCode::op_violation);
  EXPECT_EQ(memory, before);
  EXPECT_GT(sent_by_rudi(), 0u);
}

// [SES-141, SES-145] One response per packet, so one that promises another ends the operation: no
// PDC will ever close and say that nothing comes.
TEST_F(ConnectionlessTest, APromiseOfALaterResponseDoesNotComplete) {
  Rng rng(1);
  open(pds::Mode::rud);
  Octets memory(100);
  const Octets data = random(100, rng);
  rma(false, data, expose(memory, true));
  pump(kA);
  ASSERT_EQ(flights().size(), 1u);
  wire::Reader sent(flights()[0].octets);
  wire::RudiResponse h;
  h.next_hdr = wire::NextHeader::response;
  h.pkt_id = wire::RudiRequest::read(sent).pkt_id;
  wire::Response promise;
  promise.common.opcode = wire::ResponseOpcode::no_response;
  promise.common.return_code = wire::ReturnCode::ok;
  sim::Datagram answer;
  answer.from = b_->self;
  answer.to = a_->self;
  answer.octets.resize(wire::RudiResponse::kSize + wire::Response::kSize);
  wire::Writer w(answer.octets);
  h.emit(w);
  promise.emit(w);
  flights().clear();
  stations_->arrive(answer);
  ASSERT_EQ(a_->done.size(), 1u);
  EXPECT_EQ(a_->done[0].status, Completion::Status::undeliverable);
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-077, SES-105] A message that is given up half-way sends nothing more: the target does not
// track it.
TEST_F(ConnectionlessTest, CancelledMessageSendsNoMsgError) {
  Rng rng(1);
  open(pds::Mode::rud);
  Octets memory(200 * 1024);
  const Octets data = random(memory.size(), rng);
  rma(false, data, expose(memory, true));
  pump(kA);
  ASSERT_TRUE(a_->ses->cancel(a_->ep, this, now()));
  EXPECT_EQ(a_->done.at(0).status, Completion::Status::cancelled);
  run(rng, 0, 4000);
  EXPECT_TRUE(a_->ses->idle());
  EXPECT_LE(sent_by_rudi(), 64u);
  EXPECT_EQ(refused(Counter::rx_msg_error_misused), 0u);
  EXPECT_EQ(refused(Counter::rx_initiator_error), 0u);
}

// [LF-060] A fence also waits for operations of the other mode.
TEST_F(ConnectionlessTest, FenceWaitsForRudi) {
  Rng rng(1);
  open(pds::Mode::rud);
  Octets memory(5000);
  const uint64_t key = expose(memory, true);
  const Octets first = random(5000, rng);
  const Octets second = random(5000, rng);
  rma(false, first, key);
  rma(false, second, key, kOpFence);
  pump(kA);
  for (const sim::Datagram& p : flights()) {
    EXPECT_EQ(wire::Prologue::of(wire::load_u16(p.octets.data())).type,
              wire::PdsType::rudi_request);
  }
  run(rng, 0, 4000);
  EXPECT_EQ(a_->done.size(), 2u);
  EXPECT_EQ(memory, second);
}

// --- UUD ---

// [SES-028, SES-104, PDS-211, LF-044] A datagram is done when it has left, whether it arrives or
// not.
TEST_F(ConnectionlessTest, DatagramsCompleteWithoutAnAnswer) {
  Rng rng(1);
  open(pds::Mode::uud);
  const Octets data = random(1024, rng);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(send(data).ok());
  expected_ = 50;
  run(rng, 1.0, 100);
  ASSERT_EQ(a_->done.size(), 50u);
  for (const Completion& c : a_->done) EXPECT_TRUE(c.ok());
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-104, SES-129, PDS-211] Without a receive a datagram is dropped and counted, never kept; it
// is not there when a receive comes.
TEST_F(ConnectionlessTest, DatagramWithoutReceiveIsDropped) {
  Rng rng(1);
  open(pds::Mode::uud);
  const Octets lost = random(100, rng);
  const Octets seen = random(100, rng);
  ASSERT_TRUE(send(lost).ok());
  expected_ = 1;
  run(rng, 0, 10);
  EXPECT_EQ(refused(Counter::rx_no_match), 1u);
  Octets room(100);
  receive(room);
  ASSERT_TRUE(send(seen).ok());
  expected_ = 2;
  run(rng, 0, 10);
  ASSERT_EQ(b_->done.size(), 1u);
  EXPECT_EQ(room, seen);
  EXPECT_EQ(refused(Counter::rx_unexpected), 0u);
}

// [SES-104, SES-137] One packet at most; a receive that is too short gets the beginning.
TEST_F(ConnectionlessTest, DatagramIsOnePacketAndMayBeCut) {
  Rng rng(1);
  open(pds::Mode::uud);
  EXPECT_EQ(send(random(1025, rng)).error(), Errc::too_long);
  const Octets data = random(1024, rng);
  Octets room(24);
  receive(room);
  ASSERT_TRUE(send(data).ok());
  expected_ = 1;
  run(rng, 0, 10);
  ASSERT_EQ(b_->done.size(), 1u);
  EXPECT_EQ(b_->done[0].status, Completion::Status::truncated);
  EXPECT_EQ(b_->done[0].bytes, 24u);
  EXPECT_EQ(b_->done[0].truncated_bytes, 1000u);
  EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
}

// [LF-072, SES-077] Datagrams are all that a UUD endpoint sends.
TEST_F(ConnectionlessTest, UudEndpointHasNoRmaAndNoTags) {
  open(pds::Mode::uud);
  Octets memory(10);
  const IoSlice slice{memory.data(), memory.size()};
  RmaRequest r;
  r.to = to_;
  r.iov = {&slice, 1};
  r.key = expose(memory, true);
  r.flags = kOpRudi;
  EXPECT_EQ(a_->ses->rma(a_->ep, r, now()).error(), Errc::unsupported);
  SendRequest s;
  s.to = to_;
  s.iov = {&slice, 1};
  s.tagged = true;
  EXPECT_EQ(a_->ses->send(a_->ep, s, now()).error(), Errc::unsupported);
}

}  // namespace
}  // namespace uet::ses::test
