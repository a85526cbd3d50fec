// The bounded table behind SecureStarts.
#include "pds/door/secure_start.h"

namespace uet::pds {

Result<void> SecureStarts::create(Arena& arena, uint32_t entries, uint64_t seed) {
  UET_CHECK(entries_.create(arena, entries));
  return by_key_.create(arena, entries, seed);
}

const Psn* SecureStarts::find(const StartKey& key) {
  Entry* const* const found = by_key_.find(key);
  if (found == nullptr) return nullptr;
  lru_.erase(**found);
  lru_.push_back(**found);
  return &(*found)->psn;
}

void SecureStarts::raise(const StartKey& key, Psn psn) {
  if (find(key) != nullptr) {
    Entry& e = *lru_.back();
    if (psn.after(e.psn)) e.psn = psn;
    return;
  }
  if (entries_.full()) {
    Entry& oldest = *lru_.pop_front();
    by_key_.erase(oldest.key);
    has_forgotten_floor_ = has_forgotten_floor_ || oldest.key.is_floor;
    entries_.free(&oldest);
  }
  Entry* const made = entries_.alloc();
  UET_ASSERT(made != nullptr);
  made->key = key;
  made->psn = psn;
  lru_.push_back(*made);
  const auto inserted = by_key_.insert(key, made);
  UET_ASSERT(inserted.ok());
}

}  // namespace uet::pds
