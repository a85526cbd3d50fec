// The entries of a completion queue: a ring whose places are booked before they are used, and the
// errors of some entries. Under the engine lock.
#pragma once

#include "prov/uet/api/compat.h"

#include "base/assert.h"
#include "base/packet.h"

#include <cstdint>
#include <vector>

namespace uet::prov {

// The additional fields of an error entry.
struct CompletionError {
  int err = 0;         // positive fi_errno
  int prov_errno = 0;  // see completion_error.h [LF-095]
  uint64_t olen = 0;   // octets of the message that did not fit
  FabricAddress peer;  // of the operation, when known
  uint32_t initiator_id = 0;
  uint32_t addr_format = 0;  // of the raw address that goes with FI_EADDRNOTAVAIL
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
  // Fields of queues that another provider owns [LF-159]:
  bool is_owned = false;   // op_context is its fi_peer_rx_entry, which it gets back
  bool is_silent = false;  // nothing is reported
};
static_assert(sizeof(CompletionEntry) == 64);

class CompletionRing {
 public:
  // Entries that are unread or booked, at most; memory is taken when they are booked.
  void set_capacity(uint32_t slots);

  // Books `slots` places; false: nothing was booked.
  bool reserve(uint32_t slots) {
    if (used_ + reserved_ + slots > room_ && !grow(used_ + reserved_ + slots)) return false;
    reserved_ += slots;
    return true;
  }
  void release(uint32_t slots) {
    UET_ASSERT(reserved_ >= slots);
    reserved_ -= slots;
  }
  // A place can be booked even if the ring is full: its capacity grows if necessary. False: there
  // is no memory.
  bool make_room() {
    if (!reserve(1)) {
      set_capacity(capacity_ > taken() ? capacity_ : taken() + 1);
      if (!reserve(1)) return false;
    }
    release(1);
    return true;
  }
  // Unread and booked.
  uint32_t taken() const { return used_ + reserved_; }

  // Writes an entry into a booked place.
  void push(const CompletionEntry& entry) { append(entry, false); }
  void push_error(const CompletionEntry& entry, const CompletionError& error) {
    errors_[(error_head_ + error_count_) & mask_] = error;
    ++error_count_;
    append(entry, true);
  }

  uint32_t unread() const { return used_; }
  uint32_t unread_errors() const { return error_count_; }
  // The oldest unread entry; the ring must not be empty.
  const CompletionEntry& front() const { return ring_[head_ & mask_]; }
  bool front_is_error() const { return used_ != 0 && front().is_error; }
  const CompletionError& front_error() const { return errors_[error_head_ & mask_]; }
  void pop() {
    ++head_;
    --used_;
  }
  // Each unread entry, the oldest first.
  template <class Change>
  void for_each(Change change) {
    for (uint32_t i = 0; i < used_; ++i) change(ring_[(head_ + i) & mask_]);
  }
  // The oldest error, and takes it and its entry out; front_is_error(). Valid until the next push.
  const CompletionError& pop_error() {
    pop();
    --error_count_;
    return errors_[error_head_++ & mask_];
  }

 private:
  bool grow(uint32_t slots);
  void append(const CompletionEntry& entry, bool is_error) {
    UET_ASSERT(reserved_ > 0);
    --reserved_;
    CompletionEntry& slot = ring_[(head_ + used_) & mask_];
    slot = entry;
    slot.is_error = is_error;
    ++used_;
  }

  // `used_` entries from `head_`; `reserved_` more are booked.
  uint32_t head_ = 0;
  uint32_t used_ = 0;
  uint32_t reserved_ = 0;
  uint32_t room_ = 0;      // entries that may be used or booked now: no more than are in the ring
  uint32_t capacity_ = 0;  // to which room_ grows
  uint32_t mask_ = 0;      // ring size - 1
  uint32_t error_head_ = 0;
  uint32_t error_count_ = 0;
  std::vector<CompletionEntry> ring_;
  std::vector<CompletionError> errors_;
};

}  // namespace uet::prov
