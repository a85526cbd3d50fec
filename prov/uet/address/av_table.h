// The entries of an address vector as one engine sees them, by index and by sender, with the
// operations in flight to each. All calls hold that engine's lock. It records the references that
// entries have on peers; the caller takes and releases them. [LF-012..016]
#pragma once

#include "prov/uet/address/address.h"
#include "prov/uet/api/compat.h"

#include "ses/types.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uet::prov {

class AvTable {
 public:
  // `index_mask`: the bits of a fi_addr_t that are an index. `has_keys`: senders also differ by
  // their jobs. `expected`: approximate number of entries.
  AvTable(uint64_t index_mask, bool has_keys, size_t expected);

  // The lowest index from `index` on that is free.
  uint64_t free_from(uint64_t index) const;
  // A new entry at a free index.
  void add(uint64_t index, const UetAddress& address, const ses::Destination& to);
  // From here on reverse() returns this value for that live entry. [LF-160]
  void set_user_id(fi_addr_t addr, fi_addr_t id) { entries_[addr & index_mask_].called = id; }
  // Removes the live entry of that address. True: its peer is to be given up now; false: when
  // release_ended() names it, because operations in flight keep it. [LF-015]
  bool remove(fi_addr_t addr);
  // Frees the entries that waited for operations which have ended: calls give_up(PeerId) for each.
  template <class Fn>
  void release_ended(Fn&& give_up) {
    leaving_ -= ended_.size();
    for (const uint64_t index : ended_) {
      entries_[index].leaving = false;
      free_.insert(index);
      give_up(entries_[index].to.peer);
    }
    ended_.clear();
  }
  // Calls fn(PeerId) for each entry that keeps its peer.
  template <class Fn>
  void for_each_peer(Fn&& fn) const {
    for (const Entry& e : entries_) {
      if (e.live || e.leaving) fn(e.to.peer);
    }
  }

  // Where operations to `addr` go; null when it names no live entry.
  const ses::Destination* find(fi_addr_t addr) const {
    const uint64_t index = addr & index_mask_;
    if (index >= entries_.size() || !entries_[index].live) return nullptr;
    return &entries_[index].to;
  }
  // The same for sends; null also when a send that was reported as complete got lost: the
  // application must remove the entry and insert it again. [LF-136]
  const ses::Destination* target(fi_addr_t addr) const {
    const uint64_t index = addr & index_mask_;
    if (index >= entries_.size() || !entries_[index].live || entries_[index].lost) return nullptr;
    return &entries_[index].to;
  }
  bool is_lost(fi_addr_t addr) const { return find(addr) != nullptr && target(addr) == nullptr; }
  // Returns false if the entry was marked before. The entry may have been removed.
  bool mark_lost(fi_addr_t addr) { return !std::exchange(entries_[addr & index_mask_].lost, true); }
  // Counts the operations in flight to an entry that find() returned. fi_av_remove waits for them
  // and returns -FI_EBUSY if they do not end. It does not wait for operations that were reported as
  // complete early (`unreported`); these only keep the index from being reused, as does one that is
  // posted while the entry is removed. [LF-015]
  void begin_operation(fi_addr_t addr, bool unreported) {
    Entry& e = entries_[addr & index_mask_];
    ++(unreported ? e.unreported : e.in_flight);
  }
  void end_operation(fi_addr_t addr, bool unreported);
  // An operation in flight was reported as done before its end.
  void report_early(fi_addr_t addr) {
    end_operation(addr, false);
    begin_operation(addr, true);
  }
  // The sender of a message, FI_ADDR_NOTAVAIL if it is not in the table. [LF-016]
  fi_addr_t reverse(PeerId peer, uint32_t initiator_id, JobId job) const;
  // The peer of a live entry.
  const UetAddress& address_of(fi_addr_t addr) const {
    return entries_[addr & index_mask_].address;
  }
  // Operations whose end the application waits for.
  bool is_in_use(fi_addr_t addr) const { return entries_[addr & index_mask_].in_flight != 0; }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;
  struct Entry {
    ses::Destination to;
    uint32_t in_flight = 0;   // the application waits for their end
    uint32_t unreported = 0;  // it believes them done
    bool live = false;
    bool leaving = false;  // removed, but operations are still in flight
    bool lost = false;     // an operation that was reported as done has failed
    UetAddress address;    // for fi_av_lookup
    fi_addr_t called = 0;  // by reverse()
    // The entries of the same sender that were inserted just before and just after this one.
    uint64_t older = kNone;
    uint64_t newer = kNone;
  };
  // The entries of one sender, in the order in which they were inserted.
  struct Entries {
    fi_addr_t oldest;
    fi_addr_t newest;
  };
  struct Source {
    PeerId peer;
    uint32_t initiator_id = 0;
    JobId job;  // 0 where addresses have no keys

    bool operator==(const Source&) const = default;
  };
  struct SourceHash {
    size_t operator()(const Source& s) const {
      return (uint64_t{s.peer.value()} << 32 | s.initiator_id) ^ uint64_t { s.job.value() } << 20;
    }
  };
  static Source source_of(const ses::Destination& to) { return {to.peer, to.initiator_id, to.job}; }

  void join_sender(uint64_t index);
  void leave_sender(uint64_t index);

  const uint64_t index_mask_;
  const bool has_keys_;
  std::vector<Entry> entries_;
  std::set<uint64_t> free_;      // indices of removed entries; the lowest is used first
  uint64_t leaving_ = 0;         // number of leaving entries
  std::vector<uint64_t> ended_;  // leaving entries whose last operation has ended
  std::unordered_map<Source, Entries, SourceHash> reverse_;
};

}  // namespace uet::prov
