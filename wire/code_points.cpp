// Names of the code points. Unknown values are normal: they come from the network.
#include "wire/code_points.h"

#include <span>

namespace uet::wire {

namespace {

using Names = std::span<const char* const>;

struct Range {
  unsigned first = 1;
  unsigned last = 0;
};

// The name at the place of the code, or what kind of code it is.
template <class Code>
const char* name_in(Names names, Code code, Range vendor = {}) {
  const auto value = static_cast<unsigned>(code);
  if (value < names.size()) return names[value];
  return value >= vendor.first && value <= vendor.last ? "vendor" : "reserved";
}

constexpr const char* kPdsTypeNames[] = {
    "reserved", "TSS",     "RUD_REQ", "ROD_REQ", "RUDI_REQ", "RUDI_RESP",  "UUD_REQ",    "ACK",
    "ACK_CC",   "ACK_CCX", "NACK",    "CP",      "NACK_CCX", "RUD_CC_REQ", "ROD_CC_REQ",
};

constexpr const char* kNextHeaderNames[] = {
    "none", "SMALL", "MEDIUM", "STANDARD", "RESPONSE", "RESPONSE_DATA", "RESPONSE_DATA_SMALL",
};

constexpr const char* kCtlTypeNames[] = {
    "NOOP",      "ACK_REQ", "CLEAR_CMD", "CLEAR_REQ",  "CLOSE_CMD",
    "CLOSE_REQ", "PROBE",   "CREDIT",    "CREDIT_REQ", "NEGOTIATION",
};

constexpr const char* kAckRequestNames[] = {
    "none",
    "CLEAR",
    "CLOSE",
    "reserved",
};

constexpr const char* kCcTypeNames[] = {
    "NSCC",
    "CREDIT",
};

constexpr const char* kNackCodeNames[] = {
    "none",
    "TRIMMED",
    "TRIMMED_LASTHOP",
    "TRIMMED_ACK",
    "NO_PDC_AVAIL",
    "NO_CCC_AVAIL",
    "NO_BITMAP",
    "NO_PKT_BUFFER",
    "NO_GTD_DEL_AVAIL",
    "NO_SES_MSG_AVAIL",
    "NO_RESOURCE",
    "PSN_OOR_WINDOW",
    "reserved",
    "ROD_OOO",
    "INV_DPDCID",
    "PDC_HDR_MISMATCH",
    "CLOSING",
    "CLOSING_IN_ERR",
    "PKT_NOT_RCVD",
    "GTD_RESP_UNAVAIL",
    "ACK_WITH_DATA",
    "INVALID_SYN",
    "PDC_MODE_MISMATCH",
    "NEW_START_PSN",
    "RCVD_SES_PROCG",
    "UNEXP_EVENT",
    "RCVR_INFER_LOSS",
};

constexpr const char* kSesOpcodeNames[] = {
    "NO_OP",
    "WRITE",
    "READ",
    "ATOMIC",
    "FETCHING_ATOMIC",
    "SEND",
    "RENDEZVOUS_SEND",
    "DATAGRAM_SEND",
    "DEFERRABLE_SEND",
    "TAGGED_SEND",
    "RENDEZVOUS_TSEND",
    "DEFERRABLE_TSEND",
    "DEFERRABLE_RTR",
    "TSEND_ATOMIC",
    "TSEND_FETCH_ATOMIC",
    "MSG_ERROR",
};

constexpr const char* kResponseOpcodeNames[] = {
    "DEFAULT_RESPONSE",
    "RESPONSE",
    "RESPONSE_W_DATA",
    "NO_RESPONSE",
};

constexpr const char* kListCodeNames[] = {
    "EXPECTED",
    "OVERFLOW",
};

constexpr const char* kReturnCodeNames[] = {
    "NULL",
    "OK",
    "BAD_GENERATION",
    "DISABLED",
    "DISABLED_GEN",
    "NO_MATCH",
    "UNSUPPORTED_OP",
    "UNSUPPORTED_SIZE",
    "AT_INVALID",
    "AT_PERM",
    "AT_ATS_ERROR",
    "AT_NO_TRANS",
    "AT_OUT_OF_RANGE",
    "HOST_POISONED",
    "HOST_UNSUCCESS_CMPL",
    "AMO_UNSUPPORTED_OP",
    "AMO_UNSUPPORTED_DT",
    "AMO_UNSUPPORTED_SIZE",
    "AMO_UNALIGNED",
    "AMO_FP_NAN",
    "AMO_FP_UNDERFLOW",
    "AMO_FP_OVERFLOW",
    "AMO_FP_INEXACT",
    "PERM_VIOLATION",
    "OP_VIOLATION",
    "BAD_INDEX",
    "BAD_PID",
    "BAD_JOB_ID",
    "BAD_MKEY",
    "BAD_ADDR",
    "CANCELLED",
    "UNDELIVERABLE",
    "UNCOR",
    "UNCOR_TRNSNT",
    "TOO_LONG",
    "INITIATOR_ERR",
    "DROPPED",
};

constexpr const char* kAtomicOpcodeNames[] = {
    "MIN",      "MAX",      "SUM",      "DIFF",     "PROD",     "LOR",   "LAND",
    "BOR",      "BAND",     "LXOR",     "BXOR",     "READ",     "WRITE", "CSWAP",
    "CSWAP_NE", "CSWAP_LE", "CSWAP_LT", "CSWAP_GE", "CSWAP_GT", "MSWAP", "INVAL",
};

constexpr const char* kAtomicDatatypeNames[] = {
    "INT8",          "UINT8",          "INT16",       "UINT16",
    "INT32",         "UINT32",         "INT64",       "UINT64",
    "INT128",        "UINT128",        "FLOAT",       "DOUBLE",
    "FLOAT_COMPLEX", "DOUBLE_COMPLEX", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX",
    "BF16",          "FP16",
};

}  // namespace

const char* name(PdsType t) { return name_in(kPdsTypeNames, t); }

const char* name(NextHeader h) { return name_in(kNextHeaderNames, h); }

const char* name(CtlType t) { return name_in(kCtlTypeNames, t); }

const char* name(AckRequest r) { return name_in(kAckRequestNames, r); }

const char* name(CcType t) { return name_in(kCcTypeNames, t); }

const char* name(NackCode c) {
  if (c == NackCode::exp_nack_normal) return "EXP_NACK_NORMAL";
  if (c == NackCode::exp_nack_err) return "EXP_NACK_ERR";
  if (c == NackCode::exp_nack_fatal) return "EXP_NACK_FATAL";
  return name_in(kNackCodeNames, c);
}

const char* name(SesOpcode o) {
  if (o == SesOpcode::extended) return "EXTENDED";
  return name_in(kSesOpcodeNames, o, {0x30, 0x3E});
}

const char* name(ResponseOpcode o) { return name_in(kResponseOpcodeNames, o, {0x30, 0x3F}); }

const char* name(ListCode c) { return name_in(kListCodeNames, c, {2, 3}); }

const char* name(ReturnCode c) {
  if (c == ReturnCode::extended) return "EXTENDED";
  return name_in(kReturnCodeNames, c, {0x30, 0x37});
}

const char* name(AtomicOpcode o) { return name_in(kAtomicOpcodeNames, o, {0xE0, 0xFE}); }

const char* name(AtomicDatatype t) { return name_in(kAtomicDatatypeNames, t, {0xE0, 0xFE}); }

const char* name(Dscp d) {
  switch (d) {
    case Dscp::no_trim:
      return "NO_TRIM";
    case Dscp::trimmable:
      return "TRIMMABLE";
    case Dscp::trimmable_rtx:
      return "TRIMMABLE_RTX";
    case Dscp::trimmed:
      return "TRIMMED";
    case Dscp::trimmed_lasthop:
      return "TRIMMED_LASTHOP";
    case Dscp::control:
      return "CONTROL";
  }
  return "reserved";
}

uint32_t element_bytes(AtomicDatatype t) {
  switch (t) {
    case AtomicDatatype::int8:
    case AtomicDatatype::uint8:
      return 1;
    case AtomicDatatype::int16:
    case AtomicDatatype::uint16:
    case AtomicDatatype::bf16:
    case AtomicDatatype::fp16:
      return 2;
    case AtomicDatatype::int32:
    case AtomicDatatype::uint32:
    case AtomicDatatype::float32:
      return 4;
    case AtomicDatatype::int64:
    case AtomicDatatype::uint64:
    case AtomicDatatype::float64:
    case AtomicDatatype::float_complex:
      return 8;
    case AtomicDatatype::int128:
    case AtomicDatatype::uint128:
    case AtomicDatatype::double_complex:
    case AtomicDatatype::long_double:
      return 16;
    case AtomicDatatype::long_double_complex:
      return 32;
  }
  return 0;
}

}  // namespace uet::wire
