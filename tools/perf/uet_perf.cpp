// Figures of the stack without I/O. Each is a loop over a fixed amount of work, timed by the
// processor time of this thread. What its parts cost alone: bench/micro.
#include "tools/common/command_line.h"
#include "tools/perf/gap.h"
#include "tools/perf/loss.h"
#include "tools/perf/pair.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace uet;

struct Options {
  uint32_t repeats = 5;
  uint32_t flows = 0;  // 0: the table of the documentation
  uint32_t rounds = 2000;
  uint32_t packets = 16;  // of a message
  perf::Spread spread = perf::Spread::peers;
  bool json = false;
  // of loss
  uint64_t seed = 1;
  uint32_t window = 256;
  int64_t round_trip_us = 20;
  uint64_t rate_gbps = 100;
  int64_t host_delay_us = 0;
  uint32_t queue_kib = 0;
};

struct Figure {
  std::string name;
  double ns;
  std::string per;
};

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The best of several timings of `work`, which returns how many units it did: the machine can only
// make it slower.
double best_ns(uint32_t repeats, const std::function<uint64_t()>& work) {
  double best = 1e300;
  for (uint32_t i = 0; i < repeats; ++i) {
    const double start = thread_seconds();
    const uint64_t units = work();
    best = std::min(best, (thread_seconds() - start) * 1e9 / static_cast<double>(units));
  }
  return best;
}

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// A 4 KiB copy within the first-level cache: the stack figures contain one for each packet.
double copy_ns(uint32_t repeats) {
  static std::byte from[4096], to[4096];
  return best_ns(repeats, [&] {
    constexpr uint64_t kUnits = 50'000;
    for (uint64_t i = 0; i < kUnits; ++i) {
      keep(from);
      std::memcpy(to, from, sizeof to);
      keep(to);
    }
    return kUnits;
  });
}

// The same traffic over any number of flows, each with one PDC: messages of one size on every flow
// in turn, at least `kAhead` of them at a time.
class Traffic {
 public:
  Traffic(const Options& options, uint32_t flows, perf::Spread spread, uint64_t bytes)
      : pair_(config(), flows, spread), bytes_(bytes), messages_(std::max(1u, kAhead / flows)) {
    const uint64_t packets = std::max<uint64_t>(1, bytes / 4096) * flows * messages_;
    rounds_ = static_cast<uint32_t>(std::max<uint64_t>(1, options.rounds * 16 / packets));
    pair_.write(bytes_, std::max(2u, rounds_ / 4), messages_);
  }
  // One timing; the best one counts.
  void measure() {
    const uint64_t moved = pair_.moved();
    uint64_t requests = 0;
    const double ns =
        best_ns(1, [&] { return requests = pair_.write(bytes_, rounds_, messages_); });
    if (ns >= request_ns_) return;
    request_ns_ = ns;
    share_ = static_cast<double>(requests) / static_cast<double>(pair_.moved() - moved);
  }
  // Nanoseconds a request packet, with all that it causes; and a packet of whatever kind.
  double request_ns() const { return request_ns_; }
  double packet_ns() const { return request_ns_ * share_; }

 private:
  static constexpr uint32_t kAhead = 64;
  static fep::Config config() {
    fep::Config config;
    config.cms = cms::Config::software();
    config.pds.pdcs_per_key = 1;
    config.pds.max_pdcs = 16384;  // far from pressure with every number of flows
    config.pds.max_flows = config.ses.flows = 8192;
    return config;
  }

  perf::Pair pair_;
  uint64_t bytes_;
  uint32_t messages_;
  uint32_t rounds_ = 0;
  double request_ns_ = 1e300;
  double share_ = 1;  // of the packets that move, how many are requests
};

