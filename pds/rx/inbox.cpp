// Requests and control packets of a PDC, in the order of PDS 7.1, V9 to V13.
#include "pds/rx/inbox.h"

#include <algorithm>

namespace uet::pds {

using wire::CtlType;
using wire::NackCode;

namespace {
// Proof that the peer receives our packets: its packet has our PDCID, which it can only know from
// our answer, and a PSN in the window. A Probe may have the PSN before the first one. A secured
// source gets return data without a proof, but counts as half-open until then. [PDS-252]
bool is_proof(const Pdc& pdc, const Inbound& in, uint32_t tracked_packets) {
  if (pdc.is_initiator() || pdc.proof.is_confirmed() || in.syn) return false;
  const int32_t distance = in.psn() - pdc.start.psn();
  return distance >= -1 && distance < static_cast<int32_t>(tracked_packets);
}

// [PDS-160]
bool takes_psn(CtlType type) {
  return type == CtlType::noop || type == CtlType::close_cmd || type == CtlType::close_req;
}
}  // namespace

// The answer reports the path of the packet as noted when the packet came. [PDS-070]
LateAnswer Inbox::respond(Pdc& pdc, Psn psn, const Verdict& verdict, Instant now) {
  if (!pdc.rx.is_held(psn)) return {};
  StoredResponse* const entry = store_.find(pdc, psn);
  if (entry == nullptr || !entry->is_awaited) return {};
  UET_ASSERT(verdict.kind != Verdict::Kind::later);
  const AckTrigger trigger = entry->trigger;
  if (verdict.kind == Verdict::Kind::respond && !pdc.is_initiator()) {  // [PDS-108]
    store_.fill(pdc, *entry, verdict);
    schedule_.arm_by(pdc, now + res_.config.rto_max);  // [PDS-106]
    if (!verdict.guaranteed) pdc.rx.unhold(res_.rx_pool, psn);
    schedule_.want_control(pdc);
    return {.is_known = true};
  }
  store_.free_stored(pdc, *entry);
  LateAnswer answer{.is_known = true};
  switch (verdict.kind) {
    case Verdict::Kind::nack:
      answer.is_refusal = true;
      answer.trigger = trigger;
      [[fallthrough]];
    case Verdict::Kind::drop:
      pdc.rx.forget(psn);
      break;
    case Verdict::Kind::respond:
    case Verdict::Kind::accept:
    case Verdict::Kind::later:
      pdc.rx.unhold(res_.rx_pool, trigger.psn);
      acks_.want_answer(pdc, Count::ack_response, trigger);
      break;
  }
  schedule_.want_control(pdc);
  return answer;
}

// By default the NACK carries the next PSN in sequence. [PDS-111]
Admission Inbox::refuse(const Pdc& pdc, NackCode code) {
  return {.nack = code, .payload = pdc.nack_hint().value()};
}

Admission Inbox::admit(Pdc& pdc, const Inbound& in, Instant now) {
  const Admission result = judge(pdc, in, now);
  if (result.is_refused() && in.syn) tell_again(pdc, in);
  return result;
}

// The initiator sends SYN again: no ACK has reached it, and the NACK does not establish. What has
// arrived may never come again, because what is refused fills its window; and until it has an ACK
// it drops return data, which may hold the place that the refused packet waits for. The ACK names
// no packet of the PDC, so it is no sample of the round trip. [PDS-A2, PDS-042, PDS-141]
void Inbox::tell_again(Pdc& pdc, const Inbound& in) {
  if (!in.trigger.retx || !pdc.told.has_answered() || pdc.ack.is_due()) return;
  AckTrigger trigger = in.trigger;
  trigger.psn = pdc.start.psn() - 1;
  trigger.ce = false;
  pdc.ack.want(Count::ack_syn, trigger);
  schedule_.want_control(pdc);
}

// The packet fits the PDC. That proves its sender only where the source is proven or secured: a
// forger knows the PSNs and a PDCID of a PDC that it opened. [PDS-256]
void Inbox::note_heard(const Pdc& pdc, Instant now) {
  if (!pdc.is_unverified()) res_.peers[pdc.peer].note_heard(now);
}

// Of both roles, and in every state that has a peer. [PDS-I9, PDS-T8, PDS-T11]
Admission Inbox::judge(Pdc& pdc, const Inbound& in, Instant now) {
  // isrod has a meaning only where a control packet may open a PDC. [WIRE-038]
  if (!in.is_control && in.mode != pdc.mode) {
    return refuse(pdc, NackCode::pdc_mode_mismatch);  // [PDS-001]
  }
  if (in.is_control) {
    if (!takes_psn(in.ctl_type)) {
      if (is_proof(pdc, in, res_.config.tracked_packets())) proofs_.confirm(pdc);
      return on_control_plain(pdc, in, now);
    }
  } else {
    const bool is_return = wire::is_response(in.next_hdr);
    if (is_return != pdc.is_initiator() || in.next_hdr == wire::NextHeader::none) {
      res_.counters.add(Count::drop_direction);  // [PDS-012]
      return refuse(pdc, NackCode::pdc_hdr_mismatch);
    }
    if (!pdc.is_initiator()) store_.clear_up_to(pdc, in.clear_psn);
  }
  if (pdc.life.close_received() && in.psn().after(pdc.end.psn())) {
    return refuse(pdc, NackCode::closing);  // [PDS-T16]
  }
  if (!pdc.rx.may_accept(res_.rx_pool)) {
    return refuse(pdc, NackCode::no_bitmap);
  }

  if (is_proof(pdc, in, res_.config.tracked_packets())) proofs_.confirm(pdc);
  const Arrival how = pdc.rx.classify(in.psn());
  const bool has_ccc = !in.has_cc || take_demand(pdc, in, how, now);
  switch (how) {
    case Arrival::too_old:
    case Arrival::beyond_range:
      res_.counters.add(how == Arrival::too_old ? Count::psn_too_old : Count::psn_beyond);
      return refuse(pdc, in.syn ? NackCode::invalid_syn : NackCode::psn_oor_window);
    case Arrival::dup_window:
    case Arrival::dup_below:
      note_heard(pdc, now);
      return on_duplicate(pdc, in, how, now);
    case Arrival::fresh:
      note_heard(pdc, now);
      if (!pdc.is_initiator() && pdc.life.is_draining()) {
        return refuse(pdc, NackCode::closing);  // [PDS-120]
      }
      if (!has_ccc) return refuse(pdc, NackCode::no_ccc_avail);
      if (steps_.is_close_early(pdc, in, now)) return {};
      return on_fresh(pdc, in, now);
  }
  return {};
}

// False: there is no memory for the context of its source, which must send it again later.
// [CMS-007, CMS-130]
bool Inbox::take_demand(Pdc& pdc, const Inbound& in, Arrival how, Instant now) {
  if (!destination_.on_demand(pdc, in.credit, cms::AskedBy::packet, now)) return false;
  destination_.on_received(pdc, in, {.duplicate = how != Arrival::fresh});
  return true;
}

Admission Inbox::on_fresh(Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.mode == Mode::rod) return on_rod(pdc, in, now);
  return in.is_control ? on_control_psn(pdc, in) : deliver(pdc, in, false, now);
}

