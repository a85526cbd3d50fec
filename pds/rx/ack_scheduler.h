// When one direction of a PDC owes its peer an ACK, and which packet that ACK answers. Several
// reasons that meet before the next transmit are served by one ACK. [PDS 8.2]
#pragma once

#include "pds/counters.h"

#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// The packet an ACK answers, as far as the ACK shows it.
struct AckTrigger {
  Psn psn;
  Entropy ev;       // echoed [PDS-070]
  bool ce = false;  // M [PDS 8.1]
  bool retx = false;
  uint32_t arrival_tick = 0;  // when it came, for the service time [PDS-241]
};

// A request that was accepted, as the scheduler sees it.
struct AckedRequest {
  AckTrigger trigger;
  bool ar = false;
  bool first = false;    // first packet of the PDC, with SYN [PDS-A2]
  bool covered = false;  // the cumulative ACK covers it
  uint32_t payload_bytes = 0;
};

struct AckRules {
  uint32_t gen_trigger_bytes = 16384;
  uint32_t gen_min_packet_bytes = 1024;
  uint32_t gen_packets = 0;  // 0: octets only
  bool per_packet = false;
  bool on_ecn = true;
};

class AckScheduler {
 public:
  // An accepted request; `cack` is the cumulative ACK after it was recorded.
  void on_accepted(const AckRules& rules, const AckedRequest& request, Psn cack);
  // An ACK is owed for another reason (duplicate, control packet, close wish, ...).
  void want(Count cause, const AckTrigger& trigger);

  bool is_due() const { return due_; }
  // The ACK is due only because of what was received, and that is less than 16 times the trigger:
  // the source neither asked for it nor waits for it. A client that expects the rest of a message
  // may let it wait for some microseconds. [PDS-A7]
  bool may_wait() const { return due_ && !is_pressing_; }
  // Packets were accepted that no ACK has followed; the latest came at trigger().arrival_tick.
  bool is_behind() const { return bytes_ > 0 && !due_; }
  uint32_t behind_since_tick() const { return behind_since_; }
  // Any ACK with that cumulative ACK reports everything that the due ACK would report.
  bool is_told_by_any(Psn cack) const {
    return due_ && !trigger_.ce && !trigger_.psn.after(cack) && cause_ != Count::ack_duplicate &&
           cause_ != Count::ack_control;
  }
  // The packet that the next ACK answers; the last one answered when none is due.
  const AckTrigger& trigger() const { return trigger_; }
  // The ACK is sent: returns which packet it answers and why; the counts restart.
  AckTrigger take(Count& cause);

 private:
  static constexpr uint32_t kTriggersHeld = 16;

  AckTrigger trigger_;
  Psn highest_ar_;
  uint32_t bytes_ = 0;         // since the last ACK [PDS-A7]
  uint32_t behind_since_ = 0;  // tick of the first of them
  Count cause_ = Count::ack_ar;
  uint8_t packets_ = 0;   // since the last ACK, saturating
  uint8_t arrivals_ = 0;  // since an AR packet was left uncovered
  bool due_ : 1 = false;
  bool is_pressing_ : 1 = false;  // may not wait
  bool ar_pending_ : 1 = false;   // an AR packet is not covered yet [PDS-A9]
};
static_assert(sizeof(AckScheduler) <= 28);

}  // namespace uet::pds
