// Tunables of congestion management, with unit, default and range. Octets are nominal octets
// [CMS-015]. Shares are in thousandths. [CMS-190]
#pragma once

#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace uet::cms {

enum class Algorithm : uint8_t {
  aimd,   // AimdWindow: slow start and additive increase [decision 16]
  fixed,  // FixedWindow: a constant window, for tests and lossless fabrics
  nscc,   // Nscc: the sender's window by delay and ECN
  rccc,   // credit of the receiver alone
  both,   // Nscc and credit: a packet leaves when both allow it [CMS-142]
  tfc,    // cells of the receiver's buffer alone; experimental [CMS-146]
};

// The names of the algorithms for users, the default first.
struct NamedAlgorithm {
  const char* name;
  Algorithm algorithm;
};
inline constexpr std::array kAlgorithms{
    NamedAlgorithm{"nscc", Algorithm::nscc},   NamedAlgorithm{"rccc", Algorithm::rccc},
    NamedAlgorithm{"both", Algorithm::both},   NamedAlgorithm{"aimd", Algorithm::aimd},
    NamedAlgorithm{"fixed", Algorithm::fixed}, NamedAlgorithm{"tfc", Algorithm::tfc}};

constexpr const char* name_of(Algorithm algorithm) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == algorithm) return named.name;
  }
  return "?";
}

// How the entropy values of a sprayed context are chosen. [CMS-158 .. CMS-162]
enum class Spraying : uint8_t {
  oblivious,  // pseudo-random order, whatever the feedback
  bitmap,     // the same order; values with a penalty rest
  reps,       // values that were good a round trip ago are used again
  mixed,      // good values first, then by the bitmap
};

// What becomes of an entropy value whose packet is lost. [CMS-155]
enum class AfterLoss : uint8_t {
  rest,     // it rests as for `penalty_timeout`: routes change by themselves
  exclude,  // it is not used until a probe of it is acknowledged: each value keeps its route
  nothing,  // the network sprays each packet by itself: the value says nothing of a route
};

// How the mean of the queueing delay is kept. [CMS-103, CMS-104]
enum class DelayMean : uint8_t {
  time,     // weighted by the time since the last sample, over a base RTT
  htsim,    // a gain for each sample, as the simulator htsim has it
  samples,  // a gain of 1/16 for each sample: a few that a sleeping host made change little
};

// The window law of NSCC. [CMS-044 .. CMS-062]
struct NsccConfig {
  Duration target_delay = Duration::zero();  // zero: 0.75 or 1.0 of the base RTT [CMS-049]
  uint32_t window_max_permille = 1500;       // of the BDP; 100-100000 [CMS-050]
  uint32_t alpha_permille = 4000;            // proportional increase; 0-100000 [CMS-051]
  uint32_t fair_permille = 5000;             // fair increase; 0-100000 [CMS-052]
  uint32_t fast_permille = 250;              // fast increase; 0-100000 [CMS-053]
  uint32_t eta_permille = 150;               // of an MTU, each adjust period; 0-100000 [CMS-054]
  uint32_t gamma_permille = 800;             // decrease gain; 0-1000 [CMS-055]
  uint32_t decrease_max_permille = 500;      // least factor of one decrease; 1-1000 [CMS-056]
  uint32_t adjust_packets = 8;               // octets between adjustments, in MTU; 1-1024 [CMS-057]
  uint32_t adjust_period_permille = 1000;    // time between them, of the base RTT [CMS-058]
  uint8_t quick_gate = 3;                    // quick adapt below window / 2^gate; 0-63 [CMS-059]
  Duration quick_threshold = Duration::zero();    // delay that triggers quick adapt; zero: off with
                                                  // trimming, else 4 target delays [CMS-060]
  bool quick_adapt = true;                        // [CMS-061]
  Duration no_delay = Duration::microseconds(1);  // delays below count as none [CMS-062]
  DelayMean mean = DelayMean::time;
};

// Credit of the receiver, both ends. [CMS-117 .. CMS-141]
struct CreditConfig {
  uint32_t packets_per_grant = 4;       // Credit_Per_Pull, in MTU; 1-64 [CMS-132]
  uint32_t rate_permille = 990;         // of the link rate; 1-1000 [CMS-131]
  uint32_t window_max_permille = 1500;  // of the BDP: credit that a source holds [CMS-125]
  uint32_t first_permille = 1000;       // of the BDP: sent before the first grant [CMS-121]
  Duration timeout = Duration::zero();  // zero: the larger of 250 us and 4 base RTTs [CMS-129]
  bool idle_credit = false;             // idle sources get credit while none waits [CMS-136]
  bool core_rate = false;               // the pace follows congestion of the core [CMS-141]
  uint32_t oversubscription = 1;        // of the core, for core_rate; 1-64
};

// Cells of the destination's buffer. Both ends must have the same. [CMS-147]
struct TfcConfig {
  uint32_t cell_bytes = 256;            // tfc_dest_cell_size; at least 1
  uint32_t packet_overhead_bytes = 64;  // tfc_pkt_overhead
  uint64_t first_bytes = 0;             // initial allocation; 0: see tfc_first_cells()
};

