// What becomes of a request, packet by packet, and how it is answered. [ses.md 5]
#include "ses/incoming/incoming.h"

#include "ses/incoming/test/target.h"
#include "wire/ses.h"

#include <array>
#include <vector>

namespace uet::ses::test {
namespace {

using uet::test::calls;
using uet::test::Calls;
using uet::test::calls_of;
using uet::test::was_called;
using wire::SesOpcode;

class IncomingPartTest : public PartTest {
 protected:
  IncomingPartTest() {
    calls().clear();
    answers() = {};
    EXPECT_TRUE(answers_to_reads_.create().ok());
    EXPECT_TRUE(incoming_.create(3).ok());
    ep_ = &open();
    const IoSlice all{octets_.data(), octets_.size()};
    EXPECT_TRUE(receive_.memory.assign({&all, 1}, res_.receive_iovs).ok());
  }
  ~IncomingPartTest() override {
    if (receive_.is_matchable) ep_->queue->untagged.remove(receive_);
  }
  void post_receive() { ep_->queue->untagged.post(receive_); }

  // Packet [offset, offset + length) of a message; `message` is its length in octets.
  static wire::StandardRequest packet(uint32_t message, uint32_t offset, uint32_t length,
                                      SesOpcode opcode = SesOpcode::send) {
    wire::StandardRequest h;
    h.common.opcode = opcode;
    h.common.rel = true;
    h.common.som = offset == 0;
    h.common.eom = offset + length == message;
    h.common.job_id = kJob;
    h.common.pid_on_fep = kPid;
    h.common.resource_index = kRi;
    h.message_id = MessageId(77);
    h.request_length = message;
    h.message_offset = offset;
    h.payload_length = static_cast<uint16_t>(length);
    return h;
  }
  wire::StandardRequest whole(uint32_t bytes, SesOpcode opcode = SesOpcode::send) const {
    return packet(bytes, 0, bytes, opcode);
  }
  // "accept", "nack CODE", or the return code of the response.
  std::string give(const wire::StandardRequest& h, uint32_t payload,
                   pds::Mode mode = pds::Mode::rud) {
    return give(encoded(h, payload), mode);
  }
  static std::vector<std::byte> encoded(const wire::StandardRequest& h, uint32_t payload) {
    std::vector<std::byte> octets(wire::StandardRequest::kSize + payload, std::byte{0xAB});
    wire::Writer w(octets);
    h.emit(w);
    return octets;
  }
  std::string give(std::vector<std::byte> octets, pds::Mode mode = pds::Mode::rud) {
    pds::RxRequest rx;
    rx.peer = peer_;
    rx.mode = mode;
    rx.next_hdr = wire::NextHeader::standard;
    rx.token = {mode == pds::Mode::uud ? pds::PdcHandle{} : kPdc, Psn(next_psn_++)};
    rx.in_order = in_order_;
    rx.ses = octets;
    return said(incoming_.on_request(rx));
  }

  static constexpr pds::PdcHandle kPdc{5};

