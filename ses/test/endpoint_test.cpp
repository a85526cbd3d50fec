// Endpoints and settings per endpoint or FEP: names, sizes, modes, profiles, message IDs.
#include "ses/test/target_fixture.h"

#include <utility>

namespace uet::ses::test {
namespace {

class EndpointTest : public TargetTest {
 protected:
  Errc open(uint32_t job, uint16_t pid, uint16_t ri, EndpointOptions options = {}) {
    EndpointName name;
    name.job = JobId(job);
    name.pid = PidOnFep(pid);
    name.ri = ResourceIndex(ri);
    const auto opened = b_->ses->open_endpoint(name, options, {}, {});
    if (opened.ok()) opened_.push_back(*opened);
    return opened.ok() ? Errc{} : opened.error();
  }

  std::vector<EndpointId> opened_;
};

// [SES-001, SES-005, SES-007, LF-011]
TEST_F(EndpointTest, NamesOutOfRangeAreRefused) {
  EXPECT_EQ(open(0, 1, 1), Errc::invalid);
  EXPECT_EQ(open(1 << 24, 1, 1), Errc::invalid);
  EXPECT_EQ(open(1, 4096, 1), Errc::invalid);
  EXPECT_EQ(open(1, 1, 0), Errc::invalid);
  EXPECT_EQ(open(1, 1, 4096), Errc::invalid);
  EndpointOptions none;
  none.tx_size = 0;
  EXPECT_EQ(open(1, 1, 1, none), Errc::invalid);
  EXPECT_EQ(open((1 << 24) - 1, 4095, 4095), Errc{});
  EXPECT_EQ(open((1 << 24) - 1, 4095, 4095), Errc::exists);
  EXPECT_EQ(open(1, 4095, 4095), Errc{});  // two jobs may use a PIDonFEP [SES-003]
}

// Memory of an idle endpoint; none if another one was closed before. [LF-158]
TEST_F(EndpointTest, AnEndpointTakesLittleMemoryAndGivesItToTheNext) {
  config_.endpoints = 4095;
  start();
  const auto open_all = [this] {
    for (uint16_t ri = 1; ri < 4095; ++ri) ASSERT_EQ(open(1, 9, ri), Errc{});
    EXPECT_EQ(open(1, 9, 4095), Errc::again);  // one is the fixture's
  };
  const size_t before = b_->arena.used_bytes();
  open_all();
  const size_t first = b_->arena.used_bytes() - before;
  EXPECT_LT(first / 4094, 4096u);
  for (int i = 0; i < 2; ++i) {
    for (const EndpointId id : std::exchange(opened_, {})) b_->ses->close_endpoint(id, now_);
    open_all();
  }
  EXPECT_EQ(b_->arena.used_bytes() - before, first);
}

// Tables of a queue grow with the receives in it, once.
TEST_F(EndpointTest, AQueueTakesMemoryForPostedReceives) {
  options_.rx_size = 1024;
  start();
  Octets room(10);
  const auto post = [&](uint32_t count) {
    const size_t before = b_->arena.used_bytes();
    for (uint32_t i = 0; i < count; ++i) {
      ReceiveRequest r = receive_request(room);
      r.tagged = true;
      r.tag = i;
      r.ignore = i % 2;
      EXPECT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
    }
    return b_->arena.used_bytes() - before;
  };
  EXPECT_GT(post(1024), 1024 * sizeof(PostedReceive));
  EXPECT_EQ(b_->ses->receive(b_->ep, receive_request(room), now_).error(), Errc::again);
  b_->ses->close_endpoint(b_->ep, now_);
  b_->completions.clear();
  b_->open(options_);
  EXPECT_EQ(post(1024), 0u);
}

// [SES-031, SES-032]
TEST_F(EndpointTest, OnlyLegalPayloadMtusAreTaken) {
  for (const int mtu : {1024, 2048, 4096, 8192, 1000, 0, 16383}) {
    Arena arena;
    config_.payload_mtu = static_cast<uint16_t>(mtu);
    const auto made = Ses::create(arena, config_, b_->peers, 1);
    EXPECT_EQ(made.ok(), mtu == 1024 || mtu == 2048 || mtu == 4096 || mtu == 8192) << mtu;
  }
}

// With an empty table an operation could never start, and a time-out of zero would end it at once.
TEST_F(EndpointTest, EveryTableHasAPlace) {
  const auto is_taken = [this](void (*spoil)(Config&)) {
    Arena arena;
    Config config = config_;
    spoil(config);
    return Ses::create(arena, config, b_->peers, 1).ok();
  };
  EXPECT_TRUE(is_taken([](Config&) {}));
  EXPECT_FALSE(is_taken([](Config& c) { c.rx_messages = 0; }));
  EXPECT_FALSE(is_taken([](Config& c) { c.return_messages = 0; }));
  EXPECT_FALSE(is_taken([](Config& c) { c.unexpected_messages = 0; }));
  EXPECT_FALSE(is_taken([](Config& c) { c.restarts = 0; }));
  EXPECT_FALSE(is_taken([](Config& c) { c.deferral_time = Duration::zero(); }));
}

// [SES-025, SES-026, SES-028] The mode of the endpoint is the mode of its flow; datagrams carry no
// message ID. [SES-033, SES-058]
TEST_F(EndpointTest, TheModeOfTheEndpointIsTheModeOfItsFlow) {
  for (const pds::Mode mode : {pds::Mode::rud, pds::Mode::rod, pds::Mode::uud}) {
    options_.mode = mode;
    start();
    const Octets data = pattern(10);
    ASSERT_TRUE(a_->ses->send(a_->ep, send_request(data), now_).ok());
    transmit();
    ASSERT_EQ(network_.size(), 1u);
    EXPECT_EQ(network_[0].mode, mode);
    const bool is_uud = mode == pds::Mode::uud;
    EXPECT_EQ(uint8_t(network_[0].octets[0]), is_uud ? 7 : 5);
    EXPECT_EQ(uint8_t(network_[0].octets[3]), is_uud ? 0 : 1);
    EXPECT_EQ(take(*a_), is_uud ? "send ok 10 #1" : "");
  }
  const Octets longer = pattern(1025);
  EXPECT_EQ(a_->ses->send(a_->ep, send_request(longer), now_).error(), Errc::too_long);
  EXPECT_EQ(a_->ses->rma(a_->ep, rma_request(false, longer, 0), now_).error(), Errc::unsupported);
}

// [SES-018, SES-009] The same message ID on two PDCs names two messages.
TEST_F(EndpointTest, MessagesAreDistinguishedByPdc) {
  Octets memory(5000);
  wire::StandardRequest h = write_to(expose(memory), 2048);
  const auto on_pdc = [&](uint32_t pdc, uint32_t offset) {
    wire::StandardRequest p = part(h, offset, 1024);
    p.buffer_offset = pdc == 1 ? 0 : 2048;
    Octets octets(wire::StandardRequest::kSize);
    wire::Writer w(octets);
    p.emit(w);
    octets.resize(octets.size() + 1024, static_cast<std::byte>(pdc));
    pds::RxRequest rx;
    rx.peer = PeerId(0);
    rx.next_hdr = wire::NextHeader::standard;
    rx.token = {pds::PdcHandle(pdc), Psn(1)};
    rx.ses = octets;
    return said(b_->exchange->on_request(rx, now_));
  };
  EXPECT_EQ(on_pdc(3, 0), "accept");
  EXPECT_EQ(on_pdc(1, 0), "accept");
  EXPECT_EQ(on_pdc(2, 0), "accept");
  b_->exchange->on_pdc_closed(pds::PdcHandle(3), PeerId(0), true, now_);  // ends its own only
  EXPECT_EQ(b_->ses->counters()[Counter::rx_partial_closed], 1u);
  EXPECT_EQ(on_pdc(2, 1024), "accept");
  EXPECT_EQ(on_pdc(1, 1024), "accept");
  EXPECT_TRUE(b_->ses->idle());
  EXPECT_EQ(memory[2047], std::byte{1});
  EXPECT_EQ(memory[2048], std::byte{2});
  EXPECT_EQ(memory[4095], std::byte{2});
}

// [SES-117, SES-119, SES-005] A receive may be for one job: what matches it of another is
// refused, and of kept messages it takes its own. An absolute endpoint hears every job.
TEST_F(EndpointTest, AReceiveMayBeForOneJobOnly) {
  EndpointName name{JobId(9), kPid, ResourceIndex(5), 1, true};
  const EndpointId ep = *b_->ses->open_endpoint(name, options_, b_->sink(), b_->sink());
  const auto send_of = [&](uint32_t job) {
    wire::StandardRequest h = request(SesOpcode::send, 4);
    h.common.rel = false;
    h.common.job_id = JobId(job);
    h.common.resource_index = ResourceIndex(5);
    return said(standard(h, 4));
  };
  Octets room(10);
  ReceiveRequest r = receive_request(room);
  r.job = 7;
  ASSERT_TRUE(b_->ses->receive(ep, r, now_).ok());
  EXPECT_EQ(send_of(8), "BAD_JOB_ID");
  EXPECT_EQ(count(Counter::rx_bad_job), 1u);
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(send_of(7), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #2");
  EXPECT_EQ(send_of(8), "OK modified 4");  // both kept
  EXPECT_EQ(send_of(7), "OK modified 4");
  ASSERT_TRUE(b_->ses->receive(ep, r, now_).ok());
  ASSERT_EQ(b_->completions.size(), 1u);
  EXPECT_EQ(b_->completions[0].job, JobId(7));
  r.job = kAnyJob;
  ASSERT_TRUE(b_->ses->receive(ep, r, now_).ok());
  ASSERT_EQ(b_->completions.size(), 2u);
  EXPECT_EQ(b_->completions[1].job, JobId(8));
  b_->ses->close_endpoint(ep, now_);
}

// [SES-185, SES-186, SES-128] AI Base keeps nothing and knows no wildcards. [LF-067]
TEST_F(EndpointTest, TheProfileDecidesWhichRequestsAreServed) {
  config_.profiles = kAiBase;
  start();
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "NO_MATCH");
  Octets room(10);
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.ignore = 1;
  EXPECT_EQ(b_->ses->receive(b_->ep, r, now_).error(), Errc::invalid);
  r.ignore = 0;
  EXPECT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
}

// [SES-010, SES-033] With all IDs out, messages wait; one that comes back starts the next.
TEST_F(EndpointTest, MessagesWaitForAMessageId) {
  options_.tx_size = 65'536;
  start();
  const Octets none;
  for (int i = 0; i < 65'535; ++i) {
    ASSERT_TRUE(a_->ses->send(a_->ep, send_request(none), now_).ok());
  }
  pds::StartedMessage started, first;
  pds::PacketRef ref, first_ref;
  for (int i = 0; i < 65'534; ++i) {
    ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(1), started, now_));
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    if (i == 0) first = started, first_ref = ref;
  }
  EXPECT_FALSE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(1), started, now_));
  a_->exchange->on_response(first_ref, {}, now_);
  EXPECT_EQ(take(*a_), "send ok 0 #1");
  EXPECT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(1), started, now_));
}

