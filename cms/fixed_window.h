// A constant window. For tests, and for fabrics that do not drop. [PDS-242]
#pragma once

#include "cms/config.h"
#include "cms/congestion_window.h"
#include "cms/events.h"

#include "base/assert.h"

namespace uet::cms {

class FixedWindow {
 public:
  explicit FixedWindow(const Config& config) : FixedWindow(config.window_bytes_max) {}
  explicit FixedWindow(uint64_t bytes) : window_(bytes) {}

  bool may_send(uint32_t bytes) const { return inflight_ == 0 || inflight_ + bytes <= window_; }
  void on_sent(const Sent& e) { inflight_ += e.bytes; }
  void on_acked(const Acked& e) { leave(e.bytes); }
  void on_lost(const Lost& e) { leave(e.bytes); }
  void on_forgotten(uint32_t bytes) { leave(bytes); }
  void on_early_timeouts() {}
  uint64_t window_bytes() const { return window_; }
  uint64_t inflight_bytes() const { return inflight_; }

 private:
  void leave(uint32_t bytes) {
    UET_ASSERT(bytes <= inflight_);
    inflight_ -= bytes;
  }
  uint64_t window_;
  uint64_t inflight_ = 0;
};
static_assert(CongestionWindow<FixedWindow>);

}  // namespace uet::cms
