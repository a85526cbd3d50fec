// The ring of sources that wait for credit, and the records of all sources that ever asked.
#include "cms/credit_pacer.h"

#include "cms/credit_source.h"

#include <algorithm>

namespace uet::cms {

namespace {

constexpr uint32_t kWindowMax = 1 << 22;     // half of what 24 bits distinguish [CMS-118]
constexpr uint32_t kEmptyGrantBytes = 1024;  // octets that a turn without credit counts [CMS-134]
constexpr uint32_t kTimeoutsSilent = 4;      // [CMS-139]

uint32_t units_of(uint64_t bytes) {
  const uint64_t units = (bytes + kCreditUnitBytes - 1) / kCreditUnitBytes;
  return static_cast<uint32_t>(std::min<uint64_t>(units, kWindowMax));
}

// Payload of the largest packet: whole KiB, as everywhere.
uint32_t payload_of(uint32_t mtu_bytes) {
  return mtu_bytes < 1024 ? mtu_bytes : mtu_bytes / 1024 * 1024;
}

}  // namespace

Result<void> CreditPacer::create(Arena& arena, const Config& config, const CreditRoom& room,
                                 uint64_t seed) {
  const uint64_t window = credit_window_bytes(config);
  terms_.window = units_of(window);
  // A source is a packet below zero at most, and rounds up.
  terms_.limit = units_of(window + 2 * uint64_t{config.mtu_bytes});
  terms_.grant = std::max(
      1u, config.credit.packets_per_grant * payload_of(config.mtu_bytes) / kCreditUnitBytes);
  terms_.timeout = credit_timeout(config);
  terms_.idle_credit = config.credit.idle_credit;
  spacing_ = CreditSpacing(config, room.ports);
  core_ = CoreRate(config, seed);
  if (auto made = sources_.create(arena, room.sources); !made.ok()) return made;
  if (auto made = contexts_.create(arena, room.contexts); !made.ok()) return made;
  return by_peer_.create(arena, room.sources, seed);
}

// --- records ---

CreditSourceRecord* CreditPacer::find_source(uint32_t peer) {
  const auto* const handle = by_peer_.find(peer);
  return handle != nullptr ? sources_.get(*handle) : nullptr;
}

CreditContext* CreditPacer::find(CreditKey key) {
  CreditSourceRecord* const source = find_source(key.peer);
  if (source == nullptr) return nullptr;
  for (CreditContext& c : source->waiting) {
    if (c.ccc_id == key.ccc_id) return &c;
  }
  for (CreditContext& c : source->resting) {
    if (c.ccc_id == key.ccc_id) return &c;
  }
  return nullptr;
}

CreditSourceRecord* CreditPacer::add_source(uint32_t peer) {
  CreditSourceRecord* const source = sources_.alloc(peer);
  if (source == nullptr) return nullptr;
  if (by_peer_.insert(peer, sources_.handle(source)).ok()) return source;
  sources_.free(source);
  return nullptr;
}

// A source with as many contexts as it may have gives one up that wants nothing. [T-34]
CreditContext* CreditPacer::add(CreditKey key, bool is_proven, Instant now) {
  CreditSourceRecord* source = find_source(key.peer);
  if (source != nullptr && source->context_count == kContexts) {
    CreditContext* const spare = source->resting.front();
    if (spare == nullptr) return nullptr;
    close(*spare);  // the source stays, with its other contexts
  }
  const auto is_full = [&] { return contexts_.full() || (source == nullptr && sources_.full()); };
  if (is_full()) {
    give_way(is_proven, now);
    source = find_source(key.peer);  // that may have been its last one
    if (is_full()) return nullptr;
  }
  if (source == nullptr) {
    source = add_source(key.peer);
    if (source == nullptr) return nullptr;
    source->is_proven = is_proven;
    if (!is_proven) unproven_.push_back(*source);
  }
  CreditContext* const c = contexts_.alloc(*source, key.ccc_id);
  if (c == nullptr) {
    if (source->context_count == 0) close_source(*source);
    return nullptr;
  }
  ++source->context_count;
  c->raised_at = now;
  source->resting.push_back(*c);
  idle_.push_back(*c);
  return c;
}

void CreditPacer::close_source(CreditSourceRecord& source) {
  by_peer_.erase(source.peer);
  sources_.free(&source);
}

void CreditPacer::close(CreditContext& c) {
  CreditSourceRecord& source = *c.source;
  source.backlog_units -= c.backlog();
  --source.context_count;
  contexts_.free(&c);  // leaves its lists
  if (source.waiting.empty()) source.leave_ring();
  if (source.context_count == 0) close_source(source);
}

// A record is needed for another source. Unproven sources give way to proven ones, and to each
// other after a timeout. Among the others the source that has wanted nothing for the longest time
// gives way, unless its last packets may still be under way. [CMS-008, CMS-119, T-34]
void CreditPacer::give_way(bool is_proven, Instant now) {
  if (CreditSourceRecord* const source = unproven_.front()) {
    CreditContext& c = *(source->waiting.empty() ? source->resting : source->waiting).front();
    if (is_proven || now - c.raised_at >= terms_.timeout) return close(c);
  }
  if (!is_proven) return;
  CreditContext* const c = idle_.empty() ? filled_.front() : idle_.front();
  if (c != nullptr && now - c->raised_at >= terms_.timeout) close(*c);
}

void CreditPacer::prove(CreditSourceRecord& source) {
  source.is_proven = true;
  IntrusiveList<CreditSourceRecord, UnprovenSources>::erase(source);
  if (source.waiting.empty()) return;
  IntrusiveList<CreditSourceRecord>::erase(source);
  rings_.add(source);
}

void CreditPacer::withdraw(CreditKey key) {
  CreditContext* const c = find(key);
  if (c == nullptr) return;
  if (!c->source->is_proven) return close(*c);
  if (!c->is_waiting) return;
  c->source->backlog_units -= c->backlog();
  c->target = c->granted;
  rest(*c);
}

// --- what sources ask for ---

// A new source counts from 0. If its target is far ahead, it was granted that before its record was
// lost here. [CMS-119]
void CreditPacer::begin(CreditContext& c, uint32_t target) {
  c.granted = target > 2 * terms_.window ? target - terms_.window : 0;
  c.target = c.granted;
}

// Whether the source has lost its state and counts from 0 again. Only then does its target fall by
// more than a window: the target of a late packet is older by less than that. [CMS-119]
bool CreditPacer::has_begun_anew(const CreditContext& c, uint32_t target, Instant now) const {
  return credit_ahead(c.target, target) > static_cast<int32_t>(terms_.window) && c.backlog() == 0 &&
         now - c.raised_at >= terms_.timeout;
}

DemandNews CreditPacer::on_demand(CreditKey key, uint32_t target, AskedBy by, Instant now,
                                  Asker asker) {
  target &= kCreditCounterMask;
  if (CreditSourceRecord* const source = find_source(key.peer)) {
    if (source->is_proven && !asker.is_proven) return DemandNews::forged;
    if (!source->is_proven && asker.is_proven) prove(*source);
  }
  CreditContext* c = find(key);
  if (c == nullptr) {
    c = add(key, asker.is_proven, now);
    if (c == nullptr) return DemandNews::no_room;
    begin(*c, target);
  } else if (has_begun_anew(*c, target, now)) {
    begin(*c, target);
  }
  c->heard_at = now;
  c->is_unheard = false;
  c->via = asker.via;
  const int32_t ahead = credit_ahead(target, c->target);
  const bool fits = ahead <= 0 || raise(*c, static_cast<uint32_t>(ahead), now);
  if (c->backlog() > 0 || by == AskedBy::request) join(*c, now);
  if (ahead < 0) return DemandNews::old;
  return fits ? DemandNews::taken : DemandNews::clamped;
}

// False: the source would wait for more than it may, and only a part is taken. [T-34]
bool CreditPacer::raise(CreditContext& c, uint32_t units, Instant now) {
  CreditSourceRecord& source = *c.source;
  const uint32_t before = c.backlog();
  const int32_t unasked = std::max(credit_ahead(c.granted, c.target), 0);
  const uint32_t room = terms_.limit - source.backlog_units + static_cast<uint32_t>(unasked);
  const uint32_t taken = std::min(units, room);
  if (taken == 0) return false;
  c.target = (c.target + taken) & kCreditCounterMask;
  c.raised_at = now;
  source.backlog_units += c.backlog() - before;
  if (!c.is_waiting) {
    IntrusiveList<CreditContext, IdleContexts>::erase(c);
    idle_.push_back(c);
  }
  return taken == units;
}

void CreditPacer::on_received(CreditKey key, const Received& e) {
  core_.on_received(e);
  CreditContext* const c = find(key);
  if (c == nullptr) return;
  c->heard_at = e.at;
  c->is_unheard = false;
  if (e.trimmed || e.trimmed_lasthop) join(*c, e.at);
}

void CreditPacer::join(CreditContext& c, Instant now) {
  CreditSourceRecord& source = *c.source;
  if (!c.is_waiting) {
    c.is_waiting = true;
    IntrusiveList<CreditContext>::erase(c);
    IntrusiveList<CreditContext, IdleContexts>::erase(c);
    source.waiting.push_back(c);
  }
  if (source.is_in_ring()) return;
  if (rings_.empty()) spacing_.begin(now);
  rings_.add(source);
}

void CreditPacer::rest(CreditContext& c) {
  CreditSourceRecord& source = *c.source;
  c.is_waiting = false;
  IntrusiveList<CreditContext>::erase(c);
  source.resting.push_back(c);
  idle_.push_back(c);
  if (source.waiting.empty()) source.leave_ring();
}

// --- choice of the next source ---

Instant CreditPacer::deadline() const {
  const bool is_due = !rings_.empty() || (terms_.idle_credit && !idle_.empty());
  return is_due ? spacing_.next() : Instant::never();
}

std::optional<Grant> CreditPacer::next_grant(Instant now) {
  if (now < spacing_.next()) return std::nullopt;
  CreditContext* const c = next_waiting(now);
  return c != nullptr ? grant(*c, now) : idle_grant(now);
}

// Ends the waiting of sources that have been silent for long since their last grant. A source that
// waits for its first grant in a long ring is not silent. [CMS-139]
CreditContext* CreditPacer::next_waiting(Instant now) {
  while (CreditSourceRecord* const source = rings_.next()) {
    CreditContext* const c = source->waiting.front();
    const bool is_silent = c->is_unheard && now - c->heard_at >= terms_.timeout * kTimeoutsSilent;
    if (c->backlog() == 0 || !is_silent) return c;
    source->backlog_units -= c->backlog();
    c->target = c->granted;
    rest(*c);
  }
  return nullptr;
}

Grant CreditPacer::grant(CreditContext& c, Instant now) {
  CreditSourceRecord& source = *c.source;
  const uint32_t units = std::min(c.backlog(), terms_.grant);
  c.granted = (c.granted + units) & kCreditCounterMask;
  source.backlog_units -= units;
  c.is_unheard = true;
  rings_.end_turn();
  const uint32_t bytes = units > 0 ? units * kCreditUnitBytes : kEmptyGrantBytes;
  spacing_.spend(bytes, core_.rate_q16(), now);
  if (c.backlog() == 0) {
    rest(c);
  } else {
    IntrusiveList<CreditContext>::erase(c);
    source.waiting.push_back(c);
  }
  if (source.is_in_ring()) {
    IntrusiveList<CreditSourceRecord>::erase(source);
    rings_.add(source);
  }
  return {{source.peer, c.ccc_id}, c.granted, c.via};
}

// When no source waits, idle sources in turn get up to a window more than they asked for. [CMS-136]
std::optional<Grant> CreditPacer::idle_grant(Instant now) {
  if (!terms_.idle_credit) return std::nullopt;
  while (CreditContext* const c = idle_.pop_front()) {
    const int32_t unasked = credit_ahead(c->granted, c->target);
    if (unasked >= static_cast<int32_t>(terms_.window)) {
      filled_.push_back(*c);
      continue;
    }
    idle_.push_back(*c);
    const uint32_t room = terms_.window - static_cast<uint32_t>(std::max(unasked, 0));
    const uint32_t units = std::min(room, terms_.grant);
    c->granted = (c->granted + units) & kCreditCounterMask;
    spacing_.spend(units * kCreditUnitBytes, core_.rate_q16(), now);
    return Grant{{c->source->peer, c->ccc_id}, c->granted, c->via};
  }
  return std::nullopt;
}

std::optional<uint32_t> CreditPacer::granted(CreditKey key) {
  const CreditContext* const c = find(key);
  if (c == nullptr) return std::nullopt;
  return c->granted;
}

uint32_t CreditPacer::backlog_units(CreditKey key) {
  const CreditContext* const c = find(key);
  return c != nullptr ? c->backlog() : 0;
}

}  // namespace uet::cms
