// Every code of the UET headers, with the words of the specification, and their names for logs.
// Values only; which header carries which code is in pds.h and ses.h.
#pragma once

#include "wire/defaults.h"

#include <cstdint>

namespace uet::wire {

// PDS packet type, 5 bits. 0 and 15-31 are reserved. [WIRE-037]
enum class PdsType : uint8_t {
  tss = 1,
  rud_request = 2,
  rod_request = 3,
  rudi_request = 4,
  rudi_response = 5,
  uud_request = 6,
  ack = 7,
  ack_cc = 8,
  ack_ccx = 9,
  nack = 10,
  control = 11,
  nack_ccx = 12,
  rud_cc_request = 13,
  rod_cc_request = 14,
};

// The SES header after the PDS header, 4 bits. 7-15 are reserved. [WIRE-039]
enum class NextHeader : uint8_t {
  none = 0,
  small = 1,
  medium = 2,
  standard = 3,
  response = 4,
  response_data = 5,
  response_data_small = 6,
};

// Type of a control packet, 4 bits. 10-15 are reserved. [WIRE-057]
enum class CtlType : uint8_t {
  noop = 0,
  ack_req = 1,
  clear_cmd = 2,
  clear_req = 3,
  close_cmd = 4,
  close_req = 5,
  probe = 6,
  credit = 7,
  credit_req = 8,
  negotiation = 9,
};

// Request of a PDC's target to the initiator in an ACK (field req), 2 bits. [WIRE-038]
enum class AckRequest : uint8_t {
  none = 0,
  clear = 1,
  close = 2,
  reserved = 3
};

// Meaning of ack_cc_state, 4 bits. 2-15 are reserved. [WIRE-046]
enum class CcType : uint8_t {
  nscc = 0,
  credit = 1
};

// Why a packet was refused by the peer, 8 bits. [WIRE-055]
enum class NackCode : uint8_t {
  none = 0x00,
  trimmed = 0x01,
  trimmed_lasthop = 0x02,
  trimmed_ack = 0x03,  // not sent; reserved since 1.0.3 [WIRE-022]
  no_pdc_avail = 0x04,
  no_ccc_avail = 0x05,
  no_bitmap = 0x06,
  no_pkt_buffer = 0x07,
  no_gtd_del_avail = 0x08,
  no_ses_msg_avail = 0x09,
  no_resource = 0x0A,
  psn_oor_window = 0x0B,
  rod_ooo = 0x0D,
  inv_dpdcid = 0x0E,
  pdc_hdr_mismatch = 0x0F,
  closing = 0x10,
  closing_in_err = 0x11,
  pkt_not_rcvd = 0x12,
  gtd_resp_unavail = 0x13,
  ack_with_data = 0x14,
  invalid_syn = 0x15,
  pdc_mode_mismatch = 0x16,
  new_start_psn = 0x17,
  rcvd_ses_procg = 0x18,
  unexp_event = 0x19,
  rcvr_infer_loss = 0x1A,
  exp_nack_normal = 0xFD,
  exp_nack_err = 0xFE,
  exp_nack_fatal = 0xFF,
};

// SES request opcode, 6 bits. 0x10-0x2F reserved, 0x30-0x3E vendor, 0x3F extended. [WIRE-079, 080]
enum class SesOpcode : uint8_t {
  no_op = 0x00,
  write = 0x01,
  read = 0x02,
  atomic = 0x03,
  fetching_atomic = 0x04,
  send = 0x05,
  rendezvous_send = 0x06,
  datagram_send = 0x07,
  deferrable_send = 0x08,
  tagged_send = 0x09,
  rendezvous_tsend = 0x0A,
  deferrable_tsend = 0x0B,
  deferrable_rtr = 0x0C,
  tsend_atomic = 0x0D,
  tsend_fetch_atomic = 0x0E,
  msg_error = 0x0F,
  extended = 0x3F,
};

// SES response opcode, 6 bits. 0x04-0x2F reserved, 0x30-0x3F vendor. [WIRE-081]
enum class ResponseOpcode : uint8_t {
  default_response = 0x00,
  response = 0x01,
  response_w_data = 0x02,
  no_response = 0x03,
};

// Where a message was delivered, 2 bits. 2 and 3 are vendor codes. [WIRE-082]
enum class ListCode : uint8_t {
  expected = 0,
  overflow = 1
};

// Result of a request, 6 bits. [WIRE-083]
enum class ReturnCode : uint8_t {
  null = 0x00,
  ok = 0x01,
  bad_generation = 0x02,
  disabled = 0x03,
  disabled_gen = 0x04,
  no_match = 0x05,
  unsupported_op = 0x06,
  unsupported_size = 0x07,
  at_invalid = 0x08,
  at_perm = 0x09,
  at_ats_error = 0x0A,
  at_no_trans = 0x0B,
  at_out_of_range = 0x0C,
  host_poisoned = 0x0D,
  host_unsuccess_cmpl = 0x0E,
  amo_unsupported_op = 0x0F,
  amo_unsupported_dt = 0x10,
  amo_unsupported_size = 0x11,
  amo_unaligned = 0x12,
  amo_fp_nan = 0x13,
  amo_fp_underflow = 0x14,
  amo_fp_overflow = 0x15,
  amo_fp_inexact = 0x16,
  perm_violation = 0x17,
  op_violation = 0x18,
  bad_index = 0x19,
  bad_pid = 0x1A,
  bad_job_id = 0x1B,
  bad_mkey = 0x1C,
  bad_addr = 0x1D,
  cancelled = 0x1E,
  undeliverable = 0x1F,
  uncor = 0x20,
  uncor_trnsnt = 0x21,
  too_long = 0x22,
  initiator_err = 0x23,
  dropped = 0x24,
  extended = 0x3E,
};

// Operation of an atomic, 8 bits. 0x15-0xDF and 0xFF reserved, 0xE0-0xFE vendor. [WIRE-084]
enum class AtomicOpcode : uint8_t {
  min = 0x00,
  max = 0x01,
  sum = 0x02,
  diff = 0x03,
  prod = 0x04,
  lor = 0x05,
  land = 0x06,
  bor = 0x07,
  band = 0x08,
  lxor = 0x09,
  bxor = 0x0A,
  read = 0x0B,
  write = 0x0C,
  cswap = 0x0D,
  cswap_ne = 0x0E,
  cswap_le = 0x0F,
  cswap_lt = 0x10,
  cswap_ge = 0x11,
  cswap_gt = 0x12,
  mswap = 0x13,
  inval = 0x14,
};

// Data type of an atomic, 8 bits. 0x12-0xDF and 0xFF reserved, 0xE0-0xFE vendor. [WIRE-087]
enum class AtomicDatatype : uint8_t {
  int8 = 0x00,
  uint8 = 0x01,
  int16 = 0x02,
  uint16 = 0x03,
  int32 = 0x04,
  uint32 = 0x05,
  int64 = 0x06,
  uint64 = 0x07,
  int128 = 0x08,
  uint128 = 0x09,
  float32 = 0x0A,
  float64 = 0x0B,
  float_complex = 0x0C,
  double_complex = 0x0D,
  long_double = 0x0E,
  long_double_complex = 0x0F,
  bf16 = 0x10,
  fp16 = 0x11,
};

// Names in the specification's words. Never null; "reserved" for a code without a meaning and
// "vendor" for one of the vendor ranges.
const char* name(PdsType t);
const char* name(NextHeader h);
const char* name(CtlType t);
const char* name(AckRequest r);
const char* name(CcType t);
const char* name(NackCode c);
const char* name(SesOpcode o);
const char* name(ResponseOpcode o);
const char* name(ListCode c);
const char* name(ReturnCode c);
const char* name(AtomicOpcode o);
const char* name(AtomicDatatype t);
const char* name(Dscp d);

// Octets of one element, 0 for a data type without a meaning. [WIRE-087]
uint32_t element_bytes(AtomicDatatype t);

}  // namespace uet::wire
