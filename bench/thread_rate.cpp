// Gain of a second thread: threads that each send messages between two separate endpoints, in one
// domain with one engine, in one with an engine for each thread, and in a domain for each thread.
// The ways take turns; each runs in a separate process, because settings are read once.
#include "tools/common/command_line.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  std::string provider = "uet";
  std::string address = "127.0.0.1";
  size_t bytes = 64;
  uint32_t window = 32;  // messages of a thread at once
  uint32_t threads = 2;
  uint32_t rounds = 5;
  double seconds = 1;
};

struct Way {
  const char* name;
  bool has_engines;  // one for each thread
  bool has_domains;  // the same
};
constexpr std::array<Way, 3> kWays = {{{"one engine", false, false},
                                       {"an engine for each thread", true, false},
                                       {"a domain for each thread", false, true}}};

void check(ssize_t rc, const char* what) {
  if (rc < 0)
    throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-rc)));
}

// A domain and its address vector. Closed by the end of the process.
struct Place {
  explicit Place(const Options& options) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->fabric_attr->prov_name = strdup(options.provider.c_str());
    const int rc =
        fi_getinfo(FI_VERSION(1, 17), options.address.c_str(), nullptr, FI_SOURCE, hints, &info);
    fi_freeinfo(hints);
    check(rc, "fi_getinfo");
    check(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
    check(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
    fi_av_attr attr{};
    check(fi_av_open(domain, &attr, &av, nullptr), "fi_av_open");
  }

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
};

struct End {
  explicit End(const Place& at) {
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_CONTEXT;
    check(fi_cq_open(at.domain, &attr, &cq, nullptr), "fi_cq_open");
    check(fi_endpoint(at.domain, at.info, &ep, nullptr), "fi_endpoint");
    check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_ep_bind(ep, &at.av->fid, 0), "fi_ep_bind");
    check(fi_enable(ep), "fi_enable");
  }

  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
};

uint32_t read(fid_cq* cq) {
  std::array<fi_cq_entry, 64> entries;
  const ssize_t got = fi_cq_read(cq, entries.data(), entries.size());
  if (got == -FI_EAGAIN) return 0;
  check(got, "fi_cq_read");
  return static_cast<uint32_t>(got);
}

// Messages from one endpoint to another. They share a queue, so that one engine runs both.
class Stream {
 public:
  Stream(const Place& at, const Options& options)
      : window_(options.window), bytes_(options.bytes), from_(at), memory_(options.bytes) {
    check(fi_endpoint(at.domain, at.info, &to_, nullptr), "fi_endpoint");
    check(fi_ep_bind(to_, &from_.cq->fid, FI_TRANSMIT), "fi_ep_bind");
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_CONTEXT;
    check(fi_cq_open(at.domain, &attr, &received_, nullptr), "fi_cq_open");
    check(fi_ep_bind(to_, &received_->fid, FI_RECV), "fi_ep_bind");
    check(fi_ep_bind(to_, &at.av->fid, 0), "fi_ep_bind");
    check(fi_enable(to_), "fi_enable");
    std::array<std::byte, 256> name;
    size_t length = name.size();
    check(fi_getname(&to_->fid, name.data(), &length), "fi_getname");
    if (fi_av_insert(at.av, name.data(), 1, &peer_, 0, nullptr) != 1)
      throw std::runtime_error("fi_av_insert");
  }

  // Until `is_over`. Messages that arrived.
  uint64_t run(const std::atomic<bool>& is_over) {
    uint64_t arrived = 0;
    for (uint32_t i = 0; i < 2 * window_; ++i) post();
    uint32_t in_flight = 0;
    while (!is_over.load(std::memory_order_relaxed)) {
      while (in_flight < window_) {
        const ssize_t rc = fi_send(from_.ep, memory_.data(), bytes_, nullptr, peer_, nullptr);
        if (rc == -FI_EAGAIN) break;
        check(rc, "fi_send");
        ++in_flight;
      }
      in_flight -= read(from_.cq);
      const uint32_t got = read(received_);
      for (uint32_t i = 0; i < got; ++i) post();
      arrived += got;
    }
    return arrived;
  }

