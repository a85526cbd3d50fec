// Slots in the completion queue of an endpoint for completions without a posted operation.
// [decision 11]
#pragma once

#include "ses/endpoint.h"
#include "ses/resources.h"

namespace uet::ses {

// Books a slot. False: the application has to read its completions first.
inline bool reserve(Resources& res, const Endpoint& ep) {
  if (ep.rx.reserve == nullptr || ep.rx.reserve(ep.rx.owner)) return true;
  res.counters.add(Counter::rx_no_completion_slot);
  return false;
}

// Releases the reserved slot.
inline void release(const Endpoint& ep) {
  if (ep.rx.release != nullptr) ep.rx.release(ep.rx.owner);
}

}  // namespace uet::ses
