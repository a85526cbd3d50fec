// The window law of NSCC in double precision, written from cms.md 3.1 to 3.7 and 4 line by line:
// what cms::Nscc, in integers, is held against. Octets, nanoseconds, octets for each nanosecond.
#pragma once

#include "cms/config.h"
#include "cms/events.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace uet::cms {

class NsccModel {
 public:
  // cms.md 3.1
  struct Constants {
    explicit Constants(const Config& c)
        : mtu(c.mtu_bytes),
          config_rtt(ns(c.base_rtt)),
          sender(c.link_mbps / 8000.0),
          credit_on(c.has_credit()),
          mean(c.nscc.mean) {
      const double receiver = c.peer_link_mbps != 0 ? c.peer_link_mbps / 8000.0 : sender;
      const double bdp = std::min(sender, receiver) * config_rtt;  // CMS-045
      const double scaling_a = bdp / 150'000;                      // CMS-046, CMS-047
      target = c.trimming ? 0.75 * config_rtt : config_rtt;        // CMS-049
      const double scaling_b = target / 12'000;                    // CMS-048
      ceiling = 1.5 * bdp;                                         // CMS-050
      alpha = 4.0 * scaling_a * scaling_b * mtu / target;          // CMS-051
      fi = 5 * mtu * scaling_a;                                    // CMS-052
      fi_scale = 0.25 * scaling_a;                                 // CMS-053
      eta = 0.15 * mtu * scaling_a;                                // CMS-054
      qa_threshold = c.trimming ? INFINITY : 4 * target;           // CMS-060
    }
    double mtu, config_rtt, sender;
    bool credit_on;
    DelayMean mean;
    double target = 0, ceiling = 0, alpha = 0, fi = 0, fi_scale = 0, eta = 0, qa_threshold = 0;
  };
  // cms.md 3.2 [CMS-065]
  struct State {
    double cwnd = 0, max_wnd = 0, inflight = 0, saved = 0, base_rtt = 0;
    double achieved = 0, received = 0, fi_count = 0, to_ignore = 0, ignored = 0, inc = 0;
    double qa_end = 0, last_adjust = 0, last_dec = 0, avg = 0, avg_at = 0;
    bool trigger_qa = false, increase_mode = false, has_begun = false;
  };

  // Of an ACK or a NACK: what quick adapt goes by.
  struct Signs {
    bool loss = false;
    bool ecn = false;
    double delay = 0;
  };

  explicit NsccModel(const Config& c) : k_(c) {
    s_.max_wnd = s_.cwnd = k_.ceiling;
    s_.base_rtt = k_.config_rtt;
  }

  void on_sent(const Sent& e) {
    if (!s_.has_begun) s_.last_adjust = s_.last_dec = s_.avg_at = at(e.at);
    s_.has_begun = true;
    s_.inflight += e.bytes;
  }

  void on_acked(const Acked& e) {
    const double n = e.received_bytes;
    s_.inflight -= n;  // CMS-070
    s_.ignored += n;
    s_.received += n;
    s_.achieved += n;
    const bool limited = penalty(e);  // CMS-072
    if (!e.rtt_valid) return;         // CMS-073
    sample(ns(e.rtt));
    const double delay = ns(e.rtt) - s_.base_rtt;
    average(delay, e.ecn, at(e.at));
    if (quick_adapt({.ecn = e.ecn, .delay = delay}, at(e.at))) return;  // CMS-075
    if (!e.ecn && delay < k_.target && !limited) proportional(delay, n);
    if (!e.ecn && delay >= k_.target && !limited) s_.inc += k_.fi * n;  // CMS-082
    if (e.ecn && delay >= k_.target) decrease(at(e.at));
    if (at(e.at) - s_.last_adjust >= k_.config_rtt || s_.received > 8 * k_.mtu) fulfil(at(e.at));
  }

  void on_lost(const Lost& e) {
    const double nominal = e.bytes;
    s_.inflight -= nominal;
    if (e.rtt_valid) sample(ns(e.rtt));  // CMS-094
    if (e.kind == LossKind::refused) return;
    s_.ignored += nominal;
    if (!is_trim(e.kind)) return set(s_.cwnd - nominal);              // CMS-099
    average(k_.config_rtt, true, at(e.at));                           // CMS-095
    if (e.kind == LossKind::trimmed_lasthop && k_.credit_on) return;  // CMS-097
    s_.trigger_qa = true;                                             // CMS-096
    if (!quick_adapt({.loss = true, .ecn = true}, at(e.at))) set(s_.cwnd - nominal);
  }

