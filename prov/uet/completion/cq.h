// Completion queue: entries in the widest format, read in the format asked for. Places are booked
// when operations are posted, so that a completion always has room. Errors keep their place in the
// order. With FI_PEER its entries go to the queue of another provider when it is read, and wait
// here until that has room. [LF-093, LF-095, LF-159, ABI-028, architecture 5]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/completion/completion_ring.h"
#include "prov/uet/completion/wait.h"
#include "prov/uet/progress/progress.h"
#include "prov/uet/progress/yield_habit.h"

#include "pds/client.h"
#include "ses/types.h"

#include <cstdint>

namespace uet::prov {

class Domain;

class CompletionQueue {
 public:
  using Link = FidLink<struct fid_cq, CompletionQueue>;

  // The domain's cq_open operation.
  static int open(Domain& domain, struct fi_cq_attr* attr, struct fid_cq** cq, void* context);
  static struct fi_ops* fid_ops();

  Domain& domain() { return domain_; }
  // Which engine fills it.
  WaitObject& wait() { return wait_; }

  // Binds an endpoint that has at most `operations` unfinished at once: the queue may hold that
  // many more entries, so that unfinished operations alone never fill it. Call it during set-up.
  // The memory is allocated later, when the number of booked and unread entries exceeds the ring.
  void attach(uint32_t operations);
  void detach(uint32_t operations);

  // Engine lock held, up to push_error().

  // Another provider owns it (FI_PEER).
  bool is_imported() const { return owner_ != nullptr; }
  // Books `slots` entries; false: nothing was booked, the application has to read first.
  bool reserve(uint32_t slots) { return entries_.reserve(slots); }
  void release(uint32_t slots) { entries_.release(slots); }
  bool has_unread() const { return entries_.unread() > 0; }
  // Books an entry for a receive that an owner has started and cannot take back. False: there is no
  // memory.
  bool make_room() { return entries_.make_room(); }
  // Writes an entry into a booked slot.
  void push(const CompletionEntry& entry);
  void push_error(const CompletionEntry& entry, const CompletionError& error);
  // An endpoint with receives of an owner closes: that owner gets its completions, and its receives
  // back even if it has no room for the completions. Inside a call_out() of the visit.
  void end_receives(ProgressEngine::Entry& visit);

  // The operations behind struct fi_ops_cq. `src_addr` may be null.
  ssize_t read(void* buf, size_t count, fi_addr_t* src_addr);
  // Timeout in milliseconds, negative: no limit. `cond` with FI_CQ_COND_THRESHOLD only.
  ssize_t sread(void* buf, size_t count, fi_addr_t* src_addr, const void* cond, int timeout_ms);
  ssize_t read_error(struct fi_cq_err_entry* entry);
  // Reading an imported queue (FI_PEER) gives its owner a turn; returns 0.
  ssize_t run();
  int signal();
  int trywait();
  int control(int command, void* arg);
  int close();

 private:
  static constexpr uint32_t kErrDataBytes = 96;

  CompletionQueue(Domain& domain, const struct fi_cq_attr& attr, void* context);
  ssize_t read_now(void* buf, size_t count, fi_addr_t* src_addr, bool& is_idle);
  uint32_t take(void* buf, size_t count, fi_addr_t* src_addr);
  size_t describe(const CompletionError& error);
  void deliver(ProgressEngine::Entry& visit);
  void end(ProgressEngine::Entry& visit);
  bool ready(size_t threshold) const {
    return entries_.unread() >= threshold || entries_.unread_errors() > 0;
  }

  Link link_;
  Domain& domain_;
  uint32_t entry_bytes_;
  CompletionRing entries_;
  YieldHabit yields_;
  uint32_t requested_;  // the size that the application asked for
  uint32_t attached_ = 0;
  uint32_t bindings_ = 0;
  bool threshold_;  // FI_CQ_COND_THRESHOLD
  WaitObject wait_;
  char err_data_[kErrDataBytes] = {};  // of the last read_error
  fid_peer_cq* owner_ = nullptr;       // where the entries go from here
};

}  // namespace uet::prov
