// Streams of tagged messages from one or more senders to one or more receiving endpoints, for some
// seconds, over any provider of libfabric: what bench/network.py, bench/many_peers.py and the test
// `processor` of bench/peers.sh measure with.
#include "tools/common/command_line.h"

#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr uint64_t kLast = uint64_t{1} << 32;  // in a tag, beside the sender's number
constexpr Seconds kPatience{60};               // between two completions
constexpr int kNap = 100;                      // milliseconds that --sleep sleeps at most

struct Options {
  std::string provider = "uet";
  std::string address;  // of the receiver; of the first one
  std::string service = "4747";
  size_t bytes = 1 << 20;
  uint32_t window = 16;  // messages at once, of each sender to each receiver
  double seconds = 5;
  double warm_up = 0.5;  // seconds that are not measured, after all senders were heard
  uint32_t senders = 1;
  uint32_t id = 0;  // of this sender
  uint32_t receivers = 1;
  uint32_t active = 0;  // receivers that get a stream, the others get one message; 0: all
  double rate = 0;      // 10^6 octets a second of this sender; 0: as fast as possible
  bool sleeps = false;  // for completions, instead of polling
};

void check(ssize_t rc, const char* what) {
  if (rc < 0)
    throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-rc)));
}

// The address `number` after an IPv4 address; number 0: any address or name.
std::string address_after(const std::string& first, uint32_t number) {
  if (number == 0) return first;
  in_addr address{};
  if (::inet_pton(AF_INET, first.c_str(), &address) != 1)
    throw std::runtime_error("several receivers need an IPv4 address");
  address.s_addr = htonl(ntohl(address.s_addr) + number);
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &address, text, sizeof text);
}

// What the provider offers for the address; the caller frees it.
fi_info* offer(const Options& options, const std::string& address, uint64_t flags) {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->fabric_attr->prov_name = strdup(options.provider.c_str());
  fi_info* info = nullptr;
  const int rc =
      fi_getinfo(FI_VERSION(1, 17), address.c_str(), options.service.c_str(), flags, hints, &info);
  fi_freeinfo(hints);
  check(rc, "fi_getinfo");
  return info;
}

// Processor time of this process so far, in seconds.
double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// One domain with an endpoint and its queue. Closed by the end of the process.
class Peer {
 public:
  Peer(const Options& options, const std::string& address, uint64_t flags)
      : info_(offer(options, address, flags)), sleeps_(options.sleeps) {
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
  }

  fid_ep* ep() { return ep_; }

  fi_addr_t insert(const void* address) {
    fi_addr_t to = FI_ADDR_UNSPEC;
    if (fi_av_insert(av_, address, 1, &to, 0, nullptr) != 1)
      throw std::runtime_error("fi_av_insert: the address is not taken");
    return to;
  }

  // The next completion; false: there is none, with --sleep none in `patience` milliseconds. Throws
  // for one in error.
  bool poll(fi_cq_tagged_entry& entry, int patience) {
    const ssize_t got =
        sleeps_ ? fi_cq_sread(cq_, &entry, 1, nullptr, patience) : fi_cq_read(cq_, &entry, 1);
    if (got == 1) return true;
    if (got == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      fi_cq_readerr(cq_, &error, 0);
      throw std::runtime_error(std::string("a message failed: ") + fi_strerror(error.err));
    }
    if (got != -FI_EAGAIN) check(got, "reading completions");
    return false;
  }
  void progress() { fi_cq_read(cq_, nullptr, 0); }

 private:
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  bool sleeps_;
};

// What one end has counted, as JSON.
void print(double seconds, double processor, const std::vector<uint64_t>& bytes) {
  std::printf("{\"seconds\": %.6f, \"processor_seconds\": %.6f, \"bytes\": [", seconds, processor);
  for (size_t i = 0; i < bytes.size(); ++i)
    std::printf("%s%llu", i == 0 ? "" : ", ", static_cast<unsigned long long>(bytes[i]));
  std::puts("]}");
}

class Receiver {
 public:
  explicit Receiver(const Options& options) : options_(options), bytes_(options.senders) {
    for (uint32_t i = 0; i < options.receivers; ++i)
      peers_.emplace_back(options, address_after(options.address, i), FI_SOURCE);
  }

