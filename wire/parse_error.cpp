// The words for ParseError.
#include "wire/parse_error.h"

namespace uet::wire {

const char* name(ParseError e) {
  switch (e) {
    case ParseError::truncated:
      return "truncated";
    case ParseError::pds_type_reserved:
      return "pds_type_reserved";
    case ParseError::tss_inside_tss:
      return "tss_inside_tss";
    case ParseError::next_hdr_reserved:
      return "next_hdr_reserved";
    case ParseError::ses_version:
      return "ses_version";
    case ParseError::response_opcode_mismatch:
      return "response_opcode_mismatch";
    case ParseError::request_under_response_type:
      return "request_under_response_type";
    case ParseError::response_under_request_type:
      return "response_under_request_type";
    case ParseError::single_packet_som_eom:
      return "single_packet_som_eom";
    case ParseError::spdcid_zero:
      return "spdcid_zero";
    case ParseError::sum_check:
      return "sum_check";
    case ParseError::payload_length_limit:
      return "payload_length_limit";
    case ParseError::ipv4_options:
      return "ipv4_options";
    case ParseError::ipv4_checksum:
      return "ipv4_checksum";
    case ParseError::fragment:
      return "fragment";
    case ParseError::udp_length:
      return "udp_length";
    case ParseError::udp_checksum:
      return "udp_checksum";
    case ParseError::crc:
      return "crc";
    case ParseError::wrong_type:
      return "wrong_type";
  }
  return "reserved";
}

}  // namespace uet::wire
