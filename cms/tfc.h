// TFC, experimental: credit for the buffer of the destination, in cells, on a link between two
// points that may not lose anything. Both ends know the first allocation by configuration.
// Integer arithmetic; no heap. [cms.md 6]
#pragma once

#include "cms/config.h"
#include "cms/credit.h"
#include "cms/events.h"

#include "base/assert.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

// [CMS-147]
struct TfcConfig {
  uint32_t cell_bytes = 256;            // tfc_dest_cell_size; at least 1
  uint32_t packet_overhead_bytes = 64;  // tfc_pkt_overhead
  uint64_t first_bytes = 0;             // initial allocation; 0: 1.5 BDP
};

// Cells that a packet of that transport size takes. [CMS-147]
constexpr uint32_t tfc_cells(const TfcConfig& tfc, uint32_t transport_bytes) {
  const uint64_t sum = uint64_t{transport_bytes} + tfc.packet_overhead_bytes + tfc.cell_bytes - 1;
  return static_cast<uint32_t>(sum / tfc.cell_bytes);
}

inline uint32_t tfc_first_cells(const TfcConfig& tfc, const Config& config) {
  constexpr uint64_t kMost = 1 << 22;  // half of what 24 bits tell apart
  const uint64_t bytes = tfc.first_bytes != 0 ? tfc.first_bytes : config.bdp_bytes() * 3 / 2;
  return static_cast<uint32_t>(std::min(bytes / tfc.cell_bytes, kMost));
}

// At the source. Sizes are transport sizes. [CMS-146]
class TfcSource {
 public:
  TfcSource(const TfcConfig& tfc, const Config& config)
      : tfc_(tfc), first_(tfc_first_cells(tfc, config)), granted_(first_) {}

  bool may_send(uint32_t bytes) const {
    return credit_ahead(granted_, used_) >= static_cast<int32_t>(tfc_cells(tfc_, bytes));
  }
  // Not for a packet that is sent again though it may have arrived: it has its cells.
  void on_sent(uint32_t bytes) { used_ += tfc_cells(tfc_, bytes); }
  // A packet never took its cells: sent again, it spends some again.
  void on_lost(uint32_t bytes) { used_ -= tfc_cells(tfc_, bytes); }
  // Cumulative cells, modulo 2^24. More than the first allocation beyond what was spent is no
  // buffer that the destination has. [CMS-022, T-33]
  CreditNews on_credit(const Credit& e) {
    if (credit_ahead(e.credit, granted_) < 0) return CreditNews::old;
    const bool fits = credit_ahead(e.credit, used_) <= static_cast<int32_t>(first_);
    granted_ = fits ? e.credit : used_ + first_;
    return fits ? CreditNews::taken : CreditNews::clamped;
  }
  int32_t free_cells() const { return credit_ahead(granted_, used_); }

 private:
  TfcConfig tfc_;
  uint32_t first_;
  uint32_t granted_;  // of these two the lower 24 bits count
  uint32_t used_ = 0;
};

// At the destination. [CMS-146]
class TfcDestination {
 public:
  TfcDestination(const TfcConfig& tfc, const Config& config)
      : tfc_(tfc), first_(tfc_first_cells(tfc, config)), granted_(first_) {}

  // False: the source sent more than it may, and no cell is free for the packet. Nothing was
  // changed.
  [[nodiscard]] bool on_received(uint32_t bytes) {
    const uint32_t cells = tfc_cells(tfc_, bytes);
    if (cells > first_ - held_) return false;
    held_ += cells;
    return true;
  }
  // The buffer of a packet that was received is free again.
  void on_freed(uint32_t bytes) {
    const uint32_t cells = tfc_cells(tfc_, bytes);
    UET_ASSERT(cells <= held_);
    held_ -= cells;
    granted_ += cells;
  }
  // For the next ACK: cc_type 1. [CMS-031]
  uint32_t credit() const { return granted_ & kCreditCounterMask; }
  uint32_t held_cells() const { return held_; }

 private:
  TfcConfig tfc_;
  uint32_t first_;
  uint32_t granted_;
  uint32_t held_ = 0;
};

}  // namespace uet::cms