  // Prints the octets of each sender while all of them sent.
  void run() {
    for (Peer& peer : peers_) {
      for (uint32_t i = 0; i < 2 * options_.window; ++i) {
        buffers_.emplace_back(options_.bytes);
        post(peer, buffers_.back());
      }
    }
    std::fputs("ready\n", stderr);
    last_ = Clock::now();
    heard_.resize(options_.senders);
    missing_ = options_.senders;
    while (ended_ < options_.senders) {
      for (Peer& peer : peers_) take_arrivals(peer);
      if (Clock::now() - last_ > kPatience) throw std::runtime_error("no message for a minute");
    }
    const bool is_measured = end_ > begin_;
    print(is_measured ? Seconds(end_ - begin_).count() : 0,
          is_measured ? processor_at_end_ - processor_at_begin_ : 0, bytes_);
    answer_resends();
  }

 private:
  // With several receivers some of what has arrived at each, in turn.
  void take_arrivals(Peer& peer) {
    fi_cq_tagged_entry entry{};
    for (uint32_t i = 0; i < options_.window && peer.poll(entry, kNap); ++i) {
      count(static_cast<uint32_t>(entry.tag), (entry.tag & kLast) != 0);
      post(peer, *static_cast<std::vector<char>*>(entry.op_context));
    }
  }

  void count(uint32_t id, bool is_last) {
    last_ = Clock::now();
    if (id >= options_.senders) throw std::runtime_error("a sender with a number too large");
    if (!heard_[id] && --missing_ == 0)
      begin_ = last_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.warm_up));
    heard_[id] = true;
    if (is_last && ended_++ == 0) {
      end_ = last_;
      processor_at_end_ = processor_seconds();
    }
    if (last_ < begin_ || ended_ > 0) return;
    if (processor_at_begin_ == 0) processor_at_begin_ = processor_seconds();
    bytes_[id] += options_.bytes;
  }

  // The last ACKs may be lost: a sender that resends the last packets needs an answer.
  void answer_resends() {
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (Clock::now() < until) {
      for (Peer& peer : peers_) peer.progress();
    }
  }

  void post(Peer& peer, std::vector<char>& buffer) {
    ssize_t rc;
    do {
      rc = fi_trecv(peer.ep(), buffer.data(), buffer.size(), nullptr, FI_ADDR_UNSPEC, 0,
                    ~uint64_t{0}, &buffer);
      if (rc == -FI_EAGAIN) peer.progress();
    } while (rc == -FI_EAGAIN);
    check(rc, "fi_trecv");
  }

  const Options& options_;
  std::deque<Peer> peers_;
  std::deque<std::vector<char>> buffers_;
  std::vector<uint64_t> bytes_;  // of each sender, while measured
  std::vector<bool> heard_;      // of each sender
  uint32_t missing_ = 0;         // senders that were not heard yet
  uint32_t ended_ = 0;           // senders that have sent their last message
  Clock::time_point begin_ = Clock::time_point::max(), end_{}, last_{};
  double processor_at_begin_ = 0, processor_at_end_ = 0;
};

class Sender {
 public:
  explicit Sender(const Options& options)
      : options_(options),
        peer_(options, options.address, 0),
        buffer_(options.bytes, 'u'),
        in_flight_(options.receivers) {
    for (uint32_t i = 0; i < options.receivers; ++i) {
      fi_info* info = offer(options, address_after(options.address, i), 0);
      to_.push_back(peer_.insert(info->dest_addr));
      fi_freeinfo(info);
    }
    active_ = options.active == 0 ? options.receivers : options.active;
  }

