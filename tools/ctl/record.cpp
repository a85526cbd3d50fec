// `uet_ctl record`: the congestion contexts of running processes over time, into a file.
#include "tools/ctl/command.h"
#include "tools/ctl/look.h"
#include "tools/ctl/plot.h"
#include "tools/ctl/recording.h"

#include "prov/uet/settings/values.h"

#include "io/socket.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

namespace uet::tools {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

// A domain answers every 10 ms at most.
constexpr prov::Setting kInterval{.name = "interval",
                                  .kind = prov::Kind::time,
                                  .unit = "us",
                                  .min = 10'000,
                                  .max = 3'600'000'000};
constexpr prov::Setting kSpan{.name = "for",
                              .kind = prov::Kind::time,
                              .unit = "us",
                              .min = 10'000,
                              .max = int64_t{30} * 86'400'000'000};

struct RecordOptions {
  std::vector<pid_t> pids;
  std::string out;
  std::string page;
  std::string interval = "100ms";
  std::string span;
  uint32_t most = 256;
  double mb_max = 256;
  bool is_quiet = false;
};

// CLI11's check of a time.
std::function<std::string(const std::string&)> check_of(const prov::Setting& row) {
  return [&row](const std::string& text) -> std::string {
    if (prov::parse_value(row, text)) return {};
    return text + " is not a time from " + prov::print_value(row, row.min) + " to " +
           prov::print_value(row, row.max) + " with its unit, such as 100ms or 10s";
  };
}

// Ctrl-C and its like, seen between two samples.
class Interruption {
 public:
  Interruption() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
  }
  // Waits until then; true: interrupted.
  bool comes_before(Clock::time_point until) const {
    for (;;) {
      const auto left = std::max(until - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      timespec patience{};
      patience.tv_sec = seconds.count();
      patience.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
      if (sigtimedwait(&signals_, nullptr, &patience) > 0) return true;
      if (errno == EAGAIN) return false;
    }
  }

 private:
  sigset_t signals_;
};

class Session {
 public:
  Session(const RecordOptions& options, std::FILE* out)
      : options_(options),
        recorder_(out, static_cast<uint64_t>(options.mb_max * 1e6), options.most),
        interval_(*prov::parse_value(kInterval, options.interval)) {
    if (!options.span.empty())
      end_ = begun_ + Microseconds(*prov::parse_value(kSpan, options.span));
  }

  // Samples until something ends it; `first` was taken already. Returns the exit status.
  int run(const Look& first) {
    const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
    recorder_.begin(std::chrono::duration_cast<std::chrono::milliseconds>(unix_time).count(),
                    interval_.count() / 1000);
    const char* reason = take(first);
    while (reason == nullptr) {
      // Instants that have passed while domains were asked are left out.
      const auto passed = (Clock::now() - begun_) / interval_;
      const auto next = std::min(begun_ + interval_ * (passed + 1), end_);
      if (interruption_.comes_before(next)) {
        reason = "interrupted";
      } else if (Clock::now() >= end_) {
        reason = "time";
      } else {
        reason = take(look_at(options_));
      }
    }
    recorder_.end(reason);
    return sum_up(reason);
  }

  static Look look_at(const RecordOptions& options) {
    return look(options.pids,
                [&](const Found& domain) { return ask_contexts(domain, options.most); });
  }

 private:
  // Why the recording ends with this sample; null: it continues.
  const char* take(const Look& now) {
    for (const std::string& problem : now.problems) {
      is_complete_ = false;
      if (told_.size() < 100 && told_.insert(problem).second) {
        std::fprintf(stderr, "uet_ctl: %s\n", problem.c_str());
      }
    }
    if (now.domains.empty() && now.problems.empty()) return "gone";
    const auto at = std::chrono::duration_cast<Microseconds>(Clock::now() - begun_);
    recorder_.add(at.count(), now.domains);
    if (recorder_.is_full()) return "full";
    if (recorder_.has_failed()) return "failed";
    tell_progress();
    return nullptr;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  // A line a second.
  void tell_progress() {
    if (options_.is_quiet || Clock::now() - told_at_ < std::chrono::seconds(1)) return;
    told_at_ = Clock::now();
    std::fprintf(stderr, "%.0f s", seconds());
    if (!options_.span.empty()) {
      std::fprintf(stderr, " of %.0f s", std::chrono::duration<double>(end_ - begun_).count());
    }
    std::fprintf(stderr, ", %llu samples of %zu contexts, %llu octets\n",
                 static_cast<unsigned long long>(recorder_.samples()), recorder_.contexts(),
                 static_cast<unsigned long long>(recorder_.bytes()));
  }

  int sum_up(std::string_view reason) const {
    if (recorder_.has_failed()) {
      std::fprintf(stderr, "uet_ctl: %s cannot be written: %s\n", options_.out.c_str(),
                   io::errno_text(errno).c_str());
      return 2;
    }
    std::FILE* const to = options_.out == "-" ? stderr : stdout;
    std::fprintf(to, "%s: %llu samples of %zu contexts in %.1f s, %llu octets",
                 options_.out.c_str(), static_cast<unsigned long long>(recorder_.samples()),
                 recorder_.contexts(), seconds(),
                 static_cast<unsigned long long>(recorder_.bytes()));
    if (reason == "gone") std::fprintf(to, "; all processes have ended");
    if (reason == "full") std::fprintf(to, "; the file has the size of --max-mb");
    if (reason == "interrupted") std::fprintf(to, "; interrupted");
    if (recorder_.left_out() > 0) {
      std::fprintf(to, "; %llu contexts left out (--most)",
                   static_cast<unsigned long long>(recorder_.left_out()));
    }
    std::fprintf(to, "\n");
    return is_complete_ ? kGood : kIncomplete;
  }

  const RecordOptions& options_;
  Interruption interruption_;
  Recorder recorder_;
  Microseconds interval_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point end_ = Clock::time_point::max();
  Clock::time_point told_at_ = begun_;
  std::set<std::string> told_;
  bool is_complete_ = true;
};

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

int record(const RecordOptions& options) {
  if (!options.page.empty() && options.out == "-") {
    std::fprintf(stderr, "uet_ctl record: --page needs --out FILE (see uet_ctl record --help)\n");
    return 2;
  }
  if (!options.page.empty() && !can_plot("record --page")) return 2;
  const Look first = Session::look_at(options);
  if (first.domains.empty()) {
    return tell_problems(first) ? explain_nothing(options.pids) : kIncomplete;
  }
  std::unique_ptr<std::FILE, Close> file;
  if (options.out != "-") {
    file.reset(std::fopen(options.out.c_str(), "we"));
    if (file == nullptr) {
      std::fprintf(stderr, "uet_ctl: %s cannot be written: %s\n", options.out.c_str(),
                   io::errno_text(errno).c_str());
      return 2;
    }
  }
  const int status = Session(options, file ? file.get() : stdout).run(first);
  if (options.page.empty() || status == 2) return status;
  const int plotted = plot_file(options.out, options.page);
  return plotted != 0 ? plotted : status;
}

}  // namespace

Command add_record(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "record", "Record the congestion contexts of all open domains as time series");
  const auto options = std::make_shared<RecordOptions>();
  RecordOptions& o = *options;
  add_pids(*command, o.pids);
  command
      ->add_option("--out", o.out,
                   "File to write, one JSON object in each line; -: standard output")
      ->required();
  command->add_option("--interval", o.interval, "Time between samples, such as 100ms")
      ->check(check_of(kInterval))
      ->capture_default_str();
  command->add_option("--for", o.span, "How long to record, such as 10s (default: until Ctrl-C)")
      ->check(check_of(kSpan));
  command->add_option("--most", o.most, "Number of contexts recorded, busy ones first")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--max-mb", o.mb_max, "Stop when the file has this size, in 10^6 octets")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command->add_option("--page", o.page, "Also plot the recording into this HTML page at the end");
  command->add_flag("--quiet", o.is_quiet, "Print no progress on standard error");
  return {command, [options] { return record(*options); }};
}

}  // namespace uet::tools