 private:
  void post() {
    check(fi_recv(to_, memory_.data(), bytes_, nullptr, FI_ADDR_UNSPEC, nullptr), "fi_recv");
  }

  const uint32_t window_;
  const size_t bytes_;
  End from_;
  fid_ep* to_ = nullptr;
  fid_cq* received_ = nullptr;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::vector<std::byte> memory_;
};

// Messages per second of all threads.
double rate(const Options& options, const Way& way, uint32_t threads) {
  std::vector<std::unique_ptr<Place>> places;
  for (uint32_t i = 0; i < (way.has_domains ? threads : 1); ++i)
    places.push_back(std::make_unique<Place>(options));
  std::vector<std::unique_ptr<Stream>> streams;
  for (uint32_t i = 0; i < threads; ++i)
    streams.push_back(std::make_unique<Stream>(*places[i % places.size()], options));
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> arrived{0};
  std::vector<std::thread> running;
  running.reserve(streams.size());
  const Clock::time_point begin = Clock::now();
  for (const auto& stream : streams) running.emplace_back([&] { arrived += stream->run(is_over); });
  std::this_thread::sleep_for(Seconds(options.seconds));
  is_over = true;
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(arrived) / Seconds(Clock::now() - begin).count();
}

// The same in a separate process, which ends without closing anything.
double rate_in_child(const Options& options, const Way& way, uint32_t threads) {
  std::array<int, 2> ends;
  check(::pipe(ends.data()) == 0 ? 0 : -errno, "pipe");
  const pid_t child = ::fork();
  check(child < 0 ? -errno : 0, "fork");
  if (child == 0) {
    if (way.has_engines) setenv("FI_UET_ENGINES", std::to_string(threads).c_str(), 1);
    double result = 0;
    try {
      result = rate(options, way, threads);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "thread_rate: %s\n", e.what());
    }
    const ssize_t written = ::write(ends[1], &result, sizeof result);
    ::_exit(written == sizeof result ? 0 : 1);
  }
  ::close(ends[1]);
  double result = 0;
  if (::read(ends[0], &result, sizeof result) != sizeof result) result = 0;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (result <= 0) throw std::runtime_error("a measurement failed");
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Options& options) {
  std::array<std::vector<double>, kWays.size()> alone, together, ratios;
  for (uint32_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < kWays.size(); ++i) {
      alone[i].push_back(rate_in_child(options, kWays[i], 1));
      together[i].push_back(rate_in_child(options, kWays[i], options.threads));
      ratios[i].push_back(together[i].back() / alone[i].back());
    }
  }
  std::printf("%-28s %14s %11u threads %7s\n", "messages per second", "one thread", options.threads,
              "ratio");
  for (size_t i = 0; i < kWays.size(); ++i) {
    std::printf("%-28s %14.0f %19.0f %7.2f\n", kWays[i].name, median(alone[i]), median(together[i]),
                median(ratios[i]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the gain of more threads: messages per second between their endpoints.",
               "thread_rate");
  app.add_option("--provider", options.provider, "provider of libfabric")->capture_default_str();
  app.add_option("--address", options.address, "local address that all use")->capture_default_str();
  app.add_option("--bytes", options.bytes, "octets of a message")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24))
      ->capture_default_str();
  app.add_option("--window", options.window, "messages of a thread in flight")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "number of threads, compared with one thread")
      ->check(CLI::Range(1u, 16u))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "rounds; medians are shown")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "duration of each measurement")
      ->check(uet::tools::number_between(0.01, 3600))
      ->capture_default_str();
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  try {
    compare(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "thread_rate: %s\n", e.what());
    return 1;
  }
  return 0;
}
