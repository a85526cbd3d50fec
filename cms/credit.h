// Receiver credit, both halves, as far as peers have a say in it: what they grant and what they ask
// for, kept within bounds whatever they say. Nothing here admits or grants; an algorithm that works
// by credit builds on it. [cms.md 5, T-33, T-34]
#pragma once

#include "cms/events.h"

#include <array>
#include <cstdint>

namespace uet::cms {

inline constexpr uint32_t kCreditUnitBytes = 256;          // [CMS-117]
inline constexpr uint32_t kCreditCounterMask = 0xFF'FFFF;  // of 24 bits

// How far the cumulative counter `a` of 24 bits is ahead of `b`; negative: it is behind. [CMS-118]
constexpr int32_t credit_ahead(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}

// What became of a grant.
enum class CreditNews : uint8_t {
  taken,    // or said nothing new
  clamped,  // it would have made more than a window
  old,      // overtaken, or made up: it takes nothing back
};

// At the source: what one destination has granted, and what of it is not spent.
class CreditAccount {
 public:
  // Never holds more than `limit_bytes`, which is what the window may be at most. [CMS-125]
  CreditNews on_credit(const Credit& e, uint64_t limit_bytes) {
    const int32_t ahead = credit_ahead(e.credit, granted_);
    if (ahead < 0) return CreditNews::old;
    granted_ = e.credit & kCounterMask;
    const uint64_t sum = unspent_bytes_ + uint64_t{kCreditUnitBytes} * static_cast<uint32_t>(ahead);
    unspent_bytes_ = sum < limit_bytes ? sum : limit_bytes;
    return sum > limit_bytes ? CreditNews::clamped : CreditNews::taken;
  }
  uint64_t unspent_bytes() const { return unspent_bytes_; }

 private:
  static constexpr uint32_t kCounterMask = 0xFF'FFFF;

  uint64_t unspent_bytes_ = 0;
  uint32_t granted_ = 0;  // as last told; both ends begin with 0 [CMS-119]
};

// At the destination: what one source asks for, by its congestion contexts. All of them together
// may wait for one window: more would be no use to an honest source, and is the others' share.
class CreditDemands {
 public:
  static constexpr uint32_t kContexts = 8;  // that want something at once; of 256 [CMS-006]

  // `limit_bytes`: what all contexts of the source may wait for.
  explicit CreditDemands(uint64_t limit_bytes);

  // False: it asks for more than it may have, and the rest is dropped. [T-34]
  bool on_request(const CreditDemand& e);

  // What the source, or one context of it, waits for.
  uint32_t backlog_units() const;
  uint32_t backlog_units(uint8_t ccc_id) const;

 private:
  struct Context {
    uint32_t target = 0;   // highest one heard
    uint32_t granted = 0;  // [CMS-130]
    uint8_t ccc_id = 0;
    bool is_known = false;
    uint32_t backlog() const { return static_cast<uint32_t>(credit_ahead(target, granted)); }
  };
  Context* context_of(const CreditDemand& e);

  std::array<Context, kContexts> contexts_;
  uint32_t limit_units_;
};

}  // namespace uet::cms
