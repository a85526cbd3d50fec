// The error for other providers that call uet from inside a call of uet; see home.h. In a
// separate file, because it logs.
#include "prov/uet/api/log.h"
#include "prov/uet/api/shim.h"

namespace uet::prov {

int refuse_call_back() noexcept {
  UET_WARN(CORE,
           "an operation of the owner (FI_PEER: get_*, queue_*, free_entry, write*, inc*) called "
           "uet, which waits for it: do this after the call of uet that is under way has "
           "returned\n");
  return -FI_EBUSY;
}

}  // namespace uet::prov
