// Memory region: a registration with the stack, its key, and the counters that remote operations
// on it raise. [LF-023..040, LF-097]
#pragma once

#include "prov/uet/domain.h"
#include "prov/uet/shim.h"

#include "ses/memory_region.h"
#include "ses/types.h"

#include <cstdint>
#include <vector>

namespace uet::prov {

class Counter;
class EndpointCore;

class MemoryRegion {
 public:
  using Link = FidLink<fid_mr, MemoryRegion>;
  static fi_ops* fid_ops();
  static MemoryRegion& from(fid_mr* fid) { return object_of<MemoryRegion>(fid); }
  static MemoryRegion& from(struct fid* fid) { return object_of<MemoryRegion>(fid); }

  // The domain's reg, regv and regattr operations in one shape.
  static int open(Domain& domain, const fi_mr_attr& attr, uint64_t flags, fid_mr** fid);
  // No packet touches the memory after this returns.
  int close();
  int bind(struct fid* fid, uint64_t flags);
  int enable();

  // The region behind Completion.context.user of a remote operation; null for 0. Lock held.
  static MemoryRegion* from_user(uint64_t user) {
    return reinterpret_cast<MemoryRegion*>(static_cast<uintptr_t>(user));
  }
  // A remote operation on this region ended. Engine lock held.
  void count_remote(bool write, bool ok);

 private:
  MemoryRegion(Domain& domain, const fi_mr_attr& attr);
  int activate();
  int add_to_stack(uint16_t ri);

  Link link_;
  Domain& domain_;
  std::vector<IoSlice> iov_;
  uint32_t access_ = 0;
  uint64_t requested_key_ = 0;
  bool provider_key_ = false;
  bool idempotent_ = false;
  bool registered_ = false;
  bool enabled_ = false;
  uint32_t job_ = ses::kAnyJob;
  ses::RegionId id_;
  EndpointCore* endpoint_ = nullptr;  // FI_MR_ENDPOINT
  Counter* read_counter_ = nullptr;
  Counter* write_counter_ = nullptr;
};

}  // namespace uet::prov
