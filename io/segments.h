// Cuts packets that the kernel joined (GRO) back into datagrams: all of one length except the last.
#pragma once

#include "base/packet.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

class Segments {
 public:
  // `pattern` has the common fields of all datagrams. segment_bytes 0: it is one datagram.
  void open(const RxDatagram& pattern, std::span<std::byte> octets, uint32_t segment_bytes) {
    pattern_ = pattern;
    left_ = octets;
    segment_bytes_ = segment_bytes == 0 ? octets.size() : segment_bytes;
    is_open_ = true;  // an empty datagram is one, too
  }

  // There is a datagram left to cut().
  bool is_open() const { return is_open_; }

  void cut(RxDatagram& datagram) {
    const size_t length = left_.size() < segment_bytes_ ? left_.size() : segment_bytes_;
    datagram = pattern_;
    datagram.bytes = left_.first(length);
    left_ = left_.subspan(length);
    is_open_ = !left_.empty();
  }

 private:
  RxDatagram pattern_;
  std::span<std::byte> left_;
  size_t segment_bytes_ = 0;
  bool is_open_ = false;
};

}  // namespace uet::io
