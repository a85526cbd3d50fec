// Conversion of a failed operation for libfabric: its fi_errno, its prov_errno, and the text.
// prov_errno is the SES return code from the target, or, without an answer, a number above these
// codes for the failure of delivery or of the local side. [LF-095, SES-140..183]
#pragma once

#include "ses/types.h"
#include "wire/code_points.h"

#include <cstddef>

namespace uet::prov {

// prov_errno of failures that are no SES return code:
// kDeliveryErrno + (pds::FailureReason << 8) + wire::NackCode, or kLocalErrno + Completion::Status.
inline constexpr int kDeliveryErrno = 0x10000;
inline constexpr int kLocalErrno = 0x20000;
// Added to it in events of lost operations, because other events carry errnos. [LF-137]
inline constexpr int kLostErrno = 0x1000000;

// Positive fi_errno of a return code that is not OK. [SES-152..183]
int fi_errno_of(wire::ReturnCode code);

struct OperationError {
  int err = 0;  // positive
  int prov_errno = 0;
};
// For a completion that is not ok().
OperationError operation_error(const ses::Completion& completion);

// The text for a prov_errno; never null.
const char* completion_error_name(int prov_errno);

// fi_cq_strerror: that text, and behind it `err_data` of the same error entry, if it names the
// peer. Both `err_data` and `buf` may be null. Without `buf` it is the text alone.
const char* completion_error_text(int prov_errno, const char* err_data, char* buf, size_t length);

// fi_eq_strerror: events of the network and of insertions carry positive errnos as prov_errno;
// events of lost operations carry the prov_errno of their completion.
const char* event_error_name(int prov_errno);

}  // namespace uet::prov