  // Prints the octets that were sent, and the time, after the warm-up.
  void run() {
    for (uint32_t i = active_; i < to_.size(); ++i) post(i, 0);
    while (total_ > 0) take_completion();
    const auto start = Clock::now();
    const auto warm = start + Seconds(options_.warm_up);
    const auto until = warm + Seconds(options_.seconds);
    double processor = 0;
    uint64_t at_warm = 0;
    last_ = start;
    for (uint32_t next = 0;; next = next + 1 == active_ ? 0 : next + 1) {
      const auto now = Clock::now();
      if (processor == 0 && now >= warm) {
        processor = processor_seconds();
        at_warm = posted_;
      }
      const uint64_t bound = options_.rate > 0 ? due(Seconds(now - start).count()) : ~uint64_t{0};
      while (in_flight_[next] == options_.window || posted_ >= bound) {
        if (!take_completion() && Clock::now() >= until) break;
        if (posted_ >= bound) break;
      }
      if (now >= until) break;
      if (in_flight_[next] < options_.window && posted_ < bound) post(next, 0);
    }
    const double used = processor_seconds() - processor;
    const double seconds = Seconds(Clock::now() - warm).count();
    print(seconds, used, {(posted_ - at_warm) * options_.bytes});
    while (in_flight_[0] == options_.window) take_completion();
    post(0, kLast);
    while (total_ > 0) take_completion();
  }

 private:
  // Messages that the rate allows until then.
  uint64_t due(double seconds) const {
    return static_cast<uint64_t>(seconds * options_.rate * 1e6 /
                                 static_cast<double>(options_.bytes));
  }

  void post(uint32_t receiver, uint64_t mark) {
    ssize_t rc;
    do {
      rc = fi_tsend(peer_.ep(), buffer_.data(), buffer_.size(), nullptr, to_[receiver],
                    options_.id | mark, &in_flight_[receiver]);
      if (rc == -FI_EAGAIN) take_completion();
    } while (rc == -FI_EAGAIN);
    check(rc, "fi_tsend");
    ++in_flight_[receiver];
    ++total_;
    ++posted_;
  }

  // False: there was none.
  bool take_completion() {
    fi_cq_tagged_entry entry{};
    if (!peer_.poll(entry, options_.rate > 0 ? 1 : kNap)) {
      if (Clock::now() - last_ > kPatience && total_ > 0)
        throw std::runtime_error("no completion for a minute");
      return false;
    }
    last_ = Clock::now();
    --*static_cast<uint32_t*>(entry.op_context);
    --total_;
    return true;
  }

  const Options& options_;
  Peer peer_;
  const std::vector<char> buffer_;
  std::vector<fi_addr_t> to_;
  std::vector<uint32_t> in_flight_;  // of each receiver
  uint32_t active_ = 0;              // receivers that get a stream
  uint32_t total_ = 0;               // in flight
  uint64_t posted_ = 0;
  Clock::time_point last_ = Clock::now();  // when the last completion came
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Streams of tagged messages, over any provider of libfabric.");
  app.add_option("-p,--provider", o.provider, "name of the libfabric provider")
      ->capture_default_str();
  app.add_option("--service", o.service, "port of the receiver")->capture_default_str();
  app.add_option("--bytes", o.bytes, "length of a message in octets")
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  app.add_option("--window", o.window, "messages in flight from each sender to each receiver")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "how long to send, after a warm-up of 0.5 s")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_flag("--sleep", o.sleeps, "sleep for completions instead of polling");
  app.add_option(
         "--receivers", o.receivers,
         "number of receiving domains, at consecutive IPv4 addresses; senders serve them in "
         "turn")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  CLI::App* receive =
      app.add_subcommand("receive", "Receive from --senders senders. Both ends print JSON.");
  receive->add_option("address", o.address, "address of this host")->required();
  receive->add_option("--senders", o.senders, "number of senders to wait for")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI::App* sending = app.add_subcommand("send", "Send for --seconds.");
  sending->add_option("address", o.address, "address of the receiver")->required();
  sending->add_option("--id", o.id, "number of this sender, from 0")->check(CLI::Range(0, 4095));
  sending
      ->add_option("--active", o.active,
                   "number of receivers that get a stream; each other one gets one message; 0: all")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  sending->add_option("--rate", o.rate, "rate in MB/s (10^6 octets/s); 0: as fast as possible")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required))
    return *status;
  o.active = std::min(o.active, o.receivers);
  if (o.sleeps && o.receivers > 1) {
    return uet::tools::misuse(app, "--sleep waits for one queue: it needs --receivers 1");
  }
  try {
    if (receive->parsed()) {
      Receiver(o).run();
    } else {
      Sender(o).run();
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stream: %s\n", e.what());
    return 1;
  }
  return 0;
}
