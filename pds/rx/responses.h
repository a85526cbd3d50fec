// The responses of one PDC, by PSN: those that the requester may not have received, and those that
// the client still owes. ResponseStore owns their memory. [PDS 9]
#pragma once

#include "pds/client.h"
#include "pds/rx/ack_scheduler.h"
#include "pds/sent_tick.h"

#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

// A response that its requester may not have seen: sent when due, kept until cleared. [PDS-100]
struct StoredResponse : ListNode<struct StoredTag>, ListNode<struct DueResponseTag> {
  PdcHandle pdc;
  AckTrigger trigger;       // psn: of the request
  bool guaranteed = false;  // kept until cleared; else only until sent
  bool is_awaited = false;  // the client has not given it yet; it is only in the list of its PDC
  bool is_extra = false;    // it has the place that its host gets beyond its share
  uint8_t places = 1;       // that it takes in the store, see ResponseStore
  uint32_t next = 0;        // of its bucket there
  EncodedResponse response;
};

class Responses {
 public:
  void start(Psn first) { cleared_ = first - 1; }

  // Inserts the response behind those of all lower PSNs; it nearly always goes last.
  bool is_last(Psn psn) const {
    return all_.back() == nullptr || !all_.back()->trigger.psn.after(psn);
  }
  // The place of a response. `lower`: one of a lower PSN, best the next one; null: search from the
  // first one. The client owes it from here on.
  void add(StoredResponse& entry, StoredResponse* lower = nullptr) {
    entry.is_awaited = true;
    ++awaited_;
    places_ = static_cast<uint16_t>(places_ + entry.places);
    const Psn psn = entry.trigger.psn;
    if (is_last(psn)) return all_.push_back(entry);
    StoredResponse* higher = lower == nullptr ? all_.front() : all_.next(*lower);
    while (!higher->trigger.psn.after(psn)) higher = all_.next(*higher);
    all_.insert_before(*higher, entry);
  }
  // The client has given it.
  void fill(StoredResponse& entry) {
    entry.is_awaited = false;
    --awaited_;
    ++stored_;
  }
  // It had the place beyond the share of its host, and takes one like others.
  void take_place(StoredResponse& entry) {
    entry.places = 1;
    ++places_;
  }
  // It is about to be freed, which takes it out of the list.
  void drop(const StoredResponse& entry) {
    --(entry.is_awaited ? awaited_ : stored_);
    places_ = static_cast<uint16_t>(places_ - entry.places);
  }

  StoredResponse* first() { return all_.front(); }
  const StoredResponse* first() const { return all_.front(); }
  // The highest PSN with a given response; responses above it may still be awaited. Requires
  // stored() > 0.
  Psn newest() const {
    const StoredResponse* entry = all_.back();
    while (entry->is_awaited) entry = all_.previous(*entry);
    return entry->trigger.psn;
  }
  uint16_t stored() const { return stored_; }
  uint16_t awaited() const { return awaited_; }
  uint32_t held() const { return uint32_t{stored_} + awaited_; }
  uint16_t places() const { return places_; }

  // The highest CLEAR_PSN that was heard, or as far as it could be obeyed. [PDS-102]
  Psn cleared() const { return cleared_; }
  void note_cleared(Psn psn) { cleared_ = psn; }

  // How long the oldest kept response has been neither requested nor cleared: since its request
  // came, or since the last Clear Request. Requires stored() > 0. [PDS-106]
  Duration uncleared_for(Instant now) {
    StoredResponse* oldest = all_.front();
    while (oldest->is_awaited) oldest = all_.next(*oldest);
    return std::min(SentTick::since(oldest->trigger.arrival_tick, now),
                    SentTick::age(clear_req_tick_, now));
  }
  // A Clear Request is due; at most one goes in `interval`. [PDS-106]
  void want_clear() { is_clear_due_ = true; }
  bool is_clear_due() const { return is_clear_due_; }
  bool take_clear_request(Duration interval, Instant now) {
    is_clear_due_ = false;
    return stored_ > 0 && SentTick::age(clear_req_tick_, now) >= interval;
  }
  void note_clear_request(Instant now) { clear_req_tick_ = SentTick::of(now); }

 private:
  IntrusiveList<StoredResponse, StoredTag> all_;  // by PSN; awaited ones as well
  Psn cleared_;
  uint32_t clear_req_tick_ = 0;  // of the last Clear Request
  uint16_t stored_ = 0;          // responses that the client has given
  uint16_t awaited_ = 0;         // verdicts still owed by the client
  uint16_t places_ = 0;          // of both
  bool is_clear_due_ = false;
};

}  // namespace uet::pds
