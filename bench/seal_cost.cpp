// Cost of sealing and opening a packet, in nanoseconds, and the share of the speed that `openssl
// speed -evp aes-256-gcm` shows for blocks of the same size in the same run. [TSS-138]
#include "tools/common/command_line.h"
#include "tss/opener.h"
#include "tss/sealer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace uet;
using namespace uet::tss;

constexpr uint32_t kSdi = 1;
constexpr uint32_t kHeaderBytes = 56;  // of PDS and SES, in front of the payload
constexpr uint32_t kBatch = 32;

struct Options {
  uint32_t seconds = 1;
  uint32_t rounds = 3;
  std::vector<uint32_t> sizes = {64, 1024, 4096, 8192};
  bool with_openssl = true;
};

struct End {
  End() : secrets(2) {
    DomainsConfig config;
    config.domains = 1;
    config.ready_keys = 16;
    config.sources = 16;
    const auto created = domains.create(arena, config, secrets, 1);
    if (!created.ok()) std::exit(1);
    DomainTerms terms;
    terms.sdi = kSdi;
    const auto added = domains.add(terms, wire::IpFamily::v4);
    Key key;
    key.sdi = kSdi;
    key.mode = Mode::cluster;
    key.secret.fill(std::byte{0x11});
    const bool is_ready = domains.install(key, Instant::zero()).ok() &&
                          (*added)->transmit_with(false, Instant::zero()).ok();
    if (!is_ready) std::exit(1);
    (*added)->grant(false, 0, kCounterMax);
  }
  Arena arena;
  std::vector<KeySecret> secrets;
  Domains domains;
  Sealer sealer{domains};
  Opener opener{domains};
};

double ns_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
}

// Batches of packets of header and payload, each to its own room and back.
class Run {
 public:
  explicit Run(uint32_t payload_bytes)
      : header_(kHeaderBytes), payload_(payload_bytes, std::byte{0x5A}) {
    header_[0] = std::byte{0x11};
    slice_[0] = {payload_.data(), payload_.size()};
    for (uint32_t i = 0; i < kBatch; ++i) {
      rooms_.emplace_back(kHeaderBytes + payload_bytes + kSealBytesMax);
      packets_.push_back({.header = header_,
                          .payload = slice_,
                          .sdi = kSdi,
                          .route = route_,
                          .client_ssi = {},
                          .room = rooms_[i]});
    }
  }

  // Nanoseconds a packet, in the median of the batches.
  void measure(uint32_t seconds) {
    const auto begun = std::chrono::steady_clock::now();
    while (ns_since(begun) < seconds * 1e9) {
      const auto sealing = std::chrono::steady_clock::now();
      sealed_ += a_->sealer.seal(std::span(packets_), Instant::zero());
      seal_ns_.push_back(ns_since(sealing) / kBatch);
      const auto opening = std::chrono::steady_clock::now();
      for (uint32_t i = 0; i < kBatch; ++i) {
        const auto packet = std::span(rooms_[i]).first(packets_[i].sealed_bytes);
        opened_ += b_->opener.unseal(packet, route_, Instant::zero()).ok() ? 1 : 0;
      }
      open_ns_.push_back(ns_since(opening) / kBatch);
    }
  }

  bool is_good() const { return sealed_ == opened_ && sealed_ == kBatch * seal_ns_.size(); }
  double seal_ns() { return median(seal_ns_); }
  double open_ns() { return median(open_ns_); }

 private:
  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<long>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const Route route_{.source = wire::IpAddress::v4(0x0A000001),
                     .destination = wire::IpAddress::v4(0x0A000002),
                     .entropy = 0xC242,
                     .destination_port = 4793};
  std::unique_ptr<End> a_ = std::make_unique<End>(), b_ = std::make_unique<End>();
  std::vector<std::byte> header_, payload_;
  std::array<IoSlice, 1> slice_;
  std::vector<std::vector<std::byte>> rooms_;
  std::vector<ClearPacket> packets_;
  std::vector<double> seal_ns_, open_ns_;
  uint64_t sealed_ = 0, opened_ = 0;
};

// Nanoseconds that the cipher alone takes for `octets` octets; 0: the program is missing.
double openssl_ns(uint32_t octets, uint32_t seconds) {
  const std::string command = "openssl speed -mr -seconds " + std::to_string(seconds) + " -bytes " +
                              std::to_string(octets) + " -evp aes-256-gcm 2>/dev/null";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return 0;
  double octets_per_second = 0;
  char line[256];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    std::sscanf(line, "+F:%*d:%*[^:]:%lf", &octets_per_second);
  }
  pclose(output);
  return octets_per_second > 0 ? octets * 1e9 / octets_per_second : 0;
}

// Keeps the least value above 0: other programs disturb some rounds more than others.
void keep_least(double& least, double value) {
  if (value > 0 && (least == 0 || value < least)) least = value;
}

int measure(const Options& options) {
  std::printf("%8s %10s %10s %10s %8s %8s\n", "payload", "seal ns", "open ns", "cipher ns", "seal",
              "open");
  for (const uint32_t size : options.sizes) {
    const uint32_t octets = kHeaderBytes + size;
    double seal = 0, open = 0, cipher = 0;
    for (uint32_t round = 0; round < options.rounds; ++round) {
      Run run(size);
      run.measure(options.seconds);
      if (!run.is_good()) {
        std::fprintf(stderr, "seal_cost: a packet was not opened\n");
        return 1;
      }
      keep_least(seal, run.seal_ns());
      keep_least(open, run.open_ns());
      if (options.with_openssl) keep_least(cipher, openssl_ns(octets, options.seconds));
    }
    std::printf("%8u %10.0f %10.0f %10.0f %7.1f%% %7.1f%%\n", size, seal, open, cipher,
                100 * cipher / seal, 100 * cipher / open);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Measures what sealing and opening a packet costs: PDS and SES headers of 56 octets and\n"
      "a payload, in batches of 32, AES-256-GCM, one thread. The last columns are the speed as\n"
      "a share of what `openssl speed` shows for as many octets.\n"
      "Exit status: 0 done, 1 a packet was not opened, 2 on bad usage.",
      "seal_cost"};
  Options options;
  app.add_option("--seconds", options.seconds, "Of each measurement")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Measurements of each size; the best counts")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Octets of payload")
      ->delimiter(',')
      ->check(CLI::Range(0, 60000))
      ->capture_default_str();
  app.add_flag("!--no-openssl", options.with_openssl, "Do not run openssl");
  if (const auto status = tools::parse(app, argc, argv)) return *status;
  return measure(options);
}
