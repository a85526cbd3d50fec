// Owns the index generations of endpoints: an index that has neither receives nor room is disabled,
// and comes back under the next generation when there are resources again. [SES-131..136]
#pragma once

#include "ses/endpoint.h"
#include "ses/memory/memory_region.h"
#include "ses/receives/kept_room.h"

namespace uet::ses {

class Generations {
 public:
  Generations(const MemoryRegions& memory, const KeptRoom& room) : memory_(memory), room_(room) {}

  // A receive is posted, and any endpoint of the queue may get the message for it. [SES-133]
  static void enable(ReceiveQueue& queue, bool tagged) {
    if (queue.disabled != 0) enable_all(queue, tagged);
  }
  // There is neither a receive nor room.
  void disable(Endpoint& ep, bool tagged);
  // The present generation, after checking whether a disabled index can be enabled.
  const Generation& refresh(Endpoint& ep, bool tagged) {
    if (!ep.generation(tagged).is_enabled) look(ep, tagged);
    return ep.generation(tagged);
  }
  // The endpoint closes.
  static void leave(Endpoint& ep);

 private:
  static void enable_all(ReceiveQueue& queue, bool tagged);
  static void enable(Endpoint& ep, bool tagged);
  void look(Endpoint& ep, bool tagged);

  const MemoryRegions& memory_;
  const KeptRoom& room_;
};

}  // namespace uet::ses
