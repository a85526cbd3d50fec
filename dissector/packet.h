// SPDX-License-Identifier: GPL-2.0-or-later
// What the headers of one packet said, for the layers after them and for the analysis. Plain
// values: it lives on the stack of the dissection, which may be left by longjmp.
#pragma once

#include "dissector/compat.h"

#include "wire/code_points.h"

namespace uet::dissector {

struct PdsFields {
  wire::PdsType type{};
  uint8_t next_hdr = 0;
  uint8_t ctl_type = 0;
  bool retx = false, ar = false, syn = false, m = false, probe = false, nt = false;
  bool isrod = false, epsn = false, private_mark = false;
  uint8_t req = 0;
  uint8_t nack_code = 0;
  uint8_t mpr = 0;
  bool has_sack = false;
  uint16_t spdcid = 0, dpdcid = 0;  // dpdcid 0 with syn
  uint32_t psn = 0;                 // requests and control packets; nack_psn of a NACK
  uint32_t start_psn = 0;           // with syn
  uint32_t clear_psn = 0;
  uint32_t cack_psn = 0;
  uint32_t ack_psn = 0;  // not of a probe's answer
  uint32_t sack_base = 0;
  uint64_t sack_bitmap = 0;
  uint32_t pkt_id = 0;  // RUDI, and NACK with nt
  uint32_t payload = 0;
};

struct SesFields {
  wire::NextHeader format = wire::NextHeader::none;
  wire::SesOpcode opcode{};         // of a request
  wire::ResponseOpcode response{};  // of a response
  wire::ReturnCode return_code{};
  wire::ListCode list{};
  bool som = false, eom = false, has_message_id = false;
  uint16_t message_id = 0;  // of the request; in a response, of the answered request
  uint32_t job_id = 0;
  uint32_t request_length = 0;  // modified_length of a response
  uint32_t message_offset = 0;  // of the payload
  uint32_t initiator = 0;
  uint64_t memory_key = 0;  // or match bits
  uint64_t buffer_offset = 0;
  uint64_t read_memory_key = 0;  // of a rendezvous
  uint64_t read_offset = 0;
  bool rendezvous = false;
  uint32_t original_request_psn = 0;
  uint32_t initiator_restart_token = 0, target_restart_token = 0;
};

struct Packet {
  bool native = false;
  uint32_t entropy_header = 0;  // with native
  bool trimmed = false;         // by DSCP [WIRE-022]
  bool has_pds = false;
  PdsFields pds;
  proto_tree* pds_tree = nullptr;
  proto_item* pds_item = nullptr;
  bool has_ses = false;
  SesFields ses;
  proto_tree* ses_tree = nullptr;
  int ses_end = 0;          // in tvb
  tvbuff_t* tvb = nullptr;  // UET without its trailer
  int payload_start = -1;   // in tvb; -1: the packet has none
  int payload_length = 0;
};

}  // namespace uet::dissector
