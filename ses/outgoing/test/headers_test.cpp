// Which request header a message has, and what it says in each of its states. [ses.md 3]
#include "ses/outgoing/headers.h"

#include "ses/deferral/deferral.h"
#include "ses/memory/memory_region.h"
#include "ses/outgoing/remote.h"
#include "ses/rendezvous/exposure.h"
#include "wire/ses.h"

#include <gtest/gtest.h>

#include <array>

namespace uet::ses::test {
namespace {

using wire::NextHeader;
using State = TxMessage::State;

// A message of three packets, started.
class HeadersPartTest : public ::testing::Test {
 protected:
  HeadersPartTest() {
    m_.kind = OpKind::send;
    m_.opcode = wire::SesOpcode::send;
    m_.state = State::started;
    remote_.key.pid = PidOnFep(7);
    remote_.key.ri = ResourceIndex(3);
    m_.remote = &remote_;
    m_.flow = &flow_;
    m_.id = MessageId(0x55);
    m_.job = JobId(0x102);
    m_.initiator = 100;
    m_.ri_generation = 6;
    m_.mtu = 1024;
    resize(2500);
  }
  void resize(uint32_t bytes) {
    m_.memory.release(no_long_);
    m_.memory.assign(IoSlice{octets_.data(), bytes});
    m_.segment_length = bytes;
  }
  static pds::PacketRef packet(uint32_t offset, uint16_t length, bool eom = false) {
    pds::PacketRef ref;
    ref.offset = offset;
    ref.length = length;
    ref.som = offset == 0;
    ref.eom = eom;
    return ref;
  }
  static pds::PacketRef whole(uint16_t length) { return packet(0, length, true); }
  // A packet of no payload behind the first one: the message is given up.
  static pds::PacketRef error() { return packet(1024, 0, true); }
  wire::StandardRequest encoded(const pds::PacketRef& ref) {
    wire::Writer w(header_);
    encode_header(m_, ref, w);
    header_bytes_ = w.position();
    wire::Reader r(w.written());
    return wire::StandardRequest::read(r);
  }
  // The payload of that packet: where it lies, and how long it is.
  TxPacket payload(const pds::PacketRef& ref) {
    batch_.clear();
    batch_.begin();
    append_payload(m_, ref, batch_);
    batch_.commit(0, {}, {}, 0, Ecn::not_ect);
    return batch_.packets()[0];
  }
  NextHeader chosen(uint8_t capabilities = kEveryProfile | kTakesSmallHeader) const {
    return choose_header(config_, m_, capabilities);
  }

