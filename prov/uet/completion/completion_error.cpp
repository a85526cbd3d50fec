// Error numbers and texts of failed operations.
#include "prov/uet/completion/completion_error.h"

#include "prov/uet/api/compat.h"

#include <cerrno>
#include <cstdio>

namespace uet::prov {
namespace {

using Status = ses::Completion::Status;

int fi_errno_of(const pds::Failure& failure) {
  switch (failure.reason) {
    case pds::FailureReason::timeout:
      return FI_ETIMEDOUT;
    case pds::FailureReason::nack:
    case pds::FailureReason::closed:
      return FI_EIO;
    case pds::FailureReason::aborted:
      return FI_ECANCELED;
    case pds::FailureReason::unreachable:
    case pds::FailureReason::no_route:
      return FI_EHOSTUNREACH;
    case pds::FailureReason::no_key:
      return FI_ENOKEY;
    case pds::FailureReason::too_long:  // [LF-141]
      return FI_EMSGSIZE;
  }
  return FI_EIO;
}

// The errno of the system, or of the sealing layer. libfabric has separate numbers for some.
int fi_errno_of_local(int error) {
  if (error == ENOKEY) return FI_ENOKEY;
  return error != 0 ? error : FI_EFAULT;
}

const char* name_of(pds::FailureReason reason) {
  switch (reason) {
    case pds::FailureReason::timeout:
      return "the peer did not answer in time";
    case pds::FailureReason::nack:
      return "the peer refused the packet for good";
    case pds::FailureReason::closed:
      return "the delivery context was closed in error";
    case pds::FailureReason::aborted:
      return "the delivery context was aborted";
    case pds::FailureReason::unreachable:
      return "the network reports the peer as unreachable";
    case pds::FailureReason::no_route:
      return "there is no route to the peer";
    case pds::FailureReason::no_key:
      return "the secure domain was taken out of use";
    case pds::FailureReason::too_long:
      return "the route to the peer carries smaller packets by now";
  }
  return "delivery failed";
}

const char* name_of(Status status) {
  switch (status) {
    case Status::ok:
      return "success";
    case Status::truncated:
      return "the message was longer than the receive buffer";
    case Status::refused:
      return "the target refused the operation";
    case Status::undeliverable:
      return "delivery failed";
    case Status::cancelled:
      return "the operation was cancelled";
    case Status::aborted:
      return "the endpoint was closed";
    case Status::fault:
      return "local memory could not be read or sent";
  }
  return "unknown local failure";
}

// Codes that no enumerator names: 0x30-0x37 belong to vendors, the rest is reserved. [SES 7.1]
int errno_of_unnamed(uint8_t code) { return code >= 0x30 && code <= 0x37 ? FI_EOTHER : FI_EIO; }

// Why an atomic was refused or what its arithmetic met.
int errno_of_atomic(wire::ReturnCode code) {
  using wire::ReturnCode;
  switch (code) {
    case ReturnCode::amo_unsupported_op:
    case ReturnCode::amo_unsupported_dt:
      return FI_EOPNOTSUPP;
    case ReturnCode::amo_unsupported_size:
    case ReturnCode::amo_unaligned:
      return FI_EINVAL;
    case ReturnCode::amo_fp_nan:
    case ReturnCode::amo_fp_inexact:
      return EDOM;
    case ReturnCode::amo_fp_underflow:
    case ReturnCode::amo_fp_overflow:
      return ERANGE;
    default:
      return FI_EIO;
  }
}

}  // namespace

int fi_errno_of(wire::ReturnCode code) {
  using wire::ReturnCode;
  switch (code) {
    case ReturnCode::null:
    case ReturnCode::ok:              // a failure cannot have these two; nothing better is known
    case ReturnCode::bad_generation:  // resent by SES; seen here only if that never ended
      return FI_EIO;
    case ReturnCode::disabled:
    case ReturnCode::disabled_gen:
    case ReturnCode::no_match:
      return FI_ENORX;
    case ReturnCode::unsupported_op:
      return FI_EOPNOTSUPP;
    case ReturnCode::unsupported_size:
      return FI_EMSGSIZE;
    case ReturnCode::at_invalid:
    case ReturnCode::at_ats_error:
    case ReturnCode::at_no_trans:
    case ReturnCode::at_out_of_range:
    case ReturnCode::bad_addr:
      return FI_EFAULT;
    case ReturnCode::at_perm:
    case ReturnCode::perm_violation:
    case ReturnCode::bad_job_id:
      return FI_EACCES;
    case ReturnCode::host_poisoned:
    case ReturnCode::host_unsuccess_cmpl:
      return FI_EREMOTEIO;
    case ReturnCode::op_violation:
      return FI_EPERM;
    case ReturnCode::bad_index:
    case ReturnCode::bad_pid:
      return FI_EADDRNOTAVAIL;
    case ReturnCode::bad_mkey:
      return FI_ENOKEY;
    case ReturnCode::cancelled:
      return FI_ECANCELED;
    case ReturnCode::undeliverable:
      return FI_EHOSTUNREACH;
    case ReturnCode::too_long:
      return FI_ETRUNC;
    case ReturnCode::uncor:
    case ReturnCode::uncor_trnsnt:
    case ReturnCode::initiator_err:
    case ReturnCode::dropped:
    case ReturnCode::extended:
      return FI_EIO;
    case ReturnCode::amo_unsupported_op:
    case ReturnCode::amo_unsupported_dt:
    case ReturnCode::amo_unsupported_size:
    case ReturnCode::amo_unaligned:
    case ReturnCode::amo_fp_nan:
    case ReturnCode::amo_fp_inexact:
    case ReturnCode::amo_fp_underflow:
    case ReturnCode::amo_fp_overflow:
      return errno_of_atomic(code);
  }
  return errno_of_unnamed(static_cast<uint8_t>(code));
}

OperationError operation_error(const ses::Completion& completion) {
  const int local = kLocalErrno + static_cast<int>(completion.status);
  switch (completion.status) {
    case Status::refused:
      return {fi_errno_of(completion.code), static_cast<int>(completion.code)};
    case Status::undeliverable: {
      const pds::Failure& failure = completion.failure;
      return {fi_errno_of(failure), kDeliveryErrno + (static_cast<int>(failure.reason) << 8) +
                                        static_cast<int>(failure.nack)};
    }
    case Status::truncated:
      return {FI_ETRUNC, local};
    case Status::cancelled:
    case Status::aborted:
      return {FI_ECANCELED, local};
    case Status::fault:
      return {fi_errno_of_local(completion.local_error), local};
    case Status::ok:
      break;
  }
  return {FI_EOTHER, local};
}

const char* completion_error_name(int prov_errno) {
  if (prov_errno >= kLocalErrno) return name_of(static_cast<Status>(prov_errno - kLocalErrno));
  if (prov_errno >= kDeliveryErrno) {
    const int nack = prov_errno & 0xFF;
    if (nack != 0) return wire::name(static_cast<wire::NackCode>(nack));
    return name_of(static_cast<pds::FailureReason>((prov_errno - kDeliveryErrno) >> 8));
  }
  return wire::name(static_cast<wire::ReturnCode>(prov_errno & 0x3F));
}

const char* completion_error_text(int prov_errno, const char* err_data, char* buf, size_t length) {
  const char* const name = completion_error_name(prov_errno);
  if (buf == nullptr || length == 0) return name;
  const bool has_peer = err_data != nullptr && *err_data == '(';
  std::snprintf(buf, length, "%s%s%s", name, has_peer ? " " : "", has_peer ? err_data : "");
  return buf;
}

const char* event_error_name(int prov_errno) {
  return prov_errno >= kLostErrno ? completion_error_name(prov_errno - kLostErrno)
                                  : fi_strerror(prov_errno);
}

}  // namespace uet::prov