// [PDS-075]
Admission Inbox::on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now) {
  res_.counters.add(how == Arrival::dup_window ? Count::dup_window : Count::dup_below);
  // A copy made by the network is not worth an answer, unless the peer asks for one.
  if (!in.trigger.retx && !in.ar) return drop(Count::dup_no_retx);
  const uint32_t rate = res_.config.duplicate_answers_per_second;
  const bool may_answer = pdc.sdi == 0 || duplicates_.take(pdc.id, rate, now);
  if (!may_answer) return drop(Count::drop_dup_limited);  // [TSS-072]
  return answer_again(pdc, in.trigger, Count::ack_duplicate, now);
}

// Its source hears that it arrived, not that it was cut, whatever it asks for. [PDS-131, CMS-167]
Admission Inbox::on_trimmed_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now) {
  res_.counters.add(how == Arrival::dup_window ? Count::dup_window : Count::dup_below);
  return answer_again(pdc, in.trigger, Count::ack_duplicate, now);
}

// Answers a PSN that was received before: with its stored response, with a default answer, or with
// a NACK if the client still works on it or an earlier packet is missing. [PDS-075, PDS 13 ACK
// Request]
Admission Inbox::answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now) {
  if (StoredResponse* const entry = store_.stored_for(pdc, trigger.psn)) {
    store_.send_again(*entry, trigger);
    res_.counters.add(Count::gd_resent);
    return {};
  }
  if (pdc.mode == Mode::rod && trigger.psn.after(pdc.order.next()) &&
      !pdc.rx.received(pdc.order.next())) {
    return nack_gap(pdc, now);  // SES does not work on it yet: it waits for its turn [PDS-079]
  }
  // The packet may also wait for room for its response. A peer to which we send no Clear Requests
  // learns that only from this NACK. [PDS-101, PDS-106, PDS 22]
  if (pdc.order.is_stalled() && !trigger.psn.before(pdc.order.next()) &&
      !store_.may_store(pdc, pdc.order.next(), true) && !res_.config.optional_control) {
    return refuse(pdc, NackCode::no_gtd_del_avail);
  }
  if (pdc.rx.is_held(trigger.psn)) return refuse(pdc, NackCode::rcvd_ses_procg);
  acks_.want_answer(pdc, cause, trigger);
  return {};
}

