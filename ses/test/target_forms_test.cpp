// Requests of every mode and header format, truncated, random and as large as they get.
#include "ses/test/target_fixture.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>

namespace uet::ses::test {
namespace {

class TargetFormsTest : public TargetTest {
 protected:
  // Registers memory of B so that small headers can name it, and returns its key.
  uint64_t expose_optimized(const Octets& memory) {
    RegionRequest r;
    r.iov = keep(memory);
    r.access = kRemoteRead | kRemoteWrite;
    r.optimized = true;
    const RegionId id = *b_->ses->memory().add(r);
    b_->ses->memory().enable(id);
    return b_->ses->memory().key(id);
  }
  // A request for 5 octets of such memory.
  static wire::SmallRequest small_request(SesOpcode opcode, uint64_t key) {
    wire::SmallRequest h;
    h.common = request(opcode, 0).common;
    h.common.resource_index = ResourceIndex(static_cast<uint16_t>(key & 0xFFF));
    h.request_length = 5;
    return h;
  }
};

// [SES-077, SES-027, LF-027] RUDI: idempotent-safe regions only, no header data, no sends.
TEST_F(TargetFormsTest, RudiServesIdempotentRegionsOnly) {
  Octets memory(5000);
  const uint64_t unsafe = expose(memory);
  RegionRequest r;
  r.iov = keep(memory);
  r.access = kRemoteRead | kRemoteWrite;
  r.idempotent_safe = true;
  const RegionId id = *b_->ses->memory().add(r);
  b_->ses->memory().enable(id);
  const uint64_t safe = b_->ses->memory().key(id);
  EXPECT_EQ(safe >> 63, 1u);
  const pds::Mode rudi = pds::Mode::rudi;
  // Each packet has a separate response, whichever part of a message it is. [SES-141]
  EXPECT_EQ(said(standard(write_to(safe, 10), 10, rudi)), "OK");
  EXPECT_EQ(said(standard(part(write_to(safe, 3000), 1024, 1024), 1024, rudi)), "OK");
  EXPECT_EQ(said(standard(write_to(unsafe, 10), 10, rudi)), "OP_VIOLATION");
  wire::StandardRequest h = write_to(safe, 10);
  h.common.hd = true;
  EXPECT_EQ(said(standard(h, 10, rudi)), "OP_VIOLATION");
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4, rudi)), "OP_VIOLATION");
  wire::StandardRequest read = request(SesOpcode::read, 16);
  read.match_bits = safe;
  EXPECT_EQ(said(standard(read, 0, rudi)), "OK data 36");
  // More than an ACK holds travels in the response, which is made when it leaves. [SES-074]
  read.request_length = 17;
  const pds::Verdict verdict = standard(read, 0, rudi);
  EXPECT_EQ(verdict.kind, pds::Verdict::Kind::respond);
  pds::PacketRef ref;
  ASSERT_TRUE(b_->exchange->pull(verdict.answer, ref));
  EXPECT_EQ(ref.length, 17);
  EXPECT_FALSE(b_->ses->idle());
  b_->exchange->on_response(ref, {}, now_);
  EXPECT_TRUE(b_->ses->idle());
}

// [PDS-202, SES-141] Whatever is asked, on RUDI the answer is there at once: PDS keeps nothing that
// a later one could be joined to.
TEST_F(TargetFormsTest, RudiIsAlwaysAnsweredAtOnce) {
  Octets memory(5000);
  RegionRequest r;
  r.iov = keep(memory);
  r.access = kRemoteRead | kRemoteWrite | kAtomic;
  r.idempotent_safe = true;
  const RegionId id = *b_->ses->memory().add(r);
  b_->ses->memory().enable(id);
  Octets room(100);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  int answered = 0;
  for (uint32_t code = 0; code < 64; ++code) {
    for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
      for (const uint32_t length : {0u, 8u, 3000u}) {
        wire::StandardRequest h = request(static_cast<SesOpcode>(code), length);
        h.match_bits = b_->ses->memory().key(id);
        h.common.som = (flags & 1) != 0;
        h.common.eom = (flags & 2) != 0;
        const pds::Verdict v = standard(h, std::min(length, 1024u), pds::Mode::rudi);
        EXPECT_NE(v.kind, pds::Verdict::Kind::accept) << code << " " << flags << " " << length;
        EXPECT_NE(v.kind, pds::Verdict::Kind::later) << code << " " << flags << " " << length;
        answered += v.kind == pds::Verdict::Kind::respond;
      }
    }
  }
  EXPECT_GT(answered, 64);
}

