// Common checks and reports of sends and receives of an endpoint. [LF-093..097]
#include "prov/uet/endpoint/endpoint_state.h"

#include "prov/uet/api/log.h"
#include "prov/uet/completion/completion_error.h"
#include "prov/uet/domain/domain.h"

namespace uet::prov {

uint64_t completion_flags(ses::OpKind kind) {
  switch (kind) {
    case ses::OpKind::send:
      return FI_SEND | FI_MSG;
    case ses::OpKind::tagged_send:
      return FI_SEND | FI_TAGGED;
    case ses::OpKind::write:
      return FI_RMA | FI_WRITE;
    case ses::OpKind::read:
      return FI_RMA | FI_READ;
    case ses::OpKind::atomic:
      return FI_ATOMIC | FI_WRITE;
    case ses::OpKind::fetching_atomic:
      return FI_ATOMIC | FI_READ;
    case ses::OpKind::recv:
      return FI_RECV | FI_MSG;
    case ses::OpKind::tagged_recv:
      return FI_RECV | FI_TAGGED;
    case ses::OpKind::remote_write:
      return FI_RMA | FI_REMOTE_WRITE;
    case ses::OpKind::remote_read:
      return FI_RMA | FI_REMOTE_READ;
    case ses::OpKind::remote_atomic:
      return FI_ATOMIC | FI_REMOTE_WRITE;
    case ses::OpKind::remote_fetching_atomic:
      return FI_ATOMIC | FI_REMOTE_READ;
  }
  return 0;
}

EndpointState::EndpointState(Domain& of, const fi_info& info)
    : domain(of), at(&of.engines().first()), as(of, info), bound(of, as) {}

ssize_t EndpointState::check_post(uint64_t capability) const {
  if (domain.home().is_barred() || !enabled) {
    if (domain.home().is_called_back()) return refuse_call_back();
    UET_WARN(EP_DATA, "the endpoint cannot be used: call fi_enable first, and not in a fork\n");
    return -FI_EOPBADSTATE;
  }
  if ((as.caps & capability) == 0) {
    UET_WARN(EP_DATA,
             "the endpoint was opened without the capability for this call; ask "
             "fi_getinfo for it in hints->caps\n");
    return -FI_EOPNOTSUPP;
  }
  return 0;
}

CompletionError EndpointState::error_of(const ses::Completion& completion) const {
  const OperationError what = operation_error(completion);
  CompletionError error;
  error.err = what.err;
  error.prov_errno = what.prov_errno;
  error.olen = completion.truncated_bytes;
  error.initiator_id = completion.initiator_id;
  error.addr_format = as.addr_format;
  return error;
}

}  // namespace uet::prov