Admission Inbox::deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now) {
  const bool in_order = pdc.rx.all_received_below(in.psn());
  if (!pdc.is_initiator() && !store_.may_store(pdc, in.psn(), in_order)) {
    res_.counters.add(Count::gd_full);
    res_.client.on_no_place(pdc.handle, now);
    if (!buffered) return refuse(pdc, NackCode::no_gtd_del_avail);  // [PDS-101]
    pdc.responses.want_clear();  // no NACK informs the initiator [PDS-106]
    schedule_.want_control(pdc);
    return {};
  }
  RxRequest request;
  request.peer = pdc.peer;
  request.mode = pdc.mode;
  request.ce = in.trigger.ce;
  request.in_order = in_order;
  request.is_confirmed = !pdc.is_unverified();
  request.sdi = pdc.sdi;
  request.next_hdr = in.next_hdr;
  request.token = {pdc.handle, in.psn()};
  request.ses = in.ses;
  request.arrival = in.arrival;
  const Verdict verdict = res_.client.on_request(request, now);
  switch (verdict.kind) {
    case Verdict::Kind::nack:
      // A packet that was SACKed stays received and is offered again. [PDS-112]
      return buffered ? Admission{} : refuse(pdc, verdict.nack);
    case Verdict::Kind::drop:
      res_.counters.add(Count::drop_client);
      // The packet then counts as never received: a peer that asks for its answer learns that and
      // sends it again.
      if (buffered) pdc.rx.forget(in.psn());
      return {};
    case Verdict::Kind::accept:
    case Verdict::Kind::respond:
    case Verdict::Kind::later:
      break;
  }
  res_.counters.add(Count::rx_payload_bytes, in.ses.size());
  if (res_.cells.is_on()) res_.cells.free(pdc, in.nominal_bytes, buffered);
  note_taken(pdc, in, verdict, buffered);
  return {.is_taken = true};
}

// The client took it: the PSN is received from here on. [PDS-074]
void Inbox::note_taken(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered) {
  bool held = false;
  auto answer = in.ar ? Answer::wanted : Answer::by_the_rules;
  switch (verdict.kind) {
    case Verdict::Kind::respond:
      if (pdc.is_initiator()) break;  // return data has no response but the default one [PDS-108]
      store_.store(pdc, in.trigger, verdict);
      schedule_.arm_by(pdc, in.arrival + res_.config.rto_max);  // [PDS-106]
      held = verdict.guaranteed;
      answer = Answer::sent;
      break;
    case Verdict::Kind::later:
      held = store_.await(pdc, in.trigger);
      answer = Answer::by_the_rules;
      break;
    case Verdict::Kind::accept:
    case Verdict::Kind::nack:  // these two are not taken
    case Verdict::Kind::drop:
      break;
  }
  if (!buffered) return record(pdc, in, held, answer);
  if (!held) pdc.rx.unhold(res_.rx_pool, in.psn());
  if (answer == Answer::wanted) {
    acks_.want_answer(pdc, Count::ack_ar, in.trigger);
  }
}

