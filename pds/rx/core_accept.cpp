// Requests that belong to a PDC: their PSN class, delivery to the client, the order of ROD, and the
// responses that are kept until cleared. [PDS 7.1 V9-V13, 7.2, 7.3, 9]
#include "pds/core.h"

#include <algorithm>
#include <cstring>

namespace uet::pds {

using wire::NackCode;

namespace {
// A packet that names our PDCID, which only an answer of ours has told, and a PSN that is possible:
// a Probe may name the one before the first. [PDS-252]
bool is_proof(const Pdc& pdc, const Inbound& in, uint32_t tracked_packets) {
  if (!pdc.is_unverified() || in.syn) return false;
  const int32_t distance = in.psn() - pdc.start_psn;
  return distance >= -1 && distance < static_cast<int32_t>(tracked_packets);
}
}  // namespace

void Core::admit(Pdc& pdc, const Inbound& in, Instant now) {
  // isrod has a meaning only where a control packet may open a PDC. [WIRE-038]
  if (!in.is_control && in.mode != pdc.mode) {
    return nack(pdc, NackCode::pdc_mode_mismatch, in.trigger, now);  // [PDS-001]
  }
  if (in.is_control) {
    switch (in.ctl_type) {
      case wire::CtlType::noop:
      case wire::CtlType::close_cmd:
      case wire::CtlType::close_req:
        break;  // these take a PSN
      default:
        if (is_proof(pdc, in, config_.tracked_packets())) confirm(pdc);
        return on_control_plain(pdc, in, now);
    }
  } else {
    const bool is_return = wire::is_response(in.next_hdr);
    if (is_return != pdc.is_initiator() || in.next_hdr == wire::NextHeader::none) {
      counters_.add(Count::drop_direction);  // [PDS-012]
      return nack(pdc, NackCode::pdc_hdr_mismatch, in.trigger, now);
    }
    if (!pdc.is_initiator()) clear_up_to(pdc, in.clear_psn);
    if (in.has_cc) on_credit_request(pdc, in.credit, now);
  }
  if (pdc.life.close_received() && in.psn().after(pdc.close_psn)) {
    return nack(pdc, NackCode::closing, in.trigger, now);  // [PDS-T16]
  }
  if (!pdc.rx.may_accept(rx_pool_)) return nack(pdc, NackCode::no_bitmap, in.trigger, now);

  if (is_proof(pdc, in, config_.tracked_packets())) confirm(pdc);
  const Arrival how = pdc.rx.classify(in.psn());
  switch (how) {
    case Arrival::too_old:
    case Arrival::beyond_range:
      counters_.add(how == Arrival::too_old ? Count::psn_too_old : Count::psn_beyond);
      return nack(pdc, in.syn ? NackCode::invalid_syn : NackCode::psn_oor_window, in.trigger, now);
    case Arrival::dup_window:
    case Arrival::dup_below:
      return on_duplicate(pdc, in, how, now);
    case Arrival::fresh:
      if (is_close_early(pdc, in, now)) return;
      on_fresh(pdc, in, now);
  }
  if (pdc.life.close_received()) finish_received_close(pdc, now);
}

void Core::on_fresh(Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.mode == Mode::rod) return on_rod(pdc, in, now);
  if (in.is_control) return on_control_psn(pdc, in, now);
  deliver(pdc, in, false, now);
}

// [PDS-075]
void Core::on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now) {
  counters_.add(how == Arrival::dup_window ? Count::dup_window : Count::dup_below);
  // A copy made by the network is not worth an answer, unless the peer asks for one.
  if (!in.trigger.retx && !in.ar) return counters_.add(Count::dup_no_retx);
  answer_again(pdc, in.trigger, Count::ack_duplicate, now);
}

