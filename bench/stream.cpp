// Streams of tagged messages from one or more senders to one receiver, for some seconds, over any
// provider of libfabric: what bench/network.py measures with.
#include "tools/common/command_line.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr uint64_t kLast = uint64_t{1} << 32;  // in a tag, beside the sender's number
constexpr Seconds kPatience{60};               // between two completions

struct Options {
  std::string provider = "uet";
  std::string address;  // of the receiver
  std::string service = "4747";
  size_t bytes = 1 << 20;
  uint32_t window = 16;  // messages at once, of each sender
  double seconds = 5;
  double warm_up = 0.5;  // seconds that are not measured, after all senders were heard
  uint32_t senders = 1;
  uint32_t id = 0;      // of this sender
  bool sleeps = false;  // for completions, instead of polling
};

void check(ssize_t rc, const char* what) {
  if (rc < 0)
    throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-rc)));
}

// One endpoint with its queue. Closed by the end of the process.
class Peer {
 public:
  Peer(const Options& options, uint64_t flags) : sleeps_(options.sleeps) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_TAGGED;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->fabric_attr->prov_name = strdup(options.provider.c_str());
    const int rc = fi_getinfo(FI_VERSION(1, 17), options.address.c_str(), options.service.c_str(),
                              flags, hints, &info_);
    fi_freeinfo(hints);
    check(rc, "fi_getinfo");
    fi_av_attr av{};
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    cq.size = 1024;
    cq.wait_obj = sleeps_ ? FI_WAIT_UNSPEC : FI_WAIT_NONE;
    check(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    check(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
    check(fi_av_open(domain_, &av, &av_, nullptr), "fi_av_open");
    check(fi_cq_open(domain_, &cq, &cq_, nullptr), "fi_cq_open");
    check(fi_endpoint(domain_, info_, &ep_, nullptr), "fi_endpoint");
    check(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(ep_), "fi_enable");
    if (info_->dest_addr != nullptr &&
        fi_av_insert(av_, info_->dest_addr, 1, &to_, 0, nullptr) != 1)
      throw std::runtime_error("fi_av_insert: the address is not taken");
  }

  fid_ep* ep() { return ep_; }
  fi_addr_t to() const { return to_; }

  // The next completion. Throws for one in error, and when none comes.
  fi_cq_tagged_entry wait() {
    fi_cq_tagged_entry entry{};
    const auto until = Clock::now() + kPatience;
    for (;;) {
      const ssize_t got =
          sleeps_ ? fi_cq_sread(cq_, &entry, 1, nullptr, 1000) : fi_cq_read(cq_, &entry, 1);
      if (got == 1) return entry;
      if (got == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        fi_cq_readerr(cq_, &error, 0);
        throw std::runtime_error(std::string("a message failed: ") + fi_strerror(error.err));
      }
      if (got != -FI_EAGAIN) check(got, "reading completions");
      if (Clock::now() > until) throw std::runtime_error("no completion for a minute");
    }
  }
  void progress() { fi_cq_read(cq_, nullptr, 0); }

 private:
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
  bool sleeps_;
};

class Receiver {
 public:
  explicit Receiver(const Options& options)
      : options_(options), peer_(options, FI_SOURCE), bytes_(options.senders) {}

  // Prints, as JSON, the octets of each sender while all of them sent.
  void run() {
    const uint32_t posted = 2 * options_.window;
    buffers_.resize(posted);
    for (auto& buffer : buffers_) {
      buffer.resize(options_.bytes);
      post(buffer);
    }
    std::fputs("ready\n", stderr);
    std::vector<bool> heard(options_.senders);
    uint32_t missing = options_.senders;
    uint32_t ended = 0;
    Clock::time_point begin = Clock::time_point::max(), end{};
    while (ended < options_.senders) {
      const fi_cq_tagged_entry entry = peer_.wait();
      const auto now = Clock::now();
      const auto id = static_cast<uint32_t>(entry.tag);
      if (id >= options_.senders) throw std::runtime_error("a sender with a number too large");
      if (!heard[id] && --missing == 0)
        begin = now + std::chrono::duration_cast<Clock::duration>(Seconds(options_.warm_up));
      heard[id] = true;
      if ((entry.tag & kLast) != 0 && ended++ == 0) end = now;
      if (now >= begin && ended == 0) bytes_[id] += options_.bytes;
      post(*static_cast<std::vector<char>*>(entry.op_context));
    }
    print(end > begin ? Seconds(end - begin).count() : 0);
    answer_resends();
  }

 private:
  // The last ACKs may be lost: a sender that resends the last packets needs an answer.
  void answer_resends() {
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (Clock::now() < until) peer_.progress();
  }

  void post(std::vector<char>& buffer) {
    ssize_t rc;
    do {
      rc = fi_trecv(peer_.ep(), buffer.data(), buffer.size(), nullptr, FI_ADDR_UNSPEC, 0,
                    ~uint64_t{0}, &buffer);
      if (rc == -FI_EAGAIN) peer_.progress();
    } while (rc == -FI_EAGAIN);
    check(rc, "fi_trecv");
  }

  void print(double seconds) const {
    std::printf("{\"seconds\": %.6f, \"bytes\": [", seconds);
    for (size_t i = 0; i < bytes_.size(); ++i)
      std::printf("%s%llu", i == 0 ? "" : ", ", static_cast<unsigned long long>(bytes_[i]));
    std::puts("]}");
  }

  const Options& options_;
  Peer peer_;
  std::vector<std::vector<char>> buffers_;
  std::vector<uint64_t> bytes_;  // of each sender, while measured
};

void send(const Options& options) {
  Peer peer(options, 0);
  const std::vector<char> buffer(options.bytes, 'u');
  const auto until = Clock::now() + Seconds(options.seconds + options.warm_up);
  uint32_t in_flight = 0;
  bool is_over = false;
  while (!is_over || in_flight > 0) {
    while (!is_over && in_flight < options.window) {
      is_over = Clock::now() >= until;
      const uint64_t tag = options.id | (is_over ? kLast : 0);
      ssize_t rc;
      do {
        rc = fi_tsend(peer.ep(), buffer.data(), buffer.size(), nullptr, peer.to(), tag, nullptr);
        if (rc == -FI_EAGAIN) peer.progress();
      } while (rc == -FI_EAGAIN);
      check(rc, "fi_tsend");
      ++in_flight;
    }
    peer.wait();
    --in_flight;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Streams of tagged messages to one receiver, over any provider of libfabric.");
  app.add_option("-p,--provider", o.provider)->capture_default_str();
  app.add_option("--service", o.service, "port of the receiver")->capture_default_str();
  app.add_option("--bytes", o.bytes, "of a message")
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  app.add_option("--window", o.window, "messages of each sender in flight")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--seconds", o.seconds)->check(CLI::Range(0.1, 3600.0))->capture_default_str();
  app.add_flag("--sleep", o.sleeps, "sleep for completions instead of polling");
  CLI::App* receive = app.add_subcommand("receive", "receives and prints the counts as JSON");
  receive->add_option("address", o.address, "address of this host")->required();
  receive->add_option("--senders", o.senders)->check(CLI::Range(1, 4096));
  CLI::App* sending = app.add_subcommand("send", "sends for --seconds");
  sending->add_option("address", o.address, "address of the receiver")->required();
  sending->add_option("--id", o.id, "number of this sender, from 0")->check(CLI::Range(0, 4095));
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required))
    return *status;
  try {
    if (receive->parsed()) {
      Receiver(o).run();
    } else {
      send(o);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stream: %s\n", e.what());
    return 1;
  }
  return 0;
}
