// Counter: how many operations completed, and how many failed. Raised by endpoints and memory
// regions with the engine lock held; read from any thread without it. With FI_PEER another provider
// counts, and reading it runs the engine. [LF-097, LF-159]
#pragma once

#include "prov/uet/api/shim.h"
#include "prov/uet/completion/wait.h"
#include "prov/uet/domain/domain.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace uet::prov {

class MemoryRegion;

class Counter {
 public:
  using Link = FidLink<fid_cntr, Counter>;
  static fi_ops* fid_ops();

  // The domain's cntr_open operation.
  static int open(Domain& domain, fi_cntr_attr* attr, fid_cntr** fid, void* context);
  ~Counter();
  // -FI_EBUSY while an endpoint is bound to it; regions drop their binding.
  int close();

  Domain& domain() { return domain_; }
  // Which engine counts with it.
  WaitObject& wait_object() { return wait_; }
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

  // Binds or unbinds a region. Engine lock held.
  void attach(MemoryRegion& region) { regions_.push_back(&region); }
  void detach(const MemoryRegion& region) { std::erase(regions_, &region); }

  // One operation ended; the owner of an imported counter learns it in its turn. Engine lock held.
  void count(bool ok) {
    (ok ? value_ : errors_).fetch_add(1, std::memory_order_relaxed);
    wait_.signal();
  }

  // The operations behind struct fi_ops_cntr. read() and read_error() make progress.
  uint64_t read() { return observe(value_); }
  uint64_t read_error() { return observe(errors_); }
  // A read of an imported counter: gives its owner a turn and returns 0, because the owner counts.
  uint64_t run();
  int add(uint64_t value) { return change(value_, value, true); }
  int set(uint64_t value) { return change(value_, value, false); }
  int add_error(uint64_t value) { return change(errors_, value, true); }
  int set_error(uint64_t value) { return change(errors_, value, false); }
  // -FI_ETIMEDOUT; -FI_EAVAIL when an error was counted meanwhile. Negative timeout: no limit.
  int wait(uint64_t threshold, int timeout_ms);
  int trywait();
  int control(int command, void* arg);

 private:
  Counter(Domain& domain, void* context);
  int import(void* context);
  void deliver();
  uint64_t observe(const std::atomic<uint64_t>& word);
  int change(std::atomic<uint64_t>& word, uint64_t value, bool add);

  Link link_;
  Domain& domain_;
  std::atomic<uint64_t> value_{0};  // of one that was imported: not counted by its owner yet
  std::atomic<uint64_t> errors_{0};
  uint64_t seen_value_ = 0;  // at the last read; a descriptor is ready when one differs
  uint64_t seen_errors_ = 0;
  std::atomic<uint32_t> refs_{0};
  std::vector<MemoryRegion*> regions_;
  WaitObject wait_;
#if UET_HAVE_PEER_CNTR
  fid_peer_cntr* owner_ = nullptr;  // the owner, if it counts
#endif
};

}  // namespace uet::prov
