// The posting calls in one shape each, whatever variant they came by.
#pragma once

#include "prov/uet/api/compat.h"

#include "ses/atomics.h"

#include <sys/uio.h>
#include <cstddef>
#include <cstdint>

namespace uet::prov {

// Set by the inject calls: success is not reported, whatever the endpoint's flags say.
inline constexpr uint64_t kNoCompletion = 1ULL << 63;

struct MessageCall {
  const struct iovec* iov = nullptr;
  size_t count = 0;
  fi_addr_t addr = FI_ADDR_UNSPEC;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  uint64_t data = 0;
  void* context = nullptr;
  uint64_t flags = 0;  // FI_*, and kNoCompletion
  bool tagged = false;
};

inline MessageCall to_call(const struct iovec* iov, size_t count, fi_addr_t addr, void* context,
                           uint64_t flags) {
  MessageCall call;
  call.iov = iov;
  call.count = count;
  call.addr = addr;
  call.context = context;
  call.flags = flags;
  return call;
}

inline MessageCall with_tag(MessageCall call, uint64_t tag, uint64_t ignore) {
  call.tagged = true;
  call.tag = tag;
  call.ignore = ignore;
  return call;
}

inline struct iovec to_iovec(const void* buf, size_t len) { return {const_cast<void*>(buf), len}; }

// Where a call without a message structure reads or writes.
struct RemoteAt {
  fi_addr_t peer;
  uint64_t addr;
  uint64_t key;
};

struct RmaCall {
  const struct iovec* iov = nullptr;
  size_t count = 0;
  const struct fi_rma_iov* remote = nullptr;
  size_t remote_count = 0;
  fi_addr_t addr = FI_ADDR_UNSPEC;
  uint64_t data = 0;
  void* context = nullptr;
  uint64_t flags = 0;
  bool read = false;
};

struct AtomicCall {
  ses::AtomicForm form{};
  fi_datatype datatype{};
  fi_op op{};
  const struct fi_ioc* operand = nullptr;  // none with FI_ATOMIC_READ
  size_t operand_count = 0;
  const struct fi_ioc* compare = nullptr;
  size_t compare_count = 0;
  const struct fi_ioc* result = nullptr;
  size_t result_count = 0;
  const struct fi_rma_ioc* remote = nullptr;
  size_t remote_count = 0;
  fi_addr_t addr = FI_ADDR_UNSPEC;
  void* context = nullptr;
  uint64_t flags = 0;
};

}  // namespace uet::prov
