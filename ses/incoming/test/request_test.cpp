// Reading requests, judging their lengths, and writing the answers. [ses.md 2, 3, 7]
#include "ses/incoming/request.h"

#include "wire/ses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uet::ses::test {
namespace {

using wire::NextHeader;
using wire::ParseError;
using wire::SesOpcode;

wire::StandardRequest standard(SesOpcode opcode = SesOpcode::send) {
  wire::StandardRequest h;
  h.common.opcode = opcode;
  h.common.som = h.common.eom = true;
  h.request_length = 8;
  return h;
}
template <class Header>
std::vector<std::byte> octets_of(const Header& h, size_t behind = 8) {
  std::vector<std::byte> octets(Header::kSize + behind);
  wire::Writer w(octets);
  h.emit(w);
  return octets;
}
Result<Request, ParseError> parsed(const std::vector<std::byte>& octets,
                                   NextHeader next_hdr = NextHeader::standard) {
  pds::RxRequest rx;
  rx.next_hdr = next_hdr;
  rx.ses = octets;
  return parse_request(rx, 1024);
}
ParseError error_of(const std::vector<std::byte>& octets, NextHeader next_hdr) {
  const auto q = parsed(octets, next_hdr);
  return q.ok() ? ParseError{} : q.error();
}

// [SES-046] Header, extension, payload: each must be whole.
TEST(RequestTest, AShortHeaderIsTruncated) {
  for (const SesOpcode opcode : {SesOpcode::send, SesOpcode::atomic, SesOpcode::rendezvous_send}) {
    const size_t extension = opcode == SesOpcode::atomic            ? wire::Atomic::kSize
                             : opcode == SesOpcode::rendezvous_send ? wire::Rendezvous::kSize
                                                                    : 0;
    auto octets = octets_of(standard(opcode), extension + 8);
    ASSERT_TRUE(parsed(octets).ok());
    EXPECT_EQ(parsed(octets)->payload.size(), 8u);
    octets.resize(wire::StandardRequest::kSize + extension);
    EXPECT_TRUE(parsed(octets).ok());
    while (!octets.empty()) {
      octets.pop_back();
      EXPECT_EQ(error_of(octets, NextHeader::standard), ParseError::truncated);
    }
  }
}

// [SES-109] Another version is answered, so it is read.
TEST(RequestTest, AnotherVersionIsRead) {
  wire::StandardRequest h = standard();
  h.common.ver = 2;
  h.message_id = MessageId(9);
  EXPECT_EQ(parsed(octets_of(h))->id, MessageId(9));
}

// [SES-013, WIRE-119] Later packets say how long they are, and it is true.
TEST(RequestTest, ALaterPacketSaysItsLength) {
  wire::StandardRequest h = standard();
  h.common.som = false;
  h.payload_length = 8;
  EXPECT_EQ(parsed(octets_of(h))->length, 8u);
  EXPECT_EQ(error_of(octets_of(h, 7), NextHeader::standard), ParseError::sum_check);
  h.common.opcode = SesOpcode::read;  // asks for them
  EXPECT_EQ(parsed(octets_of(h, 0))->length, 8u);
}

// [SES-017] The first of several packets of a read asks for a whole one; the only one for all.
TEST(RequestTest, AFirstPacketOfAReadAsksForAWholeOne) {
  wire::StandardRequest h = standard(SesOpcode::read);
  h.request_length = 3000;
  EXPECT_EQ(parsed(octets_of(h, 0))->length, 3000u);
  h.common.eom = false;
  EXPECT_EQ(parsed(octets_of(h, 0))->length, 1024u);
}

// [WIRE-062] Header data is in the first packet alone.
TEST(RequestTest, ALaterPacketHasNoHeaderData) {
  wire::StandardRequest h = standard();
  h.common.hd = true;
  h.header_data = 77;
  EXPECT_TRUE(parsed(octets_of(h))->has_data);
  EXPECT_EQ(parsed(octets_of(h))->header_data, 77u);
  h.common.som = false;
  h.payload_length = 8;
  EXPECT_FALSE(parsed(octets_of(h))->has_data);
}

// [SES-043] Some opcodes need fields that the short headers lack.
TEST(RequestTest, SomeOpcodesNeedTheStandardHeader) {
  for (const SesOpcode opcode :
       {SesOpcode::rendezvous_send, SesOpcode::rendezvous_tsend, SesOpcode::deferrable_send,
        SesOpcode::deferrable_tsend, SesOpcode::deferrable_rtr, SesOpcode::msg_error}) {
    wire::MediumRequest medium;
    medium.common.opcode = opcode;
    wire::SmallRequest small;
    small.common.opcode = opcode;
    EXPECT_EQ(error_of(octets_of(medium), NextHeader::medium), ParseError::wrong_type);
    EXPECT_EQ(error_of(octets_of(small), NextHeader::small), ParseError::wrong_type);
  }
  wire::MediumRequest send;
  send.common.opcode = SesOpcode::send;
  EXPECT_TRUE(parsed(octets_of(send), NextHeader::medium).ok());
  EXPECT_EQ(error_of(octets_of(send), NextHeader::response), ParseError::wrong_type);
}

// Octets [offset, offset + length) of a message; `message` is its length.
Request lengths(uint32_t message, uint32_t offset, uint32_t length) {
  Request q;
  q.common.opcode = SesOpcode::write;
  q.common.som = offset == 0;
  q.common.eom = offset + length == message;
  q.request_length = message;
  q.offset = offset;
  q.length = length;
  return q;
}

// [SES-011, SES-012, SES-016, SES-018, SES-022, SES-031, SES-115]
TEST(RequestTest, LengthsAgreeWithEachOther) {
  EXPECT_TRUE(has_legal_lengths(lengths(0, 0, 0)));
  EXPECT_TRUE(has_legal_lengths(lengths(2500, 0, 1024)));
  EXPECT_TRUE(has_legal_lengths(lengths(2500, 1024, 1024)));
  EXPECT_TRUE(has_legal_lengths(lengths(2500, 2048, 452)));
  EXPECT_FALSE(has_legal_lengths(lengths(2500, 0, 1000))) << "no size of a packet";
  EXPECT_FALSE(has_legal_lengths(lengths(4500, 1000, 1024))) << "between packets";
  EXPECT_FALSE(has_legal_lengths(lengths(2500, 2048, 1024))) << "behind the end";
  EXPECT_FALSE(has_legal_lengths(lengths(500, 0, 1024))) << "more than the message has";
  EXPECT_FALSE(has_legal_lengths(lengths(8193, 0, 8193))) << "longer than any packet";
  Request q = lengths(2500, 2048, 452);
  q.common.eom = false;
  EXPECT_FALSE(has_legal_lengths(q)) << "the last one, without its mark";
  q = lengths(2500, 1024, 1024);
  q.common.eom = true;
  EXPECT_FALSE(has_legal_lengths(q)) << "the mark, with octets missing";
  q = lengths(2500, 2500, 0);
  EXPECT_FALSE(has_legal_lengths(q)) << "a last one of nothing";
}

// [SES-024, SES-088] A read carries no octets; a rendezvous pushes no more than its message has.
TEST(RequestTest, ReadsAndRendezvousHaveRulesOfTheirOwn) {
  const std::byte octet{};
  Request read = lengths(8, 0, 8);
  read.common.opcode = SesOpcode::read;
  EXPECT_TRUE(has_legal_lengths(read));
  read.payload = {&octet, 1};
  EXPECT_FALSE(has_legal_lengths(read));
  Request rendezvous = lengths(1024, 0, 1024);
  rendezvous.is_rendezvous = true;
  rendezvous.rendezvous.eager_length = 1024;
  rendezvous.request_length = 9000;
  EXPECT_TRUE(has_legal_lengths(rendezvous));
  rendezvous.request_length = 1023;
  EXPECT_FALSE(has_legal_lengths(rendezvous));
}

// [SES-077, SES-104] Each mode carries only some operations.
TEST(RequestTest, EachModeCarriesOnlyItsOperations) {
  const auto carries = [](pds::Mode mode, SesOpcode opcode, bool is_single = true,
                          bool hd = false) {
    Request q;
    q.mode = mode;
    q.common.opcode = opcode;
    q.common.som = true;
    q.common.eom = is_single;
    q.common.hd = hd;
    return check_mode(q) == wire::ReturnCode::ok;
  };
  EXPECT_TRUE(carries(pds::Mode::rod, SesOpcode::fetching_atomic));
  EXPECT_TRUE(carries(pds::Mode::rudi, SesOpcode::write));
  EXPECT_TRUE(carries(pds::Mode::rudi, SesOpcode::read, false));
  EXPECT_FALSE(carries(pds::Mode::rudi, SesOpcode::write, true, true));
  EXPECT_FALSE(carries(pds::Mode::rudi, SesOpcode::atomic));
  EXPECT_FALSE(carries(pds::Mode::rudi, SesOpcode::send));
  EXPECT_TRUE(carries(pds::Mode::uud, SesOpcode::datagram_send));
  EXPECT_FALSE(carries(pds::Mode::uud, SesOpcode::datagram_send, false));
  EXPECT_FALSE(carries(pds::Mode::uud, SesOpcode::send));
}

std::string hex(const pds::Verdict& v) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < v.response.length; ++i) {
    const auto b = std::to_integer<unsigned>(v.response.bytes[i]);
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}
Request named(NextHeader header) {
  Request q;
  q.header = header;
  q.id = MessageId(0x55);
  q.common.job_id = JobId(0x102);
  q.common.ri_generation = 6;
  q.token.psn = Psn(0x1234);
  q.request_length = 3000;
  q.offset = 1024;
  return q;
}

