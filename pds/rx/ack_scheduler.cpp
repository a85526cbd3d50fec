// The rows A1 to A10 of the table of ACK triggers. [PDS 8.2]
#include "pds/rx/ack_scheduler.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint8_t kArrivalsPerAck = 4;  // while an AR packet waits for a hole [PDS-A9]
}

void AckScheduler::want(Count cause, const AckTrigger& trigger) {
  // The first cause names the ACK; the latest packet is the one it answers, but a CE mark is not
  // lost to a later packet without one.
  const bool keep_ce = due_ && trigger_.ce && !trigger.ce;
  if (!due_) cause_ = cause;
  due_ = true;
  is_pressing_ = is_pressing_ || (cause != Count::ack_bytes && cause != Count::ack_packets);
  if (!keep_ce) trigger_ = trigger;
}

void AckScheduler::on_accepted(const AckRules& rules, const AckedRequest& request, Psn cack) {
  const AckTrigger& t = request.trigger;
  if (bytes_ == 0) behind_since_ = t.arrival_tick;
  bytes_ += std::max({request.payload_bytes, rules.gen_min_packet_bytes, 1u});
  if (packets_ < UINT8_MAX) ++packets_;

  if (request.ar) {
    want(Count::ack_ar, t);
    if (!request.covered) {
      if (!ar_pending_ || t.psn.after(highest_ar_)) highest_ar_ = t.psn;
      ar_pending_ = true;
    }
  }
  if (request.first) want(Count::ack_syn, t);
  if (t.retx) want(Count::ack_retx, t);
  if (t.ce && rules.on_ecn) want(Count::ack_ecn, t);
  if (rules.per_packet) want(Count::ack_per_packet, t);
  if (bytes_ >= rules.gen_trigger_bytes) want(Count::ack_bytes, t);
  if (rules.gen_packets > 0 && packets_ >= rules.gen_packets) want(Count::ack_packets, t);
  if (bytes_ >= uint64_t{rules.gen_trigger_bytes} * kTriggersHeld) is_pressing_ = true;
  if (!due_) trigger_ = t;  // what an ACK for another reason would answer

  if (!ar_pending_) return;
  if (!cack.before(highest_ar_)) {
    ar_pending_ = false;
    arrivals_ = 0;
    want(Count::ack_hole_closed, t);
  } else if (++arrivals_ >= kArrivalsPerAck) {
    arrivals_ = 0;
    want(Count::ack_hole_closed, t);
  }
}

AckTrigger AckScheduler::take(Count& cause) {
  due_ = is_pressing_ = false;
  bytes_ = 0;
  packets_ = 0;
  cause = cause_;
  return trigger_;
}

}  // namespace uet::pds
