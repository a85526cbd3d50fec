// The time of copying a message from one buffer to another: what no transport that copies once can
// be faster than. The peer `copy` of bench/peers.sh.
#include "base/time.h"
#include "io/socket.h"
#include "tools/common/command_line.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using uet::Instant;
using uet::io::monotonic_now;

// A program with a window of messages has as many buffers; one of them is used at a time.
constexpr uint32_t kBuffers = 64;

double microseconds_per_copy(uint32_t bytes, uint32_t iterations) {
  const std::vector<char> from(bytes, 'u');
  std::vector<char> to(size_t{kBuffers} * bytes);
  Instant start;
  for (uint32_t i = 0; i < kBuffers + iterations; ++i) {
    if (i == kBuffers) start = monotonic_now();
    char* const place = to.data() + size_t{i % kBuffers} * bytes;
    std::memcpy(place, from.data(), bytes);
    asm volatile("" : : "r"(place) : "memory");  // the copy is not left out
  }
  return static_cast<double>((monotonic_now() - start).ns()) / 1e3 / iterations;
}

constexpr const char* kAbout =
    "Copies a message into 64 buffers in turn, and prints the time of a copy (us) and the "
    "bandwidth\n"
    "(MB/s, 10^6 octets) as JSON.\n"
    "Exit status: 0 done, 2 wrong usage.";

}  // namespace

int main(int argc, char** argv) {
  uint32_t bytes = 65536;
  uint32_t iterations = 1000;
  CLI::App app{kAbout, "copy_limit"};
  app.add_option("--bytes", bytes, "Of a message")
      ->check(CLI::Range(1U, 1U << 24))
      ->capture_default_str();
  app.add_option("--iterations", iterations, "Copies, after 64 that are not measured")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  const double us = microseconds_per_copy(bytes, iterations);
  std::printf("{\"bytes\": %u, \"us\": %.4f, \"mb_s\": %.2f}\n", bytes, us, bytes / us);
  return 0;
}
