// How the ring grows.
#include "prov/uet/completion/completion_ring.h"

#include <algorithm>
#include <bit>
#include <new>

namespace uet::prov {
namespace {

constexpr uint32_t kFirstEntries = 64;

}  // namespace

void CompletionRing::set_capacity(uint32_t slots) {
  capacity_ = slots;
  room_ = std::min<uint32_t>(slots, static_cast<uint32_t>(ring_.size()));
}

// A larger ring, for at least `slots` entries. An unused queue has no ring, because programs open
// as many queues as cq_cnt allows. False: the size is out of range, or there is no memory.
bool CompletionRing::grow(uint32_t slots) {
  if (slots > capacity_) return false;
  const uint32_t size = std::bit_ceil(std::max(slots, kFirstEntries));
  if (size > ring_.size()) {
    try {
      std::vector<CompletionEntry> ring(size);
      std::vector<CompletionError> errors(size);
      for (uint32_t i = 0; i < used_; ++i) ring[i] = ring_[(head_ + i) & mask_];
      for (uint32_t i = 0; i < error_count_; ++i) errors[i] = errors_[(error_head_ + i) & mask_];
      ring_.swap(ring);
      errors_.swap(errors);
    } catch (const std::bad_alloc&) {
      return false;
    }
    head_ = 0;
    error_head_ = 0;
    mask_ = size - 1;
  }
  set_capacity(capacity_);
  return true;
}

}  // namespace uet::prov