// Answers a PSN that was received: with its stored response, or that there is nothing to say, or
// that the client is still busy, or what comes before it is missing. [PDS-075, PDS 13 ACK Request]
void Core::answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now) {
  if (StoredResponse* const entry = stored_for(pdc, trigger.psn)) {
    entry->trigger = trigger;
    ListNode<DueResponseTag>& node = *entry;
    if (!node.is_linked()) due_responses_.push_back(*entry);
    return counters_.add(Count::gd_resent);
  }
  if (pdc.mode == Mode::rod && trigger.psn.after(pdc.rx_next) && !pdc.rx.received(pdc.rx_next)) {
    return nack_gap(pdc, trigger, now);  // nobody works on it: it waits for its turn [PDS-079]
  }
  // Nor on what waits for room in the store, of which a peer that is sent no Clear Requests hears
  // in no other way. [PDS-101, PDS-106, PDS 22]
  if (pdc.rod_stalled && !trigger.psn.before(pdc.rx_next) && !may_store(pdc, true) &&
      !config_.optional_control) {
    return nack(pdc, NackCode::no_gtd_del_avail, trigger, now);
  }
  if (pdc.rx.is_held(trigger.psn)) {
    return nack(pdc, NackCode::rcvd_ses_procg, trigger, now);
  }
  want_answer(pdc, cause, trigger);
}

// Room for the response of a packet. Clears are cumulative, so responses above a gap stay until the
// gap is filled: they must leave room for the packet that fills it, here and in every other PDC, or
// all of them would wait for each other for ever. [PDS-101, PDS-102, PDS-109]
bool Core::may_store(const Pdc& pdc, bool fills_gap) const {
  const uint32_t keep_here = fills_gap ? 0 : 1;
  const uint32_t keep_in_all = fills_gap ? 0 : std::min(table_.size(), responses_.capacity() / 2);
  return pdc.stored_count + pdc.later_count + keep_here < config_.gd_per_pdc &&
         responses_.size() + keep_in_all < responses_.capacity();
}

bool Core::deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now) {
  const bool in_order = pdc.rx.all_received_below(in.psn());
  if (!pdc.is_initiator() && !may_store(pdc, in_order)) {
    counters_.add(Count::gd_full);
    if (!buffered) {
      nack(pdc, NackCode::no_gtd_del_avail, in.trigger, now);  // [PDS-101]
    } else {
      pdc.clear_req_due = true;  // nothing else tells the initiator [PDS-106]
      want_control(pdc);
    }
    return false;
  }
  RxRequest request;
  request.peer = pdc.peer;
  request.mode = pdc.mode;
  request.ce = in.trigger.ce;
  request.in_order = in_order;
  request.is_confirmed = !pdc.is_unverified();
  request.next_hdr = in.next_hdr;
  request.token = {pdc.handle, in.psn()};
  request.ses = in.ses;
  request.arrival = in.arrival;
  const Verdict verdict = client_.on_request(request, now);
  switch (verdict.kind) {
    case Verdict::Kind::nack:
      // A packet that was SACKed stays received and is offered again. [PDS-112]
      if (!buffered) nack(pdc, verdict.nack, in.trigger, now);
      return false;
    case Verdict::Kind::drop:
      counters_.add(Count::drop_client);
      // As if it had never arrived: who asks for its answer hears so and sends it again.
      if (buffered) pdc.rx.forget(in.psn());
      return false;
    case Verdict::Kind::accept:
    case Verdict::Kind::respond:
    case Verdict::Kind::later:
      break;
  }
  counters_.add(Count::rx_payload_bytes, in.ses.size());
  settle(pdc, in, verdict, buffered);
  return true;
}

// The client took it: the PSN is received from here on. [PDS-074]
void Core::settle(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered) {
  bool held = false;
  auto answer = in.ar ? Answer::wanted : Answer::by_the_rules;
  switch (verdict.kind) {
    case Verdict::Kind::respond:
      if (pdc.is_initiator()) break;  // return data has no response but the default one [PDS-108]
      store(pdc, in.trigger, verdict);
      held = verdict.guaranteed;
      answer = Answer::sent;
      break;
    case Verdict::Kind::later:
      held = await(pdc, in.trigger);
      answer = Answer::by_the_rules;
      break;
    default:
      break;
  }
  if (!buffered) return record(pdc, in, held, answer);
  if (!held) pdc.rx.unhold(rx_pool_, in.psn());
  if (answer == Answer::wanted) {
    want_answer(pdc, Count::ack_ar, in.trigger);
  }
}

