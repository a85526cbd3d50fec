// Atomics as messages: packets of the initiator, actions and answers of the target, refusals.
#include "ses/test/target_fixture.h"

#include <cstring>

namespace uet::ses::test {
namespace {

using wire::AtomicDatatype;
using wire::AtomicOpcode;

class AtomicMessagesTest : public TargetTest {
 protected:
  // Elements of memory of B, and how many of them.
  uint64_t expose_numbers(uint32_t access = kRemoteRead | kRemoteWrite) {
    slices_.push_back({reinterpret_cast<const std::byte*>(numbers_), sizeof numbers_});
    RegionRequest r;
    r.iov = {&slices_.back(), 1};
    r.access = access;
    region_ = *b_->ses->memory().add(r);
    b_->ses->memory().enable(region_);
    return b_->ses->memory().key(region_);
  }
  template <class T>
  std::span<const IoSlice> view(const T* at, size_t count) const {
    slices_.push_back({reinterpret_cast<const std::byte*>(at), count * sizeof(T)});
    return {&slices_.back(), 1};
  }
  AtomicRequest atomic_request(AtomicOpcode op, AtomicForm form, uint64_t key) const {
    AtomicRequest r;
    r.to = to_b();
    r.form = form;
    r.code = {op, AtomicDatatype::uint64};
    r.key = key;
    r.context.op = reinterpret_cast<void*>(uintptr_t{1});
    return r;
  }
  // A request with its atomic extension and payload in octets, for B.
  pds::Verdict atomic(SesOpcode opcode, wire::Atomic extension, const Octets& operands,
                      uint64_t key, uint64_t offset = 0, pds::Mode mode = pds::Mode::rud) {
    wire::StandardRequest h = request(opcode, static_cast<uint32_t>(operands.size()));
    h.match_bits = key;
    h.buffer_offset = offset;
    return give_octets(encoded(h, extension, operands), wire::NextHeader::standard, mode);
  }
  template <class Header>
  static Octets encoded(const Header& h, const wire::Atomic& extension, const Octets& operands) {
    Octets octets(Header::kSize + wire::Atomic::kSize);
    wire::Writer w(octets);
    h.emit(w);
    extension.emit(w);
    octets.insert(octets.end(), operands.begin(), operands.end());
    return octets;
  }
  static Octets be64(std::initializer_list<uint64_t> values) {
    Octets out;
    for (const uint64_t v : values) {
      for (int shift = 56; shift >= 0; shift -= 8) out.push_back(std::byte(v >> shift & 0xFF));
    }
    return out;
  }
  static Octets data_of(const pds::Verdict& v) {
    const auto* const at = v.response.bytes.data();
    return {at + wire::ResponseData::kSize, at + v.response.length};
  }

  alignas(16) uint64_t numbers_[64] = {};
};

constexpr wire::Atomic kSum64{AtomicOpcode::sum, AtomicDatatype::uint64};

// [SES-084, SES-054, SES-082, LF-050] Elements travel big-endian and are added one by one.
TEST_F(AtomicMessagesTest, ASumOfSeveralElements) {
  const uint64_t key = expose_numbers();
  numbers_[1] = 5;
  numbers_[2] = 7;
  const uint64_t operand[] = {10, 20};
  AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::plain, key);
  r.operand = view(operand, 2);
  r.remote_offset = 8;
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  const Octets& sent = network_[0].octets;
  // opcode 3 | .. key at 24, offset at 12 | request length 16 at 40 | SUM, UINT64, CPU coherent
  EXPECT_EQ(sent[0], std::byte{3});
  const Octets tail(sent.begin() + 40, sent.end());
  Octets expected = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{16},
                     std::byte{2}, std::byte{7}, std::byte{2}, std::byte{0}};
  const Octets operands = be64({10, 20});
  expected.insert(expected.end(), operands.begin(), operands.end());
  EXPECT_EQ(tail, expected);
  deliver_all();
  EXPECT_EQ(take(*a_), "atomic ok 16 #1");
  EXPECT_EQ(numbers_[0], 0u);
  EXPECT_EQ(numbers_[1], 15u);
  EXPECT_EQ(numbers_[2], 27u);
  EXPECT_EQ(numbers_[3], 0u);
}

