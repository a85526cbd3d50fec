// The order in which the target judges requests: every return code it gives.
#include "ses/test/target_fixture.h"

#include "base/test/instructions.h"

namespace uet::ses::test {
namespace {

// [SES-109] Any other version is answered, in the layout of version 0. [SES-146] The echo, by hand.
TEST_F(TargetTest, AnotherVersionIsUncorrectable) {
  wire::StandardRequest h = request(SesOpcode::send, 4);
  h.common.ver = 1;
  h.common.ri_generation = 9;
  const pds::Verdict v = standard(h, 4);
  EXPECT_EQ(said(v), "UNCOR gen 9");
  const uint8_t expected[] = {0x01, 0x20, 0x00, 77, 9, 0x00, 0x01, 0x02, 0, 0, 0, 0};
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(uint8_t(v.response.bytes[i]), expected[i]) << i;
  EXPECT_EQ(count(Counter::rx_bad_version), 1u);
}

// [SES-110, SES-067..070, SES-156] Everything
// that is not served says so, before the endpoint is looked at.
TEST_F(TargetTest, UnknownOperationsAreUnsupported) {
  for (uint32_t code = 0; code < 0x40; ++code) {
    if (code <= 15) continue;
    wire::StandardRequest h = request(SesOpcode(code), 4);
    h.common.pid_on_fep = PidOnFep(999);
    EXPECT_EQ(said(standard(h, 4)), "UNSUPPORTED_OP") << code;
  }
  EXPECT_EQ(count(Counter::rx_unsupported_op), 48u);
}

// [SES-051] A NO_OP is one packet without payload, with any header.
TEST_F(TargetTest, NoOpIsOneEmptyPacket) {
  EXPECT_EQ(said(standard(request(SesOpcode::no_op, 0), 0)), "accept");
  EXPECT_EQ(said(standard(request(SesOpcode::no_op, 4), 4)), "OP_VIOLATION");
  EXPECT_EQ(said(standard(part(request(SesOpcode::no_op, 5000), 0, 1024), 1024)), "OP_VIOLATION");
  wire::MediumRequest medium;
  medium.common = request(SesOpcode::no_op, 0).common;
  EXPECT_EQ(said(give(medium, 0, wire::NextHeader::medium)), "accept");
  medium.request_length = 4;
  EXPECT_EQ(said(give(medium, 4, wire::NextHeader::medium)), "OP_VIOLATION");
}

// [SES-111, SES-112, SES-002..004, SES-006, SES-007, SES-051, SES-172..174]
TEST_F(TargetTest, MissingEndpointsAreDistinguished) {
  wire::StandardRequest h = request(SesOpcode::no_op, 0);
  EXPECT_EQ(said(standard(h, 0)), "accept");
  h.common.job_id = JobId(3);
  EXPECT_EQ(said(standard(h, 0)), "BAD_JOB_ID");
  h.common.job_id = kJob;
  h.common.pid_on_fep = PidOnFep(8);
  EXPECT_EQ(said(standard(h, 0)), "BAD_PID");
  h.common.pid_on_fep = kPid;
  h.common.resource_index = ResourceIndex(0);
  EXPECT_EQ(said(standard(h, 0)), "BAD_INDEX");
  // Absolute addressing knows other endpoints, whatever the JobID.
  h = request(SesOpcode::no_op, 0);
  h.common.rel = false;
  EXPECT_EQ(said(standard(h, 0)), "BAD_PID");
  h.common.job_id = JobId(3);
  EXPECT_EQ(said(standard(h, 0)), "BAD_PID") << "an unknown job is not the reason";
  h.common.job_id = kJob;
  EndpointName name;
  name.job = JobId(4);
  name.pid = kPid;
  name.ri = kRi;
  name.absolute = true;
  ASSERT_TRUE(b_->ses->open_endpoint(name, options_, {}, {}).ok());
  EXPECT_EQ(said(standard(h, 0)), "accept");
  EXPECT_EQ(b_->ses->open_endpoint(name, options_, {}, {}).error(), Errc::exists);
}

// [SES-114, SES-049, SES-182] IE: nothing is matched, nothing touched.
TEST_F(TargetTest, InitiatorErrorTouchesNothing) {
  Octets memory(10), room(10);
  wire::StandardRequest w = write_to(expose(memory), 10);
  w.common.ie = true;
  EXPECT_EQ(said(standard(w, 10)), "INITIATOR_ERR");
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  wire::StandardRequest s = request(SesOpcode::send, 10);
  s.common.ie = true;
  EXPECT_EQ(said(standard(s, 10)), "INITIATOR_ERR");
  EXPECT_EQ(memory, Octets(10));
  EXPECT_EQ(room, Octets(10));
  EXPECT_EQ(take(*b_), "");
}

// [SES-114, SES-131..134, SES-136] Untagged and RMA share one generation, tagged has its own; RUD
// does not disable, but sees what ROD disabled.
TEST_F(TargetTest, GenerationsAreKeptPerClass) {
  config_.unexpected_bytes = 0;
  config_.disable_index = true;
  start();
  Octets memory(10), room(10);
  const uint64_t key = expose(memory);
  wire::StandardRequest s = request(SesOpcode::send, 4);
  wire::StandardRequest t = request(SesOpcode::tagged_send, 4);
  EXPECT_EQ(said(standard(s, 4)), "NO_MATCH");
  EXPECT_EQ(said(standard(write_to(key, 4), 4)), "accept");
  EXPECT_EQ(said(standard(s, 4, pds::Mode::rod)), "DISABLED_GEN");
  EXPECT_EQ(said(standard(s, 4)), "DISABLED_GEN");
  EXPECT_EQ(said(standard(write_to(key, 4), 4)), "DISABLED_GEN");
  EXPECT_EQ(said(standard(t, 4)), "NO_MATCH");  // another class
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  EXPECT_EQ(said(standard(s, 4)), "BAD_GENERATION gen 1");
  s.common.ri_generation = 1;
  EXPECT_EQ(said(standard(s, 4)), "accept");
  EXPECT_EQ(take(*b_), "recv ok 4 #2");
  // [LF-039] Enabling a region brings a disabled untagged index back as well.
  EXPECT_EQ(said(standard(s, 4, pds::Mode::rod)), "DISABLED_GEN gen 1");
  expose(memory);
  EXPECT_EQ(said(standard(s, 4)), "BAD_GENERATION gen 2");
}

// [SES-011, SES-115, SES-012..018, SES-016, WIRE-119, T-23]
TEST_F(TargetTest, LengthsThatContradictEachOtherAreRefused) {
  Octets memory(100'000);
  const uint64_t key = expose(memory);
  struct Case {
    bool som, eom;
    uint32_t request, offset, length, payload;
    const char* answer;
  };
  const Case cases[] = {
      {true, true, 10, 0, 0, 10, "accept"},
      {true, true, 10, 0, 0, 9, "OP_VIOLATION"},
      {true, true, 10, 0, 0, 11, "OP_VIOLATION"},
      {true, true, 1025, 0, 0, 1025, "accept"},        // above our MTU, not above the largest
      {true, true, 8193, 0, 0, 8193, "OP_VIOLATION"},  // above any MTU
      {true, false, 9000, 0, 0, 8192, "accept"},
      {true, false, 2000, 0, 0, 1000, "OP_VIOLATION"},  // no legal MTU
      {true, false, 2000, 0, 0, 2000, "OP_VIOLATION"},
      {true, false, 1024, 0, 0, 1024, "OP_VIOLATION"},  // the whole message, yet not the last
                                                        // packet
      {true, false, 2000, 0, 0, 1024, "accept"},
      {false, false, 3000, 1024, 1024, 1024, "accept"},
      {false, false, 3000, 1000, 1024, 1024, "OP_VIOLATION"},  // between the packets
      {false, true, 3000, 2048, 952, 952, "accept"},
      {false, true, 3000, 2048, 951, 951, "OP_VIOLATION"},
      {false, true, 3000, 2049, 952, 952, "OP_VIOLATION"},
      {false, true, 3000, 3000, 0, 0, "OP_VIOLATION"},
      {false, true, 100, 0, 100, 100, "OP_VIOLATION"},             // begins, but is not a first
                                                                   // packet
      {false, true, 100, 4294966372, 1024, 1024, "OP_VIOLATION"},  // ends at 100, modulo 2^32
      {false, false, 3000, 4294966272, 1024, 1024, "OP_VIOLATION"},
      {true, true, 4294967295, 0, 0, 10, "UNSUPPORTED_SIZE"},  // [SES-157, SES-030]
      {false, true, 3000, 2048, 952, 900, "OP_VIOLATION"},     // the octets are not there
      {false, true, 3000, 2048, 900, 952, "OP_VIOLATION"},
  };
  uint16_t id = 100;
  for (const Case& c : cases) {
    wire::StandardRequest h = write_to(key, c.request);
    h.message_id = MessageId(id++);
    h.common.som = c.som;
    h.common.eom = c.eom;
    h.message_offset = c.offset;
    h.payload_length = static_cast<uint16_t>(c.length);
    EXPECT_EQ(said(standard(h, c.payload)), c.answer) << "case " << id - 101;
  }
}

// [SES-116, SES-175, SES-176, SES-170, SES-171, SES-083, LF-037, T-22]
TEST_F(TargetTest, KeysRightsAndBoundsAreChecked) {
  Octets memory(1000);
  const auto key_of = [&](auto change) {
    RegionRequest r;
    r.iov = keep(memory);
    r.access = kRemoteRead | kRemoteWrite;
    change(r);
    const RegionId id = *b_->ses->memory().add(r);
    b_->ses->memory().enable(id);
    return b_->ses->memory().key(id);
  };
  const uint64_t key = expose(memory);
  EXPECT_EQ(said(standard(write_to(key, 1000), 1000)), "accept");
  EXPECT_EQ(said(standard(write_to(key, 0, 1000), 0)), "accept");
  EXPECT_EQ(said(standard(write_to(key, 1, 1000), 1)), "BAD_ADDR");
  EXPECT_EQ(said(standard(write_to(key, 2, UINT64_MAX), 2)), "BAD_ADDR");
  EXPECT_EQ(said(standard(write_to(key ^ (1ull << 30), 1), 1)), "BAD_MKEY");
  EXPECT_EQ(said(standard(write_to(0, 1), 1)), "BAD_MKEY");
  EXPECT_EQ(said(standard(write_to(UINT64_MAX, 1), 1)), "BAD_MKEY");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.job = 999; }), 1), 1)), "BAD_MKEY");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.job = 0x102; }), 1), 1)), "accept");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.ri = 4; }), 1), 1)), "BAD_MKEY");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.ri = 3; }), 1), 1)), "accept");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.access = 0; }), 1), 1)),
            "PERM_VIOLATION");
  EXPECT_EQ(said(standard(write_to(key_of([](auto& r) { r.access = kRemoteRead; }), 1), 1)),
            "OP_VIOLATION");
  wire::StandardRequest read = request(SesOpcode::read, 4);
  read.match_bits = key_of([](auto& r) { r.access = kRemoteWrite; });
  EXPECT_EQ(said(standard(read, 0)), "OP_VIOLATION");
  read.match_bits = key;
  EXPECT_EQ(said(standard(read, 0)), "OK data 24");
  EXPECT_EQ(said(standard(read, 4)), "OP_VIOLATION");  // a read has no payload [SES-024]
  RegionRequest off;
  off.iov = keep(memory);
  off.access = kRemoteWrite;
  const RegionId disabled = *b_->ses->memory().add(off);
  EXPECT_EQ(said(standard(write_to(b_->ses->memory().key(disabled), 1), 1)), "BAD_MKEY");
  b_->ses->memory().remove(region_);
  EXPECT_EQ(said(standard(write_to(key, 1), 1)), "BAD_MKEY");
}