// [SES-076] A modified length other than the read's is an error, and so is a chunk that was not
// requested. [SES-147, T-30]
TEST_F(EndpointTest, ReadAnswersThatDoNotFitAreErrors) {
  struct Case {
    uint32_t modified, offset, payload, job;
    bool ok;
  };
  for (const Case& c : {Case{100, 0, 100, 1, true}, Case{99, 0, 100, 1, false},
                        Case{100, 0, 99, 1, false}, Case{100, 1, 99, 1, false},
                        Case{100, 1024, 0, 1, false}, Case{100, 0xFFFFFFFF, 1, 1, false}}) {
    start();
    Octets back(100);
    ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, back, 1), now_).ok());
    transmit();
    ASSERT_EQ(network_.size(), 1u);
    Parcel answer = network_[0];
    network_.clear();
    answer.is_answer = true;
    answer.to = 0;
    answer.octets.clear();
    a_->pds.receive(answer, now_);  // delivered, the data follows
    EXPECT_EQ(take(*a_), "");
    wire::ResponseData h;
    h.common.return_code = ReturnCode::ok;
    h.read_request_message_id = MessageId(1);
    h.modified_length = c.modified;
    h.message_offset = c.offset;
    h.payload_length = static_cast<uint16_t>(c.payload);
    Octets octets(wire::ResponseData::kSize);
    wire::Writer w(octets);
    h.emit(w);
    octets.resize(octets.size() + c.payload, std::byte{7});
    pds::RxRequest rx;
    rx.peer = PeerId(0);
    rx.next_hdr = wire::NextHeader::response_data;
    rx.ses = octets;
    rx.token.pdc = pds::PdcHandle(99);
    EXPECT_EQ(said(a_->exchange->on_request(rx, now_)), "accept");  // of another PDC: ignored
    EXPECT_EQ(take(*a_), "");
    rx.token.pdc = pds::PdcHandle(1);
    EXPECT_EQ(said(a_->exchange->on_request(rx, now_)), "accept");
    EXPECT_EQ(take(*a_), c.ok ? "read ok 100 #1" : "read refused UNCOR 0 #1");
    EXPECT_EQ(back, Octets(100, c.ok ? std::byte{7} : std::byte{0}));
    // The read is over: later data for it finds no operation.
    back.assign(100, std::byte{1});
    EXPECT_EQ(said(a_->exchange->on_request(rx, now_)), "accept");
    EXPECT_EQ(back, Octets(100, std::byte{1}));
  }
}

