// Responses that a requester may not have seen: kept until cleared. [PDS 9]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class ResponseStore {
 public:
  ResponseStore(Resources& res, PdcTable& table, Schedule& schedule)
      : res_(res), table_(table), schedule_(schedule) {}

  Result<void> create(Arena& arena) { return responses_.create(arena, res_.config.gd_entries); }
  uint32_t size() const { return responses_.size(); }
  bool has_due() const { return !due_.empty(); }
  StoredResponse* next_due() { return due_.pop_front(); }
  // Its requester has asked again, with that packet.
  void send_again(StoredResponse& entry, const AckTrigger& trigger) {
    entry.trigger = trigger;
    ListNode<DueResponseTag>& node = entry;
    if (!node.is_linked()) due_.push_back(entry);
  }
  // Room for one more response. [PDS-101, PDS-109]
  bool may_store(const Pdc& pdc, bool fills_gap) const;
  // Keeps a response. Requires may_store().
  void store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict);
  // Keeps a place for a response that comes later. False: an initiator found none.
  bool await(Pdc& pdc, const AckTrigger& trigger);
  // The client has given it.
  void fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict);
  // Null: none is kept, or the client has not given it yet.
  StoredResponse* stored_for(Pdc& pdc, Psn psn);
  void free_stored(Pdc& pdc, StoredResponse& entry);
  // The requester has seen all up to there. [PDS-102]
  void clear_up_to(Pdc& pdc, Psn clear_psn);

 private:
  StoredResponse* add_entry(Pdc& pdc, const AckTrigger& trigger);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Slab<StoredResponse> responses_;
  IntrusiveList<StoredResponse, DueResponseTag> due_;
};

}  // namespace uet::pds
