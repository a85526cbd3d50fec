// Completion queue: a ring of entries in the widest format, read in the format asked for. Slots are
// booked when operations are posted, so that a completion always has room. Errors keep their place
// in the order. [LF-093, LF-095, ABI-028, architecture 8]
#pragma once

#include "prov/uet/compat.h"
#include "prov/uet/progress.h"
#include "prov/uet/wait.h"

#include "pds/client.h"
#include "ses/types.h"

#include <cstdint>
#include <vector>

namespace uet::prov {

class AddressVector;
class Domain;

// What makes an entry an error entry.
struct CompletionError {
  int err = 0;         // positive fi_errno
  int prov_errno = 0;  // SES return code, or kPdsErrnoBase + failure [LF-095]
  uint64_t olen = 0;   // octets of the message that did not fit
  FabricAddress peer;  // whom it concerns, when known
  uint32_t initiator_id = 0;
};

// One completion. The first six fields are, in this order, those of struct fi_cq_tagged_entry;
// every narrower format is a prefix of it.
struct CompletionEntry {
  void* op_context = nullptr;
  uint64_t flags = 0;
  uint64_t len = 0;
  void* buf = nullptr;
  uint64_t data = 0;
  uint64_t tag = 0;
  fi_addr_t src_addr = FI_ADDR_NOTAVAIL;
  bool is_error = false;  // its CompletionError is the oldest of the error ring
};
static_assert(sizeof(CompletionEntry) == 64);

class CompletionQueue {
 public:
  // The domain's cq_open operation.
  static int open(Domain& domain, struct fi_cq_attr* attr, struct fid_cq** cq, void* context);
  static CompletionQueue& from(struct fid_cq* cq) {
    return *reinterpret_cast<CompletionQueue*>(cq);
  }
  static CompletionQueue& from(struct fid* fid) { return *reinterpret_cast<CompletionQueue*>(fid); }

  Domain& domain() { return *domain_; }
  // Header data fits the format. [LF-093]
  bool carries_data() const { return entry_bytes_ >= sizeof(struct fi_cq_data_entry); }

  // An endpoint that may have `operations` unfinished at once is bound: the ring grows so that
  // unfinished operations alone never fill it. A set-up act; FI_ENOMEM as exception.
  void attach(uint32_t operations);
  void detach(uint32_t operations);

  // The rest: engine lock held.

  // Books `slots` entries; false: nothing was booked, the application has to read first.
  bool reserve(uint32_t slots) {
    if (used_ + reserved_ + slots > capacity_) return false;
    reserved_ += slots;
    return true;
  }
  void release(uint32_t slots) {
    UET_ASSERT(reserved_ >= slots);
    reserved_ -= slots;
  }
  // Writes an entry into a booked slot.
  void push(const CompletionEntry& entry);
  void push_error(const CompletionEntry& entry, const CompletionError& error);

  ssize_t read(void* buf, size_t count, fi_addr_t* src_addr);
  ssize_t sread(void* buf, size_t count, fi_addr_t* src_addr, const void* cond, int timeout);
  ssize_t read_error(struct fi_cq_err_entry* entry);
  int signal();
  int trywait();
  int control(int command, void* arg);
  int close();

 private:
  static constexpr uint32_t kErrorTextBytes = 96;

  CompletionQueue(Domain& domain, const struct fi_cq_attr& attr, void* context);
  uint32_t take(void* buf, size_t count, fi_addr_t* src_addr);
  CompletionEntry& append(const CompletionEntry& entry);
  void set_capacity(uint32_t slots);
  uint32_t describe(const CompletionError& error);
  bool ready(uint32_t threshold) const { return used_ >= threshold || error_count_ > 0; }

  struct fid_cq fid_;
  Domain* domain_;
  uint32_t entry_bytes_;
  // Ring: `used_` entries from `head_`; `reserved_` more are booked.
  uint32_t head_ = 0;
  uint32_t used_ = 0;
  uint32_t reserved_ = 0;
  uint32_t capacity_ = 0;  // entries that may be used or booked
  uint32_t mask_ = 0;      // ring size - 1
  uint32_t error_head_ = 0;
  uint32_t error_count_ = 0;
  uint32_t requested_;  // what the application asked for
  uint32_t attached_ = 0;
  uint32_t bindings_ = 0;
  bool threshold_;  // FI_CQ_COND_THRESHOLD
  std::vector<CompletionEntry> ring_;
  std::vector<CompletionError> errors_;
  WaitObject wait_;
  char error_text_[kErrorTextBytes] = {};  // err_data of the last read_error
};

// fi_cq_strerror, and the words behind it. `buf` may be null.
const char* completion_strerror(int prov_errno, const void* err_data, char* buf, size_t len);

// prov_errno of failures below SES: base + (reason << 8) + NACK code.
inline constexpr int kPdsErrnoBase = 0x10000;
int prov_errno_of(const ses::Completion& completion);
// The fi_errno of a completion that is not ok. [SES-140 .. SES-183]
int fi_errno_of(const ses::Completion& completion);
int fi_errno_of(wire::ReturnCode code);

}  // namespace uet::prov