Figure stack(const Options& options, uint32_t flows, double copy) {
  const uint32_t packets = options.packets;
  Traffic traffic(options, flows, options.spread, uint64_t{4096} * packets);
  for (uint32_t i = 0; i < options.repeats; ++i) traffic.measure();
  return {"stack only, " + std::to_string(4 * packets) + " KiB writes, " + std::to_string(flows) +
              " PDC, copy excluded",
          std::max(0.0, traffic.request_ns() - copy), "packet"};
}

constexpr uint32_t kPdcCounts[] = {1, 16, 64, 256, 1024, 4096};
constexpr uint32_t kPdcRows = sizeof kPdcCounts / sizeof kPdcCounts[0];

// Cost of one kind of traffic by the number of PDCs. [PDS 22]
struct Column {
  const char* name;
  perf::Spread spread;
  uint64_t bytes;
  double request_ns[kPdcRows];
  double packet_ns[kPdcRows];
};

// One timing of each number of PDCs after the other: a machine that changes speed changes it for
// all of them.
void fill(Column& column, const Options& options) {
  std::vector<std::unique_ptr<Traffic>> traffic;
  for (const uint32_t count : kPdcCounts) {
    traffic.push_back(std::make_unique<Traffic>(options, count, column.spread, column.bytes));
  }
  for (uint32_t i = 0; i < options.repeats; ++i) {
    for (const auto& t : traffic) t->measure();
  }
  // The payload of what fills packets is copied once.
  const double copy = column.bytes < 4096 ? 0 : copy_ns(options.repeats);
  for (uint32_t row = 0; row < kPdcRows; ++row) {
    const double share = traffic[row]->packet_ns() / traffic[row]->request_ns();
    column.request_ns[row] = std::max(0.0, traffic[row]->request_ns() - copy);
    column.packet_ns[row] = column.request_ns[row] * share;
  }
}

void print_table(const char* title, std::span<const Column> columns,
                 double (Column::*cells)[kPdcRows]) {
  std::printf("%s (ratio to one PDC)\n%5s", title, "PDCs");
  for (const Column& c : columns) std::printf(" %16s", c.name);
  std::printf("\n");
  for (uint32_t row = 0; row < kPdcRows; ++row) {
    std::printf("%5u", kPdcCounts[row]);
    for (const Column& c : columns) {
      std::printf(" %8.1f (%5.2f)", (c.*cells)[row], (c.*cells)[row] / (c.*cells)[0]);
    }
    std::printf("\n");
  }
}

