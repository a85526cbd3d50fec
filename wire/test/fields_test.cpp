// The lists of fields against the octets that the headers emit: each field has as many bits there
// as its list says. Names, values and presence are held against the vectors by golden_test.cpp.
#include "wire/fields.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

namespace uet::wire {
namespace {

using test::emitted;
using test::Octets;

// Fields that choose the form of a header, each with the values that do.
struct Form {
  std::string_view field;
  uint64_t value;
};
const std::vector<Form> kForms = {{"", 0},        {"syn", 1},      {"p", 1},       {"nt", 1},
                                  {"epsn", 1},    {"hd", 1},       {"som", 0},     {"som", 1},
                                  {"cc_type", 1}, {"cc_type", 2},  {"opcode", 1},  {"opcode", 8},
                                  {"opcode", 12}, {"ctl_type", 7}, {"ctl_type", 8}};

template <class Variant>
Octets octets_in(const Variant& header) {
  return std::visit(
      [](const auto& h) {
        if constexpr (requires(Writer & w) { h.emit(w); }) return emitted(h);
        return Octets();
      },
      header);
}

int different_bits(const Octets& a, const Octets& b) {
  EXPECT_EQ(a.size(), b.size());
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    count += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
  }
  return count;
}

// Sets every field of the header to 0 and then to all ones, in a form of the header that has it.
template <class Variant>
void expect_width(const Variant& header, const Field& f) {
  SCOPED_TRACE(f.name);
  bool has_form = false;
  for (const Form& form : kForms) {
    Variant tried = header;
    if (!form.field.empty() && form.field != f.name &&
        set_field(tried, form.field, form.value) != SetField::done) {
      continue;
    }
    Variant ones = tried;
    const uint64_t all = f.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << f.bits) - 1;
    ASSERT_EQ(set_field(tried, f.name, 0), SetField::done);
    ASSERT_EQ(set_field(ones, f.name, all), SetField::done);
    const FieldList read = fields_of(ones);
    ASSERT_EQ(read.find(f.name)->value, all);
    if (f.bits < 64) {
      ASSERT_EQ(set_field(ones, f.name, all + 1), SetField::out_of_range);
    }
    if (!fields_of(tried).find(f.name)->is_present || !read.find(f.name)->is_present) continue;
    has_form = true;
    const Octets without = octets_in(tried);
    const Octets with = octets_in(ones);
    if (with.size() != without.size()) continue;  // ACK: epsn adds its payload
    EXPECT_EQ(different_bits(without, with), std::min<int>(f.bits, 64));
    break;
  }
  EXPECT_TRUE(has_form) << "no form of the header has the field";
}

template <class Variant>
void expect_widths(const Variant& header) {
  SCOPED_TRACE(header_name(header));
  std::set<std::string_view> names;
  for (const Field& f : fields_of(header)) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name << " is there twice";
    Variant tried = header;
    if (!f.can_be_set()) {
      EXPECT_EQ(set_field(tried, f.name, 0), SetField::not_settable) << f.name;
      continue;
    }
    // A bit that makes the header longer, and an opcode that this extension cannot have.
    if (f.name == "epsn" || header_name(header) == std::string_view("COMPARE_SWAP")) continue;
    if (f.name == "ctl_type" || f.name == "opcode" || f.name == "som" || f.name == "hd" ||
        f.name == "syn" || f.name == "p" || f.name == "nt") {
      continue;  // they move other fields; the golden vectors have them
    }
    expect_width(header, f);
  }
  Variant tried = header;
  EXPECT_EQ(set_field(tried, "no_such", 0), SetField::no_such_field);
}

