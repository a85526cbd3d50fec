// How a posting call without a flags argument is posted: by the flags that its endpoint has for
// such calls, and with which context its completion comes. [LF-045, LF-046]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/endpoint/ep.h"

#include <cstdint>

namespace uet::prov {

struct Manner {
  void* context;
  uint64_t flags;

  // The same, and the call carries CQ data.
  Manner with_data() const { return {context, flags | FI_REMOTE_CQ_DATA}; }
};

inline Manner posted(fid_ep* fid, void* context) {
  return {context, object_of<Endpoint>(fid).tx_flags()};
}
// Nothing is reported but errors, which come with the endpoint's own context.
inline Manner injected(fid_ep* fid) {
  const Endpoint& ep = object_of<Endpoint>(fid);
  return {ep.context(), ep.inject_flags()};
}
// It brings data back.
inline Manner fetching(fid_ep* fid, void* context) {
  return {context, object_of<Endpoint>(fid).read_flags()};
}

}  // namespace uet::prov