// [SES-055, SES-081, LF-051] Few old values come in the ACK, many as a separate message.
TEST_F(AtomicMessagesTest, OldValuesComeBack) {
  const uint64_t key = expose_numbers();
  for (const uint32_t count : {1u, 2u, 3u, 32u}) {
    uint64_t operand[32], old[32] = {};
    for (uint32_t i = 0; i < 32; ++i) {
      numbers_[i] = 1000 + i;
      operand[i] = i;
    }
    AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::fetch, key);
    r.operand = view(operand, count);
    r.result = view(old, count);
    ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
    deliver_all();
    EXPECT_EQ(take(*a_), "fetching_atomic ok " + std::to_string(count * 8) + " #1");
    for (uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(old[i], i < count ? 1000 + i : 0) << count;
      EXPECT_EQ(numbers_[i], 1000 + i + (i < count ? i : 0)) << count;
    }
  }
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  EXPECT_EQ(a_->pds.asked.messages_done, a_->pds.asked.keep_pdc);
  EXPECT_EQ(a_->pds.asked.keep_pdc, 4u);  // [SES-075]
}

// [SES-037, SES-078, SES-081, LF-052] Compare and operand as two fields of 16 octets.
TEST_F(AtomicMessagesTest, CompareAndSwap) {
  const uint64_t key = expose_numbers();
  numbers_[0] = 5;
  uint64_t compare = 5, operand = 9, old = 0;
  AtomicRequest r = atomic_request(AtomicOpcode::cswap, AtomicForm::compare, key);
  r.operand = view(&operand, 1);
  r.compare = view(&compare, 1);
  r.result = view(&old, 1);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  const Octets& sent = network_[0].octets;
  const Octets tail(sent.begin() + 48, sent.end());
  EXPECT_EQ(tail, be64({0, 5, 0, 9}));
  deliver_all();
  EXPECT_EQ(old, 5u);
  EXPECT_EQ(numbers_[0], 9u);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());  // 5 is not there any more
  deliver_all();
  EXPECT_EQ(old, 9u);
  EXPECT_EQ(numbers_[0], 9u);
  EXPECT_EQ(take(*a_), "fetching_atomic ok 32 #1 | fetching_atomic ok 32 #1");
}

// [SES-055] READ has no operand; nothing changes.
TEST_F(AtomicMessagesTest, AtomicRead) {
  const uint64_t key = expose_numbers();
  numbers_[0] = 3;
  numbers_[1] = 4;
  uint64_t old[2] = {};
  AtomicRequest r = atomic_request(AtomicOpcode::read, AtomicForm::fetch, key);
  r.result = view(old, 2);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  deliver_all();
  EXPECT_EQ(old[0], 3u);
  EXPECT_EQ(old[1], 4u);
  EXPECT_EQ(numbers_[1], 4u);
}

