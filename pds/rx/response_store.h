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
  bool may_store(const Pdc& pdc, bool fills_gap) const;
  void store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict);
  bool await(Pdc& pdc, const AckTrigger& trigger);
  void fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict);
  StoredResponse* stored_for(Pdc& pdc, Psn psn);
  void free_stored(Pdc& pdc, StoredResponse& entry);
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
