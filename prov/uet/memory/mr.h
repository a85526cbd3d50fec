// Memory region: a registration with each engine of a domain, its key, and the counters that remote
// operations on it raise. [LF-023..040, LF-097]
#pragma once

#include "prov/uet/api/shim.h"
#include "prov/uet/domain/domain.h"

#include "ses/memory/memory_region.h"
#include "ses/types.h"

#include <cstdint>
#include <vector>

namespace uet::prov {

class AddressVector;
class Counter;

class MemoryRegion {
 public:
  using Link = FidLink<fid_mr, MemoryRegion>;
  static fi_ops* fid_ops();

  // The domain's reg, regv and regattr operations in one shape. -FI_ENOKEY: the requested key is
  // in use. -FI_EINVAL for null pointers.
  static int open(Domain& domain, const fi_mr_attr* attr, uint64_t flags, fid_mr** fid);
  ~MemoryRegion();
  // No packet touches the memory after this returns. -FI_EBUSY: parts of it are open. [LF-119]
  int close();
  // An endpoint (FI_MR_ENDPOINT) or a counter (FI_REMOTE_WRITE, FI_REMOTE_READ).
  int bind(struct fid* fid, uint64_t flags);
  // FI_ENABLE or FI_REFRESH.
  int control(int command);

  // The region behind the user word of a remote operation's completion; null for 0. Lock held.
  static MemoryRegion* from_user(uint64_t user) {
    return reinterpret_cast<MemoryRegion*>(static_cast<uintptr_t>(user));
  }
  // A remote operation on this region ended. Engine lock held.
  void count_remote(bool write, bool ok);
  // The counter is about to go away. Engine lock held.
  void forget(const Counter& counter);

 private:
  MemoryRegion(Domain& domain, const fi_mr_attr& attr, uint64_t flags);
  int become_part_of(const fid_mr* base);
  bool covers(const IoSlice& slice) const;
  int restrict_to(const fi_mr_attr& attr, uint64_t flags);
  int restrict_to_av(const fi_mr_attr& attr, uint64_t flags);
  ses::RegionRequest request();
  int add();
  Result<void> add_to(const DomainEngine& engine, ses::RegionRequest request);
  void take_away();
  int enable();
  void activate();
  bool needs_key() const { return provider_key_ || access_ != 0; }

  Link link_;
  Domain& domain_;
  std::vector<IoSlice> iov_;
  uint32_t access_ = 0;  // ses::Access
  uint64_t requested_key_ = 0;
  uint64_t base_ = 0;  // what peers call the first octet [LF-151]
  uint32_t job_ = ses::kAnyJob;
  // With FI_AV_AUTH_KEY: the keys that there were, and maybe the one address that it is for.
  const AddressVector* av_ = nullptr;
  std::vector<JobId> jobs_;
  bool directed_ = false;
  PeerId from_;  // a reference is held
  uint32_t from_initiator_ = 0;
  uint16_t ri_ = 0;  // of the endpoint it is bound to, 0: every endpoint of the domain [LF-038]
  bool provider_key_;
  bool idempotent_;
  bool needs_endpoint_;  // FI_MR_ENDPOINT: bound and enabled before it is usable
  bool deferred_;        // enabled by the application [LF-035]
  bool enabled_ = false;
  MemoryRegion* whole_ = nullptr;   // fi_mr_attr.base_mr
  uint32_t parts_ = 0;              // open regions that are parts of this; set-up lock
  std::vector<ses::RegionId> ids_;  // one for each engine of the domain; none before add()
  Counter* read_counter_ = nullptr;
  Counter* write_counter_ = nullptr;
};

}  // namespace uet::prov