void Core::record(Pdc& pdc, const Inbound& in, bool held, Answer answer) {
  if (in.psn() != pdc.rx.max_received() + 1) counters_.add(Count::rx_out_of_order);
  pdc.rx.accept(rx_pool_, in.psn(), held);
  const Psn cack = pdc.rx.cack_psn();
  pdc.sweep.on_request(in.psn(), cack);
  AckedRequest request;
  request.trigger = in.trigger;
  request.covered = !in.psn().after(cack);
  request.ar = answer == Answer::wanted;
  request.first = !pdc.is_initiator() && !pdc.acked_once;
  if (answer == Answer::sent) {  // the ACK with the response does it all
    request.first = request.trigger.retx = request.trigger.ce = false;
  }
  request.payload_bytes = static_cast<uint32_t>(in.ses.size());
  if (!in.is_control) pdc.rcvd_bytes += in.nominal_bytes;
  pdc.acked_once = true;
  // One ACK tells of one marked packet: where two came before it could leave, each has its own.
  if (request.ar && !request.covered && add_answer(pdc, in.trigger)) request.trigger.ce = false;
  const AckTrigger& due = pdc.ack.trigger();
  if (request.trigger.ce && pdc.ack.is_due() && due.ce) add_answer(pdc, due);
  pdc.ack.on_accepted(ack_rules_, request, cack);
  if (pdc.ack.is_due()) {
    want_control(pdc);
  } else if (config_.ack_delay_max > Duration::zero()) {
    arm_by(pdc, in.arrival + config_.ack_delay_max);
  }
}

// --- responses that are kept [PDS 9] ---

void Core::store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr);  // may_store() was asked first
  fill(pdc, *entry, verdict);
}

// The place of a response that the client will give later. False: an initiator, whose responses
// have no room kept for them, found none; the packet then counts as answered. [PDS-075, PDS-108]
bool Core::await(Pdc& pdc, const AckTrigger& trigger) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr || pdc.is_initiator());  // may_store() was asked first
  if (entry == nullptr) return false;
  entry->is_awaited = true;
  ++pdc.later_count;
  return true;
}

StoredResponse* Core::add_entry(Pdc& pdc, const AckTrigger& trigger) {
  StoredResponse* const entry = responses_.alloc();
  if (entry == nullptr) return nullptr;
  entry->pdc = pdc.handle;
  entry->trigger = trigger;
  // By PSN, nearly always at the end.
  StoredResponse* before = nullptr;
  if (pdc.stored.back() != nullptr && pdc.stored.back()->trigger.psn.after(trigger.psn)) {
    for (StoredResponse& e : pdc.stored) {
      if (e.trigger.psn.after(trigger.psn)) {
        before = &e;
        break;
      }
    }
  }
  if (before != nullptr) {
    pdc.stored.insert_before(*before, *entry);
  } else {
    pdc.stored.push_back(*entry);
  }
  return entry;
}

void Core::fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict) {
  entry.guaranteed = verdict.guaranteed;
  entry.response = verdict.response;
  ++pdc.stored_count;
  if (entry.guaranteed) counters_.add(Count::gd_stored);
  due_responses_.push_back(entry);
  const uint32_t high_water = config_.gd_high_water_percent;
  if (pdc.stored_count * 100 >= config_.gd_per_pdc * high_water ||
      uint64_t{responses_.size()} * 100 >= uint64_t{responses_.capacity()} * high_water) {
    pdc.clear_req_due = true;  // [PDS-106]
    want_control(pdc);
  }
}

StoredResponse* Core::stored_for(Pdc& pdc, Psn psn) {
  StoredResponse* const entry = entry_for(pdc, psn);
  return entry == nullptr || entry->is_awaited ? nullptr : entry;
}

StoredResponse* Core::entry_for(Pdc& pdc, Psn psn) {
  for (StoredResponse& e : pdc.stored) {
    if (e.trigger.psn == psn) return &e;
    if (e.trigger.psn.after(psn)) return nullptr;
  }
  return nullptr;
}

void Core::free_stored(Pdc& pdc, StoredResponse& entry) {
  if (!entry.is_awaited) --pdc.stored_count;
  responses_.free(&entry);
}

// [PDS-102, PDS-103]
void Core::clear_up_to(Pdc& pdc, Psn clear_psn) {
  if (!clear_psn.after(pdc.cleared)) return;
  if (clear_psn.after(pdc.rx.max_received())) return counters_.add(Count::drop_clear_range);
  pdc.cleared = clear_psn;
  while (StoredResponse* const entry = pdc.stored.front()) {
    if (entry->trigger.psn.after(clear_psn)) break;
    if (entry->is_awaited) {  // nobody can have seen an answer that was not given
      pdc.cleared = entry->trigger.psn - 1;
      return counters_.add(Count::drop_clear_range);
    }
    if (entry->guaranteed) counters_.add(Count::gd_cleared);
    const Psn psn = entry->trigger.psn;
    free_stored(pdc, *entry);
    pdc.rx.unhold(rx_pool_, psn);
  }
}