// [SES-143, SES-146, SES-147] List and opcode; version and code; ID; generation and job; length.
TEST(RequestTest, AResponseNamesItsRequest) {
  const Request q = named(NextHeader::standard);
  EXPECT_EQ(hex(response(q, wire::ReturnCode::bad_generation, 7)),
            "01"
            "02"
            "0055"
            "07000102"
            "00000000");
  EXPECT_EQ(hex(default_response(q)),
            "00"
            "01"
            "0055"
            "06000102"
            "00000000");
  EXPECT_EQ(hex(response_ok({.id = MessageId(0x55),
                             .job = JobId(0x102),
                             .ri_generation = 6,
                             .list = wire::ListCode::overflow,
                             .modified_length = 500})),
            "41"
            "01"
            "0055"
            "06000102"
            "000001f4");
  EXPECT_TRUE(default_response(q).guaranteed);
}

// [SES-144, SES-146, WIRE-078] Data names its read by the ID, or by the PSN where it has none.
TEST(RequestTest, DataNamesItsRead) {
  const std::array<std::byte, 2> data{std::byte{0xAA}, std::byte{0xBB}};
  EXPECT_EQ(hex(data_in_ack(named(NextHeader::standard), data)),
            "02010000"
            "00000102"
            "00550002"
            "00000bb8"
            "00000400"
            "aabb");
  EXPECT_EQ(hex(data_in_ack(named(NextHeader::medium), data)),
            "02010002"
            "00000102"
            "00001234"
            "aabb");
}

}  // namespace
}  // namespace uet::ses::test
