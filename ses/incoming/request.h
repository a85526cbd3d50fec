// A received request in one form for all three headers, and the answers of a target. Everything but
// the payload is copied once: the packet may lie in memory that its sender still writes to, and the
// stack must use the values that it checked. [decision 21, ses.md 3, 7]
#pragma once

#include "ses/types.h"

#include "pds/client.h"

#include "base/serial.h"
#include "wire/ses.h"
#include "wire/ses_extension.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

struct Request {
  PeerId peer;
  uint32_t sdi = 0;  // secure domain that it was verified in; 0: in the clear
  pds::Mode mode{};
  pds::RxToken token;
  wire::NextHeader header{};
  wire::RequestCommon common;
  MessageId id;  // 0 in small and medium
  uint64_t buffer_offset = 0;
  uint64_t match_bits = 0;   // tag or key
  uint64_t header_data = 0;  // with has_data
  uint32_t initiator = 0;
  uint32_t request_length = 0;
  uint32_t offset = 0;  // of this packet in the message
  uint32_t length = 0;  // octets this packet carries, or asks for
  bool has_data = false;
  wire::Atomic atomic;          // of the opcodes that have it
  wire::Rendezvous rendezvous;  // of the opcodes that have it
  bool is_rendezvous = false;
  bool in_order = true;      // every lower PSN of its PDC has arrived
  bool is_confirmed = true;  // its sender has shown that it hears us
  std::span<const std::byte> payload;

  // Octets of the message that come in packets. [SES-088]
  uint32_t pushed() const { return is_rendezvous ? rendezvous.eager_length : request_length; }
  // For opcodes that have them. [WIRE-063]
  wire::RestartTokens tokens() const { return wire::RestartTokens::unpack(buffer_offset); }
  bool is_single() const { return common.som && common.eom; }
  // UUD packets are not answered and RUDI packets not tracked.
  bool has_pdc() const { return mode == pds::Mode::rud || mode == pds::Mode::rod; }
};

// Reads the header; never beyond the octets. A wrong version is not an error here: it gets an
// answer. payload_mtu: the octets that the first of several packets of a READ requests. [SES-109,
// SES-017]
Result<Request, wire::ParseError> parse_request(const pds::RxRequest& rx, uint16_t payload_mtu);

// Whether the lengths are consistent with each other and with payloads of one legal size, whichever
// the sender chose for the path. [SES-016, SES-017, SES-115]
bool has_legal_lengths(const Request& request);

// The class of a request; other requests are not served.
bool is_send(wire::SesOpcode opcode);
bool is_tagged(wire::SesOpcode opcode);
bool is_atomic(wire::SesOpcode opcode);  // on registered memory, or on a matched receive

// OK, or the error for a request that the mode does not carry. [SES-077, SES-104]
wire::ReturnCode check_mode(const Request& request);

// A guaranteed RESPONSE. `ri_generation` is the request's, or the current one with
// BAD_GENERATION. [SES-143, SES-146, SES-147]
pds::Verdict response(const Request& request, wire::ReturnCode code, uint8_t ri_generation);
// DEFAULT_RESPONSE OK, where no cumulative ACK can imply it. [SES-141, SES-142]
pds::Verdict default_response(const Request& request);
// RESPONSE OK of a message that was kept or cut. [SES-126, SES-137]
struct Delivered {
  MessageId id;
  JobId job;
  wire::ReturnCode code = wire::ReturnCode::ok;
  uint8_t ri_generation = 0;
  wire::ListCode list{};
  uint32_t modified_length = 0;
};
pds::Verdict response_ok(const Delivered& delivered);
// OK with read data or old values, at most as many as an ACK has room for. [SES-144]
pds::Verdict data_in_ack(const Request& request, std::span<const std::byte> data);

}  // namespace uet::ses