// [WIRE-045..049, WIRE-065..067, WIRE-075..078]
TEST(FieldsTest, FieldsHaveTheirBitsInTheOctetsOfTheHeader) {
  for (const PdsHeader& header :
       std::vector<PdsHeader>{Request{.type = PdsType::rud_cc_request}, Ack{}, AckCc{}, AckCcx{},
                              Nack{}, NackCcx{}, Control{}, RudiRequest{}, RudiResponse{}, Uud{}}) {
    expect_widths(header);
  }
  for (const SesHeader& header : std::vector<SesHeader>{
           SmallRequest{}, MediumRequest{}, StandardRequest{.common = {.som = true}}, Response{},
           ResponseData{}, ResponseDataSmall{}}) {
    expect_widths(header);
  }
  for (const SesExtension& header :
       std::vector<SesExtension>{Rendezvous{}, Atomic{}, CompareSwap{}}) {
    expect_widths(header);
  }
}

struct Width {
  const char* header;
  const char* field;
  unsigned bits;
};

template <class Variant>
void expect_bits(const Variant& header, const Width& width) {
  const FieldList fields = fields_of(header);
  const Field* const field = fields.find(width.field);
  ASSERT_NE(field, nullptr) << width.header << ' ' << width.field;
  EXPECT_EQ(field->bits, width.bits) << width.header << ' ' << width.field;
}

// [WIRE-101, WIRE-102] As the wire reference lists them, section 13.
TEST(FieldsTest, IdentifiersHaveTheirWidths) {
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "request_length", 32});
  expect_bits<SesHeader>(MediumRequest{}, {"medium", "request_length", 14});
  expect_bits<SesHeader>(SmallRequest{}, {"small", "request_length", 14});
  for (const char* field : {"spdcid", "dpdcid"}) {
    expect_bits<PdsHeader>(Request{}, {"request", field, 16});
    expect_bits<PdsHeader>(Ack{}, {"ACK", field, 16});
  }
  expect_bits<PdsHeader>(Request{}, {"request", "psn", 32});
  expect_bits<PdsHeader>(Ack{}, {"ACK", "cack_psn", 32});
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "message_id", 16});
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "job_id", 24});
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "pid_on_fep", 12});
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "resource_index", 12});
  expect_bits<SesHeader>(StandardRequest{}, {"standard", "initiator", 32});
}

// A header read from octets that are all ones except the first two: type and flags.
template <class Header, class Variant>
void expect_full(uint16_t first_word) {
  std::array<std::byte, 64> octets;
  octets.fill(std::byte{0xFF});
  store_u16(octets.data(), first_word);
  Reader r(octets);
  const Variant header = Header::read(r);
  SCOPED_TRACE(header_name(header));
  for (const Field& f : fields_of(header)) {
    const bool is_in_first_word = f.meaning == Meaning::flag || f.role != Role::own ||
                                  f.name == "opcode" || f.name == "ver" || f.name == "req" ||
                                  f.name == "ctl_type";
    if (f.is_present && !is_in_first_word) {
      EXPECT_EQ(f.value, f.mask()) << f.name;
    }
  }
}

template <class Header>
void expect_full_pds(PdsType type) {
  for (const unsigned flags : {0x00U, 0x7FU}) {  // next_hdr 0
    expect_full<Header, PdsHeader>(
        static_cast<uint16_t>(static_cast<unsigned>(type) << 11 | flags));
  }
}

template <class Header>
void expect_full_ses() {
  for (const uint16_t word :
       std::initializer_list<uint16_t>{0xFFFF, 0xFFFE, 0xFFFB, 0x01FF}) {  // without som, hd; WRITE
    expect_full<Header, SesHeader>(word);
  }
}