  void on_idle() { s_.saved = 0; }  // CMS-115

  double window() const { return s_.cwnd; }
  double inflight() const { return s_.inflight; }
  double base_rtt() const { return s_.base_rtt; }
  double mean_delay() const { return s_.avg; }

 private:
  static double ns(Duration d) { return static_cast<double>(d.ns()); }
  static double at(Instant i) { return static_cast<double>(i.ns()); }

  void set(double cwnd) { s_.cwnd = std::min(std::max(cwnd, k_.mtu), s_.max_wnd); }  // CMS-088

  void sample(double rtt) {  // CMS-074; MaxWnd is the ceiling in any case (CMS-050)
    if (rtt >= s_.base_rtt) return;
    s_.base_rtt = rtt;
    s_.max_wnd = std::max(k_.mtu, std::min(1.5 * k_.sender * s_.base_rtt, k_.ceiling));
    set(s_.cwnd);
  }

  bool penalty(const Acked& e) {
    const double p = e.remote.valid ? e.remote.rcv_cwnd_pend : 0;
    if (p > 0) {  // CMS-112
      if (s_.saved == 0) s_.saved = s_.cwnd;
      s_.cwnd = std::min(s_.cwnd, s_.inflight);
      set(s_.cwnd - std::floor(p * e.received_bytes / 128));
      return true;
    }
    if (e.remote.valid && e.remote.restore_cwnd && s_.saved > 0) {  // CMS-113
      set(s_.saved);
      s_.saved = 0;
    }
    return false;
  }

  void average(double delay, bool ecn, double now) {
    if (k_.mean == DelayMean::htsim) {  // CMS-104
      const double taken = !ecn && delay > k_.target ? 0.25 * s_.base_rtt : delay;
      s_.avg += 0.0125 * (taken - s_.avg);
      return;
    }
    s_.avg += std::min(1.0, (now - s_.avg_at) / s_.base_rtt) * (delay - s_.avg);  // CMS-103
    s_.avg_at = now;
  }

  void proportional(double delay, double n) {  // CMS-083, CMS-084
    if (delay < 1000) {
      s_.fi_count += n;
      if (s_.fi_count > s_.cwnd || s_.increase_mode) {
        set(s_.cwnd + n * k_.fi_scale);
        s_.increase_mode = true;
        return;
      }
    } else {
      s_.fi_count = 0;
    }
    s_.increase_mode = false;
    s_.inc += k_.alpha * n * (k_.target - delay);
  }

  void decrease(double now) {  // CMS-085
    s_.increase_mode = false;
    s_.fi_count = 0;
    if (s_.avg > k_.target && now - s_.last_dec > s_.base_rtt) {
      set(s_.cwnd * std::max(1 - 0.8 * (s_.avg - k_.target) / s_.avg, 0.5));
      s_.last_dec = now;
    }
  }

  void fulfil(double now) {  // CMS-086
    s_.cwnd += s_.inc / s_.cwnd;
    if (now - s_.last_adjust >= k_.config_rtt) {
      s_.cwnd += k_.eta;
      s_.last_adjust = now;
    }
    set(s_.cwnd);
    s_.inc = s_.received = 0;
  }

  bool quick_adapt(const Signs& signs, double now) {  // CMS-089 to CMS-092
    bool done = false;
    if (s_.ignored < s_.to_ignore && signs.ecn) {
      done = true;
    } else if (now >= s_.qa_end) {
      if (s_.qa_end != 0 && (s_.trigger_qa || signs.loss || signs.delay > k_.qa_threshold) &&
          s_.achieved < std::floor(std::floor(s_.max_wnd) / 8)) {
        set(s_.achieved);
        s_.to_ignore = s_.inflight;
        s_.ignored = 0;
        s_.trigger_qa = false;
        done = true;
      }
      s_.achieved = 0;
      s_.qa_end = now + s_.base_rtt + k_.target;
    }
    if (done) s_.inc = s_.received = 0;
    return done;
  }

  const Constants k_;
  State s_;
};

}  // namespace uet::cms
