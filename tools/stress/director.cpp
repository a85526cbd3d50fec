// The parent of all processes of a run. It never calls libfabric.
#include "tools/stress/director.h"

#include "tools/stress/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace uet::stress {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

constexpr size_t kDefectsMax = 50;
constexpr seconds kStale{15};  // time for which connections to an ended process may be kept
constexpr seconds kStartLimit{60};
constexpr seconds kSilenceLimit{120};  // a process reports its counts every second

// In the child: becomes a process of the run, and ends.
[[noreturn]] void become_worker(const Options& options, int fd, uint32_t slot, uint32_t incarnation,
                                const std::string& log) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file >= 0) dup2(file, STDERR_FILENO);
  setenv("FI_LOG_LEVEL", "warn", 0);
  if (options.provider == "uet") setenv("FI_PROVIDER", "uet", 1);  // others need not start
  if (options.same_name) {
    setenv("FI_UET_PID_ON_FEP", std::to_string(slot + 1).c_str(), 1);
    setenv("FI_UET_INITIATOR_ID", std::to_string(slot + 1).c_str(), 1);
  }
  const Link link(fd);
  int status = 1;
  try {
    status = Worker(options, link, slot, incarnation).run();
  } catch (const FabricError& error) {
    link.defect(error.what);
  } catch (const std::exception& error) {
    link.defect(error.what());
  }
  std::exit(status);
}

std::string log_of(const Options& options, uint32_t slot, uint32_t incarnation) {
  return options.logs + "/process-" + std::to_string(slot) + "." + std::to_string(incarnation) +
         ".log";
}

unsigned long long whole_seconds(std::chrono::steady_clock::duration time) {
  return static_cast<unsigned long long>(std::chrono::duration_cast<seconds>(time).count());
}

milliseconds about(Rng& rng, uint32_t mean_ms) {
  return milliseconds(rng.below(2 * uint64_t{mean_ms} + 1) + 1);
}

}  // namespace

Director::Director(const Options& options)
    : options_(options), rng_(mix(options.seed + 2)), processes_(options.processes) {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Director::~Director() { end_all(); }

void Director::start(uint32_t slot) {
  Process& process = processes_[slot];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    defect(slot, "no socket pair: the process cannot start");
    return;
  }
  ++process.incarnation;
  process.serial = ++starts_;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    close(ends[0]);
    for (const Process& other : processes_) {
      if (other.fd >= 0) close(other.fd);
    }
    become_worker(options_, ends[1], slot, process.incarnation,
                  log_of(options_, slot, process.incarnation));
  }
  close(ends[1]);
  process.pid = pid;
  process.fd = ends[0];
  process.state = State::starting;
  process.is_ending = false;
  process.stopped_until = {};
  process.heard = Clock::now();
  process.began = process.heard;
  process.tally = {};
  process.orphans.clear();
  if (options_.verbose) {
    say(slot, "starts: " + Traits::of(options_, slot, process.incarnation).text());
  }
}

Verdict Director::run() {
  began_ = Clock::now();
  next_line_ = began_ + seconds(options_.interval_s);
  for (uint32_t slot = 0; slot < options_.processes; ++slot) start(slot);
  loop_until(began_ + kStartLimit, State::working);
  if (verdict_.defects.empty() && !all_are(State::working)) {
    defect(0, "not all processes have started within a minute");
  }
  const auto now = Clock::now();
  next_kill_ = now + about(rng_, options_.kill_ms);
  next_stop_ = now + about(rng_, options_.stop_ms);
  const auto end = now + seconds(options_.duration_s);
  while (Clock::now() < end && !interrupted && verdict_.outcome.empty()) {
    harass(Clock::now());
    listen(20);
  }
  if (!interrupted && verdict_.outcome.empty()) finish();
  end_all();
  verdict_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  verdict_.tally = total();
  verdict_.outcome = !verdict_.defects.empty() ? "failed" : interrupted ? "interrupted" : "passed";
  return verdict_;
}

bool Director::all_are(State state) const {
  return std::all_of(processes_.begin(), processes_.end(),
                     [&](const Process& process) { return process.state >= state; });
}