// [PDS-165, SES-104, SES-129] UUD: never an answer; only datagram sends do anything.
TEST_F(TargetFormsTest, UudIsNeverAnswered) {
  Octets room(10), memory(10);
  const uint64_t key = expose(memory);
  const pds::Mode uud = pds::Mode::uud;
  EXPECT_EQ(said(standard(request(SesOpcode::datagram_send, 4), 4, uud)), "drop");
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  EXPECT_EQ(take(*b_), "");  // unmatched: gone
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4, uud)), "drop");
  EXPECT_EQ(said(standard(write_to(key, 4), 4, uud)), "drop");
  EXPECT_EQ(memory, Octets(10));
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(said(standard(request(SesOpcode::datagram_send, 4), 4, uud)), "drop");
  EXPECT_EQ(take(*b_), "recv ok 4 #2");
}

// [SES-059, SES-062, SES-094, SES-104] Deferrable and datagram sends are sends where a receive is
// there.
TEST_F(TargetFormsTest, DeferrableSendsAreSends) {
  Octets room(10);
  for (const SesOpcode opcode : {SesOpcode::deferrable_send, SesOpcode::datagram_send}) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
    wire::StandardRequest h = request(opcode, 4);
    h.buffer_offset = 0x1234567800000000;  // the restart tokens
    EXPECT_EQ(said(standard(h, 4)), "accept");
    EXPECT_EQ(take(*b_), "recv ok 4 #2");
  }
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.tag = 6;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  wire::StandardRequest h = request(SesOpcode::deferrable_tsend, 4);
  h.match_bits = 6;
  EXPECT_EQ(said(standard(h, 4)), "accept");
  EXPECT_EQ(take(*b_), "tagged_recv ok 4 tag 6 #2");
}

// [SES-038, PDS-165, SES-041, SES-044, SES-008, SES-140] The small header names a 12-bit key where
// the RI stands.
TEST_F(TargetFormsTest, SmallHeadersReachOptimizedRegions) {
  Octets memory = pattern(100);
  const uint64_t key = expose_optimized(memory);
  EXPECT_EQ(key >> 62, 1u);
  wire::SmallRequest h = small_request(SesOpcode::read, key);
  h.buffer_offset = 10;
  next_psn_ = 0x01020304;
  const pds::Verdict v = give(h, 0, wire::NextHeader::small);
  EXPECT_EQ(v.response.next_hdr, wire::NextHeader::response_data_small);
  // opcode 2, OK | payload length 5 | job 000102 | the PSN of the request | data
  const uint8_t expected[] = {0x02, 0x01, 0, 5, 0, 0, 1, 2, 1, 2, 3, 4, 11, 12, 13, 14, 15};
  ASSERT_EQ(v.response.length, sizeof expected);
  for (size_t i = 0; i < sizeof expected; ++i) {
    EXPECT_EQ(uint8_t(v.response.bytes[i]), expected[i]) << i;
  }
  h.common.opcode = SesOpcode::write;
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "accept");
  EXPECT_EQ(memory[10], std::byte{1});
  h.common.resource_index = ResourceIndex(0);
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "BAD_MKEY");
  h.common.pid_on_fep = PidOnFep(9);
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "BAD_PID");
  h.common.som = false;
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "OP_VIOLATION");  // [WIRE-116]
}

// [WIRE-078, SES-140] So does the answer that is too long for an ACK: it names the PSN of its
// request, which on RUDI is the packet ID.
TEST_F(TargetFormsTest, ALongAnswerToASmallReadNamesItsRequest) {
  Octets memory = pattern(100);
  const uint64_t key = expose(memory, kRemoteRead, /*takes_small=*/true);
  wire::SmallRequest h = small_request(SesOpcode::read, key);
  h.request_length = 17;
  next_psn_ = 0x01020304;
  const pds::Verdict v = give(h, 0, wire::NextHeader::small, pds::Mode::rudi);
  ASSERT_EQ(v.kind, pds::Verdict::Kind::respond);
  pds::PacketRef ref;
  ASSERT_TRUE(b_->exchange->pull(v.answer, ref));
  EXPECT_EQ(ref.next_hdr, wire::NextHeader::response_data_small);
  std::array<std::byte, 12> header;
  wire::Writer w(header);
  TxBatch batch;
  (void)batch.begin();
  b_->exchange->encode(ref, w, batch);
  // opcode 2, OK | payload length 17 | job 000102 | the PSN of the request
  const uint8_t expected[] = {0x02, 0x01, 0, 17, 0, 0, 1, 2, 1, 2, 3, 4};
  ASSERT_EQ(w.position(), sizeof expected);
  for (size_t i = 0; i < sizeof expected; ++i) EXPECT_EQ(uint8_t(header[i]), expected[i]) << i;
  b_->exchange->on_response(ref, {}, now_);
}

