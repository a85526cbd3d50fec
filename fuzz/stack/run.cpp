// A fuzzed run: steps as the program says, and then peace.
#include "fuzz/stack/run.h"

#include "fuzz/stack/forger.h"
#include "fuzz/stack/ledger.h"
#include "fuzz/stack/node.h"
#include "fuzz/stack/strangers.h"

#include "fep/derive.h"
#include "sim/world/stations.h"
#include "wire/packet.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace uet::fuzz {
namespace {

constexpr Instant kStart = Instant::from_ns(1'000'000'000);
constexpr uint32_t kStepsMax = 300;
// After the program: what peers and tables wait for ends well within this.
constexpr Duration kPatience = Duration::seconds(300);
constexpr Duration kSlowest = Duration::seconds(3);  // more than the peer time-out
constexpr uint32_t kVisitsMax = 100'000;
constexpr uint32_t kBatchesMax = 64;   // at one instant: far more than the tables can hold
constexpr uint32_t kPacketsMax = 256;  // in flight; then the oldest are lost
// Closed PDCs are remembered for longer [PDS-176]: an older duplicate could be taken for new.
constexpr Duration kLifetime = Duration::milliseconds(50);

pds::Config profile(uint8_t drawn) {
  if ((drawn & 1) != 0) return pds::Config::spec();
  pds::Config config;
  if ((drawn & 2) != 0) meet_refprov(config);
  return config;
}

void choose_congestion(fep::Config& c, uint8_t drawn, uint8_t more, bool is_tiny) {
  c.cms = cms::Config::software();
  if ((drawn & 32) != 0) c.cms.algorithm = cms::Algorithm::fixed;
  if ((more >> 2 & 3) == 3) {
    c.cms.algorithm = cms::Algorithm::tfc;
    c.cms.tfc.first_bytes = is_tiny ? 2048 : 8192;  // one packet, six
  }
  c.cms.entropy_values = (drawn & 128) != 0 ? 1 : 4;
}

// Small tables, short waits; two octets of the program choose the options.
fep::Config config_from(Program& program, bool random_start) {
  const uint8_t drawn = program.u8();
  const uint8_t more = program.u8();
  fep::Config c;
  c.pds = profile(more);
  if (random_start) c.pds.start_method = pds::StartMethod::random_1rtt;
  static constexpr pds::AckForm kForms[] = {pds::AckForm::by_need, pds::AckForm::cc,
                                            pds::AckForm::ccx, pds::AckForm::cc};
  c.pds.ack_form = kForms[more >> 2 & 3];
  if ((more & 16) != 0) c.pds.ack_gen_packets = 2;
  if ((more & 32) != 0) c.pds.ack_delay_max = Duration::microseconds(300);
  if ((more & 64) != 0) c.pds.reserved_pdcs = 1;
  if ((more & 128) != 0) c.pds.half_open_percent = 50;
  c.pds.quiet_packets = (drawn & 1) != 0 ? 0 : 3;
  const bool is_tiny = (drawn & 2) != 0;
  c.pds.rod_reorder = (drawn & 4) == 0;
  c.pds.ack_per_packet = (drawn & 8) != 0;
  c.pds.mpr = (drawn & 16) != 0 ? 1 : 8;
  choose_congestion(c, drawn, more, is_tiny);
  if ((drawn & 64) != 0) c.pds.psn_range_packets = 4096 + 8;
  c.pds.max_pdcs = is_tiny ? 4 : 16;
  c.pds.max_flows = 16;
  c.pds.gd_entries = is_tiny ? 8 : 64;
  c.pds.gd_per_pdc = is_tiny ? 4 : 32;
  c.pds.return_messages = is_tiny ? 2 : 16;
  c.pds.reorder_packets = is_tiny ? 2 : 16;
  c.pds.reply_queue = 16;
  c.pds.tombstones = 512;
  c.pds.secure_starts = 4;
  c.pds.rudi_destinations = 4;
  c.pds.rudi_packets = is_tiny ? 2 : 16;
  c.pds.rudi_answers = is_tiny ? 1 : 8;
  c.pds.rudi_window = is_tiny ? 2 : 8;
  c.pds.tx_window_packets = 64;
  c.pds.peer_timeout = Duration::seconds(2);
  c.pds.idle_time = Duration::milliseconds(200);
  c.ses.payload_mtu = 1024;
  c.ses.unexpected_bytes = is_tiny ? 4096 : 64 * 1024;
  c.ses.unexpected_messages = is_tiny ? 2 : 16;
  c.ses.rx_messages = is_tiny ? 2 : 16;
  c.ses.return_messages = is_tiny ? 2 : 16;
  c.ses.read_packets = is_tiny ? 1 : 8;
  c.ses.memory_regions = 2 * kRegions;
  c.ses.long_iovs = 4;
  c.ses.long_injects = is_tiny ? 1 : 8;
  c.ses.remotes = is_tiny ? 2 : 16;
  c.ses.flows = 16;
  c.ses.endpoints = 2 * kSlots;
  c.peers_max = 8;
  fep::derive(c);
  // In every profile: an ordered flow waits this long for each refused message.
  c.ses.partial_message_time = c.pds.peer_timeout;
  c.ses.retry_patience = c.pds.peer_timeout;
  c.ses.retry_limit = 0;  // a program may be a slow application [SES-191]
  return c;
}

class Run {
 public:
  Run(uint8_t how, Program program, Carrier& carrier)
      : program_(program),
        how_(how),
        carrier_(carrier),
        config_(config_from(program_, (how_ & 2) != 0)),
        ledger_(is_exact(), regions_),
        forger_(!is_exact() || carrier_.is_authentic(), regions_) {
    carrier_.prepare(config_);
    carrier_.set_clock([this] { return now(); });
    for (uint32_t i = 0; i < kNodes; ++i) {
      make_node(i);
      stations_.add(*nodes_[i], address_of_node(i));
    }
  }

  void go() {
    for (uint32_t step = 0; step < kStepsMax && !program_.ended(); ++step) {
      take_step();
      finish_calls();
    }
    finish();
  }

 private:
  // No other party sends in the name of the honest ends, or such packets do not open.
  bool is_exact() const { return (how_ & 1) != 0; }
  bool shares() const { return (how_ & 4) != 0; }
  Instant now() const { return stations_.now(); }
  sim::Transit<sim::Datagram>& flights() { return stations_.transit(); }
  size_t drawn_flight() { return program_.u8() % flights().size(); }

  void make_node(uint32_t index) {
    ++seed_;
    nodes_[index] = std::make_unique<Node>(index, config_, seed_, shares(), ledger_, regions_,
                                           now(), carrier_.begin(index));
  }

  void take_step() {
    const uint8_t drawn = program_.u8();
    Node& node = *nodes_[drawn & 1];
    switch (drawn >> 1 & 31) {
      case 0:
      case 1:
      case 2:
        return node.send(program_, now());
      case 3:
      case 4:
        return node.rma(program_, now());
      case 5:
      case 6:
      case 7:
        return node.receive(program_, now());
      case 8:
        return node.cancel(program_, now());
      case 9:
        return node.peek(program_, now());
      case 10:
        return node.end_claim(now());
      case 11:
        return node.close_endpoint(program_.u8() % kSlots, now());
      case 12:
        return node.renew_region(program_.u8() % kRegions);
      case 13:
        return tell(node);
      case 14:
        return node.fep().close_all(is_exact() ? false : program_.flag(), now());
      case 15:
        return restart(drawn & 1);
      case 16:
      case 17:
        return elapse();
      case 18:
      case 19:
        transmit(drawn & 1, program_.u8());
        return;
      default:
        return disturb(drawn >> 1 & 31);
    }
  }

  // Reports of the operator or the system to an end.
  void tell(Node& node) {
    const uint8_t drawn = program_.u8();
    if (drawn < 0x80) return node.fep().on_unreachable(address_of(drawn % 4), now());
    if (drawn >= 0xC0) {  // a route with a smaller MTU, in any use by the system
      (void)node.fep().on_too_long(address_of(drawn % 4), program_.u8() * 8u, now());
      return;
    }
    const auto mpr = static_cast<uint8_t>(1 + drawn % 8);
    UET_ASSERT(node.fep().pds().set_mpr(mpr).ok() == (mpr <= config_.pds.mpr));
  }

  // Actions of the network and the forger.
  void disturb(uint32_t what) {
    switch (what) {
      case 20:
      case 21:
        return deliver(0, 1 + program_.u8() % 8u);
      case 22:  // out of turn
        return deliver(program_.u8(), 1);
      case 23:
        if (!flights().empty()) flights().take(drawn_flight());
        return;
      case 24:
        if (!flights().empty()) launch(flights()[drawn_flight()]);
        return;
      case 25:
        if (!flights().empty()) {
          const sim::Datagram packet = flights()[drawn_flight()];
          launch(forger_.alter(packet, program_));
        }
        return;
      case 28:
      case 29:
        if (sim::Datagram old; carrier_.replay(program_, old)) return arrive(std::move(old));
        [[fallthrough]];
      case 26:
      case 27:
        return arrive_forged(forger_.craft(program_, now()));
      case 31:
        return knock();
      default:
        pump(1 + program_.u8() % 16u);
        return;
    }
  }

  // Without TSS a stranger's message is legitimate and may take a receive meant for another one, so
  // exact runs have no strangers.
  void knock() {
    if (is_exact()) return;
    for (sim::Datagram& packet : strangers_.knock(program_, now()))
      arrive_forged(std::move(packet));
  }

  // An end dies with all its state, and another one begins at its address. PDCs of the dead one may
  // be confused with PDCs of the new one [PDS-190], so honest runs do without.
  void restart(uint32_t index) {
    if (is_exact()) return;
    nodes_[index].reset();
    ledger_.lose(index);
    make_node(index);
    stations_.replace(index, *nodes_[index]);
  }

  void elapse() {
    static constexpr Duration kSpans[] = {Duration::nanoseconds(100),  Duration::microseconds(2),
                                          Duration::microseconds(50),  Duration::milliseconds(1),
                                          Duration::milliseconds(6),   Duration::milliseconds(60),
                                          Duration::milliseconds(450), Duration::milliseconds(900)};
    const uint8_t drawn = program_.u8();
    Instant to = now() + kSpans[drawn % 8];
    const Instant next = stations_.next_deadline();
    if (drawn >= 0x80 && !next.is_never()) to = std::max(now(), next);
    set_time(to);
  }

  void set_time(Instant to) {
    while (!flights().empty() && to - flights()[0].left_at > kLifetime) flights().take();
    stations_.advance(to);
  }

  // `drawn` above 0xF7: the system refuses drawn - 0xF7 packets for good.
  bool transmit(uint32_t index, uint8_t drawn) {
    uint32_t refused = drawn >= 0xF8 ? drawn - 0xF7u : 0;
    const auto leave = [&](TxPacket& packet, sim::Datagram& datagram) -> sim::Fate {
      // Whatever the input, packets that leave are well formed.
      UET_ASSERT(wire::decode(datagram.octets, {}).outcome == wire::Outcome::accept);
      if (refused != 0) {
        packet.fate = TxFate::never;
        packet.error = 14;  // EFAULT
        --refused;
        return {};
      }
      forger_.hear(datagram);
      strangers_.hear(datagram, now());
      carrier_.send(index, packet, datagram);
      sent_.push_back(std::move(datagram));
      return {};
    };
    sent_.clear();
    stations_.transmit(index, leave);
    for (sim::Datagram& packet : sent_) launch(std::move(packet));
    if (!is_over_) {
      for (sim::Datagram& packet : strangers_.answers()) {
        carrier_.forge(packet);
        launch(std::move(packet));
      }
    }
    return !sent_.empty();
  }

  // It is in flight until the program delivers it, in the order in which it left.
  void launch(sim::Datagram packet) {
    if (flights().size() == kPacketsMax) flights().take();
    flights().add(std::move(packet), now());
  }

  void arrive(sim::Datagram packet) {
    if (now() - packet.left_at > kLifetime) return;
    if (carrier_.receive(packet)) stations_.arrive(packet);
  }
  void arrive_forged(sim::Datagram packet) {
    carrier_.forge(packet);
    arrive(std::move(packet));
  }

  void deliver(size_t from, size_t count) {
    for (; count > 0 && !flights().empty(); --count)
      arrive(flights().take(from % flights().size()));
  }

  // An undisturbed network for some rounds. False: nothing moved in the last one.
  bool pump(uint32_t rounds) {
    bool has_moved = false;
    for (; rounds > 0; --rounds) {
      has_moved = !flights().empty();
      for (uint32_t i = 0; i < kNodes; ++i) has_moved |= transmit(i, 0);
      if (!has_moved) break;
      deliver(0, flights().size());
    }
    return has_moved;
  }

  void finish_calls() {
    ledger_.release_ended();
    for (const auto& node : nodes_) node->check();
  }

  // Lets time run, undisturbed, until `done`.
  template <class Done>
  void run_until(Done done) {
    const Instant limit = now() + kPatience;
    for (uint32_t visits = 0; !done(); ++visits) {
      UET_ASSERT(visits < kVisitsMax);
      for (const auto& node : nodes_) node->discard_kept(now());
      if (!pump(1) && !done()) {
        const Instant next = stations_.next_deadline();
        UET_ASSERT(next <= limit);
        set_time(std::max(now(), next));
      }
      finish_calls();
    }
  }

  // A message without a receive waits for one as long as its target answers, so at the end there
  // are receives for all. [SES-191]
  void finish() {
    is_over_ = true;
    for (const auto& node : nodes_) node->end_claim(now());
    const auto has_ended = [this] {
      return !ledger_.has_open_operation() && nodes_[0]->fep().ses().idle() &&
             nodes_[1]->fep().ses().idle();
    };
    const Instant enough = now() + kSlowest;
    run_until([&] { return has_ended() || now() >= enough; });
    run_until([&] {
      const bool is_over = has_ended();
      for (const auto& node : nodes_) {
        if (!is_over) node->take_all(now());
      }
      return is_over;
    });
    for (const auto& node : nodes_) node->cancel_receives(now());
    UET_ASSERT(ledger_.open_count() == 0);
    for (const auto& node : nodes_) node->fep().close_all(/*abort=*/false, now());
    run_until([this] {
      return std::ranges::all_of(nodes_, [](const auto& node) {
        return node->fep().idle() && node->fep().pds().open_pdcs() == 0;
      });
    });
    ledger_.release_ended();
    ledger_.check_guards();
    for (const auto& node : nodes_) UET_ASSERT(node->fep().pds().usage() == pds::Usage{});
  }

  Program program_;
  uint8_t how_;
  Carrier& carrier_;
  fep::Config config_;
  std::array<Regions, kNodes> regions_;
  Ledger ledger_;
  Forger forger_;
  Strangers strangers_{carrier_.is_sealed()};
  sim::Stations<Node> stations_{kStart, kBatchesMax};
  std::vector<sim::Datagram> sent_;  // at the last transmit()
  bool is_over_ = false;             // the program; no more interference
  uint64_t seed_ = 0;
  std::array<std::unique_ptr<Node>, kNodes> nodes_;
};

}  // namespace

void run(uint8_t how, Program program, Carrier& carrier) { Run(how, program, carrier).go(); }

}  // namespace uet::fuzz
