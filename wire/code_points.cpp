// Names of the code points. Unknown values are normal: they come from the network.
#include "wire/code_points.h"

namespace uet::wire {

namespace {

const char* vendor_or_reserved(unsigned value, unsigned first_vendor, unsigned last_vendor) {
  return value >= first_vendor && value <= last_vendor ? "vendor" : "reserved";
}

}  // namespace

const char* name(PdsType t) {
  switch (t) {
    case PdsType::tss:
      return "TSS";
    case PdsType::rud_request:
      return "RUD_REQ";
    case PdsType::rod_request:
      return "ROD_REQ";
    case PdsType::rudi_request:
      return "RUDI_REQ";
    case PdsType::rudi_response:
      return "RUDI_RESP";
    case PdsType::uud_request:
      return "UUD_REQ";
    case PdsType::ack:
      return "ACK";
    case PdsType::ack_cc:
      return "ACK_CC";
    case PdsType::ack_ccx:
      return "ACK_CCX";
    case PdsType::nack:
      return "NACK";
    case PdsType::control:
      return "CP";
    case PdsType::nack_ccx:
      return "NACK_CCX";
    case PdsType::rud_cc_request:
      return "RUD_CC_REQ";
    case PdsType::rod_cc_request:
      return "ROD_CC_REQ";
  }
  return "reserved";
}

const char* name(NextHeader h) {
  switch (h) {
    case NextHeader::none:
      return "none";
    case NextHeader::small:
      return "SMALL";
    case NextHeader::medium:
      return "MEDIUM";
    case NextHeader::standard:
      return "STANDARD";
    case NextHeader::response:
      return "RESPONSE";
    case NextHeader::response_data:
      return "RESPONSE_DATA";
    case NextHeader::response_data_small:
      return "RESPONSE_DATA_SMALL";
  }
  return "reserved";
}

const char* name(CtlType t) {
  switch (t) {
    case CtlType::noop:
      return "NOOP";
    case CtlType::ack_req:
      return "ACK_REQ";
    case CtlType::clear_cmd:
      return "CLEAR_CMD";
    case CtlType::clear_req:
      return "CLEAR_REQ";
    case CtlType::close_cmd:
      return "CLOSE_CMD";
    case CtlType::close_req:
      return "CLOSE_REQ";
    case CtlType::probe:
      return "PROBE";
    case CtlType::credit:
      return "CREDIT";
    case CtlType::credit_req:
      return "CREDIT_REQ";
    case CtlType::negotiation:
      return "NEGOTIATION";
  }
  return "reserved";
}

const char* name(AckRequest r) {
  switch (r) {
    case AckRequest::none:
      return "none";
    case AckRequest::clear:
      return "CLEAR";
    case AckRequest::close:
      return "CLOSE";
    case AckRequest::reserved:
      return "reserved";
  }
  return "reserved";
}

const char* name(CcType t) {
  switch (t) {
    case CcType::nscc:
      return "NSCC";
    case CcType::credit:
      return "CREDIT";
  }
  return "reserved";
}

const char* name(NackCode c) {
  switch (c) {
    case NackCode::none:
      return "none";
    case NackCode::trimmed:
      return "TRIMMED";
    case NackCode::trimmed_lasthop:
      return "TRIMMED_LASTHOP";
    case NackCode::trimmed_ack:
      return "TRIMMED_ACK";
    case NackCode::no_pdc_avail:
      return "NO_PDC_AVAIL";
    case NackCode::no_ccc_avail:
      return "NO_CCC_AVAIL";
    case NackCode::no_bitmap:
      return "NO_BITMAP";
    case NackCode::no_pkt_buffer:
      return "NO_PKT_BUFFER";
    case NackCode::no_gtd_del_avail:
      return "NO_GTD_DEL_AVAIL";
    case NackCode::no_ses_msg_avail:
      return "NO_SES_MSG_AVAIL";
    case NackCode::no_resource:
      return "NO_RESOURCE";
    case NackCode::psn_oor_window:
      return "PSN_OOR_WINDOW";
    case NackCode::rod_ooo:
      return "ROD_OOO";
    case NackCode::inv_dpdcid:
      return "INV_DPDCID";
    case NackCode::pdc_hdr_mismatch:
      return "PDC_HDR_MISMATCH";
    case NackCode::closing:
      return "CLOSING";
    case NackCode::closing_in_err:
      return "CLOSING_IN_ERR";
    case NackCode::pkt_not_rcvd:
      return "PKT_NOT_RCVD";
    case NackCode::gtd_resp_unavail:
      return "GTD_RESP_UNAVAIL";
    case NackCode::ack_with_data:
      return "ACK_WITH_DATA";
    case NackCode::invalid_syn:
      return "INVALID_SYN";
    case NackCode::pdc_mode_mismatch:
      return "PDC_MODE_MISMATCH";
    case NackCode::new_start_psn:
      return "NEW_START_PSN";
    case NackCode::rcvd_ses_procg:
      return "RCVD_SES_PROCG";
    case NackCode::unexp_event:
      return "UNEXP_EVENT";
    case NackCode::rcvr_infer_loss:
      return "RCVR_INFER_LOSS";
    case NackCode::exp_nack_normal:
      return "EXP_NACK_NORMAL";
    case NackCode::exp_nack_err:
      return "EXP_NACK_ERR";
    case NackCode::exp_nack_fatal:
      return "EXP_NACK_FATAL";
  }
  return "reserved";
}

const char* name(SesOpcode o) {
  switch (o) {
    case SesOpcode::no_op:
      return "NO_OP";
    case SesOpcode::write:
      return "WRITE";
    case SesOpcode::read:
      return "READ";
    case SesOpcode::atomic:
      return "ATOMIC";
    case SesOpcode::fetching_atomic:
      return "FETCHING_ATOMIC";
    case SesOpcode::send:
      return "SEND";
    case SesOpcode::rendezvous_send:
      return "RENDEZVOUS_SEND";
    case SesOpcode::datagram_send:
      return "DATAGRAM_SEND";
    case SesOpcode::deferrable_send:
      return "DEFERRABLE_SEND";
    case SesOpcode::tagged_send:
      return "TAGGED_SEND";
    case SesOpcode::rendezvous_tsend:
      return "RENDEZVOUS_TSEND";
    case SesOpcode::deferrable_tsend:
      return "DEFERRABLE_TSEND";
    case SesOpcode::deferrable_rtr:
      return "DEFERRABLE_RTR";
    case SesOpcode::tsend_atomic:
      return "TSEND_ATOMIC";
    case SesOpcode::tsend_fetch_atomic:
      return "TSEND_FETCH_ATOMIC";
    case SesOpcode::msg_error:
      return "MSG_ERROR";
    case SesOpcode::extended:
      return "EXTENDED";
  }
  return vendor_or_reserved(static_cast<unsigned>(o), 0x30, 0x3E);
}

const char* name(ResponseOpcode o) {
  switch (o) {
    case ResponseOpcode::default_response:
      return "DEFAULT_RESPONSE";
    case ResponseOpcode::response:
      return "RESPONSE";
    case ResponseOpcode::response_w_data:
      return "RESPONSE_W_DATA";
    case ResponseOpcode::no_response:
      return "NO_RESPONSE";
  }
  return vendor_or_reserved(static_cast<unsigned>(o), 0x30, 0x3F);
}

const char* name(ListCode c) {
  switch (c) {
    case ListCode::expected:
      return "EXPECTED";
    case ListCode::overflow:
      return "OVERFLOW";
  }
  return vendor_or_reserved(static_cast<unsigned>(c), 2, 3);
}

const char* name(ReturnCode c) {
  switch (c) {
    case ReturnCode::null:
      return "NULL";
    case ReturnCode::ok:
      return "OK";
    case ReturnCode::bad_generation:
      return "BAD_GENERATION";
    case ReturnCode::disabled:
      return "DISABLED";
    case ReturnCode::disabled_gen:
      return "DISABLED_GEN";
    case ReturnCode::no_match:
      return "NO_MATCH";
    case ReturnCode::unsupported_op:
      return "UNSUPPORTED_OP";
    case ReturnCode::unsupported_size:
      return "UNSUPPORTED_SIZE";
    case ReturnCode::at_invalid:
      return "AT_INVALID";
    case ReturnCode::at_perm:
      return "AT_PERM";
    case ReturnCode::at_ats_error:
      return "AT_ATS_ERROR";
    case ReturnCode::at_no_trans:
      return "AT_NO_TRANS";
    case ReturnCode::at_out_of_range:
      return "AT_OUT_OF_RANGE";
    case ReturnCode::host_poisoned:
      return "HOST_POISONED";
    case ReturnCode::host_unsuccess_cmpl:
      return "HOST_UNSUCCESS_CMPL";
    case ReturnCode::amo_unsupported_op:
      return "AMO_UNSUPPORTED_OP";
    case ReturnCode::amo_unsupported_dt:
      return "AMO_UNSUPPORTED_DT";
    case ReturnCode::amo_unsupported_size:
      return "AMO_UNSUPPORTED_SIZE";
    case ReturnCode::amo_unaligned:
      return "AMO_UNALIGNED";
    case ReturnCode::amo_fp_nan:
      return "AMO_FP_NAN";
    case ReturnCode::amo_fp_underflow:
      return "AMO_FP_UNDERFLOW";
    case ReturnCode::amo_fp_overflow:
      return "AMO_FP_OVERFLOW";
    case ReturnCode::amo_fp_inexact:
      return "AMO_FP_INEXACT";
    case ReturnCode::perm_violation:
      return "PERM_VIOLATION";
    case ReturnCode::op_violation:
      return "OP_VIOLATION";
    case ReturnCode::bad_index:
      return "BAD_INDEX";
    case ReturnCode::bad_pid:
      return "BAD_PID";
    case ReturnCode::bad_job_id:
      return "BAD_JOB_ID";
    case ReturnCode::bad_mkey:
      return "BAD_MKEY";
    case ReturnCode::bad_addr:
      return "BAD_ADDR";
    case ReturnCode::cancelled:
      return "CANCELLED";
    case ReturnCode::undeliverable:
      return "UNDELIVERABLE";
    case ReturnCode::uncor:
      return "UNCOR";
    case ReturnCode::uncor_trnsnt:
      return "UNCOR_TRNSNT";
    case ReturnCode::too_long:
      return "TOO_LONG";
    case ReturnCode::initiator_err:
      return "INITIATOR_ERR";
    case ReturnCode::dropped:
      return "DROPPED";
    case ReturnCode::extended:
      return "EXTENDED";
  }
  return vendor_or_reserved(static_cast<unsigned>(c), 0x30, 0x37);
}

const char* name(AtomicOpcode o) {
  switch (o) {
    case AtomicOpcode::min:
      return "MIN";
    case AtomicOpcode::max:
      return "MAX";
    case AtomicOpcode::sum:
      return "SUM";
    case AtomicOpcode::diff:
      return "DIFF";
    case AtomicOpcode::prod:
      return "PROD";
    case AtomicOpcode::lor:
      return "LOR";
    case AtomicOpcode::land:
      return "LAND";
    case AtomicOpcode::bor:
      return "BOR";
    case AtomicOpcode::band:
      return "BAND";
    case AtomicOpcode::lxor:
      return "LXOR";
    case AtomicOpcode::bxor:
      return "BXOR";
    case AtomicOpcode::read:
      return "READ";
    case AtomicOpcode::write:
      return "WRITE";
    case AtomicOpcode::cswap:
      return "CSWAP";
    case AtomicOpcode::cswap_ne:
      return "CSWAP_NE";
    case AtomicOpcode::cswap_le:
      return "CSWAP_LE";
    case AtomicOpcode::cswap_lt:
      return "CSWAP_LT";
    case AtomicOpcode::cswap_ge:
      return "CSWAP_GE";
    case AtomicOpcode::cswap_gt:
      return "CSWAP_GT";
    case AtomicOpcode::mswap:
      return "MSWAP";
    case AtomicOpcode::inval:
      return "INVAL";
  }
  return vendor_or_reserved(static_cast<unsigned>(o), 0xE0, 0xFE);
}

const char* name(AtomicDatatype t) {
  switch (t) {
    case AtomicDatatype::int8:
      return "INT8";
    case AtomicDatatype::uint8:
      return "UINT8";
    case AtomicDatatype::int16:
      return "INT16";
    case AtomicDatatype::uint16:
      return "UINT16";
    case AtomicDatatype::int32:
      return "INT32";
    case AtomicDatatype::uint32:
      return "UINT32";
    case AtomicDatatype::int64:
      return "INT64";
    case AtomicDatatype::uint64:
      return "UINT64";
    case AtomicDatatype::int128:
      return "INT128";
    case AtomicDatatype::uint128:
      return "UINT128";
    case AtomicDatatype::float32:
      return "FLOAT";
    case AtomicDatatype::float64:
      return "DOUBLE";
    case AtomicDatatype::float_complex:
      return "FLOAT_COMPLEX";
    case AtomicDatatype::double_complex:
      return "DOUBLE_COMPLEX";
    case AtomicDatatype::long_double:
      return "LONG_DOUBLE";
    case AtomicDatatype::long_double_complex:
      return "LONG_DOUBLE_COMPLEX";
    case AtomicDatatype::bf16:
      return "BF16";
    case AtomicDatatype::fp16:
      return "FP16";
  }
  return vendor_or_reserved(static_cast<unsigned>(t), 0xE0, 0xFE);
}

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
