// Drawing a plan from a seed.
#include "sim/plan.h"

#include <algorithm>
#include <cstdio>

namespace uet::sim {
namespace {

// A separate stream: this part is newer than the rest.
cms::Algorithm draw_congestion(uint64_t seed) {
  Rng rng(seed, 0x6363);
  if (rng.chance(0.25)) return cms::Algorithm::nscc;
  if (rng.chance(0.2)) return cms::Algorithm::rccc;
  return rng.chance(0.25) ? cms::Algorithm::both : cms::Algorithm::aimd;
}

// 0 most of the time, otherwise anything up to max.
double sometimes(Rng& rng, double probability, double max) {
  if (!rng.chance(probability)) return 0;
  return max * static_cast<double>(rng.below(1'000'001)) / 1e6;
}

template <class T, size_t N>
T one_of(Rng& rng, const T (&choices)[N]) {
  return choices[rng.below(N)];
}

void draw_scarcity(Plan& p, Rng& rng);
void draw_company(Plan& p, Rng& rng);
void draw_connectionless(Plan& p, Rng& rng);
void draw_forms(Plan& p, Rng& rng);
void draw_late(Plan& p, Rng& rng, uint64_t seed);

}  // namespace

Plan Plan::calm() {
  Plan p;
  p.faults.delay = Duration::microseconds(1);
  return p;
}

Plan Plan::draw(uint64_t seed) {
  Rng rng(seed, 0x706c616e);  // a separate stream: plans do not change when the run draws more
  Plan p;
  p.endpoints = rng.chance(0.7) ? 2 : 3 + static_cast<uint32_t>(rng.below(6));
  if (rng.chance(0.3)) p.processes = 2 + static_cast<uint32_t>(rng.below(3));
  if (rng.chance(0.2)) p.clock_ppm = one_of(rng, {50u, 1'000u, 100'000u});
  p.ordered = rng.chance(0.4);
  p.operations = 10 + static_cast<uint32_t>(rng.below(60));
  p.message_bytes_max = one_of(rng, {64u, 4'096u, 20'000u, 100'000u, 400'000u});
  p.payload_mtu = one_of(rng, {1024u, 2048u, 4096u, 8192u});
  p.window_packets = one_of(rng, {64u, 256u, 256u, 1024u});
  p.pdcs_max = rng.chance(0.1) ? 8 + p.endpoints * 8 : 4096;
  p.unexpected_bytes = rng.chance(0.2) ? 64 * 1024 : 4 << 20;
  p.late_receives = one_of(rng, {0.0, 0.3, 1.0});
  p.spread = one_of(rng, {Duration::zero(), Duration::milliseconds(1), Duration::milliseconds(50)});
  p.entropy_values = one_of(rng, {1u, 4u, 16u});
  p.congestion = draw_congestion(seed);
  if (rng.chance(0.06)) p.pause = Duration::milliseconds(100 + int64_t(rng.below(10'000)));

  io::FaultPlan& f = p.faults;
  f.loss = sometimes(rng, 0.6, 0.30);
  f.burst = sometimes(rng, 0.15, 0.01);
  f.burst_packets = 2 + static_cast<uint32_t>(rng.below(30));
  f.duplicate = sometimes(rng, 0.3, 0.10);
  f.reorder = sometimes(rng, 0.3, 0.30);
  f.reorder_delay = Duration::microseconds(10 + int64_t(rng.below(2'000)));
  f.corrupt = sometimes(rng, 0.2, 0.05);
  f.deliver_corrupt = false;  // payload has no separate checksum: UDP's drops damaged packets
  f.delay = Duration::nanoseconds(500 + int64_t(rng.below(100'000)));
  if (rng.chance(0.5)) f.jitter = Duration::microseconds(int64_t(rng.below(50)));
  if (rng.chance(0.3)) {
    f.rate_bps =
        one_of(rng, {uint64_t{100'000'000}, uint64_t{1'000'000'000}, uint64_t{100'000'000'000}});
    f.queue_bytes = one_of(rng, {32u * 1024, 256u * 1024});
    if (rng.chance(0.5)) f.ecn_mark_bytes = 16 * 1024;
    if (rng.chance(0.2)) {
      f.trim_bytes = 64;
      f.trimmable_dscp = 0;  // the class of our requests
    }
  }
  if (rng.chance(0.15)) {  // one is left for the path that works one way only
    f.blackhole_count = 1 + static_cast<uint32_t>(rng.below(io::FaultPlan::kBlackholes - 1));
    for (uint32_t i = 0; i < f.blackhole_count; ++i) {
      const Instant from = kStart + Duration::microseconds(int64_t(rng.below(20'000)) << (4 * i));
      f.blackholes[i] = {from, from + Duration::milliseconds(1 + int64_t(rng.below(3'000)))};
    }
  }
  draw_scarcity(p, rng);
  draw_company(p, rng);
  draw_connectionless(p, rng);
  draw_forms(p, rng);
  draw_late(p, rng, seed);
  return p;
}

namespace {

void draw_entropy(cms::EntropyConfig& c, Rng& rng) {
  using enum cms::Spraying;
  using enum cms::AfterLoss;
  c.spraying = one_of(rng, {mixed, mixed, oblivious, bitmap, reps});
  c.after_loss = one_of(rng, {rest, rest, exclude, nothing});
  if (rng.chance(0.3)) {
    c.penalty_ecn = static_cast<uint8_t>(rng.below(16));
    c.penalty_nack = static_cast<uint8_t>(rng.below(16));
    c.penalty_timeout = static_cast<uint8_t>(rng.below(16));
    c.penalty_max = static_cast<uint8_t>(rng.below(16));
  }
  c.saturation_percent = one_of(rng, {uint8_t{50}, uint8_t{0}, uint8_t{100}});
  c.ring = one_of(rng, {uint8_t{8}, uint8_t{1}, uint8_t{64}});
  c.explore_packets = one_of(rng, {uint8_t{16}, uint8_t{0}});
  c.reuse_rtts = one_of(rng, {uint8_t{2}, uint8_t{0}});
  c.random_upper_bits = rng.chance(0.8);
  c.freeze_time = Duration::microseconds(int64_t(rng.below(20'000)));
  c.probe_interval = Duration::microseconds(100 + int64_t(rng.below(20'000)));
  c.reroute_rtts = one_of(rng, {10u, 10u, 1000u});
}

// Choices that were added later. Each has its own random stream, so that older choices of a seed
// stay the same.
void draw_late(Plan& p, Rng& rng, uint64_t seed) {
  const double regrets = sometimes(rng, 0.5, 0.5);
  if (p.may_fail()) p.cancelled_sends = regrets;
  Rng shares(seed, 0x73727863);
  p.shares_receives = shares.chance(0.2);
  Rng copies(seed, 0x636f7079);
  p.retained = sometimes(copies, 0.5, 1.0);
  p.disable_index = p.ordered && copies.chance(0.2);
  Rng slow(seed, 0x736c6f77);
  if (slow.chance(0.04) && !p.may_fail() && !p.restart) {
    p.slow_application = Duration::seconds(61 + int64_t(slow.below(400)));
    p.late_receives = 0.5;
    p.unexpected_messages = 1 + static_cast<uint32_t>(slow.below(8));
  }
  Rng challenges(seed, 0x6368616c);
  if (challenges.chance(0.25)) p.challenge_above = 1 + static_cast<uint32_t>(challenges.below(4));
  Rng credit(seed, 0x63726564);
  if (credit.chance(0.15)) p.credit_sources = 1 + static_cast<uint32_t>(credit.below(3));
  if (credit.chance(0.5)) p.link_mbps = static_cast<uint32_t>(p.faults.rate_bps / 1'000'000);
  Rng paths(seed, 0x70617468);
  draw_entropy(p.entropy, paths);
  Rng mutes(seed, 0x6d757465);
  const bool is_slow = p.slow_application > Duration::zero();
  if (mutes.chance(0.05) && !p.restart && !p.spoil && !is_slow) {  // one such fault at a time
    p.mute_after = 1 + static_cast<uint32_t>(mutes.below(300));
  }
}

// Tables that run out, applications that make illegal requests.
void draw_scarcity(Plan& p, Rng& rng) {
  if (rng.chance(0.15)) p.gd_per_pdc = 1 + static_cast<uint32_t>(rng.below(8));
  if (rng.chance(0.10)) p.gd_entries = 2 + static_cast<uint32_t>(rng.below(16));
  if (rng.chance(0.15)) p.reorder_packets = 1 + static_cast<uint32_t>(rng.below(16));
  if (rng.chance(0.15)) p.reply_queue = 16;
  if (rng.chance(0.10)) p.return_messages = 1 + static_cast<uint32_t>(rng.below(4));
  if (rng.chance(0.15)) p.rx_messages = 1 + static_cast<uint32_t>(rng.below(4));
  if (rng.chance(0.10)) p.unexpected_messages = 1 + static_cast<uint32_t>(rng.below(4));
  if (rng.chance(0.10)) p.remotes = 1 + static_cast<uint32_t>(rng.below(4));
  if (rng.chance(0.15)) p.pdcs_max = 4 + static_cast<uint32_t>(rng.below(12));
  if (rng.chance(0.15)) p.mpr = static_cast<uint8_t>(1 + rng.below(3));
  p.default_mpr = p.mpr;
  if (rng.chance(0.15)) {  // more is assumed of the peer's range, and sent, than it tracks
    p.default_mpr = 16;
    p.mpr = 1;
    p.window_packets = 2048;
  }
  if (rng.chance(0.10)) p.psn_range_packets = 4'096 + 8 + static_cast<uint32_t>(rng.below(100));
  p.rod_reorder = !rng.chance(0.25);
  p.ack_per_packet = rng.chance(0.1);
  if (rng.chance(0.15)) {
    p.idle_time = Duration::milliseconds(1 + int64_t(rng.below(50)));
    p.spread = Duration::milliseconds(300);
  }
  p.wrong_operations = sometimes(rng, 0.25, 0.5);
  p.reserve_refusals = sometimes(rng, 0.2, 0.8);
  p.cancelled_receives = sometimes(rng, 0.2, 0.3);
  p.reject_truncated = rng.chance(0.1);
}

void draw_company(Plan& p, Rng& rng) {
  p.stranger = sometimes(rng, 0.15, 0.3);
  p.odd_packets = sometimes(rng, 0.15, 0.1);
  p.refused_packets = sometimes(rng, 0.15, 0.1);
  p.broken_requests = sometimes(rng, 0.1, 0.05);
  p.broken_returns = sometimes(rng, 0.1, 0.1);
  p.spoil = rng.chance(0.08);
  p.spec_timers = rng.chance(0.05);
  if (rng.chance(0.1)) {
    p.one_way = Duration::milliseconds(1 + int64_t(rng.below(5'000)));
  }
  if (rng.chance(0.1)) {
    p.restart = true;
    p.kill = rng.chance(0.25);
    p.restart_gap = Duration::milliseconds(int64_t(rng.below(500)));
    p.spread = Duration::seconds(4);
  }
}

void draw_connectionless(Plan& p, Rng& rng) {
  p.rudi = sometimes(rng, 0.3, 1.0);
  if (p.rudi > 0) {
    if (rng.chance(0.3)) p.rudi_window = 1 + static_cast<uint32_t>(rng.below(8));
    if (rng.chance(0.2)) p.rudi_packets = 1 + static_cast<uint32_t>(rng.below(8));
    if (rng.chance(0.2)) p.rudi_answers = 1 + static_cast<uint32_t>(rng.below(4));
  }
  if (rng.chance(0.2)) p.datagrams = 1 + static_cast<uint32_t>(rng.below(300));
  if (rng.chance(0.3)) p.datagrams_per_second = 2'000;
}

// In which of their forms messages travel.
void draw_forms(Plan& p, Rng& rng) {
  p.medium_headers = rng.chance(0.25);
  p.small_headers = rng.chance(0.25);
  if (rng.chance(0.3)) p.rendezvous_bytes = one_of(rng, {300u, 5'000u, 50'000u});
  if (rng.chance(0.1)) p.rendezvous_sends = 1 + static_cast<uint32_t>(rng.below(3));
  if (rng.chance(0.2)) p.rendezvous_reads = 2 + static_cast<uint32_t>(rng.below(3));
  if (rng.chance(0.15)) p.defer_bytes = one_of(rng, {1u, 500u, 8'192u});
  if (rng.chance(0.1)) p.deferrable_sends = 1 + static_cast<uint32_t>(rng.below(3));
  if (rng.chance(0.2)) p.deferred_messages = static_cast<uint32_t>(rng.below(4));
  if (rng.chance(0.2)) p.restarts = 1 + static_cast<uint32_t>(rng.below(2));
  if (rng.chance(0.3)) p.deferral_time = Duration::milliseconds(1 + int64_t(rng.below(100)));
}

}  // namespace

bool Plan::is_lossy() const {
  return faults.loss > 0 || faults.burst > 0 || faults.corrupt > 0 || faults.rate_bps != 0 ||
         faults.blackhole_count > 0 || one_way > Duration::zero() || pause > Duration::zero() ||
         refused_packets > 0 || broken_returns > 0 || stranger > 0;
}

bool Plan::is_scarce() const {
  const Plan plenty;
  return pdcs_max < plenty.pdcs_max || gd_per_pdc < plenty.gd_per_pdc ||
         gd_entries < plenty.gd_entries || reorder_packets < plenty.reorder_packets ||
         return_messages < plenty.return_messages || rx_messages < plenty.rx_messages ||
         mpr < plenty.mpr || rudi_packets < plenty.rudi_packets ||
         rudi_answers < plenty.rudi_answers || reserve_refusals > 0 ||
         credit_sources < plenty.credit_sources ||
         unexpected_messages < plenty.unexpected_messages ||
         unexpected_bytes < plenty.unexpected_bytes;
}

std::string Plan::describe() const {
  const char* const death = kill ? ", kill" : restart ? ", restart" : "";
  char text[1024];
  std::snprintf(
      text, sizeof text,
      "%u endpoints of %u, %s, clocks %u ppm, %u operations up to %u octets, mtu %u, "
      "window %u, congestion %u of %u at %u Mb/s, EVs %u by %u and %u, loss %.3f, dup %.3f, "
      "reorder %.3f, corrupt %.3f, burst %.4f, "
      "delay %lld ns, rate %llu, blackholes %u, pause %lld ms, slow %lld s, one way %lld ms, "
      "pdcs %u, gd %u/%u, mpr %u/%u, rx %u/%u, remotes %u, stranger %.2f, odd %.2f, "
      "refused %.2f, broken %.2f/%.2f, RUDI %.2f with %u/%u/%u, datagrams %u at %u/s, "
      "rendezvous from %u with %u/%u, deferrable from %u with %u/%u/%u for %lld ms, "
      "cancelled %.2f, retained %.2f, challenges above %u, mute after %u%s%s%s%s%s%s%s",
      endpoints, processes, ordered ? "ROD" : "RUD", clock_ppm, operations, message_bytes_max,
      payload_mtu, window_packets, static_cast<unsigned>(congestion), credit_sources, link_mbps,
      entropy_values, static_cast<unsigned>(entropy.spraying),
      static_cast<unsigned>(entropy.after_loss), faults.loss, faults.duplicate, faults.reorder,
      faults.corrupt, faults.burst, static_cast<long long>(faults.delay.ns()),
      static_cast<unsigned long long>(faults.rate_bps), faults.blackhole_count,
      static_cast<long long>(pause.ms()), static_cast<long long>(slow_application.ms() / 1000),
      static_cast<long long>(one_way.ms()), pdcs_max, gd_per_pdc, gd_entries, mpr, default_mpr,
      rx_messages, unexpected_messages, remotes, stranger, odd_packets, refused_packets,
      broken_requests, broken_returns, rudi, rudi_window, rudi_packets, rudi_answers, datagrams,
      datagrams_per_second, rendezvous_bytes, rendezvous_sends, rendezvous_reads, defer_bytes,
      deferrable_sends, deferred_messages, restarts, static_cast<long long>(deferral_time.ms()),
      cancelled_sends, retained, challenge_above, mute_after, medium_headers ? ", medium" : "",
      small_headers ? ", small" : "", shares_receives ? ", shared receives" : "",
      disable_index ? ", disables indices" : "", spoil ? ", spoilt" : "",
      spec_timers ? ", spec timers" : "", death);
  return text;
}

}  // namespace uet::sim