  MemoryRegions memory_;
  ReadAnswers answers_to_reads_{res_, memory_};
  Outgoing outgoing_{res_, endpoints_, memory_};
  Incoming incoming_{res_, endpoints_, memory_, answers_to_reads_, outgoing_};
  Endpoint* ep_ = nullptr;
  PostedReceive receive_;
  UnexpectedMessage record_;
  uint32_t next_psn_ = 1;
  bool in_order_ = true;  // every packet before the given ones has arrived
  std::array<std::byte, 4000> octets_{};
};

// [SES-117] A message of one packet goes straight into its receive, and no state remains.
TEST_F(IncomingPartTest, AMessageGoesIntoItsReceive) {
  post_receive();
  EXPECT_EQ(give(whole(500), 500), "accept");
  EXPECT_EQ(calls(), Calls{"complete 500"});
  EXPECT_EQ(octets_[499], std::byte{0xAB});
  EXPECT_EQ(octets_[500], std::byte{0});
  EXPECT_TRUE(incoming_.idle());
}

// [SES-020, SES-023] Packets come in any order; the last one completes the receive.
TEST_F(IncomingPartTest, PacketsComeInAnyOrder) {
  post_receive();
  EXPECT_EQ(give(packet(2500, 1024, 1024), 1024), "accept");
  EXPECT_TRUE(incoming_.has_open_message(kPdc));
  EXPECT_EQ(give(packet(2500, 0, 1024), 1024), "accept");
  EXPECT_EQ(calls_of("complete"), Calls{});
  EXPECT_EQ(give(packet(2500, 2048, 452), 452), "accept");
  EXPECT_EQ(calls_of("complete"), Calls{"complete 2500"});
  EXPECT_EQ(octets_[2499], std::byte{0xAB});
  EXPECT_TRUE(incoming_.idle());
}

// [SES-126] Without a receive the message is kept; without room for it its sender tries again.
TEST_F(IncomingPartTest, AMessageWithoutAReceiveIsKept) {
  answers().kept = &record_;
  EXPECT_EQ(give(whole(500), 500), "accept");
  EXPECT_TRUE(was_called("store 500"));
  EXPECT_TRUE(was_called("complete kept"));
  answers().kept = nullptr;
  EXPECT_EQ(give(whole(500), 500), "NO_MATCH");
}

// [PDS-112, SES-188] The application has no room for a completion: the packet leaves no trace.
TEST_F(IncomingPartTest, AMessageWaitsForTheApplication) {
  post_receive();
  answers().may_book = false;
  EXPECT_EQ(give(whole(500), 500), "nack NO_RESOURCE");
  EXPECT_EQ(give(packet(2500, 0, 1024), 1024), "nack NO_RESOURCE");
  EXPECT_EQ(octets_[0], std::byte{0});
  EXPECT_FALSE(incoming_.has_open_message(kPdc));
  EXPECT_TRUE(receive_.is_matchable);
}

// [SES-107] Each packet of a refused message gets the same answer.
TEST_F(IncomingPartTest, EachPacketOfARefusedMessageGetsTheCode) {
  wire::StandardRequest first = packet(2500, 0, 1024), second = packet(2500, 1024, 1024),
                        last = packet(2500, 2048, 452);
  for (wire::StandardRequest* const h : {&first, &second, &last}) {
    h->common.pid_on_fep = PidOnFep(99);
  }
  const std::string code = give(first, 1024);
  EXPECT_NE(code, "accept");
  EXPECT_EQ(give(second, 1024), code);
  EXPECT_EQ(give(last, 452), code);
  EXPECT_TRUE(incoming_.idle());
}

// [SES-083] A write goes into its region, each packet at its place.
TEST_F(IncomingPartTest, AWriteIsPlacedPacketByPacket) {
  EXPECT_EQ(give(packet(1500, 1024, 476, SesOpcode::write), 476), "accept");
  EXPECT_EQ(give(packet(1500, 0, 1024, SesOpcode::write), 1024), "accept");
  EXPECT_EQ(calls_of("place"), (Calls{"place 476 at 1024", "place 1024 at 0"}));
  EXPECT_TRUE(incoming_.idle());
}

// [SES-113, SES-021, SES-190] The packet behind the last one is expected. One octet of its header
// differs: it is judged as if it were not expected.
TEST_F(IncomingPartTest, EachOctetOfAnExpectedPacketIsLookedAt) {
  constexpr uint32_t kBytes = 5000;
  const auto write = [](uint16_t id, uint32_t offset) {
    wire::StandardRequest h = packet(kBytes, offset, 1024, SesOpcode::write);
    h.message_id = MessageId(id);
    return h;
  };
  uint16_t id = 1000;
  const auto outcome = [&](std::initializer_list<uint32_t> before, uint32_t at, unsigned flipped) {
    ++id;
    for (const uint32_t offset : before) EXPECT_EQ(give(write(id, offset), 1024), "accept");
    std::vector<std::byte> octets = encoded(write(id, 3072), 1024);
    octets[at] ^= std::byte(flipped);
    calls().clear();
    std::string result = give(octets);
    for (const std::string& placed : calls_of("place")) result += ", " + placed;
    incoming_.on_pdc_closed(kPdc);
    return result;
  };
  for (uint32_t at = 0; at < wire::StandardRequest::kSize; ++at) {
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
      EXPECT_EQ(outcome({0, 1024, 2048}, at, bit), outcome({2048, 1024, 0}, at, bit)) << at;
    }
  }
  EXPECT_EQ(outcome({0, 1024, 2048}, 0, 0), "accept, place 1024 at 3072");
}

// [SES-190, SES-113] An expected packet is looked at again if it comes twice, or out of turn.
TEST_F(IncomingPartTest, AnExpectedPacketCountsOnce) {
  const auto write = [&](uint32_t offset) {
    return give(packet(9000, offset, 1024, SesOpcode::write), 1024);
  };
  for (const uint32_t offset : {0, 1024, 2048}) EXPECT_EQ(write(offset), "accept");
  EXPECT_EQ(write(4096), "accept");
  EXPECT_EQ(write(3072), "accept");
  EXPECT_EQ(write(4096), "OP_VIOLATION");
  EXPECT_EQ(write(3072), "OP_VIOLATION");
}

// [SES-108, SES-191] The rest of a message is refused by PDS for as long as no place is free for
// its responses: its sender lives, and the message is not idle.
TEST_F(IncomingPartTest, AMessageWhosePacketsFindNoPlaceDoesNotExpire) {
  EXPECT_EQ(give(packet(5000, 0, 1024, SesOpcode::write), 1024), "accept");
  const Duration most_of_it = res_.config.partial_message_time - Duration::milliseconds(1);
  for (int i = 0; i < 3; ++i) {
    res_.now = res_.now + most_of_it;
    incoming_.on_no_place(kPdc);
    incoming_.advance();
    EXPECT_EQ(calls_of("fail"), Calls{}) << i;
  }
  res_.now = res_.now + most_of_it * 2;
  incoming_.advance();
  EXPECT_EQ(calls_of("fail"), Calls{"fail UNDELIVERABLE"}) << "nothing comes any more";
}

// [SES-108, SES-191, PDS-016] A packet of the message could not be read, so the message stays
// incomplete. While packets are refused it waits for its rest, until a later message shows that
// nothing is missing.
TEST_F(IncomingPartTest, AMessageThatAnotherOneFollowsExpiresAlthoughPacketsAreRefused) {
  EXPECT_EQ(give(packet(5000, 0, 1024, SesOpcode::write), 1024), "accept");
  EXPECT_EQ(give(packet(5000, 1024, 1024, SesOpcode::write), 10), "OP_VIOLATION");
  for (const bool is_nothing_missing : {false, true}) {
    in_order_ = is_nothing_missing;
    EXPECT_EQ(give(whole(500, SesOpcode::write), 500), "accept");
    res_.now = res_.now + res_.config.partial_message_time;
    incoming_.on_no_place(kPdc);
    incoming_.advance();
    EXPECT_EQ(calls_of("fail"), is_nothing_missing ? Calls{"fail UNDELIVERABLE"} : Calls{});
  }
}

// [SES-107, SES-113, SES-116] A message ended with its PDC: the packet that it expected begins
// another one, for which the region is looked for anew.
TEST_F(IncomingPartTest, AnExpectedPacketOfAMessageThatIsGoneBeginsAnother) {
  const auto write = [&](uint32_t offset) {
    return give(packet(5000, offset, 1024, SesOpcode::write), 1024);
  };
  for (const bool is_region_good : {false, true}) {
    answers().is_region_good = true;
    for (const uint32_t offset : {0, 1024}) EXPECT_EQ(write(offset), "accept");
    incoming_.on_pdc_closed(kPdc);
    EXPECT_FALSE(incoming_.has_open_message(kPdc));
    calls().clear();
    answers().is_region_good = is_region_good;
    EXPECT_EQ(write(2048), is_region_good ? "accept" : "BAD_MKEY");
    ASSERT_EQ(incoming_.has_open_message(kPdc), is_region_good);
    ASSERT_EQ(calls(), is_region_good ? Calls{"place 1024 at 2048"} : Calls{});
    incoming_.on_pdc_closed(kPdc);
  }
}

// [SES-116] Without a region for it a write is refused, and its memory is not touched.
TEST_F(IncomingPartTest, AWriteWithoutARegionIsRefused) {
  answers().is_region_good = false;
  EXPECT_EQ(give(whole(500, SesOpcode::write), 500), "BAD_MKEY");
  EXPECT_EQ(calls_of("place"), Calls{});
}

// [SES-109] Another version is answered, and nothing else is looked at.
TEST_F(IncomingPartTest, AnotherVersionIsRefused) {
  post_receive();
  wire::StandardRequest h = whole(500);
  h.common.ver = 1;
  EXPECT_EQ(give(h, 500), "UNCOR");
  EXPECT_TRUE(receive_.is_matchable);
}

// [SES-171] A header that contradicts its packet gets an answer, because it comes again until then.
TEST_F(IncomingPartTest, AMalformedRequestIsAnswered) {
  EXPECT_EQ(give(packet(2500, 0, 1024), 10), "OP_VIOLATION");
}

// [SES-105, SES-106] The sender gives the message up: its receive fails.
TEST_F(IncomingPartTest, AMessageErrorEndsTheMessage) {
  post_receive();
  EXPECT_EQ(give(packet(2500, 0, 1024), 1024), "accept");
  wire::StandardRequest end = packet(2500, 1024, 0, SesOpcode::msg_error);
  end.common.eom = true;
  EXPECT_EQ(give(end, 0), "INITIATOR_ERR");
  EXPECT_EQ(calls_of("fail"), Calls{"fail INITIATOR_ERR"});
}

// [SES-108] Its PDC is gone, and with it the rest of the message.
TEST_F(IncomingPartTest, AMessageEndsWithItsPdc) {
  post_receive();
  EXPECT_EQ(give(packet(2500, 0, 1024), 1024), "accept");
  incoming_.on_pdc_closed(kPdc);
  EXPECT_EQ(calls_of("fail"), Calls{"fail UNDELIVERABLE"});
  EXPECT_TRUE(incoming_.idle());
}

// [SES-108] The rest of a message is not waited for without end.
TEST_F(IncomingPartTest, AMessageExpires) {
  post_receive();
  EXPECT_EQ(give(packet(2500, 0, 1024), 1024), "accept");
  const Instant due = incoming_.next_deadline();
  ASSERT_FALSE(due.is_never());
  incoming_.advance();
  EXPECT_EQ(calls_of("fail"), Calls{});
  res_.now = due;
  incoming_.advance();
  EXPECT_EQ(calls_of("fail"), Calls{"fail UNDELIVERABLE"});
}

// [SES-104] A datagram gets no answer.
TEST_F(IncomingPartTest, ADatagramIsNotAnswered) {
  endpoints_.close(*ep_);
  ep_ = &open(pds::Mode::uud);
  wire::StandardRequest h = whole(500, SesOpcode::datagram_send);
  h.message_id = MessageId(0);
  EXPECT_EQ(give(h, 500, pds::Mode::uud), "drop") << "without a receive";
  post_receive();
  EXPECT_EQ(give(h, 500, pds::Mode::uud), "drop");
  EXPECT_EQ(calls_of("complete"), Calls{"complete 500"});
}

// [SES-099] A ready-to-restart goes to the initiator half; one that names no send is refused.
TEST_F(IncomingPartTest, ARestartGoesToTheOtherHalf) {
  wire::StandardRequest h = whole(0, SesOpcode::deferrable_rtr);
  h.match_bits = wire::RestartTokens{5, 6}.pack();
  EXPECT_EQ(give(h, 0), "OP_VIOLATION");
  answers().knows_restart = true;
  EXPECT_EQ(give(h, 0), "accept");
  EXPECT_EQ(calls_of("restart"), (Calls{"restart 5", "restart 5"}));
}

// Ends of operations of SES itself go to the part that posted them.
TEST_F(IncomingPartTest, AnEndGoesToItsPart) {
  InternalEnd done;
  done.pull = 3;
  incoming_.on_end(done);
  done.pull = 0;
  done.restart = 4;
  incoming_.on_end(done);
  EXPECT_EQ(calls(), (Calls{"pull ended", "restart ended", "send_calls"}));
}

}  // namespace
}  // namespace uet::ses::test
