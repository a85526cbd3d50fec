// The bounded table behind SecureStarts.
#include "pds/door/secure_start.h"

#include <algorithm>

namespace uet::pds {

Result<void> SecureStarts::create(Arena& arena, uint32_t entries, uint64_t seed) {
  UET_CHECK(entries_.create(arena, entries));
  return by_key_.create(arena, entries, seed);
}

const KnownStart* SecureStarts::find(const StartKey& key) {
  Entry* const* const found = by_key_.find(key);
  if (found == nullptr) return nullptr;
  lru_.erase(**found);
  lru_.push_back(**found);
  return &(*found)->start;
}

void SecureStarts::raise(const StartKey& key, Psn psn, uint32_t used) {
  if (find(key) != nullptr) {
    KnownStart& known = lru_.back()->start;
    const int32_t further = psn - known.psn;
    const uint64_t sum = uint64_t{known.used} + static_cast<uint32_t>(std::max(further, 0));
    if (further > 0) known.psn = psn;
    if (used == KnownStart::kUsedMax || sum > KnownStart::kUsedMax) {
      known.used = KnownStart::kUsedMax;
    } else {
      known.used = static_cast<uint32_t>(sum);
    }
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
  made->start = {psn, used};
  lru_.push_back(*made);
  const auto inserted = by_key_.insert(key, made);
  UET_ASSERT(inserted.ok());
}

}  // namespace uet::pds