// [SES-049, SES-021, SES-107, SES-113, SES-170, T-19, T-26] Fields that may not change inside a
// message; after a change the whole message has an error.
TEST_F(TargetTest, AMessageThatChangesIsErrored) {
  Octets memory(5000);
  const uint64_t key = expose(memory);
  uint16_t id = 200;
  const auto changed = [&](auto change) {
    wire::StandardRequest h = write_to(key, 3000);
    h.message_id = MessageId(id++);
    EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
    wire::StandardRequest second = part(h, 1024, 1024);
    change(second);
    const std::string answer = said(standard(second, 1024));
    EXPECT_EQ(said(standard(part(h, 2048, 952), 952)), answer);  // the same for all that follow
    return answer;
  };
  EXPECT_EQ(changed([](auto&) {}), "accept");
  EXPECT_EQ(changed([](auto& h) { h.match_bits ^= 1; }), "PERM_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.common.job_id = JobId(9); }), "PERM_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.common.pid_on_fep = PidOnFep(9); }), "PERM_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.initiator = 6; }), "PERM_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.common.opcode = SesOpcode::send; }), "OP_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.request_length = 4000; }), "OP_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.buffer_offset = 1; }), "OP_VIOLATION");
  EXPECT_EQ(changed([](auto& h) { h.common.ie = true; }), "INITIATOR_ERR");
  EXPECT_TRUE(b_->ses->idle());  // each was closed by its last octet
}

