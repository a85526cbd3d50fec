// Disabling indices and enabling them again.
#include "ses/receives/generations.h"

namespace uet::ses {

// Resources are free again: messages with the next generation are accepted. [SES-133]
void Generations::enable(Endpoint& ep, bool tagged) {
  Generation& generation = ep.generation(tagged);
  if (generation.is_enabled) return;
  ++generation.value;
  generation.is_enabled = true;
  --ep.queue->disabled;
}

void Generations::enable_all(ReceiveQueue& queue, bool tagged) {
  for (Endpoint& ep : queue.endpoints) enable(ep, tagged);
}

void Generations::disable(Endpoint& ep, bool tagged) {
  Generation& generation = ep.generation(tagged);
  if (generation.is_enabled) ++ep.queue->disabled;
  generation.is_enabled = false;
  generation.memory_mark = memory_.enabled_total();
  generation.room_mark = room_.released_total();
}

// A disabled index also comes back when a region was enabled, or when kept messages left and there
// is room again. [LF-039, SES-133]
void Generations::look(Endpoint& ep, bool tagged) {
  const Generation& generation = ep.generation(tagged);
  const bool has_regions = !tagged && generation.memory_mark != memory_.enabled_total();
  if (has_regions || generation.room_mark != room_.released_total()) enable(ep, tagged);
}

void Generations::leave(Endpoint& ep) {
  for (const bool tagged : {false, true}) {
    if (!ep.generation(tagged).is_enabled) --ep.queue->disabled;
  }
}

}  // namespace uet::ses
