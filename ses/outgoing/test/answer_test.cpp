// The contents of a response, and where returned data goes. [ses.md 7]
#include "ses/outgoing/answer.h"

#include "wire/ses.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace uet::ses::test {
namespace {

using wire::NextHeader;
using wire::ResponseOpcode;
using wire::ReturnCode;

// [SES-142] An ACK without an answer is a good one.
TEST(AnswerTest, NoOctetsMeanThatAllIsWell) {
  const Answer a = read_answer({});
  EXPECT_EQ(a.kind, Answer::Kind::ok);
  EXPECT_TRUE(a.is_default);
  EXPECT_FALSE(a.defers());
}

Answer answer_of(NextHeader next_hdr, std::span<const std::byte> octets) {
  pds::RxResponse response;
  response.next_hdr = next_hdr;
  response.ses = octets;
  return read_answer(response);
}
template <class Header>
std::vector<std::byte> octets_of(const Header& h, size_t data = 0) {
  std::vector<std::byte> octets(Header::kSize + data);
  wire::Writer w(octets);
  h.emit(w);
  return octets;
}

// [SES-142, SES-143, SES-145, SES-095] By opcode and code.
TEST(AnswerTest, AResponseHasItsKind) {
  const auto kind = [](ResponseOpcode opcode, ReturnCode code) {
    wire::Response h;
    h.common.opcode = opcode;
    h.common.return_code = code;
    return answer_of(NextHeader::response, octets_of(h)).kind;
  };
  EXPECT_EQ(kind(ResponseOpcode::default_response, ReturnCode::null), Answer::Kind::ok);
  EXPECT_EQ(kind(ResponseOpcode::response, ReturnCode::ok), Answer::Kind::ok);
  EXPECT_EQ(kind(ResponseOpcode::response, ReturnCode::no_match), Answer::Kind::error);
  EXPECT_EQ(kind(ResponseOpcode::no_response, ReturnCode::ok), Answer::Kind::none);
  EXPECT_EQ(kind(ResponseOpcode::no_response, ReturnCode::no_match), Answer::Kind::error);
  wire::Response waits;
  waits.common.opcode = ResponseOpcode::response;
  waits.common.list = wire::ListCode::overflow;
  EXPECT_TRUE(answer_of(NextHeader::response, octets_of(waits)).defers());
  waits.modified_length = 1;
  EXPECT_FALSE(answer_of(NextHeader::response, octets_of(waits)).defers());
}

// [WIRE-119] A length that is not true, octets that are missing, and a header that answers nothing.
TEST(AnswerTest, WhatCannotBeReadIsMalformed) {
  wire::ResponseData data;
  data.payload_length = 4;
  const auto octets = octets_of(data, 4);
  EXPECT_EQ(answer_of(NextHeader::response_data, octets).kind, Answer::Kind::data);
  for (size_t n = 1; n < octets.size(); ++n) {
    EXPECT_EQ(answer_of(NextHeader::response_data, std::span(octets).first(n)).kind,
              Answer::Kind::malformed);
  }
  EXPECT_EQ(answer_of(NextHeader::standard, octets).kind, Answer::Kind::malformed);
  wire::ResponseDataSmall small;
  small.payload_length = 3;
  EXPECT_EQ(answer_of(NextHeader::response_data_small, octets_of(small, 3)).data.size(), 3u);
  EXPECT_EQ(answer_of(NextHeader::response_data_small, octets_of(small, 4)).kind,
            Answer::Kind::malformed);
}

class TakeDataTest : public ::testing::Test {
 protected:
  TakeDataTest() {
    m_.kind = OpKind::read;
    m_.mtu = 1024;
    m_.segment_length = 2500;
    m_.memory.assign(IoSlice{memory_.data(), 3000});
    data_.fill(std::byte{7});
  }
  bool take(uint32_t offset, uint32_t bytes, uint32_t modified = 2500) {
    return take_data(m_, offset, modified, std::span(data_).first(bytes));
  }

  TxMessage m_;
  std::array<std::byte, 3000> memory_{};
  std::array<std::byte, 1024> data_{};
};

// [SES-024, SES-076, SES-147] A chunk is what one request packet asked for; anything else places
// nothing.
TEST_F(TakeDataTest, AChunkIsThatOfARequest) {
  EXPECT_FALSE(take(0, 1024, 2499)) << "another modified length";
  EXPECT_FALSE(take(512, 1024)) << "between packets";
  EXPECT_FALSE(take(0, 1023)) << "too short";
  EXPECT_FALSE(take(2048, 453)) << "behind the end";
  EXPECT_FALSE(take(3072, 0)) << "behind the end";
  EXPECT_EQ(m_.data_bytes, 0u);
  EXPECT_FALSE(m_.has_semantic_answer);
  EXPECT_TRUE(take(2048, 452));
  EXPECT_EQ(m_.data_bytes, 452u);
  EXPECT_TRUE(m_.has_semantic_answer);
  EXPECT_EQ(memory_[2047], std::byte{0});
  EXPECT_EQ(memory_[2048], std::byte{7});
  EXPECT_EQ(memory_[2500], std::byte{0});
  EXPECT_TRUE(take(0, 1024));
  EXPECT_TRUE(take(1024, 1024));
  EXPECT_FALSE(take(0, 1024)) << "more than the read asked for";
}

// [LF-131] A part of a longer read has its place in it.
TEST_F(TakeDataTest, DataOfALaterPartGoesBehindTheFirst) {
  m_.segment_start = 2500;
  m_.segment_length = 500;
  EXPECT_TRUE(take(0, 500, 500));
  EXPECT_EQ(memory_[2499], std::byte{0});
  EXPECT_EQ(memory_[2500], std::byte{7});
}

// [SES-081, SES-082] Old values come once and whole, the most significant octet first.
TEST_F(TakeDataTest, OldValuesComeTogether) {
  m_.kind = OpKind::fetching_atomic;
  m_.atomic = {wire::AtomicOpcode::sum, wire::AtomicDatatype::uint64};
  m_.segment_length = 8;
  m_.result_bytes = 8;
  m_.result.assign(IoSlice{memory_.data(), 8});
  data_[7] = std::byte{3};
  data_[0] = std::byte{4};
  EXPECT_FALSE(take(0, 7, 8));
  EXPECT_FALSE(take(1, 8, 8));
  EXPECT_FALSE(take(0, 8, 16));
  EXPECT_TRUE(take(0, 8, 8));
  EXPECT_EQ(memory_[0], std::byte{3});
  EXPECT_EQ(memory_[7], std::byte{4});
  EXPECT_FALSE(take(0, 8, 8)) << "twice";
}

// A send expects no data in its answer.
TEST_F(TakeDataTest, ASendTakesNoData) {
  m_.kind = OpKind::send;
  EXPECT_FALSE(take(0, 1024));
}

}  // namespace
}  // namespace uet::ses::test
