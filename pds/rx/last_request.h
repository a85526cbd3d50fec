// The request that was read last, and the one that most likely follows it: the next PSN of the same
// PDC. All octets of the next one's header are known, so a packet that has them need not be read
// field by field. Whether its PDC takes it is checked like for every other packet.
#pragma once

#include "pds/rx/inbound.h"

#include "wire/pds_request.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet::pds {

class LastRequest {
 public:
  // A request was read from `d`; `ses`: what follows its header. Good until the next call.
  const Inbound& set(const wire::Request& h, const RxDatagram& d, std::span<const std::byte> ses,
                     uint32_t seal_bytes) {
    in_ = Inbound::of(h, d, ses, seal_bytes);
    seal_bytes_ = seal_bytes;
    sdi_ = d.sdi;
    dscp_ = d.dscp;
    // Other packets are few: the first ones of a PDC, resends, those that ask for credit.
    may_follow_ = !h.syn && !h.retx && !h.has_cc() && h.clear_psn_offset <= 0;
    if (!may_follow_) return in_;
    std::memcpy(header_.data(), d.bytes.data(), kHeader);
    name_next();
    return in_;
  }
  // The request in that datagram if it is the expected one, good until the next call; else null.
  const Inbound* next(const RxDatagram& d) {
    const bool is_same = may_follow_ && d.bytes.size() >= kHeader && d.dscp == dscp_ &&
                         d.sdi == sdi_ && std::memcmp(d.bytes.data(), header_.data(), kHeader) == 0;
    if (!is_same) return nullptr;
    in_.ses = d.bytes.subspan(kHeader);
    Inbound::take(in_, d, in_.psn() + 1, false, seal_bytes_);
    name_next();
    return &in_;
  }

 private:
  static constexpr uint32_t kHeader = wire::Request::kSize;

  // The next PSN, and the PSN to which responses are cleared as it is.
  void name_next() {
    const int64_t clear_offset = int64_t{in_.clear_psn - in_.psn()} - 1;
    may_follow_ = clear_offset >= INT16_MIN;
    if (!may_follow_) return;
    wire::Request::store_psns(header_.data(), static_cast<int16_t>(clear_offset), in_.psn() + 1);
  }

  Inbound in_;
  std::array<std::byte, kHeader> header_{};  // that the next one has
  uint32_t seal_bytes_ = 0;
  uint32_t sdi_ = 0;
  uint8_t dscp_ = 0;
  bool may_follow_ = false;
};

}  // namespace uet::pds
