// NSCC: the sender's window, by the queueing delay and the ECN marks that ACKs report, and by what
// has really arrived when a queue overflows. Integer arithmetic; no heap. [cms.md 3]
#pragma once

#include "cms/config.h"
#include "cms/congestion_window.h"
#include "cms/delay_average.h"
#include "cms/events.h"
#include "cms/longer_base.h"
#include "cms/queue_signs.h"

#include <cstdint>

namespace uet::cms {

// The constants of the law for one path, made from Config once. [CMS-044 .. CMS-062]
struct NsccLaw {
  explicit NsccLaw(const Config& config);
  // The delay that the window aims at, with that base RTT. [CMS-049, CMS-197]
  Duration target_at(Duration rtt) const {
    return learns_by_loss ? QueueSigns::target(target, rtt) : target;
  }

  uint64_t alpha_q24;   // octets for each nanosecond, in 2^-24
  uint32_t window_max;  // octets
  uint32_t window_min;  // octets; from one packet to eight [CMS-088]
  uint32_t mtu;         // octets
  uint32_t fair;        // octets
  uint32_t fast_q16;    // no unit, in 2^-16
  uint32_t eta_q8;      // octets, in 2^-8
  uint32_t adjust_bytes;
  uint32_t gamma_q16;
  uint32_t decrease_max_q16;
  uint32_t link_mbps;        // of this end
  uint32_t window_permille;  // of the BDP
  uint32_t no_delay_ns;      // 4 s at most
  Duration base_rtt;         // config_base_rtt
  Duration target;           // target_qdelay
  Duration adjust_period;
  Duration quick_threshold;  // infinite: never
  uint16_t first_packets;    // of the first window, where it starts slowly
  uint8_t quick_gate;
  bool quick_adapt;
  bool credit_on;  // RCCC owns the last hop [CMS-097]
  bool learns_by_loss;
  bool starts_slowly;
  DelayMean mean;
};

class Nscc {
 public:
  // base_rtt() of a context that learns by loss, before a round trip was measured.
  static constexpr Duration kUnknownRtt = Duration::seconds(1);

  explicit Nscc(const Config& config);

  // Whether a packet may leave now. Whatever its size, an MTU must fit. [CMS-066]
  bool may_send(uint32_t /*bytes*/) const { return inflight_ + law_.mtu <= cwnd_q8_ >> 8; }
  // With that packet in flight the window is nearly full: the packet should ask for an ACK.
  // [CMS-068]
  bool wants_ack(uint32_t bytes, uint32_t ack_gen_trigger) const {
    const int64_t window = cwnd_q8_ >> 8;
    return window - inflight_ - bytes < law_.mtu || window < ack_gen_trigger;
  }

  void on_sent(const Sent& e) {
    if (adjusted_at_ == Instant::zero()) {
      mean_.start(e.at);
      adjusted_at_ = decreased_at_ = e.at;
    }
    inflight_ += e.bytes;
  }
  void on_acked(const Acked& e);
  void on_lost(const Lost& e);
  void on_forgotten(uint32_t bytes) { inflight_ -= bytes; }
  void on_early_timeouts();              // [CMS-194]
  void on_loss_refuted(uint32_t bytes);  // [CMS-194]
  // Nothing of a PDC is in flight, but the octets sent are `balance` more than those reported, lost
  // or refused: the PDC ended, or its peer rounds up (by less than 256 octets a PDC).
  void correct_inflight(int32_t balance) { inflight_ -= balance; }
  // Nothing is sent, and nothing is in flight. [CMS-115]
  void on_idle() { saved_q8_ = 0; }
  // Something is sent after it was idle for a while, or for the first time: it is as a new context,
  // but where that would start slowly it keeps its window, and has a larger one with a base RTT
  // that is known. base_rtt: zero where none is. [CMS-008, CMS-105, CMS-196]
  void begin_anew(Duration base_rtt);

  uint64_t window_bytes() const { return static_cast<uint64_t>(cwnd_q8_) >> 8; }
  uint64_t window_bytes_max() const { return window_max_; }
  int64_t inflight_bytes() const { return inflight_; }  // may be briefly negative [CMS-065]
  Duration base_rtt() const { return base_rtt_; }
  // Mean of the queueing delay over about a base RTT. [CMS-102]
  Duration mean_delay() const { return mean_.value(); }
  // A round trip without traffic is known to take no longer. Also from a probe, or of an earlier
  // context toward the same peer. [CMS-074, CMS-105, CMS-106, CMS-108]
  void note_base_rtt(Duration rtt);

 private:
  // Inputs of quick adapt. [CMS-089 .. CMS-093]
  struct Quick {
    Instant end;            // of the period; zero: none has begun
    uint64_t achieved = 0;  // octets that arrived in it
    int64_t to_ignore = 0;  // octets whose marks belong to a burst that was dealt with
    int64_t ignored = 0;
    bool is_triggered = false;
  };
  // What the next adjustment adds. [CMS-082 .. CMS-086]
  struct Gain {
    int64_t inc = 0;         // octets squared, to be divided by the window
    uint64_t received = 0;   // octets since the last adjustment
    uint32_t undelayed = 0;  // fi_count: octets in a row without delay; saturates
    bool is_fast = false;    // increase_mode

    // Octets arrived, delayed or not. Returns whether the window grows fast: enough octets in a
    // row were not delayed. [CMS-084]
    bool note(bool is_delayed, uint32_t bytes, uint64_t window);
  };

  // What an answer, or the lack of one, says about the path.
  struct Signs {
    bool loss = false;
    bool ecn = false;                   // or another sign that counts as a mark
    Duration delay = Duration::zero();  // of the queues
  };

  void add_delay(Duration delay, bool ecn, Instant now);
  bool quick_adapt(const Signs& signs, Instant now);
  void control(const Signs& signs, uint32_t bytes, bool is_limited, Instant now);
  void decrease(Instant now);
  void fulfil_adjustment(Instant now);
  void shrink(uint64_t bytes);
  void shrink_to(int64_t q8);
  bool doubles(bool is_marked, uint32_t bytes);
  void learn(const Lost& e);
  void shrink_for_now(uint64_t bytes);
  bool limit_by_destination(const Acked& e);
  void set_window(int64_t q8);

  NsccLaw law_;
  int64_t cwnd_q8_;       // octets, in 2^-8
  int64_t saved_q8_ = 0;  // before the destination asked for less; 0: it does not [CMS-112]
  int64_t inflight_ = 0;
  Gain gain_;
  Quick quick_;
  DelayAverage mean_;
  Instant adjusted_at_;  // zero: nothing was sent
  Instant decreased_at_;
  Duration base_rtt_;
  uint32_t window_max_;     // of the measured base RTT
  uint32_t timed_out_ = 0;  // octets that time-outs took since the last answer
  LongerBase longer_base_;  // this and the next are used only where it learns by loss
  QueueSigns signs_;
};
static_assert(CongestionWindow<Nscc>);

}  // namespace uet::cms
