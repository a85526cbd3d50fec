// How a failed operation is told to libfabric: its fi_errno, its prov_errno, and the words.
// prov_errno is the SES return code as it came from the target, or, when no answer came, a number
// above them that says how delivery or the local side failed. [LF-095, SES-140..183]
#pragma once

#include "ses/types.h"
#include "wire/code_points.h"

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
// Of a completion that is not ok().
OperationError operation_error(const ses::Completion& completion);

// The text for a prov_errno; never null.
const char* completion_error_name(int prov_errno);

}  // namespace uet::prov
