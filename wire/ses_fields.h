// The fields of the SES headers and their extensions, one list a header, in the order of the wire.
// How a list calls its visitor is written in pds_fields.h.
#pragma once

#include "wire/pds_fields.h"
#include "wire/ses.h"

namespace uet::wire {

template <class H, class V>
void visit_flags(H& h, V& v) {
  v(code<SesOpcode, 6>("opcode"), h.opcode);
  v(number("ver", 2).rarely(), h.ver);
  v(flag("dc"), h.dc);
  v(flag("ie"), h.ie);
  v(flag("rel"), h.rel);
  v(flag("hd"), h.hd);
  v(flag("eom"), h.eom);
  v(flag("som"), h.som);
}

// The fields that name the target of a request.
template <class H, class V>
void visit_target(H& h, V& v) {
  v(number("ri_generation", 8), h.ri_generation);
  v(number("job_id", 24), h.job_id);
  v(number("pid_on_fep", 12), h.pid_on_fep);
  v(number("resource_index", 12), h.resource_index);
}

template <class H, class V>
void visit_match(H& h, bool is_present, V& v) {
  const bool key = has_memory_key(h.common.opcode);
  v(hex("match_bits", 64).when(is_present && !key), h.match_bits);
  v(hex("memory_key", 64).view().when(is_present && key), h.match_bits);
}

template <Holds<SmallRequest> H, class V>
void visit_fields(H& h, V& v) {
  visit_flags(h.common, v);
  visit_target(h.common, v);
  v(number("request_length", 14), h.request_length);
  v(hex("buffer_offset", 64), h.buffer_offset);
}

template <Holds<MediumRequest> H, class V>
void visit_fields(H& h, V& v) {
  visit_flags(h.common, v);
  visit_target(h.common, v);
  v(number("request_length", 14), h.request_length);
  v(hex("header_data", 64).when(h.common.hd), h.header_data);
  v(hex("buffer_offset", 64).when(!h.common.hd), h.buffer_offset);
  v(number("initiator", 32), h.initiator);
  visit_match(h, true, v);
}

// The two tokens in 64 bits that another operation uses otherwise.
template <class Word, class V>
void visit_tokens(Word& word, bool is_present, V& v) {
  visit_packed<RestartTokens>(word, [&](auto& tokens) {
    v(hex("initiator_restart_token", 32).view().when(is_present), tokens.initiator);
    v(hex("target_restart_token", 32).view().when(is_present), tokens.target);
  });
}

template <Holds<StandardRequest> H, class V>
void visit_fields(H& h, V& v) {
  const bool deferrable = is_deferrable_send(h.common.opcode);
  const bool restart = h.common.opcode == SesOpcode::deferrable_rtr;
  const bool som = h.common.som;
  visit_flags(h.common, v);
  visit_target(h.common, v);
  v(number("message_id", 16), h.message_id);
  v(hex("buffer_offset", 64).when(!deferrable), h.buffer_offset);
  if (deferrable) visit_tokens(h.buffer_offset, true, v);
  v(number("initiator", 32), h.initiator);
  visit_match(h, !restart, v);
  if (!deferrable) visit_tokens(h.match_bits, restart, v);
  v(number("payload_length", 14).when(!som), h.payload_length);
  v(number("message_offset", 32).when(!som), h.message_offset);
  v(hex("header_data", 64).when(som && h.common.hd), h.header_data);
  v(number("request_length", 32), h.request_length);
}

template <class H, class V>
void visit_response(H& h, V& v) {
  v(code<ListCode, 2>("list"), h.list);
  v(code<ResponseOpcode, 6>("response_opcode"), h.opcode);
  v(number("ver", 2).rarely(), h.ver);
  v(code<ReturnCode, 6>("return_code"), h.return_code);
}

template <Holds<Response> H, class V>
void visit_fields(H& h, V& v) {
  visit_response(h.common, v);
  v(number("message_id", 16), h.message_id);
  v(number("ri_generation", 8), h.ri_generation);
  v(number("job_id", 24), h.job_id);
  v(number("modified_length", 32), h.modified_length);
}

template <Holds<ResponseData> H, class V>
void visit_fields(H& h, V& v) {
  visit_response(h.common, v);
  v(number("response_message_id", 16), h.response_message_id);
  v(number("job_id", 24), h.job_id);
  v(number("read_request_message_id", 16), h.read_request_message_id);
  v(number("payload_length", 14), h.payload_length);
  v(number("modified_length", 32), h.modified_length);
  v(number("message_offset", 32), h.message_offset);
}

template <Holds<ResponseDataSmall> H, class V>
void visit_fields(H& h, V& v) {
  visit_response(h.common, v);
  v(number("payload_length", 14), h.payload_length);
  v(number("job_id", 24), h.job_id);
  v(number("original_request_psn", 32), h.original_request_psn);
}

template <Holds<Rendezvous> H, class V>
void visit_fields(H& h, V& v) {
  v(number("eager_length", 32), h.eager_length);
  v(number("read_ri_generation", 8), h.read_ri_generation);
  v(number("read_pid_on_fep", 12), h.read_pid_on_fep);
  v(number("read_resource_index", 12), h.read_resource_index);
  v(hex("read_offset", 64), h.read_offset);
  v(hex("read_memory_key", 64), h.read_memory_key);
}

template <Holds<Atomic> H, class V>
void visit_fields(H& h, V& v) {
  v(code<AtomicOpcode, 8>("atomic_opcode"), h.atomic_opcode);
  v(code<AtomicDatatype, 8>("atomic_datatype"), h.atomic_datatype);
  v(hex("sem_ctl", 8), h.sem_ctl);
}

template <Holds<CompareSwap> H, class V>
void visit_fields(H& h, V& v) {
  visit_fields(h.atomic, v);
  v(octets("compare_value", 128), h.compare_value);
  v(octets("swap_value", 128), h.swap_value);
}

}  // namespace uet::wire
