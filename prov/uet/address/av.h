// Address vector: a table of UET addresses, each with a reference on its peer, and the way back
// from a received message to the fi_addr_t of its sender. FI_AV_MAP uses indices too. [LF-012..016]
#pragma once

#include "prov/uet/address/address.h"
#include "prov/uet/address/av_keys.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/domain/domain.h"

#include "ses/types.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uet::prov {

class EventQueue;

class AddressVector {
 public:
  using Link = FidLink<fid_av, AddressVector>;
  static fi_ops* fid_ops();
  static AddressVector& from(fid_av* fid) { return object_of<AddressVector>(fid); }
  static AddressVector& from(struct fid* fid) { return object_of<AddressVector>(fid); }

  // The domain's av_open operation.
  static int open(Domain& domain, fi_av_attr* attr, fid_av** fid, void* context);
  ~AddressVector();
  // -FI_EBUSY while an endpoint is bound to it.
  int close();
  int bind(struct fid* fid, uint64_t flags);

  Domain& domain() { return domain_; }
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

  // For endpoints; engine lock held.

  // Where operations to `addr` go; null when it names no live entry.
  const ses::Destination* find(fi_addr_t addr) const {
    const uint64_t index = addr & index_mask_;
    if (index >= entries_.size() || !entries_[index].live) return nullptr;
    return &entries_[index].to;
  }
  // The same for what is to be sent; null also when a send that was reported as done got lost
  // there: then only removing the entry and inserting it anew helps. [LF-136]
  const ses::Destination* target(fi_addr_t addr) const {
    const uint64_t index = addr & index_mask_;
    if (index >= entries_.size() || !entries_[index].live || entries_[index].lost) return nullptr;
    return &entries_[index].to;
  }
  bool is_lost(fi_addr_t addr) const { return find(addr) != nullptr && target(addr) == nullptr; }
  // Returns false if the entry was marked before. The entry may have been removed.
  bool mark_lost(fi_addr_t addr) { return !std::exchange(entries_[addr & index_mask_].lost, true); }
  // Counts the operations in flight to an entry that find() returned. fi_av_remove waits for them
  // and returns -FI_EBUSY if they do not end. It does not wait for those that the application
  // believes done (`unreported`); these only keep the index from being reused. [LF-015]
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
  // Of a domain with FI_AV_AUTH_KEY; else there are none. [LF-019]
  AvKeys& keys() { return keys_; }

  // The operations behind struct fi_ops_av.
  int insert(const void* addresses, size_t count, fi_addr_t* out, uint64_t flags, void* context);
  int insert_named(const char* node, size_t node_count, const char* service, size_t service_count,
                   fi_addr_t* out, uint64_t flags, void* context);
  int remove(const fi_addr_t* addresses, size_t count, uint64_t flags);
  int lookup(fi_addr_t address, void* data, size_t* length);
  const char* to_text(const void* address, char* buf, size_t* length) const;
  int insert_auth_key(const void* key, size_t bytes, fi_addr_t* out, uint64_t flags);
  int lookup_auth_key(fi_addr_t address, void* key, size_t* bytes);

 private:
  static constexpr uint64_t kNone = UINT64_MAX;
  struct Entry {
    ses::Destination to;
    uint32_t in_flight = 0;   // the application waits for their end
    uint32_t unreported = 0;  // it believes them done
    bool live = false;
    bool leaving = false;  // removed, but unreported operations are still in flight
    bool lost = false;     // an operation that was reported as done has failed
    UetAddress address;    // for fi_av_lookup
    // The entries of the same sender that were inserted just before and just after this one.
    uint64_t older = kNone;
    uint64_t newer = kNone;
  };
  // The entries of one sender, in the order in which they were inserted.
  struct Entries {
    fi_addr_t oldest;
    fi_addr_t newest;
  };
  // Where the outcome of an insertion call goes.
  struct Insertion {
    fi_addr_t* out = nullptr;
    uint64_t flags = 0;
    void* context = nullptr;  // with FI_SYNC_ERR an array of int
  };

  AddressVector(Domain& domain, const fi_av_attr& attr, void* context);
  int check(const Insertion& insertion) const;
  template <class Next>
  int insert_all(const Insertion& insertion, size_t count, Next&& next);
  Result<fi_addr_t> add(const UetAddress& address, JobId job, ProgressEngine::Entry& entry);
  Result<JobId> job_of(const Insertion& insertion, size_t position) const;
  Result<void> agree(const UetAddress& address, pds::Peer& peer, Instant now);
  void fail(const Insertion& insertion, size_t position, Errc why);
  int report(const Insertion& insertion, size_t good);
  int remove_one(fi_addr_t address);
  int remove_key(fi_addr_t key);
  bool settle(fi_addr_t address, ProgressEngine::Entry& entry);
  void withdraw(uint64_t index, ProgressEngine::Entry& entry);
  void release(uint64_t index, ProgressEngine::Entry& entry);
  void release_settled(ProgressEngine::Entry& entry);
  void join_sender(uint64_t index);
  void leave_sender(uint64_t index);
  struct Source {
    PeerId peer;
    uint32_t initiator_id = 0;
    JobId job;  // 0 where addresses have no keys

    bool operator==(const Source&) const = default;
  };
  struct SourceHash {
    size_t operator()(const Source& s) const {
      return (uint64_t{s.peer.value()} << 32 | s.initiator_id) ^ uint64_t{s.job.value()} << 20;
    }
  };
  static Source source_of(const ses::Destination& to) { return {to.peer, to.initiator_id, to.job}; }

  Link link_;
  Domain& domain_;
  EventQueue* eq_ = nullptr;
  const bool has_events_;  // FI_EVENT: insertions end in an event
  std::atomic<uint32_t> refs_{0};
  const uint64_t index_mask_;
  const uint32_t addr_format_;
  std::vector<Entry> entries_;
  std::set<uint64_t> free_;        // indices of removed entries; the lowest is used first
  uint64_t leaving_ = 0;           // number of leaving entries
  std::vector<uint64_t> settled_;  // leaving entries whose last operation has ended
  std::unordered_map<Source, Entries, SourceHash> reverse_;
  AvKeys keys_;
};

}  // namespace uet::prov
