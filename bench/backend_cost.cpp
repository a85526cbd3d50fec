// What it costs a thread to move packets by UDP sockets: system calls of its own, or io_uring.
// Both ends are in one thread, over the loopback interface, and its processor time is counted, so
// that other programs disturb little. The ways take turns.
#include "io/udp/udp.h"
#include "tools/common/command_line.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace uet;

struct Options {
  uint32_t rounds = 15;
  uint32_t repeats = 2000;
};

FabricAddress address(uint8_t host) { return FabricAddress::v4(0x7F4E0000U | host); }

std::unique_ptr<io::UdpIo> open(uint8_t host, bool ring) {
  io::UdpOptions options;
  options.local = address(host);
  options.mtu_bytes = 9000;
  options.ring = ring;
  options.ring_settled_calls = 1;
  std::string error;
  auto io = io::UdpIo::open(options, &error);
  if (io == nullptr) {
    std::fprintf(stderr, "backend_cost: %s\n", error.c_str());
    std::exit(1);
  }
  return io;
}

double cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Two ends and their packets.
class Pair {
 public:
  explicit Pair(bool ring) : a_(open(ring ? 3 : 1, ring)), b_(open(ring ? 4 : 2, ring)) {}

  void look() { (void)a_->receive(); }
  void round_trip() {
    move(*a_, *b_, 1, 64, 1);
    move(*b_, *a_, 1, 64, 1);
  }
  // A batch of a stream: eight bursts of packets, each with another entropy value.
  void burst() { move(*a_, *b_, 56, 8192, 7); }
  // Short packets to one peer, a path each.
  void fan() { move(*a_, *b_, 7, 64, 7); }
  uint64_t system_calls() const { return count(*a_) + count(*b_); }

 private:
  static uint64_t count(const io::UdpIo& io) {
    uint64_t calls = 0;
    uint64_t by_ring = 0;
    io.report_counters([&](const char* name, uint64_t value) {
      const std::string text = name;
      if (text == "udp_rx_system_calls" || text == "udp_tx_system_calls") calls += value;
      if (text == "uring_rx_system_calls") by_ring += value;
    });
    return calls + by_ring;
  }
  void move(io::UdpIo& from, io::UdpIo& to, uint32_t packets, uint32_t octets, uint32_t paths) {
    batch_->clear();
    for (uint32_t i = 0; i < packets; ++i) {
      batch_->begin();
      batch_->add_payload(payload_.data(), octets);
      const auto ev = static_cast<uint16_t>(uint64_t{i} * paths / packets);
      batch_->commit(56, to.local_address(), Entropy(ev), 8, Ecn::ect0);
    }
    from.send(batch_->packets());
    uint32_t left = packets;
    for (int tries = 0; left > 0 && tries < 1000; ++tries) {
      left -= std::min<uint32_t>(left, static_cast<uint32_t>(to.receive().size()));
    }
  }

  std::unique_ptr<io::UdpIo> a_;
  std::unique_ptr<io::UdpIo> b_;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
  std::vector<std::byte> payload_ = std::vector<std::byte>(16384);
};

struct Work {
  const char* name;
  void (Pair::*run)();
  uint32_t share;  // of the repeats
};
constexpr std::array<Work, 4> kWork = {{{"a look that finds nothing", &Pair::look, 1},
                                        {"64 octets there and back", &Pair::round_trip, 1},
                                        {"7 x 64 octets, 7 sockets", &Pair::fan, 2},
                                        {"56 x 8192 octets, 7 sockets", &Pair::burst, 20}}};

struct Figure {
  double ns;
  double calls;
};

Figure measure(Pair& pair, const Work& work, uint32_t repeats) {
  repeats = std::max(1u, repeats / work.share);
  const uint64_t calls = pair.system_calls();
  const double begun = cpu_ns();
  for (uint32_t i = 0; i < repeats; ++i) (pair.*work.run)();
  const double ns = (cpu_ns() - begun) / repeats;
  return {ns, static_cast<double>(pair.system_calls() - calls) / repeats};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Options& options) {
  Pair calls(false);
  Pair ring(true);
  std::printf("%-28s %10s %10s %7s %7s %7s\n", "", "calls ns", "ring ns", "ratio", "calls", "ring");
  for (const Work& work : kWork) {
    std::vector<double> one, other, ratio;
    Figure a{}, b{};
    for (uint32_t i = 0; i <= options.rounds; ++i) {
      a = measure(calls, work, options.repeats);
      b = measure(ring, work, options.repeats);
      if (i == 0) continue;  // warms up
      one.push_back(a.ns);
      other.push_back(b.ns);
      ratio.push_back(b.ns / a.ns);
    }
    std::printf("%-28s %10.0f %10.0f %7.2f %7.2f %7.2f\n", work.name, median(one), median(other),
                median(ratio), a.calls, b.calls);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Processor time of moving packets: system calls against io_uring.", "backend_cost");
  app.add_option("--rounds", options.rounds, "rounds of each way; medians are shown")
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--repeats", options.repeats, "repeats in a round")
      ->check(CLI::Range(1u, 1'000'000u));
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  compare(options);
  return 0;
}
