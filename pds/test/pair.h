// Two Pds with a stub client each, joined by a pipe that can drop, duplicate, delay and corrupt.
// Simulated time.
#pragma once

#include "pds/test/coverage.h"
#include "pds/test/stub_client.h"

#include "base/rng.h"

#include <set>

namespace uet::pds::test {

// One packet on its way.
struct InPipe {
  std::vector<std::byte> octets;
  FabricAddress from;
  Entropy ev;
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  uint32_t sdi = 0;     // sealed under, as a double for TSS has it
  int to = 0;           // side
  uint32_t number = 0;  // of its direction, from 0

  wire::PdsType type() const { return wire::Prologue::of(wire::load_u16(octets.data())).type; }
  bool is_request() const { return wire::is_request(type()); }
  wire::Request request() const {
    wire::Reader r(octets);
    return wire::Request::read(r);
  }
  wire::Control control() const {
    wire::Reader r(octets);
    return wire::Control::read(r);
  }
};

// What the pipe does to a packet: each copy arrives after its delay. Empty: lost.
using Fate = std::vector<Duration>;

class Pair {
 public:
  static constexpr Duration kDelay = Duration::microseconds(10);

  struct Side {
    Arena arena;
    PeerTable peers;
    StubClient client;
    Pds* pds = nullptr;
    PeerId other;
    FabricAddress at;
    TxBatch batch;
    uint32_t sent = 0;
  };

  explicit Pair(const Config& a = {}, const Config& b = {}, uint64_t seed = 1,
                const cms::Config& cms = {}) {
    create(0, a, cms, seed, address(1));
    create(1, b, cms, seed + 1000, address(2));
    for (int s = 0; s < 2; ++s) {
      const auto id = side[s].peers.find_or_add(side[1 - s].at, now);
      side[s].peers.add_ref(*id);
      side[s].other = *id;
    }
  }
  ~Pair() {
    for (const Side& s : side) taken() += s.pds->counters();
  }
  void create(int s, const Config& config, const cms::Config& cms, uint64_t seed,
              const FabricAddress& at) {
    side[s].at = at;
    ASSERT_TRUE(side[s].peers.create(side[s].arena, 64, seed).ok());
    const auto made = Pds::create(side[s].arena, config, cms, side[s].peers, side[s].client, seed);
    ASSERT_TRUE(made.ok());
    side[s].pds = side[s].client.pds = *made;
  }
  FlowId flow(int s, Mode mode = Mode::rud, uint32_t job = 1, uint32_t sdi = 0) {
    return *side[s].pds->flow(side[s].other, TrafficClass(0), mode, JobId(job), sdi);
  }
  uint64_t count(int s, Count c) const { return side[s].pds->counters()[c]; }

  // Everything that either side wants to send now goes into the pipe.
  void flush() {
    for (int s = 0; s < 2; ++s) {
      Side& me = side[s];
      for (int rounds = 0; me.pds->transmit(me.batch, now) > 0; ++rounds) {
        ASSERT_LT(rounds, 10000) << "transmit never ends";
        for (const TxPacket& p : me.batch.packets()) push(s, p);
        me.batch.clear();
      }
      me.batch.clear();
      EXPECT_FALSE(me.pds->has_work()) << "work left that transmit does not do";
    }
  }
  // Runs until `end`, or until nothing is left to happen.
  void run_until(Instant end) {
    flush();
    while (true) {
      Instant next = pipe_.empty() ? Instant::never() : pipe_.begin()->first;
      for (const Side& s : side) next = std::min(next, s.pds->next_deadline());
      if (next > end) break;
      now = std::max(now, next);
      for (Side& s : side) s.pds->advance(now);
      while (!pipe_.empty() && pipe_.begin()->first <= now) {
        InPipe p = std::move(pipe_.begin()->second);
        pipe_.erase(pipe_.begin());
        arrive(p);
      }
      flush();
    }
    now = std::max(now, end);
  }
  void run(Duration d) { run_until(now + d); }

  void arrive(InPipe& p) {
    RxDatagram d;
    d.bytes = p.octets;
    d.from = p.from;
    d.ev = p.ev;
    d.dscp = p.dscp;
    d.ecn = p.ecn;
    d.sdi = p.sdi;
    d.at = now;
    side[p.to].pds->receive(d, now);
  }
  // Hands a side octets that nobody sent.
  void inject(int to, std::vector<std::byte> octets, const FabricAddress& from) {
    InPipe p;
    p.octets = std::move(octets);
    p.from = from;
    p.to = to;
    arrive(p);
  }

  // Orderly close of everything; then nothing may be held.
  void expect_all_given_back() {
    for (Side& s : side) s.pds->close_all(false, now);
    run(Duration::seconds(3));
    for (int s = 0; s < 2; ++s) {
      SCOPED_TRACE(s);
      EXPECT_EQ(side[s].pds->usage(), Usage{});
      EXPECT_TRUE(side[s].pds->idle());
    }
  }

  Instant now = kStart;
  Side side[2];
  std::function<Fate(const InPipe&)> fate;  // default: one copy after kDelay
  std::vector<InPipe> sent;                 // everything, when `keep_sent`
  bool keep_sent = true;
  bool check_psns = true;
  bool has_strangers = false;  // packets may go to addresses that do not exist

 private:
  void push(int s, const TxPacket& p) {
    InPipe in;
    in.octets.assign(p.header, p.header + p.header_bytes);
    for (uint16_t i = 0; i < p.slice_count; ++i) {
      in.octets.insert(in.octets.end(), p.slices[i].data, p.slices[i].data + p.slices[i].length);
    }
    in.from = side[s].at;
    in.from.port = static_cast<uint16_t>(
        in.from.port == kUetPort ? 49152 + p.ev.value() : in.from.port + p.ev.value() % 16);
    in.ev = p.ev;
    in.dscp = p.dscp;
    in.ecn = p.ecn;
    in.sdi = p.sdi;
    in.to = 1 - s;
    in.number = side[s].sent++;
    if (!(p.to == side[1 - s].at)) {
      EXPECT_TRUE(has_strangers);
      return;
    }
    if (check_psns) check_psn(s, in);
    if (keep_sent) sent.push_back(in);
    const Fate f = fate ? fate(in) : Fate{kDelay};
    for (const Duration d : f) pipe_.emplace(now + d, in);
  }
  // No PSN is used twice: the same PSN of a PDC always carries the same octets after the PDS
  // header, and only the first time without RETX.
  void check_psn(int s, const InPipe& p) {
    if (!p.is_request()) return;
    const wire::Request h = p.request();
    const auto key = std::make_tuple(s, h.spdcid.value(), h.psn.value());
    const std::vector<std::byte> ses(p.octets.begin() + 12, p.octets.begin() + 20);
    const auto [at, is_new] = psns_.emplace(key, ses);
    EXPECT_EQ(is_new, !h.retx) << "RETX is set exactly on resends [PDS-065]";
    EXPECT_EQ(at->second, ses) << "a PSN is used twice";
  }

  std::multimap<Instant, InPipe> pipe_;
  std::map<std::tuple<int, uint16_t, uint32_t>, std::vector<std::byte>> psns_;
};

}  // namespace uet::pds::test