// [SES-080, LF-050] What the initiator does not take.
TEST_F(AtomicMessagesTest, PostsThatAreRefused) {
  const uint64_t key = expose_numbers();
  uint64_t value[33] = {}, old[33] = {};
  const auto posted = [&](AtomicRequest r) {
    const Result<Taken> done = a_->ses->atomic(a_->ep, r, now_);
    return done.ok() ? Errc{} : done.error();
  };
  AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::plain, key);
  EXPECT_EQ(posted(r), Errc::invalid);  // nothing to add
  r.operand = view(value, 33);
  EXPECT_EQ(posted(r), Errc::too_long);
  slices_.push_back({reinterpret_cast<const std::byte*>(value), 9});
  r.operand = {&slices_.back(), 1};
  EXPECT_EQ(posted(r), Errc::invalid);  // one element and an octet
  const IoSlice endless[2] = {{reinterpret_cast<const std::byte*>(value), UINT64_MAX - 7},
                              {reinterpret_cast<const std::byte*>(value), 16}};
  r.operand = endless;
  EXPECT_EQ(posted(r), Errc::too_long);  // not 8 octets
  r.operand = view(value, 1);
  r.code.op = AtomicOpcode::cswap;
  EXPECT_EQ(posted(r), Errc::unsupported);
  r.code = {AtomicOpcode::bor, AtomicDatatype::float64};
  EXPECT_EQ(posted(r), Errc::unsupported);
  r.code = {AtomicOpcode::sum, AtomicDatatype::uint64};
  r.flags = kOpRemoteData;
  EXPECT_EQ(posted(r), Errc::invalid);
  r.flags = 0;
  r.form = AtomicForm::fetch;
  r.result = view(old, 2);
  EXPECT_EQ(posted(r), Errc::invalid);  // more results than operands
  r.form = AtomicForm::compare;
  r.code.op = AtomicOpcode::cswap;
  r.result = view(old, 1);
  EXPECT_EQ(posted(r), Errc::invalid);  // nothing to compare with
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-037, SES-087, SES-165..168, SES-184, T-29] Refused in this order, and nothing has changed
// then.
TEST_F(AtomicMessagesTest, RequestsThatTheTargetRefuses) {
  const uint64_t key = expose_numbers();
  const Octets one = be64({1});
  const auto refused = [&](uint8_t op, uint8_t type, const Octets& operands, uint64_t offset = 0,
                           SesOpcode opcode = SesOpcode::atomic) {
    return said(atomic(opcode, {AtomicOpcode(op), AtomicDatatype(type)}, operands, key, offset));
  };
  EXPECT_EQ(refused(0x15, 0x40, one), "AMO_UNSUPPORTED_OP");
  EXPECT_EQ(refused(0x0D, 0x07, be64({0, 0, 0, 1})), "AMO_UNSUPPORTED_OP");  // fetches nothing
  EXPECT_EQ(refused(0x02, 0x40, be64({1, 1}), 4), "AMO_UNSUPPORTED_DT");
  EXPECT_EQ(refused(0x02, 0x07, {one.begin(), one.begin() + 7}, 4), "AMO_UNSUPPORTED_SIZE");
  EXPECT_EQ(refused(0x02, 0x07, {}), "AMO_UNSUPPORTED_SIZE");
  EXPECT_EQ(refused(0x0D, 0x07, be64({0, 0, 1}), 0, SesOpcode::fetching_atomic),
            "AMO_UNSUPPORTED_SIZE");
  EXPECT_EQ(refused(0x02, 0x07, one, 4), "AMO_UNALIGNED");
  EXPECT_EQ(refused(0x02, 0x07, one, sizeof numbers_), "BAD_ADDR");
  EXPECT_EQ(refused(0x02, 0x07, be64({1, 1}), sizeof numbers_ - 8), "BAD_ADDR");
  EXPECT_EQ(count(Counter::rx_atomic_refused), 7u);
  for (const uint64_t n : numbers_) EXPECT_EQ(n, 0u);
  EXPECT_EQ(refused(0x02, 0x07, one, sizeof numbers_ - 8), "accept");
  EXPECT_EQ(numbers_[63], 1u);
}

// [SES-046] The extension itself is cut.
TEST_F(AtomicMessagesTest, ATruncatedExtension) {
  const uint64_t key = expose_numbers();
  wire::StandardRequest h = request(SesOpcode::atomic, 8);
  h.match_bits = key;
  Octets octets = encoded(h, kSum64, be64({1}));
  for (size_t cut = wire::StandardRequest::kSize; cut < octets.size(); ++cut) {
    const pds::Verdict v = give_octets(
        {octets.begin(), octets.begin() + static_cast<ptrdiff_t>(cut)}, wire::NextHeader::standard);
    EXPECT_EQ(said(v), "OP_VIOLATION") << cut;
  }
  EXPECT_EQ(count(Counter::rx_truncated), 4u);
  EXPECT_EQ(numbers_[0], 0u);
}

// [SES-036, SES-080] One packet only.
TEST_F(AtomicMessagesTest, NoAtomicOfSeveralPackets) {
  const uint64_t key = expose_numbers();
  wire::StandardRequest h = request(SesOpcode::atomic, 2048);
  h.match_bits = key;
  h = part(h, 0, 1024);
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, Octets(1024)), wire::NextHeader::standard)),
            "OP_VIOLATION");
}