// [T-26] Octets are counted, so repeating a packet under a new PSN must not complete a message
// early.
TEST_F(TargetTest, AMessageIsNotCompletedByRepetition) {
  Octets room(3000);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  wire::StandardRequest h = request(SesOpcode::send, 2048);
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024)), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-115, T-26] Nor may the first packet come twice while there is room for its octets.
TEST_F(TargetTest, ASecondFirstPacketIsRefused) {
  Octets room(3000);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  const wire::StandardRequest h = request(SesOpcode::send, 3000);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-011, SES-115] Nor is a message complete without its first packet.
TEST_F(TargetTest, AllOctetsWithoutAFirstPacketMakeNoMessage) {
  Octets room(2048);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  const wire::StandardRequest h = request(SesOpcode::send, 2048);
  wire::StandardRequest first = part(h, 0, 1024);
  first.common.som = false;
  EXPECT_EQ(said(standard(first, 1024)), "accept");
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024)), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-016] All packets but the last have the length of the first.
TEST_F(TargetTest, PacketsOfAMessageHaveOneLength) {
  Octets room(8192);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  const wire::StandardRequest h = request(SesOpcode::send, 8192);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(part(h, 2048, 2048), 2048)), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-066, SES-105, SES-106]
TEST_F(TargetTest, MsgErrorEndsAMessage) {
  Octets room(3000);
  wire::StandardRequest h = request(SesOpcode::send, 3000);
  wire::StandardRequest error = part(h, 1024, 0);
  error.common.opcode = SesOpcode::msg_error;
  error.common.eom = true;
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(error, 0)), "INITIATOR_ERR");
  EXPECT_EQ(take(*b_), "recv refused INITIATOR_ERR 0 #2");
  EXPECT_TRUE(b_->ses->idle());
  // For an unknown message; its data, overtaken, gets the same answer and closes it.
  EXPECT_EQ(said(standard(error, 0)), "OP_VIOLATION");
  EXPECT_FALSE(b_->ses->idle());
  EXPECT_EQ(said(standard(error, 0)), "OP_VIOLATION");  // repeated
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "OP_VIOLATION");
  EXPECT_TRUE(b_->ses->idle());
  // With SOM, or without EOM.
  error.common.som = true;
  EXPECT_EQ(said(standard(error, 0)), "OP_VIOLATION");
  error.common.som = error.common.eom = false;
  EXPECT_EQ(said(standard(error, 0)), "OP_VIOLATION");
  EXPECT_TRUE(b_->ses->idle());
  EXPECT_GE(b_->ses->counters()[Counter::rx_msg_error_misused], 3u);
}

