// FI_OPT_MIN_MULTI_RECV: a multi-receive buffer with less room left is given back. The one option
// that an endpoint and shared receives both have. [LF-096]
#pragma once

#include "prov/uet/api/compat.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace uet::prov {

class MinMultiReceive {
 public:
  uint32_t bytes() const { return bytes_; }

  // As of fi_getopt and fi_setopt. 0 or -FI_E*.
  int get(void* value, size_t* length) const {
    if (value == nullptr || length == nullptr) return -FI_EINVAL;
    const size_t octets = bytes_;
    if (*length < sizeof octets) return -FI_ETOOSMALL;
    std::memcpy(value, &octets, sizeof octets);
    *length = sizeof octets;
    return 0;
  }
  int set(const void* value, size_t length) {
    size_t octets = 0;
    if (value == nullptr || length != sizeof octets) return -FI_EINVAL;
    std::memcpy(&octets, value, sizeof octets);
    if (octets > UINT32_MAX) return -FI_EINVAL;
    bytes_ = static_cast<uint32_t>(octets);
    return 0;
  }

 private:
  uint32_t bytes_ = 16384;  // where the application sets none; libfabric's tcp has the same
};

}  // namespace uet::prov