// [SES-083, SES-171] Written operands need the right to write, returned values the right to read; a
// region without rights gives another error.
TEST_F(AtomicMessagesTest, RightsOfTheRegion) {
  const Octets one = be64({1});
  const wire::Atomic read64{AtomicOpcode::read, AtomicDatatype::uint64};
  const auto is_refused = [&](uint32_t access, SesOpcode opcode, const wire::Atomic& extension) {
    const pds::Verdict verdict = atomic(opcode, extension, one, expose_numbers(access));
    return said(verdict) == "OP_VIOLATION";
  };
  EXPECT_FALSE(is_refused(kRemoteWrite, SesOpcode::atomic, kSum64));
  EXPECT_TRUE(is_refused(kRemoteRead, SesOpcode::atomic, kSum64));
  EXPECT_FALSE(is_refused(kRemoteRead, SesOpcode::fetching_atomic, read64));
  EXPECT_TRUE(is_refused(kRemoteWrite, SesOpcode::fetching_atomic, read64));
  EXPECT_EQ(numbers_[0], 1u);
  EXPECT_TRUE(is_refused(kRemoteWrite, SesOpcode::fetching_atomic, kSum64));
  EXPECT_TRUE(is_refused(kRemoteRead, SesOpcode::fetching_atomic, kSum64));
  EXPECT_FALSE(is_refused(kRemoteRead | kRemoteWrite, SesOpcode::fetching_atomic, kSum64));
  EXPECT_EQ(numbers_[0], 2u);
  EXPECT_EQ(said(atomic(SesOpcode::atomic, kSum64, one, expose_numbers(0))), "PERM_VIOLATION");
  EXPECT_EQ(said(atomic(SesOpcode::atomic, kSum64, one, 0x1234)), "BAD_MKEY");
  EXPECT_EQ(numbers_[0], 2u);
}

// [SES-077] An operation with another result when applied twice is not idempotent.
TEST_F(AtomicMessagesTest, NotOnRudi) {
  RegionRequest r;
  slices_.push_back({reinterpret_cast<const std::byte*>(numbers_), sizeof numbers_});
  r.iov = {&slices_.back(), 1};
  r.access = kRemoteRead | kRemoteWrite;
  r.idempotent_safe = true;
  const RegionId id = *b_->ses->memory().add(r);
  b_->ses->memory().enable(id);
  const uint64_t key = b_->ses->memory().key(id);
  EXPECT_EQ(said(atomic(SesOpcode::atomic, kSum64, be64({1}), key, 0, pds::Mode::rudi)),
            "OP_VIOLATION");
  EXPECT_EQ(numbers_[0], 0u);
}

// [SES-084] The target caches nothing, so there is nothing to drop.
TEST_F(AtomicMessagesTest, InvalDoesNothing) {
  const uint64_t key = expose_numbers();
  numbers_[0] = 5;
  EXPECT_EQ(said(atomic(SesOpcode::atomic, {AtomicOpcode::inval, AtomicDatatype::uint64}, be64({1}),
                        key)),
            "accept");
  EXPECT_EQ(numbers_[0], 5u);
}

// [SES-055, SES-081] The answer in the ACK: element in the payload length, request length echoed.
TEST_F(AtomicMessagesTest, TheAnswerOfASwap) {
  const uint64_t key = expose_numbers();
  numbers_[0] = 0x1122;
  const pds::Verdict v =
      atomic(SesOpcode::fetching_atomic, {AtomicOpcode::cswap, AtomicDatatype::uint64},
             be64({0, 0x1122, 0, 0x3344}), key);
  EXPECT_EQ(said(v), "OK data 28");
  EXPECT_EQ(data_of(v), be64({0x1122}));
  EXPECT_TRUE(v.guaranteed);  // a repeated request must not see its own result
  EXPECT_EQ(v.response.bytes[11], std::byte{8});
  EXPECT_EQ(v.response.bytes[15], std::byte{32});
  EXPECT_EQ(numbers_[0], 0x3344u);
}

