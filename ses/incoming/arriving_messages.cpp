// The life of multi-packet messages at the target. [ses.md 5]
#include "ses/incoming/arriving_messages.h"

#include "pds/share.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

Result<void> ArrivingMessages::create(Rng& rng) {
  const Config& config = res_.config;
  const Room room{std::min(config.rx_messages, 64U), config.rx_messages};
  UET_CHECK(messages_.create(*res_.arena, room));
  UET_CHECK(by_key_.create(*res_.arena, room, rng.u64()));
  UET_CHECK(by_pdc_.create(*res_.arena, room, rng.u64()));
  const Room owed{std::min(config.unexpected_messages, 16U), config.unexpected_messages};
  return owed_by_pdc_.create(*res_.arena, owed, rng.u64());
}

// A message that was given up has had its first packet. Another first packet belongs to a new
// message, whose sender uses the identifier again.
RxMessage* ArrivingMessages::find(const Request& q) {
  RxMessage* const found = find_any(q);
  if (found == nullptr) return nullptr;
  RxMessage& m = *found;
  if (!m.is_given_up || !q.common.som) return &m;
  if (m.som_seen) {
    forget(m);
    return nullptr;
  }
  m.som_seen = true;
  return &m;
}

// A message with no missing message before it can be completed regardless of later ones: one such
// message of each host may take any place, and other messages leave one place of the share for it.
// Without that a RUD message could hold the last place while its rest waits, beyond the window,
// behind older packets that are refused because no place is free. [SES-118]
bool ArrivingMessages::may_track(const pds::Peer& peer, const Request& q) const {
  const uint32_t free = messages_.capacity() - messages_.size() + given_up_count_;
  if (free == 0) return false;
  if (!q.is_confirmed && !pds::leaves_reserve(1, free, messages_.capacity())) return false;
  const pds::Host& host = res_.peers->host_of(peer);
  const uint32_t all = messages_.capacity();
  if (!q.in_order) {
    return pds::is_within_shares(peer.rx_messages + 1, host.rx_messages + 1, 1, free - 1, all);
  }
  return host.rx_in_order == 0 ||
         pds::is_within_shares(peer.rx_messages, host.rx_messages, 1, free, all);
}

RxMessage* ArrivingMessages::track(const Request& q) {
  pds::Peer& peer = (*res_.peers)[q.peer];
  const bool may = may_track(peer, q);
  if (may && messages_.full()) forget(*given_up_.front());
  RxMessage* const m = may ? make(q) : nullptr;
  if (m == nullptr) {
    res_.counters.add(Counter::rx_peer_slots_used);
    return nullptr;
  }
  pds::Host& host = res_.peers->host_of(peer);
  ++peer.rx_messages;
  ++host.rx_messages;
  m->in_order = q.in_order;
  host.rx_in_order += q.in_order;
  enter(*m, q);
  m->last_arrival = res_.now;
  partial_.push_back(*m);
  return m;
}

// Null: the system has no memory for more than were ever tracked at once.
RxMessage* ArrivingMessages::make(const Request& q) {
  const RxKey key{q.token.pdc, q.id};
  RxMessage* const m = messages_.alloc();
  if (m == nullptr) return nullptr;
  PdcMessages* of_pdc = by_pdc_.find(key.pdc.value());
  if (of_pdc == nullptr) of_pdc = by_pdc_.insert(key.pdc.value(), {}).value_or(nullptr);
  const auto entered = by_key_.insert(key, m);
  UET_ASSERT(entered.ok() || entered.error() == Errc::again);
  if (of_pdc == nullptr || !entered.ok()) {
    if (entered.ok()) by_key_.erase(key);
    if (of_pdc != nullptr && of_pdc->known == 0) by_pdc_.erase(key.pdc.value());
    messages_.free(m);
    return nullptr;
  }
  m->key = key;
  m->psn = q.token.psn;
  m->previous_of_pdc = of_pdc->last;
  (of_pdc->last == nullptr ? of_pdc->first : of_pdc->last->next_of_pdc) = m;
  of_pdc->last = m;
  if (of_pdc->known == 0 || of_pdc->reached.after(m->psn)) of_pdc->reached = m->psn;
  ++of_pdc->known;
  ++of_pdc->open;
  return m;
}

// Fields that all its packets share.
void ArrivingMessages::enter(RxMessage& m, const Request& q) {
  m.opcode = q.common.opcode;
  m.is_tagged = is_tagged(q.common.opcode);
  m.peer = q.peer;
  m.initiator = q.initiator;
  m.job = q.common.job_id;
  m.pid = q.common.pid_on_fep;
  m.ri = q.common.resource_index;
  m.match_bits = q.match_bits;
  m.buffer_offset = q.buffer_offset;
  m.request_length = q.request_length;
  m.pushed = m.end = q.pushed();
}

void ArrivingMessages::release_share(const RxMessage& m) {
  pds::Peer& peer = (*res_.peers)[m.peer];
  UET_ASSERT(peer.rx_messages > 0);
  pds::Host& host = res_.peers->host_of(peer);
  --peer.rx_messages;
  --host.rx_messages;
  host.rx_in_order -= m.in_order;
}