// [WIRE-045..049, WIRE-065..067, WIRE-075..078] No list takes a field for narrower or wider.
TEST(FieldsTest, OctetsOfAllOnesFillEveryField) {
  expect_full_pds<Request>(PdsType::rud_cc_request);
  expect_full_pds<Ack>(PdsType::ack);
  expect_full_pds<AckCc>(PdsType::ack_cc);
  expect_full_pds<AckCcx>(PdsType::ack_ccx);
  expect_full_pds<Nack>(PdsType::nack);
  expect_full_pds<Control>(PdsType::control);
  expect_full_pds<RudiRequest>(PdsType::rudi_request);
  expect_full_pds<RudiResponse>(PdsType::rudi_response);
  expect_full_ses<SmallRequest>();
  expect_full_ses<MediumRequest>();
  expect_full_ses<StandardRequest>();
  expect_full<Response, SesHeader>(0xFFFF);
  expect_full<ResponseData, SesHeader>(0xFFFF);
  expect_full<ResponseDataSmall, SesHeader>(0xFFFF);
  expect_full<Rendezvous, SesExtension>(0xFFFF);
  expect_full<Atomic, SesExtension>(0xFFFF);
  expect_full<CompareSwap, SesExtension>(0xFFFF);
}

// A part of a packed word is set without touching its neighbours.
TEST(FieldsTest, PartsOfAPackedWordAreSetAlone) {
  PdsHeader header = AckCc{};
  ASSERT_EQ(set_field(header, "ack_cc_state", 0x1111222233334444), SetField::done);
  ASSERT_EQ(set_field(header, "ooo_count", 0x5555), SetField::done);
  EXPECT_EQ(fields_of(header).find("ack_cc_state")->value, 0x1111222233335555U);
  ASSERT_EQ(set_field(header, "rcvd_bytes", 0), SetField::done);
  EXPECT_EQ(fields_of(header).find("ack_cc_state")->value, 0x1111220000005555U);

  SesHeader send = StandardRequest{.common = {.opcode = SesOpcode::deferrable_send}};
  ASSERT_EQ(set_field(send, "initiator_restart_token", 0x01020304), SetField::done);
  ASSERT_EQ(set_field(send, "target_restart_token", 0x05060708), SetField::done);
  EXPECT_EQ(fields_of(send).find("buffer_offset")->value, 0x0102030405060708U);
}

TEST(FieldsTest, ValuesOfSignedFieldsHaveTheBitsOfTheField) {
  PdsHeader header = Request{.clear_psn_offset = -3};
  const FieldList fields = fields_of(header);
  EXPECT_EQ(fields.find("clear_psn_offset")->value, 0xFFFDU);
  EXPECT_EQ(fields.find("clear_psn_offset")->signed_value(), -3);
  EXPECT_EQ(fields.find("psn")->signed_value(), 0);
  EXPECT_EQ(set_field(header, "clear_psn_offset", 0xFFFF), SetField::done);
  EXPECT_EQ(std::get<Request>(header).clear_psn_offset, -1);
  EXPECT_EQ(set_field(header, "clear_psn_offset", ~uint64_t{0}), SetField::out_of_range);
}

TEST(FieldsTest, CodesHaveTheNamesOfTheSpecification) {
  const PdsHeader header = Nack{.nack_code = NackCode::rod_ooo};
  const FieldList fields = fields_of(header);
  const Field* const code = fields.find("nack_code");
  EXPECT_STREQ(code->names->name(code->value), "ROD_OOO");
  EXPECT_EQ(code->names->value_of("ROD_OOO"), 0x0DU);
  EXPECT_FALSE(code->names->value_of("NEVER").has_value());
}

TEST(FieldsTest, HeadersHaveTheNamesOfTheirTypes) {
  EXPECT_STREQ(header_name(PdsHeader{}), "");
  EXPECT_STREQ(header_name(PdsHeader{Request{.type = PdsType::rod_request}}), "ROD_REQ");
  EXPECT_STREQ(header_name(PdsHeader{NackCcx{}}), "NACK_CCX");
  EXPECT_STREQ(header_name(PdsHeader{Uud{}}), "UUD_REQ");
  EXPECT_STREQ(header_name(SesHeader{ResponseDataSmall{}}), "RESPONSE_DATA_SMALL");
  EXPECT_STREQ(header_name(SesExtension{CompareSwap{}}), "COMPARE_SWAP");
  EXPECT_EQ(fields_of(PdsHeader{}).size(), 0U);
}

}  // namespace
}  // namespace uet::wire