void Director::loop_until(Clock::time_point end, State wanted) {
  while (!all_are(wanted) && Clock::now() < end && !interrupted && verdict_.outcome.empty()) {
    listen(20);
  }
}

void Director::listen(int timeout_ms) {
  std::vector<pollfd> fds;
  for (const Process& process : processes_) fds.push_back({process.fd, POLLIN, 0});
  (void)poll(fds.data(), fds.size(), timeout_ms);
  for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
    if (processes_[slot].fd < 0) continue;
    for (int lines = 0; lines < 256; ++lines) {
      const auto line = Link(processes_[slot].fd).hear();
      if (!line || line->empty()) break;
      hear(slot, *line);
    }
  }
  reap();
  const auto now = Clock::now();
  for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
    Process& process = processes_[slot];
    if (process.state == State::absent && process.start_at <= now) start(slot);
  }
  watch(now);
  if (now >= next_line_) progress(now);
}

void Director::hear(uint32_t slot, const std::string& line) {
  Process& process = processes_[slot];
  process.heard = Clock::now();
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  std::string rest = line.size() > verb.size() ? line.substr(verb.size() + 1) : "";
  if (verb == "hello") on_hello(slot, words);
  if (verb == "counts") {
    for (uint64_t& count : process.tally) words >> count;
  }
  if (verb == "failed") on_failed(slot, words);
  if (verb == "sent") on_sent(slot, words);
  if (verb == "idle") process.state = State::idle;
  if (verb == "compared") process.state = State::compared;
  if (verb == "closed") process.state = State::closed;
  if (verb == "defect") defect(slot, rest);
  if (verb == "receive_failed" || verb == "orphan") {
    ++verdict_.receives_failed;
    if (verb == "orphan") process.orphans.push_back(Clock::now());
    if (options_.verbose) say(slot, verb + ": " + rest);
    if (gone_.empty()) {
      defect(slot, verb + ", though no process has ended: " + rest);
    }
  }
}

void Director::on_hello(uint32_t slot, std::istringstream& words) {
  Process& process = processes_[slot];
  std::string name, key, base;
  words >> name >> key >> base;
  process.introduction = "peer " + std::to_string(slot) + " " +
                         std::to_string(process.incarnation) + " " + name + " " + key + " " + base;
  process.state = State::working;
  for (uint32_t other = 0; other < processes_.size(); ++other) {
    if (other == slot || processes_[other].state < State::working) continue;
    Link(processes_[other].fd).tell(process.introduction);
    Link(process.fd).tell(processes_[other].introduction);
  }
}

void Director::on_failed(uint32_t slot, std::istringstream& words) {
  uint32_t to = 0, incarnation = 0;
  int code = 0;
  words >> to >> incarnation >> code;
  std::string what;
  std::getline(words, what);
  if (gone_.count({to, incarnation}) != 0 || is_stale(slot, to, Clock::now())) {
    ++verdict_.failures_expected;
    if (options_.verbose) {
      say(slot, "failed toward " + std::to_string(to) + "." + std::to_string(incarnation) + what);
    }
  } else {
    defect(slot, "an operation failed toward process " + std::to_string(to) + "." +
                     std::to_string(incarnation) + ", which lives:" + what);
  }
}

// A process may get the port of one that has ended (with same_name it always does). Operations of
// an older process toward the old one fail once.
bool Director::is_stale(uint32_t slot, uint32_t to, Clock::time_point when) const {
  const Process& target = processes_[to];
  return target.serial > processes_[slot].serial && when >= target.began &&
         (options_.same_name || when - target.began < kStale);
}

// How many messages from `slot` to `to` may be missing. An injected message has no context, so the
// error of one that failed does not say which receiver it was sent to: each such error of `slot` in
// the time that is_stale() allows excuses one message.
uint32_t Director::excused(uint32_t slot, uint32_t to) const {
  const auto& orphans = processes_[slot].orphans;
  return static_cast<uint32_t>(std::count_if(orphans.begin(), orphans.end(),
                                             [&](auto when) { return is_stale(slot, to, when); }));
}