// [SES-118] No buffer for old values: refused before anything changed, and served later.
TEST_F(AtomicMessagesTest, ShortOfFetchBuffers) {
  config_.fetch_buffers = 1;
  start();
  const uint64_t key = expose_numbers();
  uint64_t operand[3] = {1, 1, 1}, old[2][3] = {};
  AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::fetch, key);
  for (auto& result : old) {
    r.operand = view(operand, 3);
    r.result = view(result, 3);
    ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  }
  transmit();
  ASSERT_EQ(network_.size(), 2u);
  deliver(0);
  deliver(0);
  EXPECT_EQ(count(Counter::rx_no_message_slot), 1u);
  EXPECT_EQ(numbers_[0], 1u);
  deliver_all();
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "fetching_atomic ok 24 #1 | fetching_atomic ok 24 #1");
  EXPECT_EQ(numbers_[0], 2u);
  EXPECT_EQ(old[0][0], 0u);
  EXPECT_EQ(old[1][0], 1u);
}

// [SES-064, SES-065, SES-086] Arithmetic on the receive that matches.
TEST_F(AtomicMessagesTest, TaggedSendsThatCompute) {
  const auto post = [&](uint64_t tag, size_t count) {
    ReceiveRequest r;
    r.iov = view(numbers_, count);
    r.tagged = true;
    r.tag = tag;
    r.context.op = reinterpret_cast<void*>(uintptr_t{2});
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  };
  numbers_[0] = 40;
  EXPECT_EQ(said(atomic(SesOpcode::tsend_atomic, kSum64, be64({2}), 6)), "NO_MATCH");
  post(6, 2);
  EXPECT_EQ(said(atomic(SesOpcode::tsend_atomic, kSum64, be64({2, 3}), 6)), "accept");
  EXPECT_EQ(take(*b_), "tagged_recv ok 16 tag 6 #2");
  EXPECT_EQ(numbers_[0], 42u);
  EXPECT_EQ(numbers_[1], 3u);
  post(7, 1);
  const pds::Verdict v = atomic(SesOpcode::tsend_fetch_atomic, kSum64, be64({8}), 7);
  EXPECT_EQ(data_of(v), be64({42}));
  EXPECT_EQ(numbers_[0], 50u);
  EXPECT_EQ(take(*b_), "tagged_recv ok 8 tag 7 #2");
  post(8, 1);  // room for one of two
  EXPECT_EQ(said(atomic(SesOpcode::tsend_atomic, kSum64, be64({1, 1}), 8)), "OK modified 8");
  EXPECT_EQ(take(*b_), "tagged_recv truncated 8+8 tag 8 #2");
  EXPECT_EQ(numbers_[0], 51u);
  EXPECT_EQ(numbers_[1], 3u);
}

// [LF-097] Remote access counters count it; header data makes a completion.
TEST_F(AtomicMessagesTest, HeaderDataIsReported) {
  const uint64_t key = expose_numbers();
  wire::StandardRequest h = request(SesOpcode::atomic, 8);
  h.match_bits = key;
  h.common.hd = true;
  h.header_data = 99;
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, be64({1})), wire::NextHeader::standard)), "accept");
  EXPECT_EQ(take(*b_), "remote_atomic ok 8 data 99 #0");
  b_->spare_slots = 0;
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, be64({1})), wire::NextHeader::standard)),
            "nack NO_RESOURCE");
  EXPECT_EQ(numbers_[0], 1u);
}

// [LF-097] An atomic that returns old values also counts as a read, with a separate flag.
TEST_F(AtomicMessagesTest, AFetchingAtomicIsReportedAsOne) {
  wire::StandardRequest h = request(SesOpcode::fetching_atomic, 8);
  h.match_bits = expose_numbers();
  h.common.hd = true;
  h.header_data = 99;
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, be64({1})), wire::NextHeader::standard)),
            "OK data 28");
  EXPECT_EQ(take(*b_), "remote_fetching_atomic ok 8 data 99 #0");
}

// [SES-050, SES-118] A completion slot that was booked cannot be given back when the old values
// find no room: a request for both gets neither, and no slot is lost.
TEST_F(AtomicMessagesTest, NoSlotIsBookedForNothing) {
  const uint64_t key = expose_numbers();
  wire::StandardRequest h = request(SesOpcode::fetching_atomic, 24);
  h.match_bits = key;
  h.common.hd = true;
  const uint32_t before = b_->spare_slots;
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, be64({1, 1, 1})), wire::NextHeader::standard)),
            "OP_VIOLATION");
  EXPECT_EQ(b_->spare_slots, before);
  EXPECT_EQ(numbers_[0], 0u);
  // A reply that fits the ACK is served with its header data.
  h.request_length = 8;
  EXPECT_EQ(said(give_octets(encoded(h, kSum64, be64({1})), wire::NextHeader::standard)),
            "OK data 28");
  EXPECT_EQ(b_->spare_slots, before - 1);
  EXPECT_EQ(numbers_[0], 1u);
}

