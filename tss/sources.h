// State of a receiver about each source of a key: its newest epoch, and for packets without a PDC
// the received ones. Only authentic packets make or change a record. [TSS-055, TSS-071]
#pragma once

#include "tss/identity.h"
#include "tss/replay_window.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/slab.h"

#include <cstdint>
#include <span>

namespace uet::tss {

class Sources {
 public:
  // Addresses for a window of `window` packets (a power of two) of each source; memory is taken
  // when a source sends a packet without a PDC.
  Result<void> create(Arena& arena, uint32_t sources, uint32_t window, uint64_t seed);

  // The newest epoch of the source; null: the source is unknown.
  const uint16_t* epoch_of(const SourceName& name) const;

  // An authentic packet came. The record of the longest silent source makes room for a new one: its
  // recorded packets could then be repeated, where no PDC prevents it.
  void note(const SourceName& name, uint16_t epoch);
  // Whether an authentic packet is new; of a source that was noted. [TSS-091]
  [[nodiscard]] bool accept(const SourceName& name, uint64_t tsc);

  // All sources of an installed key.
  void forget(uint32_t serial);
  uint32_t size() const { return by_name_.size(); }

 private:
  struct Source : ListNode<struct SourceLruTag> {
    SourceName name;
    uint16_t epoch = 0;
    ReplayWindow window;
  };

  Source* find(const SourceName& name) const;
  void drop(Source& source);

  Slab<Source> sources_;
  HashMap<SourceName, Source*> by_name_;
  IntrusiveList<Source, SourceLruTag> lru_;  // longest silent first
  std::span<uint64_t> words_;                // of the windows, by the index of the source
  uint32_t words_per_window_ = 0;
  mutable Source* last_ = nullptr;
};

}  // namespace uet::tss
