// Why a packet was refused. One value for each cause; the layer that refuses counts each
// separately. Errors of local calls are uet::Errc.
#pragma once

#include "base/result.h"

#include <cstdint>

namespace uet::wire {

// The causes of [WIRE-116..119] and of the encapsulation below UET.
enum class ParseError : uint8_t {
  truncated,                    // fewer octets than the header that was announced
  pds_type_reserved,            // PDS type 0 or 15-31
  tss_inside_tss,               // PDS type 1 in the plaintext of a secured packet
  next_hdr_reserved,            // next_hdr 7-15
  ses_version,                  // ver not 0; SES answers a request with UNCOR
  response_opcode_mismatch,     // opcode 2 without a data header, or a data header without it
  request_under_response_type,  // SES request after ACK or RUDI response
  response_under_request_type,  // SES response after a request
  single_packet_som_eom,        // small or medium request with som or eom clear
  spdcid_zero,                  // no PDCID in RUD, ROD, ACK or CP
  sum_check,                    // payload_length differs from the octets present
  payload_length_limit,         // more than 8192 octets of payload
  ipv4_options,                 // IHL not 5
  ipv4_checksum,                // IPv4 header checksum wrong
  fragment,                     // a piece of a fragmented packet
  udp_length,                   // UDP length below 8 or beyond the IP payload
  udp_checksum,                 // UDP checksum present and wrong
  crc,                          // CRC-32C trailer wrong
  wrong_type,                   // these octets are another header than the one asked for
};

// The word for a cause, for logs and counters. Never null.
const char* name(ParseError e);

template <class T>
using Parsed = Result<T, ParseError>;

// The answer of a check that yields nothing but its error.
using Checked = Result<void, ParseError>;

}  // namespace uet::wire