// A late packet must not count as the beginning of another message: the receive would fail, and the
// sender would see a success. So the message stays known until its PDC closes, or the room is
// needed. [SES-107, SES-108]
void ArrivingMessages::give_up(RxMessage& m) {
  UET_ASSERT(m.error != ReturnCode::null);  // so none of its packets is expected
  release_share(m);
  m.is_given_up = true;
  ++given_up_count_;
  m.unlink();
  given_up_.push_back(m);
}

void ArrivingMessages::forget(RxMessage& m) {
  next_.forget(m);
  if (m.is_given_up) {
    --given_up_count_;
  } else {
    release_share(m);
  }
  PdcMessages& of_pdc = *by_pdc_.find(m.key.pdc.value());
  if (m.error == ReturnCode::null) --of_pdc.open;
  (m.previous_of_pdc == nullptr ? of_pdc.first : m.previous_of_pdc->next_of_pdc) = m.next_of_pdc;
  (m.next_of_pdc == nullptr ? of_pdc.last : m.next_of_pdc->previous_of_pdc) = m.previous_of_pdc;
  if (--of_pdc.known == 0) by_pdc_.erase(m.key.pdc.value());
  by_key_.erase(m.key);
  messages_.free(&m);
}

void ArrivingMessages::set_error(RxMessage& m, ReturnCode code) {
  next_.forget(m);
  if (m.error == ReturnCode::null) --by_pdc_.find(m.key.pdc.value())->open;
  m.error = code;
}

// True if this end delays the message. There are two cases: packets of its PDC were refused because
// the application leaves no room, or because no place is free for their responses, which kept
// messages of all PDCs may hold; or a kept message of its PDC waits for a receive. A kept message
// is not answered yet, so it fills the sender's window. A message that was refused may be delayed
// like any other, and its late packets must not begin a new one. No refused packet is in front of
// its rest once another message began after everything before that one had arrived: the rest came
// and could not be read. [SES-107, SES-108, SES-148, SES-191, PDS-016]
bool ArrivingMessages::is_held_up(const RxMessage& m) const {
  const PdcMessages& of_pdc = *by_pdc_.find(m.key.pdc.value());
  if (of_pdc.reached.after(m.psn)) return false;
  if (owed_by_pdc_.find(m.key.pdc.value()) != nullptr) return true;
  return of_pdc.held_up != Instant::zero() &&
         of_pdc.held_up + res_.config.partial_message_time > res_.now;
}

void ArrivingMessages::note_reached(pds::RxToken first) {
  PdcMessages* const of_pdc = by_pdc_.find(first.pdc.value());
  if (of_pdc != nullptr && first.psn.after(of_pdc->reached)) of_pdc->reached = first.psn;
}

void ArrivingMessages::note_held_up(pds::PdcHandle pdc) {
  PdcMessages* const of_pdc = by_pdc_.find(pdc.value());
  if (of_pdc != nullptr) of_pdc->held_up = res_.now;
}

// One more kept message of the PDC waits for its answer. When the table is full it is not counted,
// and partial messages of that PDC may expire.
void ArrivingMessages::note_owed(pds::PdcHandle pdc) {
  if (uint32_t* const count = owed_by_pdc_.find(pdc.value())) {
    ++*count;
  } else {
    (void)owed_by_pdc_.insert(pdc.value(), 1);
  }
}

// One of them was answered. The time-out of the PDC's partial messages restarts.
void ArrivingMessages::note_answered(pds::PdcHandle pdc) {
  uint32_t* const count = owed_by_pdc_.find(pdc.value());
  if (count != nullptr && --*count == 0) owed_by_pdc_.erase(pdc.value());
  note_held_up(pdc);
}

void ArrivingMessages::count(RxMessage& m, uint32_t bytes) {
  m.arrived = m.arrived + std::min(bytes, UINT32_MAX - m.arrived);
  if (m.is_given_up) return;
  m.last_arrival = res_.now;
  if (partial_.back() == &m) return;
  m.unlink();
  partial_.push_back(m);
}

void ArrivingMessages::note(RxMessage& m, const Request& q) {
  if (q.common.som) {
    m.som_seen = true;
    m.has_data = q.has_data;
    m.header_data = q.header_data;
  }
  if (!q.common.eom) m.mtu = static_cast<uint16_t>(q.length);
  m.packets.note(q.offset, q.length, q.common.eom);
  count(m, q.length);
}

RxMessage* ArrivingMessages::next_expired() {
  while (RxMessage* m = partial_.front()) {
    if (m->last_arrival + res_.config.partial_message_time > res_.now) return nullptr;
    if (!is_held_up(*m)) return m;
    count(*m, 0);
  }
  return nullptr;
}

Instant ArrivingMessages::next_deadline() const {
  const RxMessage* const m = partial_.front();
  if (m == nullptr) return Instant::never();
  return m->last_arrival + res_.config.partial_message_time;
}

}  // namespace uet::ses
