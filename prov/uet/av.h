// Address vector: a table of UET addresses, each with a reference on its peer, and the way back
// from a received message to the fi_addr_t of its sender. FI_AV_MAP uses indices too. [LF-012..016]
#pragma once

#include "prov/uet/domain.h"
#include "prov/uet/resolve.h"
#include "prov/uet/shim.h"

#include "ses/types.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace uet::prov {

class AddressVector {
 public:
  using Link = FidLink<fid_av, AddressVector>;
  static fi_ops* fid_ops();
  static AddressVector& from(fid_av* fid) { return object_of<AddressVector>(fid); }
  static AddressVector& from(struct fid* fid) { return object_of<AddressVector>(fid); }

  // The domain's av_open operation.
  static int open(Domain& domain, fi_av_attr* attr, fid_av** fid, void* context);
  int close();

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
  // Counts the operations in flight to an entry that find() returned; fi_av_remove waits for them
  // and answers -FI_EBUSY if they do not end. [LF-015]
  void begin_operation(fi_addr_t addr) { ++entries_[addr & index_mask_].in_flight; }
  void end_operation(fi_addr_t addr) { --entries_[addr & index_mask_].in_flight; }
  // The sender of a message, FI_ADDR_NOTAVAIL if it is not in the table. [LF-016]
  fi_addr_t reverse(PeerId peer, uint32_t initiator_id) const;
  // The raw address of a sender that is not in the table, for FI_SOURCE_ERR: copies at most
  // *length octets and sets *length to what was copied.
  void raw_address(PeerId peer, uint32_t initiator_id, void* address, size_t* length) const;

  // The operations behind struct fi_ops_av.
  int insert(const void* addresses, size_t count, fi_addr_t* out, uint64_t flags, void* context);
  int insert_service(const char* node, const char* service, fi_addr_t* out, uint64_t flags);
  int insert_symmetric(const char* node, size_t node_count, const char* service,
                       size_t service_count, fi_addr_t* out, uint64_t flags, void* context);
  int remove(const fi_addr_t* addresses, size_t count, uint64_t flags);
  int lookup(fi_addr_t address, void* data, size_t* length);
  const char* to_text(const void* address, char* buf, size_t* length) const;

 private:
  struct Entry {
    ses::Destination to;
    uint32_t in_flight = 0;
    bool live = false;
    bool has_initiator = false;
    UetAddress address;  // for fi_av_lookup
  };

  AddressVector(Domain& domain, const fi_av_attr& attr, void* context);
  Result<fi_addr_t> add(const UetAddress& address, ProgressEngine::Entry& entry);
  void forget(uint64_t index, ProgressEngine::Entry& entry);
  static uint64_t reverse_key(PeerId peer, uint32_t initiator_id) {
    return (uint64_t{peer.value()} << 32) | initiator_id;
  }

  Link link_;
  Domain& domain_;
  std::atomic<uint32_t> refs_{0};
  uint64_t index_mask_;
  uint32_t addr_format_;
  std::vector<Entry> entries_;
  std::vector<uint64_t> free_;  // indices of removed entries, last freed first used
  std::unordered_map<uint64_t, fi_addr_t> reverse_;
};

}  // namespace uet::prov