void Inbox::record(Pdc& pdc, const Inbound& in, bool held, Answer answer) {
  if (in.psn() != pdc.rx.max_received() + 1) res_.counters.add(Count::rx_out_of_order);
  pdc.rx.accept(res_.rx_pool, in.psn(), held);
  pdc.start.note_request(in.psn());
  const Psn cack = pdc.rx.cack_psn();
  pdc.sweep.on_request(in.psn(), cack);
  AckedRequest request;
  request.trigger = in.trigger;
  request.covered = !in.psn().after(cack);
  request.ar = answer == Answer::wanted;
  request.first = !pdc.is_initiator() && !pdc.told.has_answered();
  if (answer == Answer::sent) {  // the ACK with the response does it all
    request.first = request.trigger.retx = request.trigger.ce = false;
  }
  request.payload_bytes = static_cast<uint32_t>(in.ses.size());
  if (!in.is_control) pdc.told.add_received(in.nominal_bytes);
  pdc.told.note_answered();
  // One ACK reports one marked packet: if two came before it could leave, each gets its own ACK.
  if (request.ar && !request.covered && acks_.add_answer(pdc, in.trigger)) {
    request.trigger.ce = false;
  }
  const AckTrigger& due = pdc.ack.trigger();
  if (request.trigger.ce && pdc.ack.is_due() && due.ce) acks_.add_answer(pdc, due);
  pdc.ack.on_accepted(acks_.rules(), request, cack);
  if (pdc.ack.is_due()) {
    schedule_.want_control(pdc, pdc.ack.may_wait());
  } else if (res_.config.ack_delay_max > Duration::zero()) {
    schedule_.arm_by(pdc, in.arrival + res_.config.ack_delay_max);
  }
}

Admission Inbox::on_rod(Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.order.is_next(in.psn())) {
    const Admission result = in.is_control ? on_control_psn(pdc, in) : deliver(pdc, in, false, now);
    if (!result.is_taken) return result;
    pdc.order.pass();
    drain_reorder(pdc, now);
    return result;
  }
  if (res_.config.rod_reorder) {
    return in.is_control ? on_control_psn(pdc, in) : hold_back(pdc, in, now);
  }
  res_.counters.add(Count::rod_dropped);
  return nack_gap(pdc, now);
}

// Once per gap and shortest time-out: its packet may be one that the client refuses. [PDS-077]
Admission Inbox::nack_gap(Pdc& pdc, Instant now) const {
  if (!pdc.order.take_nack(res_.config.shortest_rto(), now)) return {};
  return {.nack = NackCode::rod_ooo, .payload = pdc.order.next().value()};
}

// [PDS-079]
Admission Inbox::hold_back(Pdc& pdc, const Inbound& in, Instant now) {
  if (!res_.cells.keep(pdc, in.nominal_bytes)) {  // more than it was granted [CMS-147]
    res_.counters.add(Count::cells_overrun);
    return refuse(pdc, NackCode::no_pkt_buffer);
  }
  if (!reorder_.keep(pdc, in)) {
    res_.cells.drop(pdc, in.nominal_bytes);
    res_.counters.add(Count::rod_no_room);
    return nack_gap(pdc, now);
  }
  res_.counters.add(Count::rod_buffered);
  record(pdc, in, true, Answer::by_the_rules);
  // The sender must see the gap soon: each packet above it is reported. [PDS-L3]
  pdc.ack.want(Count::ack_hole_closed, in.trigger);
  schedule_.want_control(pdc);
  return {.is_taken = true};
}

void Inbox::drain_reorder(Pdc& pdc, Instant now) {
  pdc.order.stall(false);
  while (pdc.rx.received(pdc.order.next()) && !pdc.order.next().after(pdc.rx.max_received())) {
    if (ReorderedPacket* const packet = pdc.order.due()) {
      Inbound in;
      in.arrival = packet->arrival;
      in.trigger = packet->trigger;
      in.mode = Mode::rod;
      in.ar = packet->ar;
      in.next_hdr = packet->next_hdr;
      in.nominal_bytes = packet->nominal_bytes;
      in.ses = {packet->octets, packet->length};
      if (!deliver(pdc, in, true, now).is_taken) {
        if (!pdc.rx.received(pdc.order.next())) {  // dropped
          res_.cells.drop(pdc, in.nominal_bytes);
          return reorder_.free(pdc, *packet);
        }
        res_.counters.add(Count::rod_retries);
        pdc.order.stall(true);
        return schedule_.arm_by(pdc, now + res_.config.nack_retx);
      }
      reorder_.free(pdc, *packet);
    }
    pdc.order.pass();
  }
}