// --- order [PDS 7.3] ---

void Core::on_rod(Pdc& pdc, const Inbound& in, Instant now) {
  if (in.psn() == pdc.rx_next) {
    if (in.is_control) {
      on_control_psn(pdc, in, now);
    } else if (!deliver(pdc, in, false, now)) {
      return;
    }
    ++pdc.rx_next;
    return drain_reorder(pdc, now);
  }
  if (config_.rod_reorder) {
    if (in.is_control) return on_control_psn(pdc, in, now);
    return hold_back(pdc, in, now);
  }
  counters_.add(Count::rod_dropped);
  nack_gap(pdc, in.trigger, now);
}

// Once per gap and RTO_Init_Time: every such NACK starts all packets from the gap on again, and the
// gap may be one that the client refuses for long. [PDS-077]
void Core::nack_gap(Pdc& pdc, const AckTrigger& trigger, Instant now) {
  const bool suppressed =
      pdc.rod_nacked == pdc.rx_next && SentTick::age(pdc.rod_nacked_tick, now) < config_.rto_init;
  if (suppressed) return;
  pdc.rod_nacked = pdc.rx_next;
  pdc.rod_nacked_tick = SentTick::of(now);
  nack(pdc, NackCode::rod_ooo, trigger, pdc.rx_next.value(), now);
}

// [PDS-079]
void Core::hold_back(Pdc& pdc, const Inbound& in, Instant now) {
  void* const block =
      in.ses.size() <= config_.reorder_packet_bytes ? reorder_pool_.take() : nullptr;
  if (block == nullptr) {
    counters_.add(Count::rod_no_room);
    return nack_gap(pdc, in.trigger, now);
  }
  ReorderedPacket* const packet = reordered_.alloc();
  UET_ASSERT(packet != nullptr);  // as many as there are blocks
  packet->trigger = in.trigger;
  packet->ar = in.ar;
  packet->next_hdr = in.next_hdr;
  packet->length = static_cast<uint32_t>(in.ses.size());
  packet->arrival = in.arrival;
  packet->octets = static_cast<std::byte*>(block);
  if (packet->length > 0) std::memcpy(packet->octets, in.ses.data(), packet->length);

  ReorderedPacket* before = nullptr;
  if (pdc.reorder.back() != nullptr && pdc.reorder.back()->trigger.psn.after(in.psn())) {
    for (ReorderedPacket& p : pdc.reorder) {
      if (p.trigger.psn.after(in.psn())) {
        before = &p;
        break;
      }
    }
  }
  if (before != nullptr) {
    pdc.reorder.insert_before(*before, *packet);
  } else {
    pdc.reorder.push_back(*packet);
  }
  counters_.add(Count::rod_buffered);
  record(pdc, in, true, Answer::by_the_rules);
  // The sender must see the gap soon: each packet above it is reported. [PDS-L3]
  pdc.ack.want(Count::ack_hole_closed, in.trigger);
  want_control(pdc);
}

void Core::drain_reorder(Pdc& pdc, Instant now) {
  pdc.rod_stalled = false;
  while (pdc.rx.received(pdc.rx_next) && !pdc.rx_next.after(pdc.rx.max_received())) {
    ReorderedPacket* const packet = pdc.reorder.front();
    if (packet != nullptr && packet->trigger.psn == pdc.rx_next) {
      Inbound in;
      in.arrival = packet->arrival;
      in.trigger = packet->trigger;
      in.mode = Mode::rod;
      in.ar = packet->ar;
      in.next_hdr = packet->next_hdr;
      in.ses = {packet->octets, packet->length};
      if (!deliver(pdc, in, true, now)) {
        if (!pdc.rx.received(pdc.rx_next)) return free_reordered(pdc, *packet);  // dropped
        counters_.add(Count::rod_retries);
        pdc.rod_stalled = true;
        return arm_by(pdc, now + config_.nack_retx);
      }
      free_reordered(pdc, *packet);
    }
    ++pdc.rx_next;
  }
}

void Core::free_reordered(Pdc&, ReorderedPacket& packet) {
  reorder_pool_.give(packet.octets);
  reordered_.free(&packet);
}

}  // namespace uet::pds