int pdcs(const Options& options) {
  Column columns[] = {{"peers, 64 KiB", perf::Spread::peers, 65536, {}, {}},
                      {"jobs, 64 KiB", perf::Spread::jobs, 65536, {}, {}},
                      {"peers, 4 KiB", perf::Spread::peers, 4096, {}, {}},
                      {"jobs, 4 KiB", perf::Spread::jobs, 4096, {}, {}},
                      {"peers, 64 B", perf::Spread::peers, 64, {}, {}},
                      {"jobs, 64 B", perf::Spread::jobs, 64, {}, {}}};
  for (Column& column : columns) fill(column, options);
  if (!options.json) {
    print_table("ns a request, with its share of acknowledgements", columns, &Column::request_ns);
    print_table("ns a packet, acknowledgements counted", columns, &Column::packet_ns);
    return 0;
  }
  nlohmann::json out = nlohmann::json::array();
  for (uint32_t row = 0; row < kPdcRows; ++row) {
    for (const Column& c : columns) {
      out.push_back({{"pdcs", kPdcCounts[row]},
                     {"traffic", c.name},
                     {"ns", c.request_ns[row]},
                     {"ratio", c.request_ns[row] / c.request_ns[0]},
                     {"packet_ns", c.packet_ns[row]},
                     {"packet_ratio", c.packet_ns[row] / c.packet_ns[0]}});
    }
  }
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

// Goodput by the share of packets that the network loses, in simulated time. [PDS 12]
int loss(const Options& options) {
  constexpr cms::Algorithm kControls[] = {cms::Algorithm::nscc, cms::Algorithm::aimd,
                                          cms::Algorithm::fixed};
  nlohmann::json out = nlohmann::json::array();
  if (!options.json) {
    std::printf(
        "RUD writes of 4 KiB packets, window %u, %lld us, %llu Gb/s, seed %llu\n"
        "%-6s %6s %9s %6s %9s %9s %9s\n",
        options.window, static_cast<long long>(options.round_trip_us),
        static_cast<unsigned long long>(options.rate_gbps),
        static_cast<unsigned long long>(options.seed), "window", "loss", "Gb/s", "ratio", "packets",
        "resent", "time-outs");
  }
  for (const cms::Algorithm algorithm : kControls) {
    const char* const name = cms::name_of(algorithm);
    double lossless = 0;
    for (const double share : {0.0, 0.001, 0.01, 0.02, 0.05, 0.1}) {
      fep::Config config;
      config.cms = cms::Config::software();
      config.cms.algorithm = algorithm;
      config.pds.tx_window_packets = options.window;
      perf::LossPlan plan;
      plan.loss = share;
      plan.seed = options.seed;
      plan.rate_bps = options.rate_gbps * 1'000'000'000;
      plan.round_trip = Duration::microseconds(options.round_trip_us);
      plan.queue_bytes = options.queue_kib << 10;
      plan.host_delay = Duration::microseconds(options.host_delay_us);
      // The steady state, not the beginning.
      plan.warm_up = std::max(plan.warm_up, plan.round_trip * 250);
      plan.measured = std::max(plan.measured, plan.round_trip * 1000);
      const perf::LossFigure f = perf::goodput(config, plan);
      if (share == 0) lossless = f.goodput_gbps;
      const double ratio = f.goodput_gbps / lossless;
      out.push_back({{"control", name},
                     {"loss", share},
                     {"gbps", f.goodput_gbps},
                     {"ratio", ratio},
                     {"packets", f.packets},
                     {"resends", f.resends},
                     {"timeouts", f.timeouts},
                     {"seed", options.seed}});
      if (options.json) continue;
      std::printf("%-6s %5.1f%% %9.2f %6.3f %9llu %9llu %9llu\n", name, share * 100, f.goodput_gbps,
                  ratio, static_cast<unsigned long long>(f.packets),
                  static_cast<unsigned long long>(f.resends),
                  static_cast<unsigned long long>(f.timeouts));
    }
  }
  if (options.json) std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

perf::Timer timer_of(const Options& options) {
  return [&options](const std::function<void()>& prepare, const std::function<uint64_t()>& work) {
    double best = 1e300;
    for (uint32_t i = 0; i < options.repeats; ++i) {
      prepare();
      best = std::min(best, best_ns(1, work));
    }
    return best;
  };
}

// The cost of an ACK over a gap by the number of packets that are outstanding. [PDS-142]
int gap(const Options& options) {
  nlohmann::json out = nlohmann::json::array();
  for (const perf::GapFigure& f : perf::gap_figures(timer_of(options))) {
    out.push_back({{"outstanding", f.outstanding}, {"ns", f.ns}});
    if (!options.json) {
      std::printf("ACK over a gap, %5u packets outstanding %9.1f ns/ACK\n", f.outstanding, f.ns);
    }
  }
  if (options.json) std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

Figure message(const Options& options) {
  fep::Config config;
  config.cms = cms::Config::software();
  perf::Pair pair(config, 1);
  pair.tagged(64, 100);
  const double ns = best_ns(options.repeats, [&] { return pair.tagged(64, options.rounds); });
  return {"stack only, 64 B tagged message, one at a time", ns, "message"};
}

int print(const Options& options, const std::vector<Figure>& figures) {
  if (options.json) {
    nlohmann::json out = nlohmann::json::array();
    for (const Figure& f : figures) out.push_back({{"name", f.name}, {"ns", f.ns}, {"per", f.per}});
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
  }
  for (const Figure& f : figures) {
    std::printf("%-60s %9.1f ns/%s\n", f.name.c_str(), f.ns, f.per.c_str());
  }
  return 0;
}

// Commands with other measurements.
struct Commands {
  CLI::App* table = nullptr;
  CLI::App* lossy = nullptr;
  CLI::App* gaps = nullptr;
};

void add_loss_options(CLI::App& lossy, Options& options) {
  lossy.add_option("--seed", options.seed, "Seed of the network and of both ends")
      ->capture_default_str();
  lossy.add_option("--window", options.window, "Packets outstanding per connection")
      ->check(CLI::Range(1, 2048))
      ->capture_default_str();
  lossy.add_option("--rtt", options.round_trip_us, "Round trip without queues, in us")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  lossy.add_option("--rate", options.rate_gbps, "Rate of each link, in Gb/s")
      ->check(CLI::Range(1, 800))
      ->capture_default_str();
  lossy
      .add_option("--queue", options.queue_kib,
                  "KiB that a port of half the rate keeps before it drops; 0: no such port")
      ->check(CLI::Range(0, 65'536))
      ->capture_default_str();
  lossy
      .add_option("--host-delay", options.host_delay_us,
                  "Mean time until an end works again, in us; 0: it works at once")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
}

// `with_flows` measures the stack alone and goes with no command.
Commands add_commands(CLI::App& app, Options& options, CLI::Option* with_flows) {
  Commands c;
  c.table = app.add_subcommand("pdcs", "Cost of a packet by the number of PDCs, 1 to 4,096");
  c.lossy = app.add_subcommand("loss", "Goodput over a simulated network that loses packets");
  c.gaps =
      app.add_subcommand("gap", "Cost of an ACK over a gap by the number of outstanding packets");
  for (CLI::App* const command : {c.table, c.lossy, c.gaps}) {
    command->fallthrough();
    command->excludes(with_flows);
  }
  add_loss_options(*c.lossy, options);
  return c;
}

// The measurements without a command.
int measure_stack(const Options& options) {
  const double copy = copy_ns(options.repeats);
  if (options.flows != 0) return print(options, {stack(options, options.flows, copy)});
  std::vector<Figure> figures{{"copy of 4 KiB within the cache", copy, "copy"}};
  for (uint32_t flows : {1u, 64u, 1024u}) {
    figures.push_back(stack(options, flows, copy));
  }
  figures.push_back(message(options));
  return print(options, figures);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Measures the stack without I/O, in processor time of one thread; the best of several runs.\n"
      "For instructions per packet: valgrind --tool=callgrind uet_perf --flows 1 --repeats 1.\n"
      "Exit status: 0 measured, 2 wrong usage.",
      "uet_perf"};
  app.add_option("--repeats", options.repeats, "Timings of each figure")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds of one timing")
      ->check(CLI::Range(16, 10'000'000))
      ->capture_default_str();
  CLI::Option* const with_flows =
      app.add_option("--flows", options.flows,
                     "Measure only the stack, with N packet delivery contexts")
          ->check(CLI::Range(1, 4096));
  app.add_option("--packets", options.packets, "Number of 4 KiB packets in a message")
      ->check(CLI::Range(1, 256))
      ->needs(with_flows)
      ->capture_default_str();
  bool by_job = false;
  app.add_flag("--jobs", by_job, "The flows have one peer and a JobID each, not a peer each")
      ->needs(with_flows);
  app.add_flag("--json", options.json, "Print JSON");
  const Commands commands = add_commands(app, options, with_flows);
  if (const auto status = tools::parse(app, argc, argv)) return *status;
  if (by_job) options.spread = perf::Spread::jobs;
  const int status = commands.table->parsed()   ? pdcs(options)
                     : commands.lossy->parsed() ? loss(options)
                     : commands.gaps->parsed()  ? gap(options)
                                                : measure_stack(options);
  return tools::ended(app, status);
}
