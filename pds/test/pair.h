// Two Pds with a stub client each. The test decides what becomes of each packet; without
// that, one copy arrives after a delay. Simulated time.
#pragma once

#include "pds/test/coverage.h"
#include "pds/test/stub_client.h"

#include "base/rng.h"
#include "sim/world/stations.h"

#include <functional>
#include <map>
#include <tuple>

namespace uet::pds::test {

// One packet under way.
struct InPipe : sim::Datagram {
  int side = 0;         // it goes to
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

using sim::Fate;

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
    uint32_t sent = 0;
  };

  explicit Pair(const Config& a = {}, const Config& b = {}, uint64_t seed = 1,
                const cms::Config& cms = {}) {
    create(0, a, cms, seed, address(1));
    create(1, b, cms, seed + 1000, address(2));
    for (int s = 0; s < 2; ++s) {
      stations_.add(*side[s].pds, side[s].at);
      const auto id = side[s].peers.find_or_add(side[1 - s].at, now());
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
    const auto made = Pds::create(side[s].arena, with_equal_timeouts(config), cms, side[s].peers,
                                  side[s].client, seed);
    ASSERT_TRUE(made.ok());
    side[s].pds = side[s].client.pds = *made;
  }
  FlowId flow(int s, Mode mode = Mode::rud, uint32_t job = 1, uint32_t sdi = 0) {
    return *side[s].pds->flow(side[s].other, TrafficClass(0), mode, JobId(job), sdi);
  }
  uint64_t count(int s, Count c) const { return side[s].pds->counters()[c]; }

  Instant now() const { return stations_.now(); }
  // Everything that either side wants to send now leaves.
  void flush() { stations_.transmit_all(fates()); }
  // Runs until `end`, or until nothing is left to happen.
  void run_until(Instant end) { stations_.run_until(end, fates()); }
  void run(Duration d) { run_until(now() + d); }

  void arrive(InPipe& p) {
    p.to = side[p.side].at;
    EXPECT_TRUE(stations_.arrive(p));
  }
  // Hands a side octets that the other side did not send.
  void inject(int to, std::vector<std::byte> octets, const FabricAddress& from) {
    InPipe p;
    p.octets = std::move(octets);
    p.from = from;
    p.side = to;
    arrive(p);
  }

  // Orderly close of everything; then nothing may be held.
  void expect_all_given_back() {
    for (Side& s : side) s.pds->close_all(false, now());
    run(Duration::seconds(3));
    for (int s = 0; s < 2; ++s) {
      SCOPED_TRACE(s);
      EXPECT_EQ(side[s].pds->usage(), Usage{});
      EXPECT_TRUE(side[s].pds->idle());
    }
  }

  Side side[2];
  std::function<Fate(InPipe&)> fate;  // default: one copy after kDelay
  std::vector<InPipe> sent;           // everything, when `keep_sent`
  bool keep_sent = true;
  bool check_psns = true;
  bool has_strangers = false;  // packets may go to addresses that do not exist

 private:
  std::function<Fate(TxPacket&, sim::Datagram&)> fates() {
    return [this](TxPacket&, sim::Datagram& d) { return leave(d); };
  }
  Fate leave(sim::Datagram& d) {
    InPipe in{std::move(d)};
    const int s = in.from == side[0].at ? 0 : 1;
    in.from.port = static_cast<uint16_t>(
        in.from.port == kUetPort ? 49152 + in.ev.value() : in.from.port + in.ev.value() % 16);
    in.side = 1 - s;
    in.number = side[s].sent++;
    if (in.to != side[1 - s].at) {
      EXPECT_TRUE(has_strangers);
      return {};
    }
    if (check_psns) check_psn(s, in);
    if (keep_sent) sent.push_back(in);
    const Fate f = fate ? fate(in) : Fate{kDelay};
    d = std::move(in);
    return f;
  }
  // No PSN is used twice: the same PSN of a PDC always carries the same octets after the PDS
  // header, and only the first time without RETX.
  void check_psn(int s, const InPipe& p) {
    if (!p.is_request()) return;
    const wire::Request h = p.request();
    const auto key = std::make_tuple(s, h.spdcid.value(), h.psn.value());
    const std::vector<std::byte> ses(p.octets.begin() + h.size(), p.octets.begin() + h.size() + 8);
    const auto [at, is_new] = psns_.emplace(key, ses);
    EXPECT_EQ(is_new, !h.retx) << "RETX is set exactly on resends [PDS-065]";
    EXPECT_EQ(at->second, ses) << "a PSN is used twice";
  }

  sim::Stations<Pds> stations_{kStart};
  std::map<std::tuple<int, uint16_t, uint32_t>, std::vector<std::byte>> psns_;
};

}  // namespace uet::pds::test
