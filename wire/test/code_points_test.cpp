// Every code point against the tables of the wire reference, and the names of all other values.
#include "wire/code_points.h"

#include "wire/pds.h"
#include "wire/ses.h"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>

namespace uet::wire {
namespace {

struct Row {
  uint8_t code;
  const char* name;
};

constexpr Row kReturnCodes[] = {
    {0x00, "NULL"},
    {0x01, "OK"},
    {0x02, "BAD_GENERATION"},
    {0x03, "DISABLED"},
    {0x04, "DISABLED_GEN"},
    {0x05, "NO_MATCH"},
    {0x06, "UNSUPPORTED_OP"},
    {0x07, "UNSUPPORTED_SIZE"},
    {0x08, "AT_INVALID"},
    {0x09, "AT_PERM"},
    {0x0A, "AT_ATS_ERROR"},
    {0x0B, "AT_NO_TRANS"},
    {0x0C, "AT_OUT_OF_RANGE"},
    {0x0D, "HOST_POISONED"},
    {0x0E, "HOST_UNSUCCESS_CMPL"},
    {0x0F, "AMO_UNSUPPORTED_OP"},
    {0x10, "AMO_UNSUPPORTED_DT"},
    {0x11, "AMO_UNSUPPORTED_SIZE"},
    {0x12, "AMO_UNALIGNED"},
    {0x13, "AMO_FP_NAN"},
    {0x14, "AMO_FP_UNDERFLOW"},
    {0x15, "AMO_FP_OVERFLOW"},
    {0x16, "AMO_FP_INEXACT"},
    {0x17, "PERM_VIOLATION"},
    {0x18, "OP_VIOLATION"},
    {0x19, "BAD_INDEX"},
    {0x1A, "BAD_PID"},
    {0x1B, "BAD_JOB_ID"},
    {0x1C, "BAD_MKEY"},
    {0x1D, "BAD_ADDR"},
    {0x1E, "CANCELLED"},
    {0x1F, "UNDELIVERABLE"},
    {0x20, "UNCOR"},
    {0x21, "UNCOR_TRNSNT"},
    {0x22, "TOO_LONG"},
    {0x23, "INITIATOR_ERR"},
    {0x24, "DROPPED"},
    {0x3E, "EXTENDED"},
};

constexpr Row kNackCodes[] = {
    {0x00, "none"},
    {0x01, "TRIMMED"},
    {0x02, "TRIMMED_LASTHOP"},
    {0x03, "TRIMMED_ACK"},
    {0x04, "NO_PDC_AVAIL"},
    {0x05, "NO_CCC_AVAIL"},
    {0x06, "NO_BITMAP"},
    {0x07, "NO_PKT_BUFFER"},
    {0x08, "NO_GTD_DEL_AVAIL"},
    {0x09, "NO_SES_MSG_AVAIL"},
    {0x0A, "NO_RESOURCE"},
    {0x0B, "PSN_OOR_WINDOW"},
    {0x0D, "ROD_OOO"},
    {0x0E, "INV_DPDCID"},
    {0x0F, "PDC_HDR_MISMATCH"},
    {0x10, "CLOSING"},
    {0x11, "CLOSING_IN_ERR"},
    {0x12, "PKT_NOT_RCVD"},
    {0x13, "GTD_RESP_UNAVAIL"},
    {0x14, "ACK_WITH_DATA"},
    {0x15, "INVALID_SYN"},
    {0x16, "PDC_MODE_MISMATCH"},
    {0x17, "NEW_START_PSN"},
    {0x18, "RCVD_SES_PROCG"},
    {0x19, "UNEXP_EVENT"},
    {0x1A, "RCVR_INFER_LOSS"},
    {0xFD, "EXP_NACK_NORMAL"},
    {0xFE, "EXP_NACK_ERR"},
    {0xFF, "EXP_NACK_FATAL"},
};

constexpr Row kSesOpcodes[] = {
    {0x00, "NO_OP"},
    {0x01, "WRITE"},
    {0x02, "READ"},
    {0x03, "ATOMIC"},
    {0x04, "FETCHING_ATOMIC"},
    {0x05, "SEND"},
    {0x06, "RENDEZVOUS_SEND"},
    {0x07, "DATAGRAM_SEND"},
    {0x08, "DEFERRABLE_SEND"},
    {0x09, "TAGGED_SEND"},
    {0x0A, "RENDEZVOUS_TSEND"},
    {0x0B, "DEFERRABLE_TSEND"},
    {0x0C, "DEFERRABLE_RTR"},
    {0x0D, "TSEND_ATOMIC"},
    {0x0E, "TSEND_FETCH_ATOMIC"},
    {0x0F, "MSG_ERROR"},
    {0x3F, "EXTENDED"},
};

constexpr Row kAtomicOpcodes[] = {
    {0x00, "MIN"},      {0x01, "MAX"},      {0x02, "SUM"},      {0x03, "DIFF"},
    {0x04, "PROD"},     {0x05, "LOR"},      {0x06, "LAND"},     {0x07, "BOR"},
    {0x08, "BAND"},     {0x09, "LXOR"},     {0x0A, "BXOR"},     {0x0B, "READ"},
    {0x0C, "WRITE"},    {0x0D, "CSWAP"},    {0x0E, "CSWAP_NE"}, {0x0F, "CSWAP_LE"},
    {0x10, "CSWAP_LT"}, {0x11, "CSWAP_GE"}, {0x12, "CSWAP_GT"}, {0x13, "MSWAP"},
    {0x14, "INVAL"},
};

struct SizedRow {
  uint8_t code;
  const char* name;
  uint32_t bytes;
};

constexpr SizedRow kAtomicDatatypes[] = {
    {0x00, "INT8", 1},          {0x01, "UINT8", 1},
    {0x02, "INT16", 2},         {0x03, "UINT16", 2},
    {0x04, "INT32", 4},         {0x05, "UINT32", 4},
    {0x06, "INT64", 8},         {0x07, "UINT64", 8},
    {0x08, "INT128", 16},       {0x09, "UINT128", 16},
    {0x0A, "FLOAT", 4},         {0x0B, "DOUBLE", 8},
    {0x0C, "FLOAT_COMPLEX", 8}, {0x0D, "DOUBLE_COMPLEX", 16},
    {0x0E, "LONG_DOUBLE", 16},  {0x0F, "LONG_DOUBLE_COMPLEX", 32},
    {0x10, "BF16", 2},          {0x11, "FP16", 2},
};

constexpr Row kPdsTypes[] = {
    {2, "RUD_REQ"},   {3, "ROD_REQ"},     {4, "RUDI_REQ"},    {5, "RUDI_RESP"}, {6, "UUD_REQ"},
    {7, "ACK"},       {8, "ACK_CC"},      {9, "ACK_CCX"},     {10, "NACK"},     {11, "CP"},
    {12, "NACK_CCX"}, {13, "RUD_CC_REQ"}, {14, "ROD_CC_REQ"}, {1, "TSS"},
};

constexpr Row kNextHeaders[] = {
    {0, "none"},
    {1, "SMALL"},
    {2, "MEDIUM"},
    {3, "STANDARD"},
    {4, "RESPONSE"},
    {5, "RESPONSE_DATA"},
    {6, "RESPONSE_DATA_SMALL"},
};

constexpr Row kCtlTypes[] = {
    {0, "NOOP"},      {1, "ACK_REQ"}, {2, "CLEAR_CMD"}, {3, "CLEAR_REQ"},  {4, "CLOSE_CMD"},
    {5, "CLOSE_REQ"}, {6, "PROBE"},   {7, "CREDIT"},    {8, "CREDIT_REQ"}, {9, "NEGOTIATION"},
};

constexpr Row kResponseOpcodes[] = {
    {0, "DEFAULT_RESPONSE"}, {1, "RESPONSE"}, {2, "RESPONSE_W_DATA"}, {3, "NO_RESPONSE"}};
constexpr Row kListCodes[] = {{0, "EXPECTED"}, {1, "OVERFLOW"}};
constexpr Row kAckRequests[] = {{0, "none"}, {1, "CLEAR"}, {2, "CLOSE"}};
constexpr Row kCcTypes[] = {{0, "NSCC"}, {1, "CREDIT"}};

// All values of the field: values in the table by name, values of the vendor range as "vendor", the
// rest as "reserved".
template <class Code>
void expect_names(std::span<const Row> rows, unsigned values, unsigned first_vendor = 1,
                  unsigned last_vendor = 0) {
  std::map<unsigned, std::string> expected;
  for (const Row& row : rows) expected[row.code] = row.name;
  ASSERT_EQ(expected.size(), rows.size()) << "a code twice in the table";
  for (unsigned v = 0; v < values; ++v) {
    const bool vendor = v >= first_vendor && v <= last_vendor;
    const std::string other = vendor ? "vendor" : "reserved";
    const std::string want = expected.contains(v) ? expected[v] : other;
    EXPECT_EQ(name(static_cast<Code>(v)), want) << "code " << v;
  }
}

// [WIRE-037, WIRE-038, WIRE-039, WIRE-046, WIRE-057]
TEST(CodePointsTest, PdsCodesHaveTheNamesOfTheTables) {
  expect_names<PdsType>(kPdsTypes, 32);
  expect_names<NextHeader>(kNextHeaders, 16);
  expect_names<CtlType>(kCtlTypes, 16);
  expect_names<AckRequest>(kAckRequests, 4);
  expect_names<CcType>(kCcTypes, 16);
}

// [WIRE-055]
TEST(CodePointsTest, NackCodesHaveTheNamesOfTheTable) { expect_names<NackCode>(kNackCodes, 256); }

// [WIRE-079, WIRE-080, WIRE-081, WIRE-082, WIRE-083]
TEST(CodePointsTest, SesCodesHaveTheNamesOfTheTables) {
  expect_names<SesOpcode>(kSesOpcodes, 64, 0x30, 0x3E);
  expect_names<ResponseOpcode>(kResponseOpcodes, 64, 0x30, 0x3F);
  expect_names<ListCode>(kListCodes, 4, 2, 3);
  expect_names<ReturnCode>(kReturnCodes, 64, 0x30, 0x37);
}

// [WIRE-084, WIRE-087]
TEST(CodePointsTest, AtomicCodesHaveTheNamesAndSizesOfTheTables) {
  expect_names<AtomicOpcode>(kAtomicOpcodes, 256, 0xE0, 0xFE);
  std::map<unsigned, SizedRow> types;
  for (const SizedRow& row : kAtomicDatatypes) types[row.code] = row;
  ASSERT_EQ(types.size(), 18U);
  for (unsigned v = 0; v < 256; ++v) {
    const auto type = static_cast<AtomicDatatype>(v);
    const bool vendor = v >= 0xE0 && v <= 0xFE;
    const std::string other = vendor ? "vendor" : "reserved";
    EXPECT_EQ(name(type), types.contains(v) ? types[v].name : other) << v;
    EXPECT_EQ(element_bytes(type), types.contains(v) ? types[v].bytes : 0) << v;
  }
}

// [WIRE-016, WIRE-017, CMS-171, CMS-173, CMS-174, CMS-175, CMS-176, CMS-177] Operators change
// these.
TEST(CodePointsTest, DscpDefaultsAreDistinctAndNamed) {
  EXPECT_STREQ(name(Dscp::no_trim), "NO_TRIM");
  EXPECT_STREQ(name(Dscp::trimmable), "TRIMMABLE");
  EXPECT_STREQ(name(Dscp::trimmable_rtx), "TRIMMABLE_RTX");
  EXPECT_STREQ(name(Dscp::trimmed), "TRIMMED");
  EXPECT_STREQ(name(Dscp::trimmed_lasthop), "TRIMMED_LASTHOP");
  EXPECT_STREQ(name(Dscp::control), "CONTROL");
  EXPECT_STREQ(name(static_cast<Dscp>(1)), "reserved");
  EXPECT_EQ(static_cast<int>(Dscp::no_trim), 0);
  EXPECT_EQ(static_cast<int>(Dscp::trimmable), 8);
  EXPECT_EQ(static_cast<int>(Dscp::trimmed), 16);
  EXPECT_EQ(static_cast<int>(Dscp::trimmed_lasthop), 18);
  EXPECT_EQ(static_cast<int>(Dscp::control), 46);
}

template <class Header, class Field, class Code>
void expect_every_code_travels(Field Header::*field, unsigned values) {
  for (unsigned v = 0; v < values; ++v) {
    Header h;
    h.*field = static_cast<Code>(v);
    std::byte octets[64];
    Writer w(octets);
    h.emit(w);
    Reader r(w.written());
    EXPECT_EQ(Header::read(r).*field, static_cast<Code>(v));
  }
}

// [WIRE-059] Every value of every coded field survives emit and read, known or not.
TEST(CodePointsTest, EveryCodeTravels) {
  expect_every_code_travels<Request, NextHeader, NextHeader>(&Request::next_hdr, 16);
  expect_every_code_travels<Ack, NextHeader, NextHeader>(&Ack::next_hdr, 16);
  expect_every_code_travels<Ack, AckRequest, AckRequest>(&Ack::req, 4);
  expect_every_code_travels<AckCc, CcType, CcType>(&AckCc::cc_type, 16);
  expect_every_code_travels<Nack, NackCode, NackCode>(&Nack::nack_code, 256);
  expect_every_code_travels<Control, CtlType, CtlType>(&Control::ctl_type, 16);
  expect_every_code_travels<Atomic, AtomicOpcode, AtomicOpcode>(&Atomic::atomic_opcode, 256);
  expect_every_code_travels<Atomic, AtomicDatatype, AtomicDatatype>(&Atomic::atomic_datatype, 256);
  for (unsigned v = 0; v < 64; ++v) {
    StandardRequest request;
    request.common.opcode = static_cast<SesOpcode>(v);
    Response response;
    response.common.opcode = static_cast<ResponseOpcode>(v);
    response.common.return_code = static_cast<ReturnCode>(v);
    response.common.list = static_cast<ListCode>(v % 4);
    std::byte octets[64];
    Writer w(octets);
    request.emit(w);
    response.emit(w);
    Reader r(w.written());
    EXPECT_EQ(StandardRequest::read(r), request);
    EXPECT_EQ(Response::read(r), response);
  }
}

// [WIRE-088] Which extension follows which opcode.
TEST(CodePointsTest, OpcodesNameTheirExtension) {
  for (unsigned v = 0; v < 64; ++v) {
    const auto opcode = static_cast<SesOpcode>(v);
    EXPECT_EQ(has_atomic_extension(opcode), v == 3 || v == 4 || v == 0x0D || v == 0x0E) << v;
    EXPECT_EQ(has_rendezvous_extension(opcode), v == 6 || v == 0x0A) << v;
    EXPECT_EQ(is_deferrable_send(opcode), v == 8 || v == 0x0B) << v;
    EXPECT_EQ(has_memory_key(opcode), v >= 1 && v <= 4) << v;
  }
  for (unsigned v = 0; v < 256; ++v) {
    EXPECT_EQ(is_compare_swap(static_cast<AtomicOpcode>(v)), v >= 0x0D && v <= 0x13) << v;
  }
}

// [WIRE-116] The causes have names.
TEST(CodePointsTest, EveryParseErrorHasItsOwnName) {
  std::map<std::string, int> seen;
  for (int v = 0; v <= static_cast<int>(ParseError::wrong_type); ++v) {
    ++seen[name(static_cast<ParseError>(v))];
  }
  EXPECT_EQ(seen.size(), 19U);
  EXPECT_FALSE(seen.contains("reserved"));
  EXPECT_STREQ(name(static_cast<ParseError>(200)), "reserved");
}

}  // namespace
}  // namespace uet::wire