// [SES-118] Without a slot to track it, PDS is asked to try again; nothing was begun.
TEST_F(TargetTest, NoTrackingSlotIsANack) {
  config_.rx_messages = 3;  // one peer gets two
  start();
  Octets memory(5000), room(5000);
  const uint64_t key = expose(memory);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  for (uint16_t id = 1; id <= 2; ++id) {
    wire::StandardRequest h = write_to(key, 3000);
    h.message_id = MessageId(id);
    EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  }
  wire::StandardRequest s = request(SesOpcode::send, 3000);
  EXPECT_EQ(said(standard(part(s, 0, 1024), 1024)), "nack NO_SES_MSG_AVAIL");
  wire::StandardRequest bad = write_to(1, 3000);
  EXPECT_EQ(said(standard(part(bad, 0, 1024), 1024)), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(count(Counter::rx_no_message_slot), 2u);
  s.request_length = 10;
  EXPECT_EQ(said(standard(s, 10)), "accept");  // single packets need no slot
  EXPECT_EQ(take(*b_), "recv ok 10 #2");
}

// [decision 6, T-27] A peer that begins message after message and ends none gets half of the slots;
// the next one still finds room, and half of the rest.
TEST_F(TargetTest, APeerLeavesAsManySlotsAsItHolds) {
  config_.rx_messages = 8;
  start();
  Octets memory(5000);
  const uint64_t key = expose(memory);
  uint16_t id = 1;
  const auto begun = [&](PeerId peer) {
    from_ = peer;
    int accepted = 0;
    for (int i = 0; i < 8; ++i) {
      wire::StandardRequest h = write_to(key, 3000);
      h.message_id = MessageId(id++);
      accepted += said(standard(part(h, 0, 1024), 1024)) == "accept";
    }
    return accepted;
  };
  EXPECT_EQ(begun(PeerId(0)), 4);
  EXPECT_EQ(count(Counter::rx_peer_slots_used), 4u);
  EXPECT_EQ(begun(another_peer()), 2);
  // Ended messages free their room: the rest of the first message.
  from_ = PeerId(0);
  wire::StandardRequest first = write_to(key, 3000);
  first.message_id = MessageId(1);
  EXPECT_EQ(said(standard(part(first, 1024, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(part(first, 2048, 952), 952)), "accept");
  EXPECT_EQ(begun(PeerId(0)), 0) << "three left of it, three free: one more would be too many";
  EXPECT_EQ(begun(another_peer(1)), 2);
}

// [decision 6, SES-126] The same for messages without a receive, by number and by octets.
TEST_F(TargetTest, APeerLeavesAsMuchRoomForKeptMessagesAsItHolds) {
  config_.unexpected_messages = 8;
  config_.unexpected_bytes = 100 * 4096;
  start();
  uint16_t id = 1;
  const auto kept = [&](PeerId peer) {
    from_ = peer;
    int accepted = 0;
    for (int i = 0; i < 8; ++i) {
      wire::StandardRequest h = request(SesOpcode::send, 10);
      h.message_id = MessageId(id++);
      accepted += said(standard(h, 10)) != "NO_MATCH";
    }
    return accepted;
  };
  EXPECT_EQ(kept(PeerId(0)), 4);
  EXPECT_EQ(count(Counter::rx_peer_room_used), 4u);
  EXPECT_EQ(kept(another_peer()), 2);
  // Octets: five pages of ten, then nothing, while another peer gets three of the rest.
  config_.unexpected_messages = 64;
  config_.unexpected_bytes = 10 * 4096;
  start();
  EXPECT_EQ(kept(PeerId(0)), 5);
  EXPECT_EQ(kept(another_peer()), 3);
}

// [T-24, SES-126] A message may claim any length: the claim takes no room that does not exist, and
// no room stays taken.
TEST_F(TargetTest, AClaimedLengthReservesNoMissingRoom) {
  config_.unexpected_bytes = 10 * 4096;
  config_.rx_messages = 4;
  start();
  for (uint32_t i = 0; i < 10'000; ++i) {
    wire::StandardRequest h = request(SesOpcode::send, i % 2 == 0 ? UINT32_MAX : UINT32_MAX / 2);
    h.message_id = MessageId(static_cast<uint16_t>(i));
    h.common.eom = false;
    h.payload_length = 1024;
    const std::string answer = said(standard(h, 1024));
    ASSERT_TRUE(answer.starts_with("NO_MATCH") || answer.starts_with("UNSUPPORTED_SIZE") ||
                answer == "nack NO_SES_MSG_AVAIL")
        << answer;
  }
  EXPECT_EQ(count(Counter::rx_unexpected), 0u);
  EXPECT_EQ(said(standard(request(SesOpcode::send, 1000), 1000)).rfind("OK", 0), 0u)
      << "there is room for what is there";
}

// [SES-118] The last slot of a peer is for a message with no missing message before it: only that
// one is sure to complete.
TEST_F(TargetTest, TheLastTrackingSlotIsForAMessageInOrder) {
  config_.rx_messages = 4;  // one peer gets two
  start();
  Octets memory(5000);
  const uint64_t key = expose(memory);
  const auto first_of = [&](uint16_t id) {
    wire::StandardRequest h = write_to(key, 3000);
    h.message_id = MessageId(id);
    return said(standard(part(h, 0, 1024), 1024));
  };
  in_order_ = false;
  EXPECT_EQ(first_of(1), "accept");
  EXPECT_EQ(first_of(2), "nack NO_SES_MSG_AVAIL");
  in_order_ = true;
  EXPECT_EQ(first_of(2), "accept");
  EXPECT_EQ(first_of(3), "nack NO_SES_MSG_AVAIL");
}

// [PDS-181] PDS may ask whether a PDC carries a message that is not complete.
TEST_F(TargetTest, AHalfReceivedMessageIsOpen) {
  Octets memory(5000);
  const uint64_t key = expose(memory);
  const pds::PdcHandle pdc(StubPds::kTargetPdc);
  const wire::StandardRequest h = write_to(key, 2000);
  EXPECT_FALSE(b_->exchange->has_open_message(pdc));
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024)), "accept");
  EXPECT_TRUE(b_->exchange->has_open_message(pdc));
  EXPECT_FALSE(b_->exchange->has_open_message(pds::PdcHandle(StubPds::kTargetPdc + 1)));
  EXPECT_EQ(said(standard(part(h, 1024, 976), 976)), "accept");
  EXPECT_FALSE(b_->exchange->has_open_message(pdc));
  // A refused message is known until its end, but does not wait.
  wire::StandardRequest refused = write_to(key, 3000, 4000);
  refused.message_id = MessageId(78);
  EXPECT_EQ(said(standard(part(refused, 0, 1024), 1024)), "BAD_ADDR");
  EXPECT_FALSE(b_->exchange->has_open_message(pdc));
}

