// Sequence numbers that wrap, and the other one-word identifiers of the stack. Each has its own
// type, so that a PSN is never used as a PDCID.
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

namespace uet {

// A wrapping sequence number of the width of U. `a - b` is the signed distance; `after` and
// `before` compare by it. [PDS-030, WIRE-103]
template <class Tag, class U>
class Serial {
 public:
  using Signed = std::make_signed_t<U>;
  constexpr Serial() = default;
  constexpr explicit Serial(U v) : v_(v) {}
  constexpr U value() const { return v_; }
  constexpr bool operator==(const Serial&) const = default;

  friend constexpr Signed operator-(Serial a, Serial b) {
    return static_cast<Signed>(static_cast<U>(a.v_ - b.v_));
  }
  friend constexpr Serial operator+(Serial a, int64_t n) {
    return Serial(static_cast<U>(a.v_ + static_cast<U>(n)));
  }
  friend constexpr Serial operator-(Serial a, int64_t n) {
    return Serial(static_cast<U>(a.v_ - static_cast<U>(n)));
  }
  constexpr Serial& operator++() {
    v_ = static_cast<U>(v_ + 1);
    return *this;
  }
  constexpr bool after(Serial o) const { return *this - o > 0; }
  constexpr bool before(Serial o) const { return *this - o < 0; }

 private:
  U v_ = 0;
};

// An identifier without arithmetic.
template <class Tag, class U>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(U v) : v_(v) {}
  constexpr U value() const { return v_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  U v_ = 0;
};

using Psn = Serial<struct PsnTag, uint32_t>;
using PktId = Serial<struct PktIdTag, uint32_t>;              // RUDI packet identifier
using MessageId = Id<struct MessageIdTag, uint16_t>;          // 0: not used
using Pdcid = Id<struct PdcidTag, uint16_t>;                  // 0: none [PDS-011]
using JobId = Id<struct JobIdTag, uint32_t>;                  // 24 bits
using PidOnFep = Id<struct PidOnFepTag, uint16_t>;            // 12 bits
using ResourceIndex = Id<struct ResourceIndexTag, uint16_t>;  // 12 bits
using Entropy = Id<struct EntropyTag, uint16_t>;              // entropy value (EV)
using TrafficClass = Id<struct TrafficClassTag, uint8_t>;
using PeerId = Id<struct PeerIdTag, uint32_t>;  // index in the peer table of a FEP

}  // namespace uet
