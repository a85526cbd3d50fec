// Atomics at the target: judged whole, then done. [ses.md 4.3, SES-184]
#include "ses/incoming/atomic_requests.h"

#include "ses/incoming/test/target.h"

#include <cstring>

namespace uet::ses::test {
namespace {

using uet::test::Calls;
using uet::test::calls_of;
using wire::AtomicDatatype;
using wire::AtomicOpcode;
using wire::SesOpcode;

class AtomicRequestsTest : public SendsTest {
 protected:
  // 64-bit values at the beginning of the region.
  void store(uint64_t value) { std::memcpy(memory_.data(), &value, sizeof value); }
  uint64_t stored() const {
    uint64_t value = 0;
    std::memcpy(&value, memory_.data(), sizeof value);
    return value;
  }
  // With operands in the order of the wire, each of them this octet at its end.
  Request atomic(SesOpcode opcode, uint32_t bytes, uint8_t operand = 5) {
    payload_.fill(std::byte{0});
    for (uint32_t i = 7; i < bytes; i += 8) payload_[i] = std::byte{operand};
    Request q = whole(bytes, opcode);
    q.atomic.atomic_opcode = AtomicOpcode::sum;
    q.atomic.atomic_datatype = AtomicDatatype::uint64;
    return q;
  }
  std::string give(const Request& q) {
    const bool is_send = is_tagged(q.common.opcode);
    verdict_ = is_send ? atomics_.begin_send(*ep_, q) : atomics_.begin(*ep_, q);
    return said(verdict_);
  }

