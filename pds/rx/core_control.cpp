// Control packets that were received. [PDS 13]
#include "pds/core.h"

namespace uet::pds {

using wire::CtlType;
using wire::NackCode;

// NOOP, Close command and Close Request: another PSN, answered by an ACK. [PDS-160]
void Core::on_control_psn(Pdc& pdc, const Inbound& in, Instant now) {
  const bool wrong_way = (in.ctl_type == CtlType::close_cmd && pdc.is_initiator()) ||
                         (in.ctl_type == CtlType::close_req && !pdc.is_initiator());
  if (wrong_way) {  // [PDS-161]
    counters_.add(Count::drop_cp_direction);
    return nack(pdc, NackCode::unexp_event, in.trigger, now);
  }
  record(pdc, in, false, in.ctl_type != CtlType::close_cmd ? Answer::wanted : Answer::by_the_rules);
  switch (in.ctl_type) {
    case CtlType::close_cmd:
      counters_.add(Count::close_cmd_rx);
      pdc.life.note_close_received();
      pdc.close_psn = in.psn();
      return;  // acted on when all lower PSNs are there [PDS-T13, PDS-T15]
    case CtlType::close_req:
      counters_.add(Count::close_req_rx);
      begin_close(pdc);
      break;
    default:
      counters_.add(Count::noop_rx);
      break;
  }
  if (!pdc.ack.is_due()) pdc.ack.want(Count::ack_control, in.trigger);
  want_control(pdc);
}

void Core::on_control_plain(Pdc& pdc, const Inbound& in, Instant now) {
  switch (in.ctl_type) {
    case CtlType::ack_req:
      return on_ack_request(pdc, in, now);
    case CtlType::clear_cmd:
      if (pdc.is_initiator()) break;
      counters_.add(Count::clear_cmd_rx);
      return clear_up_to(pdc, Psn(in.ctl_payload));  // [PDS-104]
    case CtlType::clear_req:
      if (!pdc.is_initiator()) break;
      counters_.add(Count::clear_req_rx);
      pdc.clear_wanted = true;  // [PDS-105]
      if (pdc.clear_at.is_never()) pdc.clear_at = now + config_.clear_time;
      return arm_by(pdc, pdc.clear_at);
    case CtlType::probe:
      return on_probe(pdc, in, now);
    case CtlType::credit:
      counters_.add(Count::credit_rx);
      return on_credit(pdc, wire::unpack_credit(in.ctl_payload), now);
    case CtlType::credit_req:
      return on_credit_request(pdc, wire::CreditRequest::unpack(in.ctl_payload), now);
    default:
      return on_unknown_control(pdc, in, now);
  }
  counters_.add(Count::drop_cp_direction);  // [PDS-161]
  if (in.ar) nack(pdc, NackCode::unexp_event, in.trigger, now);
}

// In a control packet, or in an ACK. [PDS 13, PDS 19.3, T-33]
void Core::on_credit(Pdc& pdc, uint32_t credit, Instant now) {
  switch (pdc.path->ccc.on_credit({credit, now})) {
    case cms::CreditNews::old:
      return counters_.add(Count::credit_old);
    case cms::CreditNews::clamped:
      counters_.add(Count::credit_clamped);
      break;
    case cms::CreditNews::taken:
      break;
  }
  wake_path(*pdc.path);
}

// In a control packet, or in the head of a request. [PDS 13, PDS 19.3, T-34]
void Core::on_credit_request(Pdc& pdc, const wire::CreditRequest& h, Instant now) {
  counters_.add(Count::credit_request_rx);
  cms::CreditDemands*& demands = pdc.path->demands;
  if (demands == nullptr) demands = demands_.alloc(uint64_t{cms_.window_bytes_max});
  const bool is_taken = demands != nullptr && demands->on_request({h.ccc_id, h.credit_target, now});
  if (!is_taken) counters_.add(Count::creq_drop);
}

// Negotiation is of a later revision; the rest nobody knows, and says so once a second. [PDS-071]
void Core::on_unknown_control(Pdc& pdc, const Inbound& in, Instant now) {
  counters_.add(Count::cp_unsupported_rx);
  if (!in.ar) return;
  if (in.ctl_type != CtlType::negotiation) {
    uint32_t& last = peers_[pdc.peer].odd_control_ms;
    const auto now_ms = static_cast<uint32_t>(now.ns() / 1'000'000);
    if (last != 0 && now_ms - last < 1000) return counters_.add(Count::drop_nack_limited);
    last = now_ms;
  }
  nack(pdc, NackCode::unexp_event, in.trigger, now);
}

// [PDS 13, ACK Request a-e]
void Core::on_ack_request(Pdc& pdc, const Inbound& in, Instant now) {
  counters_.add(Count::ack_request_rx);
  switch (pdc.rx.classify(in.psn())) {
    case Arrival::dup_below:
    case Arrival::dup_window:
      return answer_again(pdc, in.trigger, Count::ack_control, now);
    case Arrival::fresh:
      return nack(pdc, NackCode::pkt_not_rcvd, in.trigger, now);
    case Arrival::too_old:
    case Arrival::beyond_range:
      return nack(pdc, NackCode::psn_oor_window, in.trigger, now);
  }
}

}  // namespace uet::pds