  Config config_;
  LongIovs no_long_;
  Remote remote_{RemoteKey{}};
  Flow flow_;
  TxMessage m_;
  std::array<std::byte, 4096> octets_{};
  std::array<std::byte, 128> header_{};
  size_t header_bytes_ = 0;
  TxBatch batch_;
};

// [SES-040, SES-043, SES-045] Short headers are asked for, and say all of a message of one packet.
TEST_F(HeadersPartTest, AShortHeaderIsForMessagesOfOnePacket) {
  resize(1024);
  EXPECT_EQ(chosen(), NextHeader::standard);
  config_.medium_headers = true;
  EXPECT_EQ(chosen(), NextHeader::medium);
  Deferral deferral;
  m_.deferral = &deferral;
  EXPECT_EQ(chosen(), NextHeader::standard);
  m_.deferral = nullptr;
  resize(1025);
  EXPECT_EQ(chosen(), NextHeader::standard);
}

// [SES-040, SES-041, SES-008] The small header has neither tag nor data, and no key but the index;
// the standard one is right for all that.
TEST_F(HeadersPartTest, TheSmallHeaderIsForKeysThatAreAnIndex) {
  resize(8);
  config_.small_headers = true;
  m_.match_bits = kOptimizedKey | 9;
  EXPECT_EQ(chosen(), NextHeader::standard) << "a send has match bits";
  m_.kind = OpKind::write;
  EXPECT_EQ(chosen(), NextHeader::small);
  EXPECT_EQ(chosen(kEveryProfile), NextHeader::standard) << "its address does not say so";
  m_.has_data = true;
  EXPECT_EQ(chosen(), NextHeader::standard);
  m_.has_data = false;
  m_.match_bits = 9;
  EXPECT_EQ(chosen(), NextHeader::standard);
}

// [SES-042] The medium header has one place for an offset and for data.
TEST_F(HeadersPartTest, TheMediumHeaderHasAnOffsetOrData) {
  resize(8);
  config_.medium_headers = true;
  m_.kind = OpKind::write;
  m_.remote_offset = 5;
  EXPECT_EQ(chosen(), NextHeader::medium);
  m_.has_data = true;
  EXPECT_EQ(chosen(), NextHeader::standard);
}

// [SES-075] An answer names its read by the message ID, but on RUDI.
TEST_F(HeadersPartTest, AReadNeedsAnId) {
  resize(8);
  config_.medium_headers = true;
  m_.kind = OpKind::read;
  EXPECT_EQ(chosen(), NextHeader::standard);
  flow_.mode = pds::Mode::rudi;
  EXPECT_EQ(chosen(), NextHeader::medium);
}

// [SES-014, SES-015, SES-019, SES-050] The first packet has the header data, the others their
// place.
TEST_F(HeadersPartTest, TheFirstPacketHasTheData) {
  m_.has_data = true;
  m_.header_data = 0xAA;
  m_.delivery_complete = true;
  const wire::StandardRequest first = encoded(packet(0, 1024));
  EXPECT_EQ(first.header_data, 0xAAu);
  EXPECT_TRUE(first.common.hd && first.common.som && first.common.dc && first.common.rel);
  EXPECT_FALSE(first.common.eom || first.common.ie);
  EXPECT_EQ(first.common.ri_generation, 6);
  EXPECT_EQ(first.common.job_id, JobId(0x102));
  EXPECT_EQ(first.common.pid_on_fep, PidOnFep(7));
  EXPECT_EQ(first.common.resource_index, ResourceIndex(3));
  EXPECT_EQ(first.message_id, MessageId(0x55));
  EXPECT_EQ(first.initiator, 100u);
  EXPECT_EQ(first.request_length, 2500u);
  const wire::StandardRequest last = encoded(packet(2048, 452, true));
  EXPECT_FALSE(last.common.hd || last.common.som);
  EXPECT_EQ(last.payload_length, 452);
  EXPECT_EQ(last.message_offset, 2048u);
  EXPECT_EQ(header_bytes_, 44u);
}

// [SES-047] An absolute address does not contain the job.
TEST_F(HeadersPartTest, AnAbsoluteAddressIsNotRelative) {
  remote_.key.absolute = true;
  EXPECT_FALSE(encoded(packet(0, 1024)).common.rel);
}

// [SES-018, LF-131] Offset in the region: that of the operation and of its part.
TEST_F(HeadersPartTest, APartOfAReadHasItsOffset) {
  m_.kind = OpKind::read;
  m_.opcode = wire::SesOpcode::read;
  m_.remote_offset = 100;
  m_.segment_start = 2048;
  EXPECT_EQ(encoded(packet(0, 452, true)).buffer_offset, 2148u);
}

// [SES-049] The user has its memory back: the remaining packets carry zeros, and IE in the header.
TEST_F(HeadersPartTest, PacketsOfAnEndedMessageCarryNothingOfTheUser) {
  octets_[1030] = std::byte{9};
  EXPECT_EQ(payload(packet(1024, 1024)).slices[0].data, octets_.data() + 1024);
  m_.state = State::ended;
  EXPECT_TRUE(encoded(packet(1024, 1024)).common.ie);
  const TxPacket sent = payload(packet(1024, 1024));
  EXPECT_EQ(sent.payload_bytes, 1024u) << "the same shape";
  EXPECT_EQ(sent.slices[0].data[6], std::byte{0});
}

// [SES-105] What ends a message that is given up; of a deferred one it is a packet like others.
// [SES-097]
TEST_F(HeadersPartTest, AMessageThatIsGivenUpEndsWithAnError) {
  EXPECT_EQ(encoded(error()).common.opcode, wire::SesOpcode::msg_error);
  EXPECT_EQ(payload(error()).payload_bytes, 0u);
  Deferral deferral;
  deferral.token = 0x11;
  deferral.target_token = 0x22;
  deferral.is_closed = true;
  m_.deferral = &deferral;
  m_.opcode = wire::SesOpcode::deferrable_send;
  const wire::StandardRequest end = encoded(error());
  EXPECT_EQ(end.common.opcode, wire::SesOpcode::deferrable_send);
  EXPECT_EQ(end.buffer_offset, uint64_t{0x11} << 32 | 0x22);
}

// [SES-088, SES-192] A rendezvous says where the rest is; a probe names it by its key alone.
TEST_F(HeadersPartTest, AProbeNamesTheSourceOfItsMessage) {
  Exposure exposure;
  exposure.source.read_memory_key = 0x77;
  m_.exposure = &exposure;
  m_.opcode = wire::SesOpcode::rendezvous_send;
  encoded(packet(0, 1024));
  EXPECT_EQ(header_bytes_, 44u + 24u);
  m_.is_probe = true;
  const wire::StandardRequest probe = encoded(whole(0));
  EXPECT_EQ(probe.common.opcode, wire::SesOpcode::no_op);
  EXPECT_EQ(probe.match_bits, 0x77u);
  EXPECT_EQ(probe.request_length, 0u);
  EXPECT_EQ(header_bytes_, 44u);
}

// [SES-024, SES-046, SES-084] The request of a read carries no octets; an atomic has an extension,
// except in a packet that ends it.
TEST_F(HeadersPartTest, ReadsCarryNothingAndAtomicsAnExtension) {
  m_.kind = OpKind::read;
  EXPECT_EQ(payload(packet(0, 1024)).payload_bytes, 0u);
  m_.kind = OpKind::atomic;
  m_.atomic = {wire::AtomicOpcode::sum, wire::AtomicDatatype::uint64};
  encoded(whole(8));
  EXPECT_EQ(header_bytes_, 48u);
  EXPECT_EQ(header_[44], std::byte{2});  // SUM
  EXPECT_EQ(header_[45], std::byte{7});  // UINT64
  EXPECT_EQ(header_[46], std::byte{2});  // coherent with the CPU
  encoded(error());
  EXPECT_EQ(header_bytes_, 44u);
}

}  // namespace
}  // namespace uet::ses::test
