// Proof of reachability at one end. Target: whether the peer has shown that it receives our
// packets, and how many octets may go to it before that. Initiator: whether it has shown this
// itself. [PDS-252, T-38]
#pragma once

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class Proof {
 public:
  void confirm() { is_confirmed_ = 1; }
  bool is_confirmed() const { return is_confirmed_ != 0; }

  // Octets came from there: a multiple may go back, up to a limit.
  void earn(uint32_t received) {
    octets_ =
        std::min<uint32_t>(octets_ + kFactor * std::min(received, kOctetsMax), kOctetsMax) & kMask;
  }
  // False: fewer octets are left; nothing was changed.
  bool spend(uint32_t octets) {
    if (octets_ < octets) return false;
    octets_ = (octets_ - octets) & kMask;
    return true;
  }
  uint32_t octets() const { return octets_; }

 private:
  static constexpr uint32_t kMask = UINT32_MAX >> 1;
  static constexpr uint32_t kFactor = 3;         // octets sent for each octet received
  static constexpr uint32_t kOctetsMax = 65536;  // however much came

  uint32_t octets_ : 31 = 0;  // that may be sent before it is confirmed
  uint32_t is_confirmed_ : 1 = 0;
};
static_assert(sizeof(Proof) == 4);

}  // namespace uet::pds
