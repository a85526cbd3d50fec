// The bounded table of sources.
#include "tss/sources.h"

#include "tss/epoch.h"

namespace uet::tss {

Result<void> Sources::create(Arena& arena, uint32_t sources, uint32_t window, uint64_t seed) {
  if (window < 64 || !std::has_single_bit(window)) return Errc::invalid;
  UET_CHECK(sources_.create(arena, sources));
  UET_CHECK(by_name_.create(arena, sources, seed));
  words_per_window_ = window / 64;
  words_ = arena.make_zero_span<uint64_t>(size_t{words_per_window_} * sources);
  if (words_.data() == nullptr) return Errc::no_memory;
  return {};
}

Sources::Source* Sources::find(const SourceName& name) const {
  if (last_ != nullptr && last_->name == name) return last_;
  Source* const* const found = by_name_.find(name);
  if (found == nullptr) return nullptr;
  last_ = *found;
  return last_;
}

const uint16_t* Sources::epoch_of(const SourceName& name) const {
  const Source* const source = find(name);
  return source == nullptr ? nullptr : &source->epoch;
}

void Sources::note(const SourceName& name, uint16_t epoch) {
  if (Source* const known = find(name); known != nullptr) {
    if (is_newer_epoch(known->epoch, epoch)) known->epoch = epoch;
    if (lru_.back() == known) return;
    lru_.erase(*known);
    lru_.push_back(*known);
    return;
  }
  if (sources_.full()) drop(*lru_.front());
  Source* const made = sources_.alloc();
  UET_ASSERT(made != nullptr);
  made->name = name;
  made->epoch = epoch;
  lru_.push_back(*made);
  const auto inserted = by_name_.insert(name, made);
  UET_ASSERT(inserted.ok());
}

bool Sources::accept(const SourceName& name, uint64_t tsc) {
  Source* const source = find(name);
  UET_ASSERT(source != nullptr);
  if (!source->window.is_attached()) {
    const size_t at = size_t{sources_.handle(source).index()} * words_per_window_;
    source->window.attach(words_.subspan(at, words_per_window_));
  }
  return source->window.accept(tsc);
}

void Sources::forget(uint32_t serial) {
  for (Source& source : lru_) {
    if (source.name.serial == serial) drop(source);
  }
}

void Sources::drop(Source& source) {
  lru_.erase(source);
  by_name_.erase(source.name);
  last_ = nullptr;
  sources_.free(&source);
}

}  // namespace uet::tss
