// RCCC at the destination: keeps demands for credit and chooses the next source. One pacer for the
// ports of a FEP. Sources take turns; the contexts of one source share its turns. While other
// sources wait, unproven sources have few of the turns, and they give up their records first. Every
// event costs O(1); no demand of a peer counts for more than a window. [cms.md 5.3, T-34]
#pragma once

#include "cms/config.h"
#include "cms/core_rate.h"
#include "cms/credit_records.h"
#include "cms/credit_rings.h"
#include "cms/credit_spacing.h"
#include "cms/events.h"

#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/slab.h"

#include <cstdint>
#include <optional>

namespace uet::cms {

// For how many sources and contexts a destination keeps credit state.
struct CreditRoom {
  Room sources;
  Room contexts;
  uint32_t ports = 1;  // of the link rate [CMS-131]
};

// How a target came here.
enum class AskedBy : uint8_t {
  packet,   // a request, whole or trimmed
  request,  // a Credit Request CP: the source may have lost count, and is answered in any case
};

// Result of a demand.
enum class DemandNews : uint8_t {
  taken,    // or said nothing new
  clamped,  // it asks for more than a window: the rest is dropped until it is asked for again
  old,      // overtaken, or made up: nothing was changed
  no_room,  // no state for this context is free: NACK NO_CCC_AVAIL [CMS-007]
  forged,   // perhaps: it comes from an unproven address of a source that is known. Nothing changed
};

// The source of a demand.
struct Asker {
  uint32_t via = 0;       // a note of the owner, which the pacer hands back with each grant
  bool is_proven = true;  // it has shown that it receives packets at its address [T-34]
};

// Report to the source the new cumulative credit of this context. 24 bits. [CMS-034]
struct Grant {
  CreditKey key;
  uint32_t credit = 0;
  uint32_t via = 0;  // from the last demand
};

class CreditPacer {
 public:
  // Contexts of one source that are known at a time, of 256. [CMS-006, T-34]
  static constexpr uint32_t kContexts = 8;

  CreditPacer() = default;
  // Once, before anything else. The seed is secret from the network. Errc::no_memory, or
  // Errc::invalid for the room. The arena outlives this object.
  Result<void> create(Arena& arena, const Config& config, const CreditRoom& room, uint64_t seed);

  // A credit_target that arrived. Grants that follow name its `via`. [CMS-130, CMS-135]
  DemandNews on_demand(CreditKey key, uint32_t target, AskedBy by, Instant now, Asker asker = {});
  // A request packet of that context, after its demand. [CMS-135, CMS-139]
  void on_received(CreditKey key, const Received& e);
  // Octets that wait to be written to the memory of the host, or for its application. Takes effect
  // with the next grant. [CMS-140, CMS-192]
  void on_host_queue(uint64_t bytes, HostMarks marks = {}) {
    spacing_.set_host_queue(bytes, marks);
  }
  // A grant to the context could not be sent: it has no more turns until it asks again. An unproven
  // source is forgotten.
  void withdraw(CreditKey key);

  // When next_grant() has something to say; never() while no source asks.
  Instant deadline() const;
  // The next turn, if it is due: to be sent in a Credit CP, or in an ACK that leaves anyway. Call
  // it until it returns nothing. [CMS-132 .. CMS-134, CMS-137]
  std::optional<Grant> next_grant(Instant now);
  // The cumulative grant of that context, for an ACK; nothing if it is not known. [CMS-137]
  std::optional<uint32_t> granted(CreditKey key);

  // Units that this context waits for.
  uint32_t backlog_units(CreditKey key);
  uint32_t source_count() const { return sources_.size(); }
  uint32_t context_count() const { return contexts_.size(); }

 private:
  // Constants, in units of credit.
  struct Terms {
    uint32_t limit = 0;   // that all contexts of a source may wait for [T-34]
    uint32_t window = 0;  // MaxWnd
    uint32_t grant = 0;   // Credit_Per_Pull [CMS-132]
    Duration timeout;
    bool idle_credit = false;
  };

  CreditSourceRecord* find_source(uint32_t peer);
  CreditContext* find(CreditKey key);
  CreditSourceRecord* add_source(uint32_t peer);
  CreditContext* add(CreditKey key, bool is_proven, Instant now);
  void close_source(CreditSourceRecord& source);
  void close(CreditContext& c);
  void give_way(bool is_proven, Instant now);
  void prove(CreditSourceRecord& source);
  void begin(CreditContext& c, uint32_t target);
  bool has_begun_anew(const CreditContext& c, uint32_t target, Instant now) const;
  bool raise(CreditContext& c, uint32_t units, Instant now);
  void join(CreditContext& c, Instant now);
  void rest(CreditContext& c);
  CreditContext* next_waiting(Instant now);
  Grant grant(CreditContext& c, Instant now);
  std::optional<Grant> idle_grant(Instant now);

  Slab<CreditSourceRecord> sources_;
  Slab<CreditContext> contexts_;
  HashMap<uint32_t, Handle<CreditSourceRecord>> by_peer_;
  CreditRings rings_;
  IntrusiveList<CreditSourceRecord, UnprovenSources> unproven_;  // the first one for longest
  IntrusiveList<CreditContext, IdleContexts> idle_;    // want nothing; may get idle credit
  IntrusiveList<CreditContext, IdleContexts> filled_;  // want nothing, and have a window of credit
  CreditSpacing spacing_;
  CoreRate core_;
  Terms terms_;
};

}  // namespace uet::cms