void Director::on_sent(uint32_t slot, std::istringstream& words) {
  uint32_t to = 0, incarnation = 0;
  std::string stream, count;
  words >> to >> incarnation >> stream >> count;
  if (processes_[to].incarnation != incarnation) return;
  expectations_[to].push_back("expect " + std::to_string(slot) + " " +
                              std::to_string(processes_[slot].incarnation) + " " + stream + " " +
                              count + " " + std::to_string(excused(slot, to)));
}

void Director::reap() {
  for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
    int status = 0;
    if (processes_[slot].pid > 0 && waitpid(processes_[slot].pid, &status, WNOHANG) > 0) {
      on_end(slot, status);
    }
  }
}

void Director::on_end(uint32_t slot, int status) {
  Process& process = processes_[slot];
  while (const auto line = Link(process.fd).hear()) {  // its last words
    if (line->empty()) break;
    hear(slot, *line);
  }
  const bool was_closed = process.state == State::closed;
  gone_.insert({slot, process.incarnation});
  close(process.fd);
  process.fd = -1;
  process.pid = -1;
  for (size_t i = 0; i < kCounts; ++i) past_[i] += process.tally[i];
  process.tally = {};
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!(process.is_ending && (killed || well)) && !(was_closed && well)) {
    defect(slot,
           (WIFSIGNALED(status) ? "it ended by signal " + std::to_string(WTERMSIG(status))
                                : "it ended with status " + std::to_string(WEXITSTATUS(status))) +
               "; its words are in " + log_of(options_, slot, process.incarnation));
    verdict_.outcome = "failed";
  }
  if (was_closed) return;
  process.state = State::absent;
  process.start_at = Clock::now() + (rng_.one_in(2) ? milliseconds(0) : about(rng_, 2000));
}

void Director::harass(Clock::time_point now) {
  for (Process& process : processes_) {
    if (process.stopped_until != Clock::time_point{} && now >= process.stopped_until) {
      process.resume();
    }
  }
  const auto slot = static_cast<uint32_t>(rng_.below(processes_.size()));
  const Process& process = processes_[slot];
  if (process.state != State::working || process.is_ending) return;
  if (options_.kill_ms != 0 && now >= next_kill_) {
    next_kill_ = now + about(rng_, options_.kill_ms);
    end_one(slot);
  } else if (options_.stop_ms != 0 && now >= next_stop_) {
    next_stop_ = now + about(rng_, options_.stop_ms);
    stop_one(slot, now);
  }
}

void Director::end_one(uint32_t slot) {
  Process& process = processes_[slot];
  gone_.insert({slot, process.incarnation});
  process.is_ending = true;
  const uint64_t how = rng_.below(4);
  if (how == 0 && process.stopped_until == Clock::time_point{}) {
    ++verdict_.left;
    Link(process.fd).tell("leave");
  } else if (how == 1 && process.stopped_until == Clock::time_point{}) {
    ++verdict_.exited;
    Link(process.fd).tell("exit");
  } else {
    ++verdict_.killed;
    kill(process.pid, SIGKILL);
  }
}

void Director::stop_one(uint32_t slot, Clock::time_point now) {
  Process& process = processes_[slot];
  if (process.stopped_until != Clock::time_point{}) return;
  ++verdict_.stopped;
  process.stopped_until = now + milliseconds(rng_.below(options_.stop_max_ms) + 1);
  kill(process.pid, SIGSTOP);
}

void Director::Process::resume() {
  stopped_until = {};
  heard = Clock::now();
  if (pid > 0) kill(pid, SIGCONT);
}

void Director::watch(Clock::time_point now) {
  for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
    Process& process = processes_[slot];
    if (process.pid < 0 || process.state == State::closed || now - process.heard < kSilenceLimit) {
      continue;
    }
    process.heard = now;
    defect(slot, process.is_ending ? "it does not end" : "it hangs: no word for two minutes");
    verdict_.outcome = "failed";
  }
}

