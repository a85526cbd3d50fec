// Messages whose packets were all answered and that wait for more than PDS reports: return data, or
// a later semantic answer. Grouped by PDC, so the end of a PDC only costs its own messages.
// [SES-145]
#pragma once

#include "ses/outgoing/tx_message.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class Awaiting {
 public:
  // Grows up to `most` PDCs.
  Result<void> create(Arena& arena, uint32_t most, Rng& rng);

  // It is in no queue.
  void add(TxMessage& m);
  // Whether or not it is there; before its PDC is forgotten, and before it is freed.
  void remove(TxMessage& m);
  // The one that waits for longest for that PDC; null: none does.
  TxMessage* first(pds::PdcHandle pdc);

 private:
  struct OfPdc {
    IntrusiveList<TxMessage, QueueTag> messages;
  };
  OfPdc* of(pds::PdcHandle pdc);
  OfPdc* make(pds::PdcHandle pdc);

  Slab<OfPdc> slots_;
  HashMap<uint32_t, OfPdc*> by_pdc_;
  IntrusiveList<TxMessage, QueueTag>
      others_;  // without a list of their PDC: there was no memory for it
};

}  // namespace uet::ses