  pds::Verdict verdict_;
};

// [SES-054, SES-082] Operands come with the most significant octet first; each element by itself.
TEST_F(AtomicRequestsTest, AnAtomicChangesEachElement) {
  store(40);
  EXPECT_EQ(give(atomic(SesOpcode::atomic, 16)), "accept");
  EXPECT_EQ(stored(), 45u);
  EXPECT_EQ(memory_[8], std::byte{5});
  EXPECT_EQ(memory_[16], std::byte{0});
}

// [SES-055, SES-081] Old values come back in the order of the wire.
TEST_F(AtomicRequestsTest, OldValuesComeBackInTheAck) {
  store(40);
  EXPECT_EQ(give(atomic(SesOpcode::fetching_atomic, 8)), "OK");
  EXPECT_EQ(stored(), 45u);
  EXPECT_EQ(verdict_.response.length, wire::ResponseData::kSize + 8);
  EXPECT_EQ(verdict_.response.bytes[wire::ResponseData::kSize], std::byte{0});
  EXPECT_EQ(verdict_.response.bytes[wire::ResponseData::kSize + 7], std::byte{40});
}

// [SES-037, SES-081, SES-085] The value to compare, then the operand, in sixteen octets each.
TEST_F(AtomicRequestsTest, ACompareHasTwoOperands) {
  store(40);
  Request q = atomic(SesOpcode::fetching_atomic, 32, 0);
  payload_[15] = std::byte{40};
  payload_[31] = std::byte{50};
  q.atomic.atomic_opcode = AtomicOpcode::cswap;
  EXPECT_EQ(give(q), "OK");
  EXPECT_EQ(stored(), 50u);
  EXPECT_EQ(give(q), "OK");
  EXPECT_EQ(stored(), 50u) << "40 is not there any more";
  q.length = q.request_length = 16;
  q.payload = std::span(payload_).first(16);
  EXPECT_EQ(give(q), "AMO_UNSUPPORTED_SIZE");
}

// [SES-087, SES-184] Several errors are found in their order, before any octet has changed.
TEST_F(AtomicRequestsTest, AWrongRequestIsRefusedBeforeAnyOctetChanges) {
  Request q = atomic(SesOpcode::atomic, 12);
  q.atomic.atomic_opcode = AtomicOpcode(0x60);
  q.buffer_offset = 4;
  EXPECT_EQ(give(q), "AMO_UNSUPPORTED_OP");
  q.atomic.atomic_opcode = AtomicOpcode::sum;
  q.atomic.atomic_datatype = AtomicDatatype(0x60);
  EXPECT_EQ(give(q), "AMO_UNSUPPORTED_DT");
  q.atomic.atomic_datatype = AtomicDatatype::uint64;
  EXPECT_EQ(give(q), "AMO_UNSUPPORTED_SIZE") << "one and a half";
  q.length = q.request_length = 16;
  q.payload = std::span(payload_).first(16);
  answers().is_region_good = false;
  EXPECT_EQ(give(q), "BAD_MKEY");
  answers().is_region_good = true;
  EXPECT_EQ(give(q), "AMO_UNALIGNED");
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(memory_[11], std::byte{0});
}

// [SES-083] The rights that it needs.
TEST_F(AtomicRequestsTest, AnAtomicNeedsTheRightsForWhatItDoes) {
  give(atomic(SesOpcode::atomic, 8));
  EXPECT_EQ(answers().use.access, kRemoteWrite);
  give(atomic(SesOpcode::fetching_atomic, 8));
  EXPECT_EQ(answers().use.access, kRemoteRead | kRemoteWrite);
  Request q = atomic(SesOpcode::fetching_atomic, 8);
  q.atomic.atomic_opcode = AtomicOpcode::read;
  give(q);
  EXPECT_EQ(answers().use.access, static_cast<uint32_t>(kRemoteRead));
}

// [SES-074, SES-118] Many old values go back as a message; without a place for it nothing is done.
TEST_F(AtomicRequestsTest, ManyOldValuesNeedAPlace) {
  store(40);
  res_.config.read_quota_bytes = 24;
  EXPECT_EQ(give(atomic(SesOpcode::fetching_atomic, 24)), "accept");
  EXPECT_EQ(stored(), 45u);
  EXPECT_FALSE(read_answers_.idle());
  EXPECT_EQ(give(atomic(SesOpcode::fetching_atomic, 24)), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(stored(), 45u);
  pds_.has_pdc = false;
  res_.config.read_quota_bytes = 4096;
  EXPECT_EQ(give(atomic(SesOpcode::fetching_atomic, 24)), "drop");
  EXPECT_EQ(stored(), 45u);
}

// [SES-050, LF-097] Header data needs room for a completion, before anything is done.
TEST_F(AtomicRequestsTest, HeaderDataNeedsRoomForACompletion) {
  Request q = atomic(SesOpcode::atomic, 8);
  q.has_data = true;
  has_room_ = false;
  EXPECT_EQ(give(q), "nack NO_RESOURCE");
  EXPECT_EQ(stored(), 0u);
  has_room_ = true;
  EXPECT_EQ(give(q), "accept");
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].kind, OpKind::remote_atomic);
  Request fetch = atomic(SesOpcode::fetching_atomic, 8);
  fetch.has_data = true;
  EXPECT_EQ(give(fetch), "OK");
  EXPECT_EQ(done_.at(1).kind, OpKind::remote_fetching_atomic);
  fetch = atomic(SesOpcode::fetching_atomic, 24);
  fetch.has_data = true;
  EXPECT_EQ(give(fetch), "OP_VIOLATION") << "neither can be given back";
}

// [SES-064, SES-086] A matched receive, in place of a region; a kept message cannot be the
// target.
TEST_F(AtomicRequestsTest, AnAtomicMayGoToAReceive) {
  Request q = atomic(SesOpcode::tsend_atomic, 16);
  answers().kept = &record_;
  EXPECT_EQ(give(q), "NO_MATCH");
  post_receive(100, true);
  EXPECT_EQ(give(q), "accept");
  EXPECT_EQ(octets_[0], std::byte{5});
  EXPECT_EQ(octets_[8], std::byte{5});
  EXPECT_EQ(calls_of("complete"), Calls{"complete 16"});
}

// [SES-137, SES-138, SES-086] Only whole elements fit.
TEST_F(AtomicRequestsTest, OfACutElementNothingChanges) {
  post_receive(12, true);
  ep_->options.reject_truncated = true;
  EXPECT_EQ(give(atomic(SesOpcode::tsend_atomic, 16)), "TOO_LONG");
  ep_->options.reject_truncated = false;
  give(atomic(SesOpcode::tsend_atomic, 16));
  EXPECT_EQ(response_of(verdict_).modified_length, 8u);
  EXPECT_EQ(octets_[0], std::byte{5});
  EXPECT_EQ(octets_[8], std::byte{0});
}

}  // namespace
}  // namespace uet::ses::test
