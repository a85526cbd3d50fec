// The fi_errno of each return code, and of failures without one.
#include "prov/uet/completion/completion_error.h"

#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>

namespace uet::prov {
namespace {

struct Row {
  uint8_t code;
  int error;
};

// The column "libfabric" of the reference's table. [SES-152..183]
constexpr Row kTable[] = {
    {0x03, FI_ENORX},
    {0x04, FI_ENORX},
    {0x05, FI_ENORX},
    {0x06, FI_EOPNOTSUPP},
    {0x07, FI_EMSGSIZE},
    {0x08, FI_EFAULT},
    {0x09, FI_EACCES},
    {0x0a, FI_EFAULT},
    {0x0b, FI_EFAULT},
    {0x0c, FI_EFAULT},
    {0x0d, FI_EREMOTEIO},
    {0x0e, FI_EREMOTEIO},
    {0x0f, FI_EOPNOTSUPP},
    {0x10, FI_EOPNOTSUPP},
    {0x11, FI_EINVAL},
    {0x12, FI_EINVAL},
    {0x13, EDOM},
    {0x14, ERANGE},
    {0x15, ERANGE},
    {0x16, EDOM},
    {0x17, FI_EACCES},
    {0x18, FI_EPERM},
    {0x19, FI_EADDRNOTAVAIL},
    {0x1a, FI_EADDRNOTAVAIL},
    {0x1b, FI_EACCES},
    {0x1c, FI_ENOKEY},
    {0x1d, FI_EFAULT},
    {0x1e, FI_ECANCELED},
    {0x1f, FI_EHOSTUNREACH},
    {0x20, FI_EIO},
    {0x21, FI_EIO},
    {0x22, FI_ETRUNC},
    {0x23, FI_EIO},
    {0x24, FI_EIO},
};

// [SES-152..183] A refusal has the errno of its code, and the code itself as prov_errno.
TEST(CompletionErrorTest, EachReturnCodeHasTheErrnoOfTheReference) {
  for (const Row& row : kTable) {
    ses::Completion refused;
    refused.status = ses::Completion::Status::refused;
    refused.code = wire::ReturnCode(row.code);
    const OperationError error = operation_error(refused);
    EXPECT_EQ(error.err, row.error) << int{row.code};
    EXPECT_EQ(error.prov_errno, row.code);
  }
}

// [SES 7.1, LF-095] Codes of vendors, and codes without a definition.
TEST(CompletionErrorTest, OtherCodesAreErrorsToo) {
  EXPECT_EQ(fi_errno_of(wire::ReturnCode(0x30)), FI_EOTHER);
  EXPECT_EQ(fi_errno_of(wire::ReturnCode(0x37)), FI_EOTHER);
  EXPECT_EQ(fi_errno_of(wire::ReturnCode(0x38)), FI_EIO);
  EXPECT_EQ(fi_errno_of(wire::ReturnCode(0x2F)), FI_EIO);
}

// [LF-095] Without an answer the failure of delivery says why.
TEST(CompletionErrorTest, FailedDeliveryHasTheErrnoOfItsReason) {
  const auto error_of = [](pds::FailureReason reason) {
    ses::Completion failed;
    failed.status = ses::Completion::Status::undeliverable;
    failed.failure = {.reason = reason};
    return operation_error(failed).err;
  };
  EXPECT_EQ(error_of(pds::FailureReason::timeout), FI_ETIMEDOUT);
  EXPECT_EQ(error_of(pds::FailureReason::nack), FI_EIO);
  EXPECT_EQ(error_of(pds::FailureReason::closed), FI_EIO);
  EXPECT_EQ(error_of(pds::FailureReason::aborted), FI_ECANCELED);
  EXPECT_EQ(error_of(pds::FailureReason::unreachable), FI_EHOSTUNREACH);
  EXPECT_EQ(error_of(pds::FailureReason::no_route), FI_EHOSTUNREACH);
  EXPECT_EQ(error_of(pds::FailureReason::no_key), FI_ENOKEY);
  EXPECT_EQ(error_of(pds::FailureReason::too_long), FI_EMSGSIZE);
}

// [LF-095] Each number has a text of its own, which fi_cq_strerror prints.
TEST(CompletionErrorTest, TextsDiffer) {
  std::set<std::string> texts;
  for (const Row& row : kTable) texts.insert(completion_error_name(row.code));
  EXPECT_EQ(texts.size(), std::size(kTable));
  EXPECT_NE(completion_error_name(-1), nullptr);
}

}  // namespace
}  // namespace uet::prov