// Selection of entropy values. [CMS-149 .. CMS-163]
struct EntropyConfig {
  Spraying spraying = Spraying::mixed;
  AfterLoss after_loss = AfterLoss::rest;
  uint8_t penalty_ecn = 1;  // 0-15, as those below [CMS-159]
  uint8_t penalty_nack = 4;
  uint8_t penalty_timeout = 15;
  uint8_t penalty_max = 15;
  uint8_t saturation_percent = 50;  // of the EVs with a penalty: nothing is skipped [CMS-154]
  uint8_t ring = 8;                 // REPS: values remembered; 1-64 [CMS-160]
  uint8_t explore_packets = 16;     // REPS: random ones after freezing [CMS-161]
  uint8_t planes = 1;               // ports that EVs are dealt to in turn; 1-32 [CMS-156]
  uint8_t reuse_rtts = 2;  // round trips whose packets have an EV each; 0: no limit [CMS-153]
  bool random_upper_bits = true;  // the bits above `entropy_values` are drawn for each context
  // EVs that random upper bits do not lead to: as source ports they are taken for addresses.
  uint16_t left_out_first = 16384;  // [decision 3]
  uint16_t left_out_last = 20479;
  Duration freeze_time = Duration::milliseconds(10);     // [CMS-161]
  Duration probe_interval = Duration::milliseconds(10);  // between probes of excluded EVs [CMS-155]
  uint32_t reroute_rtts = 10;  // ROD: round trips between changes of the EV; >= 10 [CMS-150]
};

struct Config {
  Algorithm algorithm = Algorithm::nscc;
  uint32_t mtu_bytes = 4096 + 104 + 40;     // largest nominal packet of the path
  uint32_t initial_window_packets = 0;      // 0: see first_window_bytes()
  uint32_t window_bytes_min = 0;            // 0: a packet; aimd: eight, enough to see a gap by SACK
  uint32_t window_bytes_max = 2048 * 1024;  // a message of 1 MiB without a pause
  uint32_t entropy_values = 16;             // EVs sprayed over; 1: single path; 1-65536 [CMS-157]
  Duration base_rtt = Duration::microseconds(12);  // config_base_rtt [CMS-044]
  uint32_t link_mbps = 100'000;                    // of this end [CMS-045]
  uint32_t peer_link_mbps = 0;                     // 0: as this end's
  bool trimming = true;                            // the switches trim [CMS-049]
  // NSCC begins with first_window_bytes() instead of its maximum, and keeps some packets in flight:
  // the ACKs of later packets show that an earlier one was lost.
  bool start_slowly = false;
  // NSCC for stacks in software, in networks that drop and neither mark nor trim: only a loss shows
  // the end of a queue. [decision 16]
  bool learns_by_loss = false;
  bool base_rtt_probe = true;  // a new context measures its base RTT [CMS-106]
  // A context that was idle for this time begins anew; zero: after any pause. [CMS-008]
  Duration idle_time = Duration::milliseconds(1);
  // Time for which contexts that begin anew, or later ones, use a measured base RTT again.
  // [CMS-008, CMS-105]
  Duration base_rtt_time = Duration::seconds(60);
  uint32_t pacing_percent = 0;          // of a window in a round trip; 0: no pacing
  uint32_t pacing_burst_bytes = 65536;  // that leave at once all the same
  // Octets of unexpected messages that this end holds from which on its sources are asked for less,
  // and from which on for as little as they can; high mark 0: never. low < high < 2^56 [CMS-116]
  uint64_t pressure_low_bytes = 0;
  uint64_t pressure_high_bytes = 0;
  NsccConfig nscc;
  CreditConfig credit;
  TfcConfig tfc;
  EntropyConfig entropy;

  // For stacks in software over networks that drop and do not mark. They answer after some 100 us,
  // however short the way; a host that sleeps for some milliseconds looks like a queue, so quick
  // adapt is off. [decision 16]
  static Config software() {
    Config c;
    c.base_rtt = Duration::microseconds(200);
    c.base_rtt_probe = false;  // every round trip is compared with the shortest
    c.start_slowly = c.learns_by_loss = true;
    c.nscc.quick_adapt = false;
    c.nscc.mean = DelayMean::samples;
    c.trimming = false;  // a UDP socket never sees a trimmed packet [CMS-190]
    return c;
  }

  // 128 KiB of payload. A stock receive buffer holds 416 KiB as the kernel counts, which takes up
  // to 2.3 KiB for a packet of 1 KiB and no greater share for longer ones.
  uint64_t first_window_bytes() const { return window_of(128, 1); }
  // 16 KiB of it, at least three packets: where NSCC learns by loss and knows no round trip to the
  // peer. [CMS-196]
  uint64_t untried_window_bytes() const { return window_of(16, 3); }
  // The window for that payload, in nominal octets; initial_window_packets instead, if set.
  uint64_t window_of(uint32_t payload_kib, uint32_t packets_min) const {
    const uint32_t kib = mtu_bytes < 2048 ? 1 : mtu_bytes / 1024;  // of payload in a packet
    const uint32_t packets = std::max(payload_kib / kib, packets_min);
    return uint64_t{initial_window_packets != 0 ? initial_window_packets : packets} * mtu_bytes;
  }
  // Bandwidth times delay of the slower of both links, in octets; at least a packet. [CMS-045]
  uint64_t bdp_bytes() const {
    const uint32_t peer = peer_link_mbps != 0 ? peer_link_mbps : link_mbps;
    return std::max<uint64_t>(mtu_bytes, bytes_in(std::min(link_mbps, peer), base_rtt));
  }
  // Octets that a link of that rate carries in that time.
  static constexpr uint64_t bytes_in(uint32_t mbps, Duration time) {
    return uint64_t{mbps} * static_cast<uint64_t>(time.ns()) / 8000;
  }
  bool has_window() const { return algorithm != Algorithm::rccc && algorithm != Algorithm::tfc; }
  bool has_credit() const { return algorithm == Algorithm::rccc || algorithm == Algorithm::both; }
};

}  // namespace uet::cms
