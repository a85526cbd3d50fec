// The sources that wait for credit, in two rings: proven ones, and newcomers, whose address may be
// forged. Chooses the next one. [cms.md 5.3, T-34]
#pragma once

#include "cms/credit_records.h"

#include "base/intrusive_list.h"

#include <cstdint>

namespace uet::cms {

class CreditRings {
 public:
  bool empty() const { return ring_.empty() && newcomers_.empty(); }
  // To the end of its ring.
  void add(CreditSourceRecord& source) {
    (source.is_proven ? ring_ : newcomers_).push_back(source);
  }
  // The next source; null: none waits.
  CreditSourceRecord* next() const {
    const bool is_newcomers_turn = ring_.empty() || turn_ % kNewcomersTurn == 0;
    if (is_newcomers_turn && !newcomers_.empty()) return newcomers_.front();
    return ring_.front();
  }
  // A source has had its turn.
  void end_turn() { ++turn_; }

 private:
  static constexpr uint32_t kNewcomersTurn = 8;  // of 8 turns newcomers have one [T-34]

  IntrusiveList<CreditSourceRecord> ring_;
  IntrusiveList<CreditSourceRecord> newcomers_;
  uint32_t turn_ = 0;  // grants to waiting sources; wraps
};

}  // namespace uet::cms