// [SES-107, SES-009] A message that was given up stays known, but its sender may use the identifier
// again: a second beginning belongs to another message.
TEST_F(TargetTest, IdentifierOfAMessageGivenUpMayBeUsedAgain) {
  const wire::StandardRequest h = request(SesOpcode::send, 2048);
  Octets room(2048);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  standard(part(h, 0, 1024), 1024);
  now_ = now_ + Duration::seconds(60);
  b_->advance(now_);
  EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  standard(part(h, 0, 1024), 1024);
  standard(part(h, 1024, 1024), 1024);
  EXPECT_EQ(take(*b_), "recv ok 2048 #2");
  EXPECT_EQ(b_->ses->counters()[Counter::rx_repeated_error], 0u);
}

// [T-02, decision 11] While a kept message waits for room in the completion queue, packets cost the
// same however many messages are kept, and the first one after there is room brings it.
TEST_F(TargetTest, PacketsDoNotSearchForStalledMessages) {
  uint64_t cost[2] = {0, 0};
  config_.unexpected_messages = 2048;
  config_.unexpected_bytes = 16 << 20;
  for (const bool is_many : {false, true}) {
    start();
    const uint32_t others = is_many ? 500 : 10;
    for (uint32_t i = 0; i < others; ++i) standard(request(SesOpcode::send, 4), 4);
    wire::StandardRequest h = request(SesOpcode::send, 8);
    h.initiator = 6;
    EXPECT_NE(said(standard(h, 8)), "NO_MATCH");
    Octets room(4000);
    ReceiveRequest r = receive_request(room);
    r.multi = r.directed = true;
    r.from = from_;
    r.from_initiator = 6;
    b_->spare_slots = 0;
    ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
    EXPECT_EQ(take(*b_), "");
    const auto no_op = [&] { standard(request(SesOpcode::no_op, 0), 0); };
    const auto counted = uet::test::instructions_of(no_op);
    EXPECT_EQ(take(*b_), "");
    b_->spare_slots = 1;
    no_op();
    EXPECT_EQ(take(*b_), "recv ok 8 #2");
    if (!counted) GTEST_SKIP() << "instructions are counted on x86-64 only";
    cost[is_many] = *counted;
  }
  EXPECT_LE(cost[1], cost[0] + cost[0] / 4 + 200) << cost[0] << " among few";
}

}  // namespace
}  // namespace uet::ses::test