// [SES-003, SES-008] Any open endpoint stands for its process, whichever closes first.
TEST_F(TargetFormsTest, SmallHeadersReachAProcessWithAnyEndpointOpen) {
  Octets memory = pattern(100);
  wire::SmallRequest h = small_request(SesOpcode::write, expose_optimized(memory));
  EndpointName name{kJob, kPid, ResourceIndex(kRi.value() + 1), 1, false};
  const EndpointId second = *b_->ses->open_endpoint(name, {}, {}, {});
  EXPECT_EQ(b_->ses->open_endpoint(name, {}, {}, {}).error(), Errc::exists);
  b_->ses->close_endpoint(b_->ep, now_);
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "accept");
  b_->ses->close_endpoint(second, now_);
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "BAD_JOB_ID");
  ASSERT_TRUE(b_->ses->open_endpoint(name, {}, {}, {}).ok());
  EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "accept");
}

// [SES-008] In whatever order its endpoints close, the process is found while one is left.
TEST_F(TargetFormsTest, AProcessIsFoundUntilItsLastEndpointCloses) {
  Octets memory(100);
  wire::SmallRequest h = small_request(SesOpcode::write, expose_optimized(memory));
  std::array<uint32_t, 4> order{0, 1, 2, 3};
  do {
    std::array<EndpointId, 4> open;
    for (uint16_t i = 0; i < open.size(); ++i) {
      CompletionSink rx;
      rx.owner = &open[i];
      rx.complete = [](void* ep, const Completion&) {
        EXPECT_NE(static_cast<EndpointId*>(ep)->value(), 0u) << "reported to a closed one";
      };
      rx.all_remote = true;
      // From another process than the fixture's.
      const EndpointName name{kJob, PidOnFep(77), ResourceIndex(i + 1), 1, false};
      open[i] = *b_->ses->open_endpoint(name, {}, {}, rx);
    }
    h.common.pid_on_fep = PidOnFep(77);
    for (const uint32_t next : order) {
      EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "accept");
      b_->ses->close_endpoint(open[next], now_);
      open[next] = EndpointId(0);
    }
    EXPECT_EQ(said(give(h, 5, wire::NextHeader::small)), "BAD_PID");
  } while (std::next_permutation(order.begin(), order.end()));
}

