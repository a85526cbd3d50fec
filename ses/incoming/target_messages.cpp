// The multi-packet messages that the target knows: which ones it may begin to track, and how long
// it remembers them.
#include "ses/incoming/target.h"

#include "ses/share.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

// The message that this is a later packet of. One that was given up has begun once: a second
// beginning is that of another message, whose sender uses the identifier again.
RxMessage* Target::known_message(const Request& q) {
  RxMessage** const found = rx_by_key_.find({q.token.pdc, q.id});
  if (found == nullptr) return nullptr;
  RxMessage& m = **found;
  if (!m.is_given_up || !q.common.som) return &m;
  if (m.som_seen) {
    forget(m);
    return nullptr;
  }
  m.som_seen = true;
  return &m;
}

// A message before which nothing is missing can be completed whatever becomes of later ones: one
// such message of each host may have any place, and the others leave one of the share for it.
// Without that a RUD message could hold the last place while its rest waits, beyond the window,
// behind older packets that are refused for want of one. [SES-118]
bool Target::may_track(const pds::Peer& peer, const Request& q) const {
  const uint32_t free = rx_messages_.capacity() - rx_messages_.size() + given_up_count_;
  if (free == 0) return false;
  if (!q.is_confirmed && !leaves_reserve(1, free, rx_messages_.capacity())) return false;
  const pds::Host& host = core_.peers->host_of(peer);
  const uint32_t all = rx_messages_.capacity();
  if (!q.in_order) {
    return is_within_shares(peer.rx_messages + 1, host.rx_messages + 1, 1, free - 1, all);
  }
  return host.rx_in_order == 0 ||
         is_within_shares(peer.rx_messages, host.rx_messages, 1, free, all);
}

RxMessage* Target::track(const Request& q) {
  pds::Peer& peer = (*core_.peers)[q.peer];
  if (!may_track(peer, q)) {
    core_.counters.add(Counter::rx_peer_slots_used);
    return nullptr;
  }
  if (rx_messages_.full()) forget(*given_up_.front());
  RxMessage* m = rx_messages_.alloc();
  UET_ASSERT(m != nullptr);
  pds::Host& host = core_.peers->host_of(peer);
  ++peer.rx_messages;
  ++host.rx_messages;
  m->in_order = q.in_order;
  host.rx_in_order += q.in_order;
  m->key = {q.token.pdc, q.id};
  const bool is_new = rx_by_key_.insert(m->key, m).ok();
  UET_ASSERT(is_new);
  PdcMessages* of_pdc = rx_by_pdc_.find(q.token.pdc.value());
  if (of_pdc == nullptr) of_pdc = *rx_by_pdc_.insert(q.token.pdc.value(), {});
  ++of_pdc->known;
  ++of_pdc->open;
  m->opcode = q.common.opcode;
  m->is_tagged = is_tagged(q.common.opcode);
  m->peer = q.peer;
  m->initiator = q.initiator;
  m->job = q.common.job_id;
  m->pid = q.common.pid_on_fep;
  m->ri = q.common.resource_index;
  m->match_bits = q.match_bits;
  m->buffer_offset = q.buffer_offset;
  m->request_length = q.request_length;
  m->pushed = m->end = q.pushed();
  m->last_arrival = core_.now;
  partial_.push_back(*m);
  return m;
}

void Target::release_share(const RxMessage& m) {
  pds::Peer& peer = (*core_.peers)[m.peer];
  UET_ASSERT(peer.rx_messages > 0);
  pds::Host& host = core_.peers->host_of(peer);
  --peer.rx_messages;
  --host.rx_messages;
  host.rx_in_order -= m.in_order;
}

// What comes late must not pass for the beginning of another message: its receive would fail, and
// its sender hear that all went well. So it stays known until its PDC closes, or the room is
// needed. [SES-107, SES-108]
void Target::give_up(RxMessage& m) {
  release_share(m);
  m.is_given_up = true;
  ++given_up_count_;
  m.unlink();
  given_up_.push_back(m);
}

void Target::forget(RxMessage& m) {
  if (m.is_given_up) {
    --given_up_count_;
  } else {
    release_share(m);
  }
  PdcMessages& of_pdc = *rx_by_pdc_.find(m.key.pdc.value());
  if (m.error == ReturnCode::null) --of_pdc.open;
  if (--of_pdc.known == 0) rx_by_pdc_.erase(m.key.pdc.value());
  rx_by_key_.erase(m.key);
  rx_messages_.free(&m);
}

void Target::set_error(RxMessage& m, ReturnCode code) {
  if (m.error == ReturnCode::null) --rx_by_pdc_.find(m.key.pdc.value())->open;
  m.error = code;
}

// True if our application delays the message. There are two cases: packets of its PDC were refused
// because the application leaves no room, or a kept message of its PDC waits for a receive. A kept
// message is not answered yet, so it fills the sender's window. [SES-108, SES-148, SES-191]
bool Target::is_held_up(const RxMessage& m) const {
  if (m.error != ReturnCode::null) return false;
  if (owed_by_pdc_.find(m.key.pdc.value()) != nullptr) return true;
  const PdcMessages& of_pdc = *rx_by_pdc_.find(m.key.pdc.value());
  return of_pdc.held_up != Instant::zero() &&
         of_pdc.held_up + core_.config.partial_message_time > core_.now;
}

// One more kept message of the PDC waits for its answer. When the table is full it is not counted,
// and partial messages of that PDC may expire.
void Target::note_owed(pds::PdcHandle pdc) {
  if (uint32_t* const count = owed_by_pdc_.find(pdc.value())) {
    ++*count;
  } else {
    (void)owed_by_pdc_.insert(pdc.value(), 1);
  }
}

// One of them was answered. Partial messages of the PDC get their whole time again.
void Target::note_answered(pds::PdcHandle pdc) {
  uint32_t* const count = owed_by_pdc_.find(pdc.value());
  if (count != nullptr && --*count == 0) owed_by_pdc_.erase(pdc.value());
  PdcMessages* const of_pdc = rx_by_pdc_.find(pdc.value());
  if (of_pdc != nullptr) of_pdc->held_up = core_.now;
}

void Target::count_arrival(RxMessage& m, uint32_t bytes) {
  m.arrived = m.arrived + std::min(bytes, UINT32_MAX - m.arrived);
  if (m.is_given_up) return;
  m.last_arrival = core_.now;
  m.unlink();
  partial_.push_back(m);
}

}  // namespace uet::ses