// [SES-049] A packet of an operation that ended leaves the memory alone.
TEST_F(AtomicMessagesTest, ACancelledAtomicDoesNothing) {
  const uint64_t key = expose_numbers();
  a_->pds.allows_void_resend = true;
  const uint64_t one = 1;
  AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::plain, key);
  r.operand = view(&one, 1);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  transmit();
  network_.clear();  // lost
  a_->ses->close_endpoint(a_->ep, now_);
  EXPECT_EQ(take(*a_), "atomic aborted 0 #1");
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(numbers_[0], 0u);
  EXPECT_EQ(count(Counter::rx_initiator_error), 1u);
}

// [SES-118, T-02, T-39] A peer that has old values sent back and acknowledges none of them gets
// half of the buffers, and the next one finds some.
TEST_F(AtomicMessagesTest, APeerLeavesFetchBuffersToOtherPeers) {
  config_.fetch_buffers = 16;
  start();
  const uint64_t key = expose_numbers();
  const auto fetch_until_refused = [&] {
    for (int taken = 0; taken < 100; ++taken) {
      const pds::Verdict v = atomic(SesOpcode::fetching_atomic, kSum64, be64({1, 1, 1}), key);
      if (said(v) != "accept") return taken;
    }
    return 100;
  };
  EXPECT_EQ(fetch_until_refused(), 8);
  EXPECT_EQ(numbers_[0], 8u) << "what was refused changed nothing";
  from_ = another_peer();
  EXPECT_EQ(fetch_until_refused(), 4);
  b_->pds.fail_returns({pds::FailureReason::timeout, {}, false}, now_);
  b_->pds.ends_returns = false;
  EXPECT_EQ(fetch_until_refused(), 8) << "all were given back";
}

// [PDS-119] The PDC ends and it is unknown whether the sum was made: it is not made again.
TEST_F(AtomicMessagesTest, AnAtomicThatMayHaveBeenExecutedDoesNotGoAgain) {
  const uint64_t one = 1;
  AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::plain, expose_numbers());
  r.operand = view(&one, 1);
  ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
  transmit();
  deliver(0);
  network_.clear();  // the answer is lost
  a_->pds.fail_flow(0, {pds::FailureReason::closed, {}, false}, now_);
  deliver_all();
  EXPECT_EQ(take(*a_), "atomic undeliverable 0 #1");
  EXPECT_EQ(numbers_[0], 1u);
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-081] The answer has as many octets as there are old values: with fewer the rest of the
// user's memory would pass for values.
TEST_F(AtomicMessagesTest, OldValuesOfAnotherLengthAreRefused) {
  for (const uint16_t bytes : std::initializer_list<uint16_t>{8, 4}) {
    uint64_t operand = 1, old = 0;
    AtomicRequest r = atomic_request(AtomicOpcode::sum, AtomicForm::fetch, 1);
    r.operand = view(&operand, 1);
    r.result = view(&old, 1);
    ASSERT_TRUE(a_->ses->atomic(a_->ep, r, now_).ok());
    pds::StartedMessage started;
    pds::PacketRef ref;
    ASSERT_TRUE(a_->exchange->start(pds::FlowId(0), pds::PdcHandle(1), started, now_));
    ASSERT_TRUE(a_->exchange->pull(started.message, ref));
    wire::ResponseData h{.payload_length = bytes, .modified_length = 8};
    h.common.return_code = ReturnCode::ok;
    Octets octets(wire::ResponseData::kSize + bytes);
    wire::Writer w(octets);
    h.emit(w);
    a_->exchange->on_response(ref, {wire::NextHeader::response_data, octets, now_}, now_);
    EXPECT_EQ(take(*a_),
              bytes == 8 ? "fetching_atomic ok 8 #1" : "fetching_atomic refused UNCOR 0 #1");
  }
}

}  // namespace
}  // namespace uet::ses::test
