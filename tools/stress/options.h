// The options of a run of the stress program, and the behaviour of its processes.
#pragma once

#include "tools/stress/message.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace uet::stress {

enum class Order : uint8_t {
  none,
  all,
  random,
};

struct Options {
  uint64_t seed = 0;  // 0: from the clock
  std::string provider = "uet";
  uint32_t duration_s = 600;
  uint32_t processes = 6;
  uint32_t peers = 3;  // of each process: the messages that follow it
  uint32_t bytes_max = 1 << 20;
  uint32_t window = 32;     // operations of a process at once
  uint32_t kill_ms = 8000;  // on average, between two ends of processes; 0: none
  uint32_t stop_ms = 4000;  // the same between two that are stopped
  uint32_t stop_max_ms = 3000;
  uint32_t slow_max_ms = 1000;  // longest sleep of a slow receiver; 0: none
  uint32_t hosts = 1;           // addresses of 127.0.47.0/24 that the processes are spread over
  uint32_t patience_s = 150;    // an operation that takes longer is a defect
  uint32_t interval_s = 10;     // between lines of progress
  std::string order = "random";
  std::vector<std::string> only;  // kinds of operations; empty: all
  bool same_name = false;         // a restarted process has the name of its predecessor
  bool multi_recv = true;         // some processes post multi-receive buffers
  bool verbose = false;
  bool json = false;  // the result on standard output, all else on standard error
  std::string logs;

  std::FILE* people() const { return json ? stderr : stdout; }
};

enum class Waiting : uint8_t {
  poll,
  sread,
  fd,
};

// Options that differ from process to process.
struct Traits {
  bool ordered;
  bool multi_recv;
  bool one_queue;
  bool auto_progress;
  Waiting waiting;
  size_t queue_size;  // 0: the provider's

  static Traits of(const Options& options, uint32_t slot, uint32_t incarnation) {
    Rng rng(mix(options.seed) ^ (uint64_t{slot} << 32 | incarnation));
    Traits traits{};
    traits.ordered = options.order == "all" || (options.order == "random" && rng.one_in(2));
    traits.multi_recv = rng.one_in(3) && options.multi_recv;
    traits.one_queue = rng.one_in(3);
    traits.auto_progress = rng.one_in(3);
    traits.waiting = static_cast<Waiting>(rng.below(3));
    traits.queue_size = rng.one_in(3) ? 256 : 0;
    if (traits.waiting == Waiting::sread) traits.one_queue = true;
    return traits;
  }
  std::string text() const {
    static const char* const kWaiting[] = {"polls", "sleeps in sread", "sleeps on descriptors"};
    return std::string(ordered ? "ordered" : "unordered") + (multi_recv ? ", multi-receive" : "") +
           (one_queue ? ", one queue" : ", two queues") + (queue_size ? " of 256" : "") +
           (auto_progress ? ", automatic progress, " : ", manual progress, ") +
           kWaiting[static_cast<int>(waiting)];
  }
};

}  // namespace uet::stress
