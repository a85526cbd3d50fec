// TFC, experimental: credit for cells of the destination's buffer, over links that lose nothing.
// Both ends get the initial allocation from their configuration.
// Integer arithmetic; no heap, no clock. [cms.md 6]
#pragma once

#include "cms/config.h"
#include "cms/credit.h"
#include "cms/credit_source.h"
#include "cms/events.h"

#include "base/assert.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

// Cells that a packet of that nominal size takes. [CMS-015, CMS-147]
constexpr uint32_t tfc_cells(const TfcConfig& tfc, uint32_t nominal) {
  const uint64_t transport = nominal - kNominalExtraBytes;
  const uint64_t sum = transport + tfc.packet_overhead_bytes + tfc.cell_bytes - 1;
  return static_cast<uint32_t>(sum / tfc.cell_bytes);
}

// The initial allocation: as configured, or 1.5 BDP. In software the receive buffers of sockets
// limit it, as they limit first windows; then it does not depend on the packet length, which may
// differ between the ends. [CMS-147]
inline uint32_t tfc_first_cells(const Config& c) {
  // Half of 2^23, the largest distance that 24-bit counters compare.
  constexpr uint64_t kMost = 1 << 22;
  constexpr uint64_t kSocketBytes = 128 * 1024;
  const uint64_t by_delay = c.bdp_bytes() * 3 / 2;
  const uint64_t usual = c.start_slowly ? std::min(by_delay, kSocketBytes) : by_delay;
  const uint64_t bytes = c.tfc.first_bytes != 0 ? c.tfc.first_bytes : usual;
  return static_cast<uint32_t>(std::min(bytes / c.tfc.cell_bytes, kMost));
}

// The share of one PDC in the cells of its context: each ACK grants to one PDC.
struct TfcShare {
  // Cumulative, as last reported, beyond the initial allocation; 24 bits count.
  uint32_t granted = 0;
  uint32_t returned = 0;  // cells of packets taken for lost, which may still arrive; saturates
  int32_t spent = 0;      // used, not yet granted again; negative if one taken for lost arrived
};

// The source: a context, which is the sum over its PDCs. Sizes are nominal. [CMS-002, CMS-146]
class TfcSource {
 public:
  explicit TfcSource(const Config& config)
      : tfc_(config.tfc),
        first_(static_cast<int32_t>(tfc_first_cells(config))),
        timeout_(credit_timeout(config)) {}

  // Whether there are cells for that many packets of that size. [CMS-147]
  bool may_send(uint32_t bytes, uint32_t packets = 1) const {
    return free_cells() >= static_cast<int32_t>(packets * tfc_cells(tfc_, bytes)) || is_trusted_;
  }
  // A packet leaves, whose cells are not counted yet.
  void on_sent(TfcShare& share, uint32_t bytes) {
    is_trusted_ = is_waiting_ = false;
    on_arrived(share, bytes);
  }
  // A packet that was thought lost has arrived after all, so it has its cells.
  void on_arrived(TfcShare& share, uint32_t bytes) {
    count(share, static_cast<int32_t>(tfc_cells(tfc_, bytes)));
  }
  // A packet never took its cells: sent again, it spends some again.
  void on_lost(TfcShare& share, uint32_t bytes) {
    const uint32_t cells = tfc_cells(tfc_, bytes);
    share.returned = std::min(share.returned + cells, kReturnedMost);
    count(share, -static_cast<int32_t>(cells));
  }
  // The PDC has ended: its counters start again with another one.
  void on_closed(TfcShare& share) {
    count(share, -share.spent);
    share = {};
  }
  // Cumulative cells of the PDC, modulo 2^24. The destination can only have freed cells that were
  // sent to it. `old` and `impossible` change nothing. [CMS-022, CMS-118, T-33]
  CreditNews on_credit(TfcShare& share, const Credit& e) {
    const int32_t ahead = credit_ahead(e.credit, static_cast<uint32_t>(first_) + share.granted);
    if (ahead < 0) return CreditNews::old;
    if (ahead > share.spent + static_cast<int32_t>(share.returned)) return CreditNews::impossible;
    if (ahead == 0) return CreditNews::taken;
    share.granted += static_cast<uint32_t>(ahead);
    // It may grant cells of packets that we resend: of those at most one buffer is taken.
    count(share, -std::min(ahead, share.spent + first_));
    quiet_since_ = e.at;
    backoff_ = 1;
    return CreditNews::taken;
  }

  // Packets wait for cells. Call at `deadline()`, too.
  void on_waiting(Instant now) {
    if (is_waiting_) return;
    is_waiting_ = true;
    quiet_since_ = now;
    backoff_ = 1;
  }
  void on_nothing_waits() { is_waiting_ = false; }
  // When to ask for the credit again: the ACK with it may be lost. [CMS-129]
  Instant deadline() const {
    return is_waiting_ ? quiet_since_ + timeout_ * backoff_ : Instant::never();
  }
  void on_requested(Instant now) {
    backoff_ = std::min(static_cast<uint8_t>(backoff_ * 2), kBackoffMax);
    quiet_since_ = now;
  }
  // The timer has doubled as far as it may, and no credit came.
  bool is_unanswered() const { return backoff_ == kBackoffMax; }
  // No request is answered and nothing is in flight: one packet goes without cells. [CMS-129]
  void on_unanswered() { is_trusted_ = true; }

  int32_t free_cells() const { return first_ - std::max(spent_, 0); }
  int64_t free_bytes() const { return int64_t{free_cells()} * tfc_.cell_bytes; }

 private:
  static constexpr uint8_t kBackoffMax = 16;
  static constexpr uint32_t kReturnedMost = 1 << 22;

  void count(TfcShare& share, int32_t cells) {
    share.spent += cells;
    spent_ += cells;
  }

  TfcConfig tfc_;
  int32_t first_;
  int32_t spent_ = 0;  // of all PDCs
  Duration timeout_;
  Instant quiet_since_;  // when credit came last, or was waited for first
  uint8_t backoff_ = 1;  // times the timeout
  bool is_waiting_ = false;
  bool is_trusted_ = false;
};
static_assert(AsksForCredit<TfcSource>);

// The destination: what one PDC has of its buffer. Cells are free again when the payload has left
// the buffer. [CMS-146]
class TfcDestination {
 public:
  // A packet stays in the buffer. False: its source sent more than it may, and no cell is free for
  // it. Nothing was changed.
  [[nodiscard]] bool on_kept(uint32_t cells, uint32_t first) {
    if (held_ + cells > first) return false;
    held_ += cells;
    return true;
  }
  // A packet that was kept is delivered; or it is dropped, to come again.
  void on_freed(uint32_t cells) {
    on_dropped(cells);
    freed_ += cells;
  }
  void on_dropped(uint32_t cells) {
    UET_ASSERT(cells <= held_);
    held_ -= cells;
  }
  // A packet was delivered as it came.
  void on_passed(uint32_t cells) { freed_ += cells; }
  // For the next ACK: cc_type 1. [CMS-031]
  uint32_t credit(uint32_t first) const { return (first + freed_) & kCreditCounterMask; }
  uint32_t held_cells() const { return held_; }

 private:
  uint32_t freed_ = 0;  // cumulative; 24 bits count
  uint32_t held_ = 0;
};

}  // namespace uet::cms
