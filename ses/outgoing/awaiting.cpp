// A list for each PDC, while anything is in it.
#include "ses/outgoing/awaiting.h"

#include <algorithm>

namespace uet::ses {

Result<void> Awaiting::create(Arena& arena, uint32_t most, Rng& rng) {
  const Room room{std::min(most, 64U), most};
  UET_CHECK(slots_.create(arena, room));
  return by_pdc_.create(arena, room, rng.u64());
}

Awaiting::OfPdc* Awaiting::of(pds::PdcHandle pdc) {
  OfPdc** const known = by_pdc_.find(pdc.value());
  return known == nullptr ? nullptr : *known;
}

// Null: the system has no memory.
Awaiting::OfPdc* Awaiting::make(pds::PdcHandle pdc) {
  OfPdc* const list = slots_.alloc();
  if (list == nullptr || by_pdc_.insert(pdc.value(), list).ok()) return list;
  slots_.free(list);
  return nullptr;
}

void Awaiting::add(TxMessage& m) {
  OfPdc* list = of(m.pdc);
  if (list == nullptr) list = make(m.pdc);
  (list == nullptr ? others_ : list->messages).push_back(m);
}

void Awaiting::remove(TxMessage& m) {
  ListNode<QueueTag>& node = m;
  if (!node.is_linked()) return;
  node.unlink();
  OfPdc* const list = of(m.pdc);
  if (list == nullptr || !list->messages.empty()) return;
  by_pdc_.erase(m.pdc.value());
  slots_.free(list);
}

TxMessage* Awaiting::first(pds::PdcHandle pdc) {
  if (const OfPdc* const list = of(pdc)) return list->messages.front();
  for (TxMessage& m : others_) {
    if (m.pdc == pdc) return &m;
  }
  return nullptr;
}

}  // namespace uet::ses