// [SES-024, SES-076] A whole chunk behind the end of the read is refused before it is placed.
TEST_F(EndpointTest, ReadDataBehindTheEndIsRefused) {
  for (const uint32_t offset : {2048u, 4096u, 0xFFFFFC00u}) {
    SCOPED_TRACE(offset);
    start();
    Octets memory(8192);
    RmaRequest read = rma_request(true, memory, 1);
    const IoSlice wanted{memory.data(), 2048};
    read.iov = {&wanted, 1};
    ASSERT_TRUE(a_->ses->rma(a_->ep, read, now_).ok());
    transmit();
    ASSERT_EQ(network_.size(), 2u);
    for (Parcel answer : std::exchange(network_, {})) {
      answer.is_answer = true;
      answer.to = 0;
      answer.octets.clear();
      a_->pds.receive(answer, now_);  // delivered, the data follows
    }
    wire::ResponseData h;
    h.common.return_code = ReturnCode::ok;
    h.read_request_message_id = MessageId(1);
    h.modified_length = 2048;
    h.message_offset = offset;
    h.payload_length = 1024;
    Octets octets(wire::ResponseData::kSize);
    wire::Writer w(octets);
    h.emit(w);
    octets.resize(octets.size() + 1024, std::byte{7});
    pds::RxRequest rx;
    rx.peer = PeerId(0);
    rx.next_hdr = wire::NextHeader::response_data;
    rx.ses = octets;
    rx.token.pdc = pds::PdcHandle(1);
    EXPECT_EQ(said(a_->exchange->on_request(rx, now_)), "accept");
    EXPECT_EQ(take(*a_), "read refused UNCOR 0 #1");
    EXPECT_EQ(memory, Octets(8192));
  }
}

}  // namespace
}  // namespace uet::ses::test