// [SES-038, SES-042, SES-039, SES-146, WIRE-067] Message ID 0 in the answers.
TEST_F(TargetFormsTest, MediumHeadersCarryDataOrOffset) {
  Octets room(10), memory(100);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  wire::MediumRequest h;
  h.common = request(SesOpcode::send, 0).common;
  h.common.hd = true;
  h.header_data = 31;
  h.request_length = 4;
  EXPECT_EQ(said(give(h, 4, wire::NextHeader::medium)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 data 31 #2");
  h.common.opcode = SesOpcode::write;
  h.common.hd = false;
  h.buffer_offset = 90;
  h.match_bits = expose(memory);
  EXPECT_EQ(said(give(h, 4, wire::NextHeader::medium)), "accept");
  EXPECT_EQ(memory[90], std::byte{1});
  h.buffer_offset = 97;
  const pds::Verdict v = give(h, 4, wire::NextHeader::medium);
  EXPECT_EQ(said(v), "BAD_ADDR");
  EXPECT_EQ(uint8_t(v.response.bytes[2]) | uint8_t(v.response.bytes[3]), 0);
}

// [SES-015, SES-019, SES-050, WIRE-062] The header data of a message is that of its first packet,
// in any order of arrival and with other values in the other packets; also for unexpected messages.
TEST_F(TargetFormsTest, HeaderDataIsThatOfTheFirstPacket) {
  wire::StandardRequest h = request(SesOpcode::send, 2048);
  h.common.hd = true;
  h.header_data = 31;
  const std::array<wire::StandardRequest, 2> parts{part(h, 0, 1024), part(h, 1024, 1024)};
  for (const bool is_posted : {true, false}) {
    for (const size_t begin : {0u, 1u}) {
      SCOPED_TRACE(testing::Message() << is_posted << begin);
      Octets room(2048);
      if (is_posted) {
        ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
      }
      (void)standard(parts[begin], 1024);
      (void)standard(parts[1 - begin], 1024);
      if (!is_posted) {
        ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
      }
      EXPECT_EQ(take(*b_), "recv ok 2048 data 31 #2");
    }
  }
}

// [SES-018, SES-019, SES-023] Each packet has its place, and the message is complete when all of
// them are there, not when its last one is.
TEST_F(TargetFormsTest, PacketsOfAMessageComeInAnyOrder) {
  Octets room(1524);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  const wire::StandardRequest h = request(SesOpcode::send, 1524);
  EXPECT_EQ(said(standard(part(h, 1024, 500), 500)), "accept");
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 1524 #2");
  Octets expected = pattern(1024);
  const Octets rest = pattern(500);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(room, expected);
}

// [SES-071] The match field is the tag of a tagged message, and nothing in an untagged one.
TEST_F(TargetFormsTest, OnlyATaggedMessageHasATag) {
  Octets room(10);
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.tag = 6;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room, 3), now_).ok());
  wire::StandardRequest h = request(SesOpcode::send, 4);
  h.match_bits = 6;
  EXPECT_EQ(said(standard(h, 4)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #3");
  h.common.opcode = SesOpcode::tagged_send;
  EXPECT_EQ(said(standard(h, 4)), "accept");
  EXPECT_EQ(take(*b_), "tagged_recv ok 4 tag 6 #2");
}

// [SES-043] What needs the message ID, a token or an offset has no short form.
TEST_F(TargetFormsTest, SomeOperationsHaveTheStandardHeaderOnly) {
  Octets room(100);
  ReceiveRequest r = receive_request(room);
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  r.tagged = true;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  const SesOpcode opcodes[] = {SesOpcode::rendezvous_send, SesOpcode::rendezvous_tsend,
                               SesOpcode::deferrable_send, SesOpcode::deferrable_tsend,
                               SesOpcode::deferrable_rtr,  SesOpcode::msg_error};
  for (const SesOpcode opcode : opcodes) {
    wire::MediumRequest h;
    h.common = request(opcode, 0).common;
    h.request_length = 40;
    EXPECT_EQ(said(give(h, 40, wire::NextHeader::medium)), "OP_VIOLATION") << wire::name(opcode);
  }
  EXPECT_EQ(count(Counter::rx_malformed), 6u);
  EXPECT_EQ(take(*b_), "");
}

// [SES-171, SES-104] Every prefix of a request is answered, none read beyond its end. Its PSN is
// used up with that; without an answer the request would be sent again without end. The octets of
// the answer are by hand.
TEST_F(TargetFormsTest, TruncatedHeadersAreAnswered) {
  Octets octets(wire::StandardRequest::kSize);
  wire::Writer w(octets);
  request(SesOpcode::send, 0).emit(w);
  for (size_t length = 0; length < octets.size(); ++length) {
    const Octets cut(octets.begin(), octets.begin() + static_cast<ptrdiff_t>(length));
    const pds::Verdict v = give_octets(cut, wire::NextHeader::standard);
    EXPECT_EQ(said(v), "OP_VIOLATION");
    const uint8_t expected[] = {0x01, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < 12; ++i) EXPECT_EQ(uint8_t(v.response.bytes[i]), expected[i]) << i;
    EXPECT_EQ(said(give_octets(cut, wire::NextHeader::standard, pds::Mode::uud)), "drop");
  }
  EXPECT_EQ(count(Counter::rx_truncated), 88u);
  EXPECT_EQ(said(give_octets(octets, wire::NextHeader::response)), "OP_VIOLATION");
  EXPECT_EQ(count(Counter::rx_malformed), 1u);
}

// Random requests near the legal ones: memory outside of the allowed range does not change and no
// slot is lost for good.
TEST_F(TargetFormsTest, RandomRequestsDoNoHarm) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    Octets memory(6000, std::byte{0x5A});
    IoSlice middle{memory.data() + 2000, 2000};
    RegionRequest r;
    r.iov = {&middle, 1};
    r.access = kRemoteRead | kRemoteWrite;
    const RegionId id = *b_->ses->memory().add(r);
    b_->ses->memory().enable(id);
    const uint64_t key = b_->ses->memory().key(id);
    std::vector<Octets> rooms(20, Octets(1500));
    for (int i = 0; i < 20'000; ++i) {
      if (rng.chance(0.01)) {
        ReceiveRequest receive = receive_request(rooms[rng.below(rooms.size())]);
        receive.tagged = rng.chance(0.5);
        receive.multi = !receive.tagged && rng.chance(0.3);
        (void)b_->ses->receive(b_->ep, receive, now_);
      }
      constexpr uint32_t kLengths[] = {0, 1, 1024, 1025, 2000, 3000, 0xFFFFFFFE, 0xFFFFFFFF};
      wire::StandardRequest h = request(SesOpcode(rng.below(17)), kLengths[rng.below(8)]);
      h.common.som = rng.chance(0.5);
      h.common.eom = rng.chance(0.5);
      h.common.ie = rng.chance(0.05);
      h.common.hd = rng.chance(0.3);
      h.common.dc = rng.chance(0.3);
      h.common.ri_generation = static_cast<uint8_t>(rng.below(2));
      h.message_id = MessageId(static_cast<uint16_t>(rng.below(20)));
      if (rng.chance(0.7)) h.match_bits = key;
      h.buffer_offset = rng.chance(0.5) ? rng.below(2100) : rng.u64();
      if (rng.chance(0.5)) h.buffer_offset = 0;
      const uint32_t payload = rng.chance(0.7) ? 1024 : static_cast<uint32_t>(rng.below(1100));
      h.payload_length = static_cast<uint16_t>(payload);
      h.message_offset = 1024 * static_cast<uint32_t>(rng.below(4));
      if (!h.common.som) h.header_data = 0;
      const bool reads = h.common.opcode == SesOpcode::read;
      (void)standard(h, reads ? 0 : payload, rng.chance(0.1) ? pds::Mode::rod : pds::Mode::rud);
    }
    for (size_t i = 0; i < 2000; ++i) {
      ASSERT_EQ(memory[i], std::byte{0x5A});
      ASSERT_EQ(memory[4000 + i], std::byte{0x5A});
    }
    now_ = now_ + Duration::seconds(61);
    b_->advance(now_);
    b_->ses->close_endpoint(b_->ep, now_);
    network_.clear();
  }
}