// NOOP, Close command and Close Request: another PSN, answered by an ACK. [PDS-160]
Admission Inbox::on_control_psn(Pdc& pdc, const Inbound& in) {
  const bool wrong_way = (in.ctl_type == CtlType::close_cmd && pdc.is_initiator()) ||
                         (in.ctl_type == CtlType::close_req && !pdc.is_initiator());
  if (wrong_way) {  // [PDS-161]
    res_.counters.add(Count::drop_cp_direction);
    return refuse(pdc, NackCode::unexp_event);
  }
  record(pdc, in, false, in.ctl_type != CtlType::close_cmd ? Answer::wanted : Answer::by_the_rules);
  switch (in.ctl_type) {
    case CtlType::close_cmd:
      res_.counters.add(Count::close_cmd_rx);
      // A second one fills a hole below the first: what lies between them was executed.
      if (!pdc.life.close_received()) pdc.end.close_at_psn(in.psn());
      pdc.life.change(PdcEvent::close_held);
      // Acted on when all lower PSNs are there. [PDS-T13, PDS-T15]
      return {.is_taken = true};
    case CtlType::close_req:
      res_.counters.add(Count::close_req_rx);
      closing_.begin_close(pdc);
      break;
    case CtlType::noop:
      res_.counters.add(Count::noop_rx);
      break;
    case CtlType::ack_req:  // these take no PSN
    case CtlType::clear_cmd:
    case CtlType::clear_req:
    case CtlType::probe:
    case CtlType::credit:
    case CtlType::credit_req:
    case CtlType::negotiation:
      UET_ASSERT(false);
  }
  return {.is_taken = true};
}

Admission Inbox::on_control_plain(Pdc& pdc, const Inbound& in, Instant now) {
  switch (in.ctl_type) {
    case CtlType::ack_req:
      return on_ack_request(pdc, in, now);
    case CtlType::clear_cmd:
      if (pdc.is_initiator()) return on_wrong_way(pdc, in);
      note_heard(pdc, now);
      res_.counters.add(Count::clear_cmd_rx);
      store_.clear_up_to(pdc, Psn(in.ctl_payload));  // [PDS-104]
      return {};
    case CtlType::clear_req:
      if (!pdc.is_initiator()) return on_wrong_way(pdc, in);
      note_heard(pdc, now);
      res_.counters.add(Count::clear_req_rx);
      pdc.clearing.want(now + res_.config.clear_time);  // [PDS-105]
      schedule_.arm_by(pdc, pdc.clearing.at());
      return {};
    case CtlType::probe:
      note_heard(pdc, now);
      acks_.on_probe(pdc, in, now);
      return {};
    case CtlType::credit:
      note_heard(pdc, now);
      res_.counters.add(Count::credit_rx);
      schedule_.on_credit(pdc, wire::unpack_credit(in.ctl_payload), now);
      return {};
    case CtlType::credit_req:
      note_heard(pdc, now);
      (void)destination_.on_demand(pdc, wire::CreditRequest::unpack(in.ctl_payload),
                                   cms::AskedBy::request, now);
      return {};
    case CtlType::noop:  // on_control_psn has these
    case CtlType::close_cmd:
    case CtlType::close_req:
    case CtlType::negotiation:
      break;
  }
  return on_unknown_control(pdc, in, now);  // or a reserved type
}

// [PDS-161]
Admission Inbox::on_wrong_way(const Pdc& pdc, const Inbound& in) {
  res_.counters.add(Count::drop_cp_direction);
  return in.ar ? refuse(pdc, NackCode::unexp_event) : Admission{};
}

// Negotiation belongs to a later revision of the specification. Other types are unknown; a NACK for
// one of them leaves at most once a second. [PDS-071]
Admission Inbox::on_unknown_control(Pdc& pdc, const Inbound& in, Instant now) {
  res_.counters.add(Count::cp_unsupported_rx);
  if (!in.ar) return {};
  if (in.ctl_type != CtlType::negotiation) {
    uint32_t& last = res_.peers[pdc.peer].odd_control_ms;
    const auto now_ms = static_cast<uint32_t>(now.ns() / 1'000'000);
    if (last != 0 && now_ms - last < 1000) return drop(Count::drop_nack_limited);
    last = now_ms;
  }
  return refuse(pdc, NackCode::unexp_event);
}

// [PDS 13, ACK Request a-e]
Admission Inbox::on_ack_request(Pdc& pdc, const Inbound& in, Instant now) {
  res_.counters.add(Count::ack_request_rx);
  switch (pdc.rx.classify(in.psn())) {
    case Arrival::dup_below:
    case Arrival::dup_window:
      note_heard(pdc, now);
      return answer_again(pdc, in.trigger, Count::ack_control, now);
    case Arrival::fresh:
      note_heard(pdc, now);
      return refuse(pdc, NackCode::pkt_not_rcvd);
    case Arrival::too_old:
    case Arrival::beyond_range:
      return refuse(pdc, NackCode::psn_oor_window);
  }
  return {};
}

}  // namespace uet::pds
