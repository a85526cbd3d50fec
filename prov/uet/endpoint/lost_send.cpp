// Reports operations that failed after they had been reported as done; see lost_send.h.
#include "prov/uet/endpoint/lost_send.h"

#include "prov/uet/api/log.h"
#include "prov/uet/completion/completion_error.h"
#include "prov/uet/completion/eq.h"

#include "io/socket.h"

namespace uet::prov {

void report_lost_send(const LostSend& lost, const struct fid* object, EventQueue* eq) {
  UET_WARN(
      EP_DATA,
      "an operation to %s port %u (fi_addr_t 0x%llx) failed after it had been reported as done: "
      "%s; later ones to it fail until fi_av_remove and fi_av_insert\n",
      io::ip_text(lost.error.peer).c_str(), lost.error.peer.port,
      static_cast<unsigned long long>(lost.addr), completion_error_name(lost.error.prov_errno));
  if (eq == nullptr) return;
  fi_eq_err_entry entry{};
  entry.fid = const_cast<struct fid*>(object);  // for the application, which owns it
  entry.context = object->context;
  entry.data = lost.addr;
  entry.err = lost.error.err;
  entry.prov_errno = kLostErrno + lost.error.prov_errno;
  eq->report_error(entry);
}

}  // namespace uet::prov