// [SES-030] 2^32 - 2 octets: the arithmetic of the last packet, with memory that is never touched
// but there.
TEST_F(TargetFormsTest, TheLargestMessageEndsInTheRightPlace) {
  config_.payload_mtu = 8192;
  start();
  constexpr uint64_t kLength = 0xFFFFFFFE;
  constexpr uint64_t kMapped = kLength + 4096;
  void* map = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  auto* const base = static_cast<std::byte*>(map);
  const IoSlice all{base, kLength + 100};
  RegionRequest r;
  r.iov = {&all, 1};
  r.access = kRemoteWrite;
  const RegionId id = *b_->ses->memory().add(r);
  b_->ses->memory().enable(id);
  wire::StandardRequest h = write_to(b_->ses->memory().key(id), kLength, 100);
  EXPECT_EQ(said(standard(part(h, 524287u * 8192u, 8190), 8190)), "accept");
  EXPECT_EQ(base[524287ull * 8192 + 100], std::byte{1});
  EXPECT_EQ(base[kLength + 99], pattern(8190).back());
  h.buffer_offset = 101;
  h.message_id = MessageId(78);
  EXPECT_EQ(said(standard(part(h, 0, 8192), 8192)), "BAD_ADDR");

  // And on the way out: 524,288 packets, the last one of 8,190 octets.
  const IoSlice quarter{base, 1u << 30};
  const IoSlice rest{base, (1u << 30) - 2};
  const IoSlice slices[] = {quarter, quarter, quarter, rest};
  SendRequest s = send_request({});
  s.iov = slices;
  ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  pds::StartedMessage started;
  ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(1), started, now_));
  pds::PacketRef ref;
  uint32_t packets = 0;
  while (a_->exchange->pull(started.message, ref)) {
    ++packets;
    if (!ref.eom) a_->exchange->on_response(ref, {}, now_);
  }
  EXPECT_EQ(packets, 524288u);
  EXPECT_EQ(ref.offset, 524287u * 8192u);
  EXPECT_EQ(ref.length, 8190);
  a_->exchange->on_response(ref, {}, now_);
  EXPECT_EQ(take(*a_), "send ok 4294967294 #1");
  const IoSlice too_much[] = {quarter, quarter, quarter, quarter};
  s.iov = too_much;
  EXPECT_EQ(a_->ses->send(a_->ep, s, now_).error(), Errc::too_long);
  munmap(map, kMapped);
}

}  // namespace
}  // namespace uet::ses::test
