// Records of a destination about sources of demands: one for each source, and one for each of its
// congestion contexts. Plain records; CreditPacer changes them. [CMS-006, CMS-130]
#pragma once

#include "cms/credit.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/time.h"

#include <cstdint>

namespace uet::cms {

// One congestion context of one source. [CMS-006]
struct CreditKey {
  uint32_t peer = 0;  // whatever number the owner of the pacer has for it
  uint8_t ccc_id = 0;
  bool operator==(const CreditKey&) const = default;
};

struct CreditSourceRecord;
struct IdleContexts {};     // tag of the list of all contexts that want nothing
struct UnprovenSources {};  // tag of the list of all unproven sources

struct CreditContext : ListNode<>, ListNode<IdleContexts> {
  CreditContext(CreditSourceRecord& of, uint8_t id) : source(&of), ccc_id(id) {}

  // Units. Credit that was granted without being asked makes no backlog.
  uint32_t backlog() const {
    const int32_t ahead = credit_ahead(target, granted);
    return ahead > 0 ? static_cast<uint32_t>(ahead) : 0;
  }

  CreditSourceRecord* source;
  Instant heard_at;      // when one of its packets came last
  Instant raised_at;     // when its target rose last
  uint32_t target = 0;   // highest plausible one received; 24 bits
  uint32_t granted = 0;  // cumulative; 24 bits
  uint32_t via = 0;      // named in its grants
  uint8_t ccc_id;
  bool is_waiting = false;  // in the list `waiting` of its source, else in `resting`
  bool is_unheard = false;  // nothing came since its last grant
};

struct CreditSourceRecord : ListNode<>, ListNode<UnprovenSources> {
  explicit CreditSourceRecord(uint32_t number) : peer(number) {}

  // In one of the two rings of waiting sources.
  bool is_in_ring() const { return static_cast<const ListNode<>&>(*this).is_linked(); }
  void leave_ring() { static_cast<ListNode<>&>(*this).unlink(); }

  IntrusiveList<CreditContext> waiting;  // the first one has the source's next turn
  IntrusiveList<CreditContext> resting;  // the first one for longest
  uint32_t peer;
  uint32_t backlog_units = 0;  // of all its contexts
  uint32_t context_count = 0;
  bool is_proven = false;  // it has shown that it receives packets at its address
};

}  // namespace uet::cms
