// One outstanding PSN: the packet sent under it, and what is known of its arrival. [PDS-066]
#pragma once

#include "pds/client.h"
#include "pds/sent_tick.h"
#include "pds/tx/slot_state.h"

#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// The packet under a PSN: one of a message, or a control packet that takes a PSN. [PDS 13]
enum class SlotKind : uint8_t {
  data,
  close_cmd,
  close_req,
  noop,  // fills the PSN of a packet that its message gave up
};

struct TxSlot {
  PacketRef ref;
  uint32_t sent_low = 0;  // ticks of the last transmission, see sent_high
  Entropy ev;             // of the last transmission
  uint16_t bytes = 0;     // nominal, of the last transmission
  uint16_t next = 0;      // neighbours in its queue, a ring; TxWindow's
  uint16_t prev = 0;
  SlotState state;
  uint8_t queue = kNoQueue;  // TxWindow's
  // 36 bits of ticks wrap after 146 minutes: a process that was stopped, with PEER_TIMEOUT at its
  // most, still knows how old its packets are.
  uint8_t sent_high : 4 = 0;
  bool counted_arrived : 1 = false;  // TxWindow's
  SlotKind kind : 2 = SlotKind::data;
  bool has_cells : 1 = false;  // at the destination, as far as is known; Cells' [CMS-147]

  static constexpr uint8_t kNoQueue = 0xFF;
  static constexpr int kTickBits = 36;
  static uint64_t tick_of(Instant t) { return static_cast<uint64_t>(t.ns()) >> SentTick::kShift; }
  void note_sent(Instant now) {
    const uint64_t tick = tick_of(now);
    sent_low = static_cast<uint32_t>(tick);
    sent_high = static_cast<uint8_t>(tick >> 32 & 0xF);
  }
  uint64_t sent_tick() const { return uint64_t{sent_high} << 32 | sent_low; }
  // `at` is no earlier than the last transmission.
  bool was_sent_by(Instant at) const { return ticks_between(tick_of(at), sent_tick()) >= 0; }
  // Time from the last transmission to `at`; zero when `at` is a stamp from before it.
  Duration sent_for(Instant at) const {
    const int64_t passed = ticks_between(tick_of(at), sent_tick());
    return Duration::nanoseconds(passed < 0 ? 0 : passed << SentTick::kShift);
  }
  // An answer of `at`, which echoes `retx`, measures the round trip: it is certain which
  // transmission it answers, and no clock was set in between. [PDS-141, CMS-071]
  bool is_rtt_sample(bool retx, Instant at) const {
    return (state.in_flight() || state.is_lost()) && !state.was_asked() &&
           state.resends() == (retx ? 1 : 0) && was_sent_by(at);
  }
  // An answer has come for a packet that was sent again, or waits to be, after a time-out. True: it
  // answers a transmission before that, so the time-out came too early. `names_first`: the answer
  // names the packet and its first transmission; without that it proves nothing once the packet was
  // sent again. [PDS-254]
  bool is_early_timeout(bool names_first) const {
    if (state.timeouts() == 0) return false;
    return state.is_lost() ? state.timeouts() > state.resends() : names_first && state.was_resent();
  }
  // From tick b to tick a; negative when a came first.
  static int64_t ticks_between(uint64_t a, uint64_t b) {
    constexpr int kSpare = 64 - kTickBits;
    return static_cast<int64_t>((a - b) << kSpare) >> kSpare;
  }
};
static_assert(sizeof(TxSlot) == 32, "decision 15: octets of an outstanding packet");

}  // namespace uet::pds
