// The table of transports, and the tables of their constants.
#include "sim/transports/catalogue.h"

#include "sim/transports/dcqcn.h"
#include "sim/transports/go_back_n.h"
#include "sim/transports/hpcc.h"
#include "sim/transports/selective.h"
#include "sim/transports/srd.h"
#include "sim/transports/swift.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <set>
#include <stdexcept>

namespace uet::sim::transports {
namespace {

// Longer than six full queues on the way.
Picoseconds timeout_of(double us, const Network& network) {
  if (us > 0) return from_us(us);
  return 15 * kMicrosecond +
         network.time_of(uint64_t{network.queue_bytes} * 6, static_cast<double>(network.mbps));
}

template <class Constants>
struct Row {
  std::string_view key;
  double Constants::*value;
  double least, most;  // that it may be
  std::string_view text;
};
constexpr double kLongUs = 1e9;   // of times: 1,000 s
constexpr double kPaths = 65536;  // entropy values
constexpr double kPackets = 1e6;  // of a window

// --- go-back-N, and the controls above it

struct RoceConstants {
  double timeout_us = 1000;
};
struct RoceHpcc : RoceConstants, HpccConstants {};
struct RoceDcqcn : RoceConstants, DcqcnConstants {
  double mark_low_us = 1;    // thresholds of switches, in the time that a port takes to send them
  double mark_high_us = 40;  // the paper: 5 kB and 200 kB at 40 Gbit/s
  double mark_most = 0.01;
};

template <class Constants>
std::unique_ptr<Sender> go_back_n(const FlowSetup& flow, const Network& network,
                                  std::unique_ptr<Control> control, const Constants& constants,
                                  Counts& counts) {
  return std::make_unique<GoBackNSender>(flow, network, std::move(control),
                                         from_us(constants.timeout_us), counts);
}

struct Roce final : Transport {
  using Constants = RoceConstants;
  static constexpr Row<Constants> kRows[] = {
      {"timeout-us", &Constants::timeout_us, 1, kLongUs,
       "time without an answer after which it sends again"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    return go_back_n(flow, network, std::make_unique<LineRate>(network), c, counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network&,
                                     PullQueue*) const override {
    return std::make_unique<InOrderReceiver>(flow.flow, 0);
  }
};

struct RoceWithHpcc final : Transport {
  using Constants = RoceHpcc;
  static constexpr Row<Constants> kRows[] = {
      {"utilisation", &Constants::utilisation, 0.01, 1, "of the busiest link that is aimed at"},
      {"stages", &Constants::stages, 0, 1000, "increases without a look at queues"},
      {"flows", &Constants::flows, 1, 1e6, "for which the increase is sized"},
      {"increase-bytes", &Constants::increase_bytes, 0, 1e9,
       "of a round; 0: by the number of flows"},
      {"rtt-us", &Constants::rtt_us, 0, 1e6, "base round trip; 0: of the longest path"},
      {"timeout-us", &Constants::timeout_us, 1, kLongUs,
       "time without an answer after which it sends again"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    return go_back_n(flow, network, std::make_unique<Hpcc>(c, network), c, counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network&,
                                     PullQueue*) const override {
    return std::make_unique<InOrderReceiver>(flow.flow, 0);
  }
};

struct RoceWithDcqcn final : Transport {
  using Constants = RoceDcqcn;
  static constexpr Row<Constants> kRows[] = {
      {"gain", &Constants::gain, 0, 1, "g, of alpha"},
      {"cnp-us", &Constants::cnp_us, 0, 1e6, "at most one CNP in this time"},
      {"alpha-us", &Constants::alpha_us, 0.1, 1e6, "time without a CNP after which alpha falls"},
      {"increase-us", &Constants::increase_us, 0.1, 1e6, "timer of increases"},
      {"increase-bytes", &Constants::increase_bytes, 1, 1e12, "octets that do the same"},
      {"recovery", &Constants::recovery, 0, 1000, "F: increases toward the rate before"},
      {"additive-mbps", &Constants::additive_mbps, 0, 1e6, "R_AI"},
      {"hyper-mbps", &Constants::hyper_mbps, 0, 1e6, "R_HAI"},
      {"least-mbps", &Constants::least_mbps, 0.1, 1e6, "the rate falls no lower"},
      {"mark-low-us", &Constants::mark_low_us, 0, 1e6, "Kmin, as the time of a port for it"},
      {"mark-high-us", &Constants::mark_high_us, 0, 1e6, "Kmax, as the time of a port for it"},
      {"mark-most", &Constants::mark_most, 1e-6, 1, "Pmax, chance of a mark at Kmax"},
      {"timeout-us", &Constants::timeout_us, 1, kLongUs,
       "time without an answer after which it sends again"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    return go_back_n(flow, network, std::make_unique<Dcqcn>(c, network), c, counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network&,
                                     PullQueue*) const override {
    return std::make_unique<InOrderReceiver>(flow.flow, from_us(c.cnp_us));
  }
  void check() const override {
    if (c.mark_low_us > c.mark_high_us) {
      throw std::invalid_argument("mark-low-us must not be above mark-high-us");
    }
  }
  bool marking(const Network& network, Marking& out) const override {
    const double octets_us = static_cast<double>(network.mbps) / 8;
    const auto bytes = [octets_us](double us) {
      return static_cast<uint32_t>(std::min<double>(us * octets_us, UINT32_MAX));
    };
    out.low_bytes = bytes(c.mark_low_us);
    out.high_bytes = std::max(bytes(c.mark_high_us), out.low_bytes);
    out.most = c.mark_most;
    return true;
  }
};

// --- selective resends

struct SwiftFlows final : Transport {
  struct Constants : SwiftConstants {
    double timeout_us = 0;
  };
  static constexpr Row<Constants> kRows[] = {
      {"base-us", &Constants::base_us, 0, 1e6, "target delay of a round trip"},
      {"hop-us", &Constants::hop_us, 0, 1e6, "added for each cable of the path"},
      {"range-us", &Constants::range_us, 0, 1e6, "added at most for small windows"},
      {"least-window", &Constants::least_window, 1e-6, kPackets,
       "packets at which all of it is added"},
      {"most-window", &Constants::most_window, 1e-6, kPackets, "packets from which on nothing is"},
      {"increase", &Constants::increase, 0, 1000, "ai: packets in a round trip"},
      {"decrease", &Constants::decrease, 0, 1000, "beta"},
      {"most-decrease", &Constants::most_decrease, 0, 1, "max_mdf"},
      {"first-window", &Constants::first_window, 1e-6, kPackets, "packets"},
      {"floor-window", &Constants::floor_window, 1e-6, kPackets, "packets"},
      {"timeouts", &Constants::timeouts, 1, 1000, "in a row, until the window is the smallest"},
      {"timeout-us", &Constants::timeout_us, 0, kLongUs, "0: six full queues and 15 us"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    return std::make_unique<SelectiveSender>(
        flow, network, std::make_unique<Swift>(c, network, flow.links),
        LossRules{timeout_of(c.timeout_us, network), 0}, 1, counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network& network,
                                     PullQueue*) const override {
    return std::make_unique<SelectiveReceiver>(flow, network);
  }
};

struct SrdFlows final : Transport {
  struct Constants : SrdConstants {
    double timeout_us = 0;
  };
  static constexpr Row<Constants> kRows[] = {
      {"paths", &Constants::paths, 1, kPaths, "that a flow is sprayed over"},
      {"first-packets", &Constants::first_packets, 0.01, kPackets, "in the first base round trip"},
      {"slow", &Constants::slow, 0, 1000, "base round trips above the least one: an ACK is slow"},
      {"inflight", &Constants::inflight, 0.01, 1000, "limit, in base round trips at the rate"},
      {"increase", &Constants::increase, 0, 1000, "packets in a round trip, each round trip"},
      {"probe", &Constants::probe, 0, 10, "of the rate, added each round trip"},
      {"most-decrease", &Constants::most_decrease, 0, 1, "in a round trip"},
      {"lower", &Constants::lower, 0, 1,
       "of the sending rate, below which the ACK rate is too low"},
      {"round-acks", &Constants::round_acks, 1, kPackets, "at least, for an estimate of the rate"},
      {"rate-acks", &Constants::rate_acks, 1, kPackets, "at least, for their rate to count"},
      {"slack", &Constants::slack, 0, 1000, "of overtaking, in base round trips"},
      {"timeout-us", &Constants::timeout_us, 0, kLongUs, "0: six full queues and 15 us"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    LossRules rules;
    rules.timeout = timeout_of(c.timeout_us, network);
    rules.slack = static_cast<Picoseconds>(c.slack * static_cast<double>(network.base_rtt));
    return std::make_unique<SelectiveSender>(flow, network, std::make_unique<Srd>(c, network),
                                             rules, static_cast<uint32_t>(c.paths), counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network& network,
                                     PullQueue*) const override {
    return std::make_unique<SelectiveReceiver>(flow, network);
  }
};

// --- credit

struct EqdsFlows final : Transport {
  struct Constants : EqdsConstants {
    double timeout_us = 0;
  };
  static constexpr Row<Constants> kRows[] = {
      {"window", &Constants::window, 0.01, 1000, "sent without credit, and credit at most, in BDP"},
      {"pull-share", &Constants::pull_share, 0.01, 1, "of its link that a receiver grants"},
      {"paths", &Constants::paths, 1, kPaths, "that a flow is sprayed over"},
      {"ack-packets", &Constants::ack_packets, 1, kPackets, "for each ACK"},
      {"timeout-us", &Constants::timeout_us, 0, kLongUs, "0: six full queues and 15 us"},
  };
  Constants c;

  std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                 Counts& counts) const override {
    return std::make_unique<EqdsSender>(flow, network, c, timeout_of(c.timeout_us, network),
                                        counts);
  }
  std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network& network,
                                     PullQueue* queue) const override {
    return std::make_unique<EqdsReceiver>(flow, network, c, *queue);
  }
  std::unique_ptr<PullQueue> pull_queue(const Network& network) const override {
    return std::make_unique<PullQueue>(c, network);
  }
};

// --- by name

struct Entry {
  TransportFacts facts;
  std::unique_ptr<Transport> (*make)(std::string_view rest);
};

// The constants of a transport, with their defaults and what they are.
template <class T>
std::string list_of_constants() {
  const T transport;
  std::string out;
  for (const auto& row : T::kRows) {
    std::array<char, 32> value{};
    std::snprintf(value.data(), value.size(), "=%g", transport.c.*row.value);
    out += "\n  " + std::string(row.key) + value.data() + "  " + std::string(row.text);
  }
  return out;
}

std::string range_text(std::string_view word, double least, double most) {
  std::array<char, 64> limits{};
  std::snprintf(limits.data(), limits.size(), "': a number from %g to %g is needed", least, most);
  return "'" + std::string(word) + limits.data();
}

template <class T>
void set_constant(T& transport, std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  for (const auto& row : T::kRows) {
    if (row.key != key || equals == std::string_view::npos) continue;
    const std::string_view text = word.substr(equals + 1);
    double value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !(value >= row.least && value <= row.most)) {
      throw std::invalid_argument(range_text(word, row.least, row.most));
    }
    transport.c.*row.value = value;
    return;
  }
  throw std::invalid_argument("'" + std::string(word) + "' sets no constant; there are" +
                              list_of_constants<T>());
}

template <class T>
std::unique_ptr<Transport> make(std::string_view rest) {
  auto out = std::make_unique<T>();
  std::set<std::string_view> keys;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const std::string_view key = word.substr(0, word.find('='));
    if (!keys.insert(key).second) {
      throw std::invalid_argument(std::string(key) + " is given twice");
    }
    set_constant(*out, word);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  out->check();
  return out;
}

template <class T>
Entry entry(const TransportFacts& facts) {
  return {facts, make<T>};
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries{
      entry<Roce>({.name = "roce",
                   .text = "go-back-N on one path at the rate of the link, as RoCEv2 alone",
                   .has_one_path = true}),
      entry<RoceWithDcqcn>({.name = "dcqcn",
                            .text = "RoCEv2 with DCQCN: CNPs of marked packets lower a rate",
                            .has_one_path = true,
                            .uses_marks = true}),
      entry<RoceWithHpcc>({.name = "hpcc",
                           .text = "a window by what switches write into packets, on one path",
                           .has_one_path = true,
                           .uses_telemetry = true}),
      entry<SwiftFlows>({.name = "swift",
                         .text = "a window by delay against a target, on one path",
                         .has_one_path = true}),
      entry<SrdFlows>({.name = "srd",
                       .text = "like SRD: packets sprayed over quick paths, a rate by their ACKs"}),
      entry<EqdsFlows>({.name = "eqds",
                        .text = "like EQDS: sprayed, trimmed, paced by credit of the receiver",
                        .uses_marks = true,
                        .uses_trimming = true}),
  };
  return kEntries;
}

const Entry* entry_named(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(','));
  for (const Entry& e : entries()) {
    if (e.facts.name == name) return &e;
  }
  return nullptr;
}

}  // namespace

const std::vector<TransportFacts>& transport_names() {
  static const std::vector<TransportFacts> kFacts = [] {
    std::vector<TransportFacts> out;
    for (const Entry& e : entries()) out.push_back(e.facts);
    return out;
  }();
  return kFacts;
}

const TransportFacts* transport_named(std::string_view text) {
  const Entry* const found = entry_named(text);
  return found == nullptr ? nullptr : &found->facts;
}

std::unique_ptr<Transport> make_transport(std::string_view text) {
  const Entry* const found = entry_named(text);
  if (found == nullptr)
    throw std::invalid_argument("'" + std::string(text) + "' is not a transport");
  const size_t comma = text.find(',');
  return found->make(comma == std::string_view::npos ? "" : text.substr(comma + 1));
}

}  // namespace uet::sim::transports
