// The window law of NSCC, in the order of cms.md 3.4 to 3.7.
#include "cms/nscc.h"

#include <algorithm>

namespace uet::cms {

namespace {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

constexpr uint64_t kReferenceBdp = 150'000;  // 100 Gb/s times 12 us [CMS-046]
constexpr int64_t kReferenceRttNs = 12'000;  // [CMS-048]
// Learning by loss: the least window after a loss, in packets; the octets that a round trip without
// delay adds if they are more than an MTU.
constexpr uint32_t kFewPackets = 8;
constexpr uint32_t kLearningStep = 8192;
// Round trips for which a delay that stays after a loss does not count as a queue. [CMS-197]
constexpr int64_t kRoundsAfterDecrease = 32;
constexpr Duration kLeastRtt = Duration::microseconds(1);  // no two hosts are nearer
// Limits that keep products inside their types, whatever the settings. Octets squared: times 2^16
// they fit 63 bits, and the largest window of 4 GiB still gains 16 KiB by one adjustment.
constexpr int64_t kIncMost = int64_t{1} << 46;
// Octets for each nanosecond, in 2^-24: times 2^32 octets and 2^40 ns it fits 127 bits.
constexpr uint64_t kAlphaMost = uint64_t{1} << 52;

uint32_t to_u32(uint128 v) { return static_cast<uint32_t>(std::min<uint128>(v, UINT32_MAX)); }
int64_t at_most_inc(int128 v) { return static_cast<int64_t>(std::min<int128>(v, kIncMost)); }

Duration target_of(const Config& c) {  // [CMS-049]
  if (c.nscc.target_delay > Duration::zero()) return c.nscc.target_delay;
  return c.trimming ? c.base_rtt * 3 / 4 : c.base_rtt;
}

Duration quick_threshold_of(const Config& c) {  // [CMS-060]
  if (c.nscc.quick_threshold > Duration::zero()) return c.nscc.quick_threshold;
  return c.trimming ? Duration::infinite() : target_of(c) * 4;
}

// [CMS-088]
uint32_t window_min_of(const Config& c) {
  constexpr uint32_t kSlowStart = 32 * 1024;
  const uint32_t most = kFewPackets * c.mtu_bytes;
  if (c.learns_by_loss) return std::clamp(c.window_bytes_min, 2 * c.mtu_bytes, most);
  const uint32_t wanted =
      c.start_slowly ? std::max(c.window_bytes_min, kSlowStart) : c.window_bytes_min;
  return std::clamp(wanted, c.mtu_bytes, most);
}

// Before one was measured. [CMS-105]
Duration first_base_rtt(const NsccLaw& law) {
  return law.learns_by_loss ? Nscc::kUnknownRtt : law.base_rtt;
}

// [CMS-050] No more than receivers hold where that is known.
uint32_t window_max_of(const Config& c) {
  const uint64_t by_delay =
      c.learns_by_loss ? c.window_bytes_max : c.bdp_bytes() * c.nscc.window_max_permille / 1000;
  return std::max(to_u32(std::min<uint64_t>(by_delay, c.window_bytes_max)), window_min_of(c));
}

}  // namespace

// scaling_a is BDP / 150,000; alpha = 4 scaling_a MTU / 12 us. [CMS-047, CMS-051 .. CMS-054]
NsccLaw::NsccLaw(const Config& c)
    : window_max(window_max_of(c)),
      window_min(window_min_of(c)),
      mtu(c.mtu_bytes),
      adjust_bytes(c.nscc.adjust_packets * c.mtu_bytes),
      gamma_q16((c.nscc.gamma_permille << 16) / 1000),
      decrease_max_q16((c.nscc.decrease_max_permille << 16) / 1000),
      link_mbps(c.link_mbps),
      window_permille(c.nscc.window_max_permille),
      no_delay_ns(to_u32(static_cast<uint128>(std::max<int64_t>(c.nscc.no_delay.ns(), 0)))),
      base_rtt(c.base_rtt),
      target(target_of(c)),
      adjust_period(c.base_rtt * c.nscc.adjust_period_permille / 1000),
      quick_threshold(quick_threshold_of(c)),
      first_packets(static_cast<uint16_t>(
          std::min<uint64_t>(c.first_window_bytes() / c.mtu_bytes, UINT16_MAX))),
      quick_gate(c.nscc.quick_gate),
      quick_adapt(c.nscc.quick_adapt),
      credit_on(c.has_credit()),
      learns_by_loss(c.learns_by_loss),
      starts_slowly(c.start_slowly),
      mean(c.nscc.mean) {
  // Without marks the window must grow slower than losses show: by a packet in a round trip without
  // delay, by eta beyond the target.
  const uint64_t bdp = c.learns_by_loss ? kReferenceBdp : c.bdp_bytes();
  // An MTU times scaling_a times that many thousandths, in 2^-8 octets.
  const auto scaled_q8 = [&](uint32_t permille) {
    return static_cast<uint64_t>((uint128{bdp} * c.mtu_bytes * permille << 8) /
                                 (uint128{kReferenceBdp} * 1000));
  };
  fair = to_u32(scaled_q8(c.nscc.fair_permille) >> 8);
  eta_q8 = to_u32(scaled_q8(c.nscc.eta_permille));
  alpha_q24 = static_cast<uint64_t>(std::min<uint128>(
      (uint128{scaled_q8(c.nscc.alpha_permille)} << 16) / kReferenceRttNs, kAlphaMost));
  fast_q16 = to_u32((uint128{bdp} * c.nscc.fast_permille << 16) / (kReferenceBdp * 1000));
}

Nscc::Nscc(const Config& config)
    : law_(config),
      cwnd_q8_(static_cast<int64_t>(uint64_t{law_.window_max} << 8)),
      base_rtt_(first_base_rtt(law_)),
      window_max_(law_.window_max),
      signs_(config.learns_by_loss ? config.window_bytes_max : 0) {
  if (!config.start_slowly) return;
  const uint64_t first =
      config.learns_by_loss ? config.untried_window_bytes() : config.first_window_bytes();
  set_window(static_cast<int64_t>(first << 8));
}

void Nscc::set_window(int64_t q8) {  // [CMS-088]
  cwnd_q8_ = std::clamp(q8, static_cast<int64_t>(uint64_t{law_.window_min} << 8),
                        static_cast<int64_t>(uint64_t{window_max_} << 8));
}

void Nscc::begin_anew(Duration base_rtt) {
  window_max_ = law_.window_max;
  base_rtt_ = first_base_rtt(law_);
  gain_ = {};
  quick_ = {};
  mean_ = {};
  adjusted_at_ = Instant::zero();
  timed_out_ = 0;
  signs_.begin_anew();
  if (!law_.starts_slowly) set_window(static_cast<int64_t>(uint64_t{window_max_} << 8));
  note_base_rtt(base_rtt);
  if (!law_.learns_by_loss || base_rtt_ == kUnknownRtt) return;
  // The peer has answered before, so that Probes show what is lost: the first window may be larger,
  // if nothing has shown yet that this is too much. [CMS-196]
  const uint64_t first_q8 = uint64_t{law_.first_packets} * law_.mtu << 8;
  if (signs_.doubles_below() < law_.window_max) return;
  set_window(std::max(cwnd_q8_, static_cast<int64_t>(first_q8)));
}

void Nscc::note_base_rtt(Duration measured) {
  if (measured < kLeastRtt) return;  // the peer claims to have taken all of it, or more [T-35]
  if (measured >= base_rtt_) return;
  base_rtt_ = measured;
  if (law_.learns_by_loss) return;  // the rate of the path is not known
  const uint64_t most = Config::bytes_in(law_.link_mbps, measured) * law_.window_permille / 1000;
  window_max_ = std::clamp(to_u32(most), law_.window_min, law_.window_max);
  set_window(cwnd_q8_);
}

void Nscc::on_acked(const Acked& e) {
  const uint32_t n = e.received_bytes;
  inflight_ -= n;  // [CMS-070]
  signs_.on_answer(n);
  timed_out_ = 0;
  quick_.ignored += n;
  gain_.received += n;
  quick_.achieved += n;
  const bool is_limited = limit_by_destination(e);
  if (!e.rtt_valid) return;  // [CMS-073]
  note_base_rtt(e.rtt);
  if (law_.learns_by_loss) {
    base_rtt_ = longer_base_.after_sample(e.rtt, base_rtt_, window_bytes(), law_.mtu, e.at);
  }
  const Duration delay = std::max(e.rtt - base_rtt_, Duration::zero());
  add_delay(delay, e.ecn, e.at);
  if (quick_adapt({.ecn = e.ecn, .delay = delay}, e.at)) return;  // [CMS-075]
  const bool is_told = law_.learns_by_loss && e.remote.service_time > Duration::zero();
  const bool is_marked = e.ecn || (is_told && QueueSigns::is_mark(mean_.value()));
  if (!is_limited && doubles(is_marked, n)) return;
  control({.ecn = is_marked, .delay = delay}, n, is_limited, e.at);
  const bool is_due =
      e.at - adjusted_at_ >= law_.adjust_period || gain_.received > law_.adjust_bytes;
  if (is_due) fulfil_adjustment(e.at);  // [CMS-081]
}

// The four quadrants of delay and ECN. [CMS-076 .. CMS-080]
void Nscc::control(const Signs& signs, uint32_t bytes, bool is_limited, Instant now) {
  const bool is_slow = signs.delay >= law_.target_at(base_rtt_);
  if (signs.ecn) {
    if (is_slow) decrease(now);
    return;
  }
  if (is_limited) return;
  const bool is_delayed = signs.delay.ns() >= int64_t{law_.no_delay_ns};
  if (!is_slow && gain_.note(is_delayed, bytes, window_bytes())) {
    set_window(cwnd_q8_ + static_cast<int64_t>(uint64_t{bytes} * law_.fast_q16 >> 8));
  } else if (law_.learns_by_loss) {
    const uint32_t most = std::max(law_.mtu, kLearningStep);
    const uint32_t step = signs_.step(most, law_.target, signs.delay, window_bytes(), base_rtt_);
    gain_.inc += at_most_inc(int128{step} * bytes);
  } else if (is_slow) {
    gain_.inc += at_most_inc(int128{law_.fair} * bytes);  // [CMS-082]
  } else {
    const int128 gain = int128{law_.alpha_q24} * bytes * (law_.target - signs.delay).ns();
    gain_.inc += at_most_inc(gain >> 24);  // [CMS-083]
  }
  gain_.inc = std::min(gain_.inc, kIncMost);
}

// The window doubles in a round trip while it is in use and no mark shows a queue. True: it is
// still below where that ends, so the window law does not apply yet.
bool Nscc::doubles(bool is_marked, uint32_t bytes) {
  const auto window = static_cast<uint32_t>(window_bytes());
  if (is_marked && window < signs_.doubles_below()) signs_.double_below(window);
  if (window >= signs_.doubles_below()) return false;
  const bool is_in_use = 2 * (inflight_ + bytes) >= int64_t{window};
  if (!is_in_use) return true;
  set_window(std::min(cwnd_q8_ + (int64_t{bytes} << 8), int64_t{signs_.doubles_below()} << 8));
  return true;
}

bool Nscc::Gain::note(bool is_delayed, uint32_t bytes, uint64_t window) {
  if (is_delayed) {
    undelayed = 0;
    is_fast = false;
    return false;
  }
  undelayed += std::min(bytes, UINT32_MAX - undelayed);
  is_fast = undelayed > window || is_fast;
  return is_fast;
}

// [CMS-085]
void Nscc::decrease(Instant now) {
  gain_.is_fast = false;
  gain_.undelayed = 0;
  const int64_t target_q8 = law_.target_at(base_rtt_).ns() << 8;
  const Duration round = law_.learns_by_loss ? base_rtt_ + mean_.value() : base_rtt_;
  if (mean_.value_q8() <= target_q8 || now - decreased_at_ <= round) return;
  const int64_t cut_q16 = static_cast<int64_t>(int128{law_.gamma_q16} *
                                               (mean_.value_q8() - target_q8) / mean_.value_q8());
  const int64_t factor_q16 = std::max<int64_t>((1 << 16) - cut_q16, law_.decrease_max_q16);
  set_window(static_cast<int64_t>(int128{cwnd_q8_} * factor_q16 >> 16));
  decreased_at_ = now;
}

// [CMS-086, CMS-087]
void Nscc::fulfil_adjustment(Instant now) {
  int64_t q8 = cwnd_q8_ + (gain_.inc << 16) / cwnd_q8_;
  if (now - adjusted_at_ >= law_.adjust_period) {
    q8 += law_.eta_q8;
    adjusted_at_ = now;
  }
  set_window(q8);
  gain_.inc = 0;
  gain_.received = 0;
}

// At most once in a base RTT and a target delay: the window becomes what has really arrived in the
// last such period. True: the event is dealt with, or belongs to a burst that was. [CMS-089 ..
// CMS-093]
bool Nscc::quick_adapt(const Signs& signs, Instant now) {
  if (!law_.quick_adapt) return false;
  bool is_done = false;
  if (quick_.ignored < quick_.to_ignore && signs.ecn) {
    is_done = true;
  } else if (now >= quick_.end) {
    const bool is_called = quick_.is_triggered || signs.loss || signs.delay > law_.quick_threshold;
    if (quick_.end != Instant::zero() && is_called &&
        quick_.achieved < uint64_t{window_max_} >> law_.quick_gate) {
      set_window(static_cast<int64_t>(quick_.achieved << 8));
      quick_.to_ignore = inflight_;
      quick_.ignored = 0;
      quick_.is_triggered = false;
      is_done = true;
    }
    quick_.achieved = 0;
    quick_.end = now + base_rtt_ + law_.target;
  }
  if (is_done) {
    gain_.inc = 0;
    gain_.received = 0;
  }
  return is_done;
}

void Nscc::shrink(uint64_t bytes) { shrink_to(cwnd_q8_ - static_cast<int64_t>(bytes << 8)); }

// A delay may leave two packets of window, a loss eight: a packet that is lost must be followed by
// some that show it.
void Nscc::shrink_to(int64_t q8) {
  const int64_t few_q8 = int64_t{kFewPackets} * law_.mtu << 8;
  const int64_t least_q8 = law_.learns_by_loss ? std::min(cwnd_q8_, few_q8) : 0;
  set_window(std::max(q8, least_q8));
}

// After time-outs the window doubles up to half of what it was. After a loss that ACKs show it
// becomes what the path holds without its queue, at least half, on a long way three quarters unless
// many packets were lost, once in a round trip; where the
// queue is not full, something else drops packets. [decision 16, CMS-197]
void Nscc::learn(const Lost& e) {
  base_rtt_ = longer_base_.after_loss(base_rtt_);
  if (e.kind == LossKind::timeout) {
    if (timed_out_ == 0) signs_.double_below_for_now(window_bytes() / 2);
    return shrink_for_now(e.bytes);
  }
  const Duration mean = mean_.value();
  const Duration round = base_rtt_ + mean;
  const bool is_far = QueueSigns::is_far(base_rtt_);
  const bool are_many = signs_.are_many(e.bytes, window_bytes());
  const bool is_lately = e.at - decreased_at_ < round * kRoundsAfterDecrease;
  const Duration low = is_far && is_lately && !are_many ? signs_.low() : Duration::zero();
  const bool is_full = signs_.is_full(mean, low, base_rtt_);
  const bool ends_doubling = are_many && window_bytes() < signs_.doubles_below();
  if (!is_full && !ends_doubling) return shrink(e.bytes / (!is_far ? 4 : are_many ? 2 : 8));
  if (e.at - decreased_at_ <= round) return;
  const uint64_t before = window_bytes();
  const int128 rest_q8 = is_full ? int128{cwnd_q8_} * (base_rtt_ + low).ns() / round.ns() : 0;
  const int64_t least_q8 = is_far && !are_many ? cwnd_q8_ / 4 * 3 : cwnd_q8_ / 2;
  shrink_to(std::max(least_q8, static_cast<int64_t>(rest_q8)));
  decreased_at_ = e.at;
  signs_.on_cut(before, window_bytes(), mean);
}

// The next answer may show that the time-out was early. [CMS-194]
void Nscc::shrink_for_now(uint64_t bytes) {
  const int64_t before_q8 = cwnd_q8_;
  shrink(bytes);
  timed_out_ += static_cast<uint32_t>((before_q8 - cwnd_q8_) >> 8);
}

// [CMS-194]
void Nscc::on_early_timeouts() {
  set_window(cwnd_q8_ + (int64_t{timed_out_} << 8));
  timed_out_ = 0;
  signs_.on_early_timeouts();
}

// Not with learns_by_loss: there one loss takes less than a packet, and many take half of the
// window.
void Nscc::on_loss_refuted(uint32_t bytes) {
  if (!law_.learns_by_loss) set_window(cwnd_q8_ + (int64_t{bytes} << 8));
}

void Nscc::on_lost(const Lost& e) {
  inflight_ -= e.bytes;  // [CMS-094, CMS-099]
  if (e.rtt_valid) note_base_rtt(e.rtt);
  switch (e.kind) {
    case LossKind::refused:  // [CMS-098]
      return;
    case LossKind::inferred:  // [CMS-099]
    case LossKind::timeout:
      quick_.ignored += e.bytes;
      if (law_.learns_by_loss) return learn(e);
      return e.kind == LossKind::timeout ? shrink_for_now(e.bytes) : shrink(e.bytes);
    case LossKind::trimmed:
    case LossKind::trimmed_lasthop:
      break;
  }
  add_delay(law_.base_rtt, true, e.at);  // [CMS-095]
  quick_.ignored += e.bytes;
  if (e.kind == LossKind::trimmed_lasthop && law_.credit_on) return;  // [CMS-097]
  quick_.is_triggered = true;                                         // [CMS-096]
  if (!quick_adapt({.loss = true, .ecn = true}, e.at)) shrink(e.bytes);
}

void Nscc::add_delay(Duration delay, bool ecn, Instant now) {
  if (law_.mean == DelayMean::time) return mean_.add_by_time(delay, base_rtt_, now);
  if (law_.mean == DelayMean::samples) {
    mean_.add_quickly(delay);
    return signs_.add(mean_.value());
  }
  const bool is_odd = !ecn && delay > law_.target;
  mean_.add_by_count(is_odd ? base_rtt_ / 4 : delay);
}

// True: the destination asks for less, so the window may not grow. [CMS-072, CMS-112, CMS-113]
bool Nscc::limit_by_destination(const Acked& e) {
  if (!e.remote.valid) return false;
  const uint32_t p = e.remote.rcv_cwnd_pend & 0x7F;
  if (p == 0) {
    if (e.remote.restore_cwnd && saved_q8_ > 0) {
      set_window(saved_q8_);
      saved_q8_ = 0;
    }
    return false;
  }
  if (saved_q8_ == 0) saved_q8_ = cwnd_q8_;
  const uint64_t penalty = uint64_t{p} * e.received_bytes >> 7;
  set_window(std::min(cwnd_q8_, inflight_ << 8) - static_cast<int64_t>(penalty << 8));
  return true;
}

}  // namespace uet::cms
