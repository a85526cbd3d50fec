// The order in which a request is judged. [ses.md 5]
#include "ses/incoming/checks.h"

#include "ses/rendezvous/pull.h"

namespace uet::ses {

using wire::ReturnCode;
using wire::SesOpcode;

namespace {

bool is_served(SesOpcode opcode, uint8_t profiles) {
  if (support(profiles, feature_of(opcode)) == Support::absent) return false;
  switch (opcode) {
    case SesOpcode::no_op:
    case SesOpcode::write:
    case SesOpcode::read:
    case SesOpcode::send:
    case SesOpcode::datagram_send:
    case SesOpcode::deferrable_send:
    case SesOpcode::tagged_send:
    case SesOpcode::deferrable_tsend:
    case SesOpcode::deferrable_rtr:
    case SesOpcode::atomic:
    case SesOpcode::fetching_atomic:
    case SesOpcode::tsend_atomic:
    case SesOpcode::tsend_fetch_atomic:
    case SesOpcode::rendezvous_send:
    case SesOpcode::rendezvous_tsend:
    case SesOpcode::msg_error:
      return true;
    case SesOpcode::extended:
      return false;
  }
  return false;  // reserved and vendor codes [SES-067, SES-068]
}

Decision refused(ReturnCode code, Counter why) {
  return {.kind = Decision::Kind::refuse, .code = code, .why = why};
}

}  // namespace

void Checks::create() {
  for (uint32_t code = 0; code < 64; ++code) {
    if (is_served(static_cast<SesOpcode>(code), res_.config.profiles)) {
      served_ |= uint64_t{1} << code;
    }
  }
}

// The order of the checks is the specification's.
Decision Checks::judge(const Request& q) {
  const SesOpcode opcode = q.common.opcode;
  if (!serves(opcode)) return refused(ReturnCode::unsupported_op, Counter::rx_unsupported_op);
  if (opcode == SesOpcode::deferrable_rtr) return {.kind = Decision::Kind::restart};
  if (is_deferral_end(q)) return {.kind = Decision::Kind::deferral_end};

  Endpoint* const ep = endpoint_for(q);
  if (ep == nullptr) return missing_endpoint(q);
  // A small header does not say which endpoint: its region decides. [SES-008]
  if (q.header != wire::NextHeader::small && !ep->options.hears(q.common.job_id)) {
    return refused(ReturnCode::bad_job_id, Counter::rx_bad_job);  // [SES-004, SES-112]
  }
  if (opcode == SesOpcode::msg_error) return {.kind = Decision::Kind::msg_error};
  if (begins_too_late(q)) return refused(ReturnCode::bad_job_id, Counter::rx_domain_closing);
  // [SES-049]
  if (q.common.ie) return refused(ReturnCode::initiator_err, Counter::rx_initiator_error);

  const Decision generation = check_generation(*ep, q);
  if (generation.code != ReturnCode::ok) return generation;
  const ReturnCode code = check_mode(q);
  if (code != ReturnCode::ok) return refused(code, Counter::rx_mode_violation);
  if (q.request_length > kMaxMessageBytes) {
    return refused(ReturnCode::unsupported_size, Counter::rx_unsupported_size);
  }
  if (!has_legal_lengths(q) || (is_atomic(opcode) && !q.is_single()) ||
      (opcode == SesOpcode::no_op && q.request_length != 0)) {
    return refused(ReturnCode::op_violation, Counter::rx_length_violation);  // [SES-051, SES-080]
  }
  if (Arrivals().is_too_far(q.offset, q.length, q.common.eom)) {
    return {.kind = Decision::Kind::no_slot};
  }
  if (q.has_data && !ep->rx.carries_data) {
    return refused(ReturnCode::op_violation, Counter::rx_header_data_refused);  // [SES-050]
  }
  return {.kind = kind_of(opcode), .endpoint = ep};
}

// The secure domain is being taken out of use: started operations may end, also by a read of a
// message that waits here. [TSS-146, SES-092]
bool Checks::begins_too_late(const Request& q) const {
  if (q.sdi == 0 || res_.jobs == nullptr || !res_.jobs->is_closing(q.sdi)) return false;
  const bool is_rest = q.common.opcode == SesOpcode::read && memory_.is_exposed(q.match_bits);
  return !is_rest && q.common.opcode != SesOpcode::no_op;
}

Decision::Kind Checks::kind_of(SesOpcode opcode) {
  if (opcode == SesOpcode::no_op) return Decision::Kind::no_op;
  if (opcode == SesOpcode::write) return Decision::Kind::write;
  if (opcode == SesOpcode::read) return Decision::Kind::read;
  if (is_atomic(opcode)) {
    return is_tagged(opcode) ? Decision::Kind::send_atomic : Decision::Kind::atomic;
  }
  return Decision::Kind::send;
}

Endpoint* Checks::endpoint_for(const Request& q) const {
  const bool absolute = !q.common.rel;
  if (q.header == wire::NextHeader::small) {
    return endpoints_.find_process(absolute, q.common.job_id, q.common.pid_on_fep);
  }
  return endpoints_.find(absolute, q.common.job_id, q.common.pid_on_fep, q.common.resource_index);
}

// [SES-111, SES-172..174]
Decision Checks::missing_endpoint(const Request& q) const {
  // The job takes no part in an absolute look-up. [SES-002]
  if (q.common.rel && !endpoints_.is_known(q.common.job_id)) {
    return refused(ReturnCode::bad_job_id, Counter::rx_bad_job);
  }
  const bool pid_known =
      endpoints_.find_process(!q.common.rel, q.common.job_id, q.common.pid_on_fep) != nullptr;
  return pid_known ? refused(ReturnCode::bad_index, Counter::rx_bad_index)
                   : refused(ReturnCode::bad_pid, Counter::rx_bad_pid);
}

// [SES-114, SES-132, SES-134, SES-136]
Decision Checks::check_generation(Endpoint& ep, const Request& q) {
  // The small header names no index, so no generation of one either. [SES-008]
  if (!q.has_pdc() || q.header == wire::NextHeader::small) return {};
  const Generation& generation = generations_.refresh(ep, is_tagged(q.common.opcode));
  if (generation.is_enabled && q.common.ri_generation == generation.value) return {};
  // A peer may read our own message regardless of the state of our receives. [SES-092]
  if (q.common.opcode == SesOpcode::read && memory_.is_exposed(q.match_bits)) return {};
  if (!generation.is_enabled) return refused(ReturnCode::disabled_gen, Counter::rx_disabled);
  Decision old = refused(ReturnCode::bad_generation, Counter::rx_bad_generation);
  old.generation = generation.value;
  return old;
}

Continuation Checks::judge_later(const RxMessage& m, const Request& q) const {
  if (q.common.ie) {
    return {.code = ReturnCode::initiator_err, .why = Counter::rx_initiator_error};  // [SES-049]
  }
  if (q.common.opcode != m.opcode) {
    return {.code = ReturnCode::op_violation, .why = Counter::rx_changed_field};  // [SES-021]
  }
  if (q.match_bits != m.match_bits || q.common.job_id != m.job || q.common.pid_on_fep != m.pid ||
      q.common.resource_index != m.ri || q.initiator != m.initiator) {
    return {.code = ReturnCode::perm_violation,
            .why = Counter::rx_changed_field};  // [SES-021, SES-170]
  }
  constexpr Continuation kWrongLength{.code = ReturnCode::op_violation,
                                      .why = Counter::rx_length_violation};
  if (q.request_length != m.request_length || q.buffer_offset != m.buffer_offset ||
      !has_legal_lengths(q) || (m.pull != nullptr && !(q.rendezvous == m.pull->source))) {
    return kWrongLength;  // [SES-115, WIRE-069]
  }
  if (m.mtu != 0 &&
      (q.common.eom ? q.length > m.mtu || q.offset % m.mtu != 0 : q.length != m.mtu)) {
    return kWrongLength;  // [SES-016]
  }
  if (m.mtu == 0 && !q.common.eom && !m.packets.fits_last(m.pushed, q.length)) {
    return kWrongLength;
  }
  // PDS removes copies of a packet; a peer that sends the same octets under two PSNs would
  // otherwise have them counted for missing ones. [SES-190]
  if (!m.packets.is_too_far(q.offset, q.length, q.common.eom) &&
      m.packets.has(q.offset, q.length, q.common.eom)) {
    return {.code = ReturnCode::op_violation, .why = Counter::rx_repeated_part};
  }
  // More octets than there are, a second first packet, or all of them without a first packet.
  const bool som_seen = m.som_seen || q.common.som;
  if (q.length > m.pushed - m.arrived || (m.som_seen && q.common.som) ||
      (q.length == m.pushed - m.arrived && !som_seen)) {
    return kWrongLength;
  }
  Endpoint& ep = endpoint_of(m);
  if (q.has_data && !ep.rx.carries_data) {
    return {.code = ReturnCode::op_violation, .why = Counter::rx_header_data_refused};
  }
  return {.endpoint = &ep};
}

bool Checks::is_deferral_end(const Request& q) {
  return wire::is_deferrable_send(q.common.opcode) && !q.common.som && q.common.eom &&
         q.length == 0 && q.payload.empty();
}

}  // namespace uet::ses