void Director::phase(State wanted, const char* command, const char* name) {
  if (!verdict_.outcome.empty() || interrupted) return;
  tell_all(command);
  loop_until(Clock::now() + 2 * seconds(options_.patience_s), wanted);
  if (!all_are(wanted) && verdict_.outcome.empty() && !interrupted) {
    for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
      if (processes_[slot].state < wanted) defect(slot, std::string("it does not ") + name);
    }
    verdict_.outcome = "failed";
  }
}

// No process is killed from here on: every accepted message must arrive.
void Director::finish() {
  for (Process& process : processes_) process.resume();
  // Processes that were asked to end may still be ending.
  loop_until(Clock::now() + kStartLimit, State::working);
  while (std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& process) { return process.is_ending; }) &&
         !interrupted && verdict_.outcome.empty()) {
    listen(20);
  }
  loop_until(Clock::now() + kStartLimit, State::working);
  phase(State::idle, "end", "come to an end with its operations");
  for (const auto& [slot, lines] : expectations_) {
    for (const std::string& line : lines) Link(processes_[slot].fd).tell(line);
  }
  phase(State::compared, "compare", "say what it received");
  phase(State::closed, "close", "close its objects");
  const auto until = Clock::now() + kStartLimit;
  const auto runs = [](const Process& process) { return process.pid > 0; };
  while (std::any_of(processes_.begin(), processes_.end(), runs) && Clock::now() < until) {
    listen(20);
  }
}

void Director::tell_all(const std::string& line) {
  for (const Process& process : processes_) {
    if (process.fd >= 0) Link(process.fd).tell(line);
  }
}

void Director::end_all() {
  for (uint32_t slot = 0; slot < processes_.size(); ++slot) {
    Process& process = processes_[slot];
    if (process.pid <= 0) continue;
    if (process.state == State::closed) defect(slot, "it has closed its objects and does not end");
    kill(process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
    for (size_t i = 0; i < kCounts; ++i) past_[i] += process.tally[i];
    process.tally = {};
    process.pid = -1;
    close(process.fd);
    process.fd = -1;
  }
}

void Director::say(uint32_t slot, const std::string& what) const {
  const double at = std::chrono::duration<double>(Clock::now() - began_).count();
  std::fprintf(options_.people(), "%7.3f s  process %u.%u %s\n", at, slot,
               processes_[slot].incarnation, what.c_str());
}

void Director::defect(uint32_t slot, const std::string& what) {
  const std::string line =
      "process " + std::to_string(slot) + "." + std::to_string(processes_[slot].incarnation) +
      " (" + Traits::of(options_, slot, processes_[slot].incarnation).text() + "): " + what;
  if (verdict_.defects.size() == kDefectsMax) return;
  verdict_.defects.push_back(line);
  if (verdict_.defects.size() == kDefectsMax) verdict_.outcome = "failed";  // enough is known
  std::fprintf(options_.people(), "%4llu s  DEFECT %s\n", whole_seconds(Clock::now() - began_),
               line.c_str());
  std::fflush(options_.people());
}

Tally Director::total() const {
  Tally sum = past_;
  for (const Process& process : processes_) {
    for (size_t i = 0; i < kCounts; ++i) sum[i] += process.tally[i];
  }
  return sum;
}

void Director::progress(Clock::time_point now) {
  next_line_ = now + seconds(options_.interval_s);
  Tally sum = total();
  const uint64_t begun = at(sum, Count::sent) + at(sum, Count::tagged) + at(sum, Count::injected) +
                         at(sum, Count::written) + at(sum, Count::read) + at(sum, Count::atomics);
  const unsigned long long ends = verdict_.killed + verdict_.left + verdict_.exited;
  std::fprintf(options_.people(),
               "%4llu s  %llu operations, %llu MB checked; %llu ends, %llu stops; %llu failures"
               " toward the dead; %zu defects\n",
               whole_seconds(now - began_), static_cast<unsigned long long>(begun),
               static_cast<unsigned long long>(at(sum, Count::octets_in)) / 1'000'000, ends,
               static_cast<unsigned long long>(verdict_.stopped),
               static_cast<unsigned long long>(verdict_.failures_expected),
               verdict_.defects.size());
  std::fflush(options_.people());
}

}  // namespace uet::stress
