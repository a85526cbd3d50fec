// The lists of fields against the golden vectors, which have names and values of every field, and
// against the octets that the headers emit: each field has as many bits there as its list says.
#include "wire/fields.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <set>

namespace uet::wire {
namespace {

using test::emitted;
using test::Octets;
using test::octets_of;
using Json = nlohmann::json;

DecodedPacket decoded(const Json& vector, const Octets& octets) {
  DecodeOptions options;
  const std::string start = vector.at("starts_at");
  const std::string trailer = vector.at("trailer");
  if (start == "ethernet") options.start = Start::ethernet;
  if (start == "ip") options.start = Start::ip;
  if (start == "pds_after_tss") options.start = Start::pds_after_tss;
  if (trailer == "crc") options.trailer = Trailer::crc;
  if (trailer == "tss") options.trailer = Trailer::tss;
  return decode(octets, options);
}

// What the vectors say besides fields: names of codes, the kind of header, all flags as a number.
const std::set<std::string> kNoFields = {"type_name", "flags", "opcode_name", "ctl_name", "format"};
// What the list has, and the vectors do not.
const std::set<std::string> kOnlyInList = {
    "private_mark",            // the project's own bit [WIRE-121]
    "ccc_id", "credit_target"  // parts of a CREDIT_REQ's payload, which the vectors have whole
};

std::string hex_of_value(const Field& f) {
  if (f.meaning == Meaning::octets) {
    return "0x" + test::hex_of(f.octets).substr(f.octets.size() * 2 - f.bits / 4);
  }
  char text[24];
  std::snprintf(text, sizeof text, "0x%016lx", static_cast<unsigned long>(f.value));
  return text;
}

void expect_equal(const FieldList& fields, const Json& wanted, bool is_response) {
  for (const auto& [key, value] : wanted.items()) {
    if (kNoFields.contains(key)) continue;
    SCOPED_TRACE(key);
    const Field* const f = fields.find(is_response && key == "opcode" ? "response_opcode" : key);
    const bool is_nack = fields.find("nack_code") != nullptr;
    if (is_nack && key == "next_hdr") continue;  // reserved there
    ASSERT_NE(f, nullptr);
    if (value.is_string()) {
      EXPECT_EQ(hex_of_value(*f), value);
    } else {
      EXPECT_EQ(f->signed_value(), value);
    }
    const bool is_unused = key == "header_data" && fields.find("hd")->value == 0;
    EXPECT_TRUE(f->is_present || is_unused);
  }
  for (const Field& f : fields) {
    const bool is_in_vector = f.is_present && f.role != Role::sum;
    if (!is_in_vector || kOnlyInList.contains(std::string(f.name))) continue;
    EXPECT_TRUE(wanted.contains(f.name) || f.name == "response_opcode") << f.name;
  }
}

// [WIRE-026, WIRE-045..049, WIRE-065..067, WIRE-075..078] Every field of every header has the name
// and the value of the vectors, and the form of the header decides which of them are present.
TEST(FieldsTest, EveryFieldOfEveryVectorIsListed) {
  std::ifstream file(UET_SOURCE_DIR "/wire/test/data/wire-vectors.json");
  const Json vectors = Json::parse(file);
  int headers = 0;
  for (const Json& vector : vectors) {
    SCOPED_TRACE(vector.at("name"));
    const std::string start = vector.at("starts_at");
    if (start == "ext" || start == "entropy" || start == "ipv4_source_address") continue;
    const Octets octets = octets_of(vector.at("hex").get<std::string>());
    const DecodedPacket packet = decoded(vector, octets);
    const Json& fields = vector.at("fields");
    const auto is_response =
        packet.ses.index() >= static_cast<size_t>(NextHeader::response) && packet.ses.index() != 0;
    if (packet.entropy) expect_equal(fields_of(*packet.entropy), fields.at("entropy"), false);
    if (packet.tss) expect_equal(fields_of(*packet.tss), fields.at("tss"), false);
    if (packet.pds.index() != 0) expect_equal(fields_of(packet.pds), fields.at("pds"), false);
    if (packet.ses.index() != 0) expect_equal(fields_of(packet.ses), fields.at("ses"), is_response);
    if (packet.extension.index() != 0) {
      expect_equal(fields_of(packet.extension), fields.at("ext"), false);
    }
    headers += (packet.tss ? 1 : 0) + (packet.pds.index() != 0) + (packet.ses.index() != 0) +
               (packet.extension.index() != 0);
  }
  EXPECT_GE(headers, 400);
}

// Fields that choose the form of a header, and values of theirs.
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
