// The table of ready keys. [TSS-106]
#include "tss/key_cache.h"

namespace uet::tss {

Result<void> KeyCache::create(Arena& arena, uint32_t entries, uint64_t seed) {
  if (entries < 2) return Errc::invalid;
  UET_CHECK(entries_.create(arena, entries));
  UET_CHECK(by_name_.create(arena, entries, seed));
  for (uint32_t i = 0; i < entries; ++i) {
    ReadyKey* const made = entries_.alloc();
    if (made == nullptr) return Errc::no_memory;
    UET_CHECK(free_.empty() ? made->aead.create() : made->aead.create_like((*free_.begin()).aead));
    free_.push_back(*made);
  }
  draft_ = &*free_.begin();
  free_.erase(*draft_);
  return {};
}

ReadyKey* KeyCache::find(const ReadyName& name, ReadyKey*& last) {
  if (last == nullptr || !last->is_kept || !(last->name == name)) {
    ReadyKey* const* const found = by_name_.find(name);
    if (found == nullptr) return nullptr;
    last = *found;
  }
  if (lru_.back() != last) {
    lru_.erase(*last);
    lru_.push_back(*last);
  }
  return last;
}

ReadyKey& KeyCache::keep_draft() {
  UET_ASSERT(draft_->name.serial != 0 && draft_->aead.has_key());
  ReadyKey* next = free_.empty() ? lru_.pop_front() : free_.pop_front();
  if (next->is_kept) empty(*next);
  ReadyKey& kept = *draft_;
  draft_ = next;
  const auto inserted = by_name_.insert(kept.name, &kept);
  UET_ASSERT(inserted.ok());
  kept.is_kept = true;
  lru_.push_back(kept);
  return kept;
}

void KeyCache::forget(uint32_t serial) {
  for (ReadyKey& entry : lru_) {
    if (entry.name.serial != serial) continue;
    lru_.erase(entry);
    empty(entry);
    free_.push_back(entry);
  }
  if (draft_->name.serial == serial) {
    draft_->aead.forget_key();
    draft_->name = {};
  }
}

void KeyCache::empty(ReadyKey& entry) {
  by_name_.erase(entry.name);
  entry.name = {};
  entry.is_kept = false;
  entry.aead.forget_key();
  wipe(entry.iv_mask);
}

}  // namespace uet::tss
