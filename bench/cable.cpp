// Two TAP devices joined by a cable: each frame arrives at the other end after a delay, or is lost.
// bench/network.py gives one end to each of two hosts. The kernel of a small machine may have no
// netem, which does the same.
//
// The program ends when its standard input does, and says what it did. A line there changes the
// loss: "loss PERCENT".
#include "tools/common/command_line.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFrameBytes = 9216;
constexpr size_t kFrames = 8192;  // on the way in one direction
constexpr int kAtOnce = 64;       // frames taken from one end before the other is served

int open_tap(const std::string& name) {
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(std::string("/dev/net/tun: ") + std::strerror(errno));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(fd, TUNSETIFF, &request) != 0) {
    throw std::runtime_error(name + ": " + std::strerror(errno));
  }
  return fd;
}

// The frames on the way in one direction, in order: all have the same delay.
class Direction {
 public:
  Direction(int from, int to) : from_(from), to_(to), frames_(kFrames) {}

  // Takes frames that wait at the beginning. Whether there may be more.
  bool take(Clock::time_point now, Clock::duration delay, double loss, std::mt19937_64& random) {
    for (int i = 0; i < kAtOnce; ++i) {
      Frame& frame = frames_[taken_ % kFrames];
      if (taken_ - sent_ == kFrames) return false;  // they wait in the queue of the device
      const ssize_t bytes = ::read(from_, frame.octets.data(), frame.octets.size());
      if (bytes <= 0) return false;
      if (std::uniform_real_distribution<double>(0, 100)(random) < loss) {
        ++lost_;
        continue;
      }
      frame.bytes = static_cast<size_t>(bytes);
      frame.due = now + delay;
      ++taken_;
    }
    return true;
  }
  // Frames that are due arrive; one that the device does not take is refused.
  void deliver(Clock::time_point now) {
    for (; sent_ != taken_ && frames_[sent_ % kFrames].due <= now; ++sent_) {
      const Frame& frame = frames_[sent_ % kFrames];
      if (::write(to_, frame.octets.data(), frame.bytes) < 0) ++refused_;
    }
  }
  // When the next frame arrives; never: none is on the way.
  Clock::time_point next() const {
    return sent_ == taken_ ? Clock::time_point::max() : frames_[sent_ % kFrames].due;
  }
  void report(const char* name) const {
    std::fprintf(stderr, "cable %s: %llu frames, %llu lost, %llu refused\n", name,
                 static_cast<unsigned long long>(taken_), static_cast<unsigned long long>(lost_),
                 static_cast<unsigned long long>(refused_));
  }

 private:
  struct Frame {
    Clock::time_point due;
    size_t bytes = 0;
    std::array<char, kFrameBytes> octets;
  };

  int from_, to_;
  std::vector<Frame> frames_;
  uint64_t taken_ = 0, sent_ = 0;  // frames
  uint64_t lost_ = 0, refused_ = 0;
};

// False: the input has ended.
bool read_command(double& loss) {
  char line[64];
  if (std::fgets(line, sizeof line, stdin) == nullptr) return false;
  double value = 0;
  if (std::sscanf(line, "loss %lf", &value) == 1) loss = value;
  return true;
}

void run(const std::string& a, const std::string& b, Clock::duration delay, double loss,
         uint64_t seed) {
  const int ends[] = {open_tap(a), open_tap(b)};
  Direction there(ends[0], ends[1]), back(ends[1], ends[0]);
  std::mt19937_64 random(seed);
  ::prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds
  // A cable does not wait for the hosts, which share the processors with it.
  const sched_param first{1};
  if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0) {
    std::fprintf(stderr, "cable: no real-time priority: %s\n", std::strerror(errno));
  }
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    const Clock::time_point now = Clock::now();
    there.deliver(now);
    back.deliver(now);
    bool may_have_more = there.take(now, delay, loss, random);
    may_have_more |= back.take(now, delay, loss, random);
    const Clock::time_point next = std::min(there.next(), back.next());
    pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    const auto wait = std::chrono::nanoseconds(std::max(next - Clock::now(), Clock::duration(0)));
    timespec limit{0, may_have_more ? 0 : std::min<long>(wait.count(), 500'000'000)};
    ::ppoll(watched, 3, &limit, nullptr);
    if (watched[0].revents == 0) continue;
    if (!read_command(loss)) break;
  }
  there.report("there");
  back.report("back");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Two TAP devices joined by a cable: each frame arrives at the other one after a delay. "
      "Needs\n"
      "root. Prints \"ready\" when both are there, and ends when its standard input does.",
      "cable");
  std::string a = "p0", b = "p1";
  double delay_us = 500, loss = 0;
  uint64_t seed = 1;
  app.add_option("a", a, "name of one end")->capture_default_str();
  app.add_option("b", b, "name of the other end")->capture_default_str();
  app.add_option("--delay-us", delay_us, "from end to end, in us")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--loss", loss, "percent of the frames; a line \"loss PERCENT\" changes it")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--seed", seed, "decides which frames are lost")->capture_default_str();
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  const std::chrono::duration<double, std::micro> delay(delay_us);
  try {
    run(a, b, std::chrono::duration_cast<Clock::duration>(delay), loss, seed);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cable: %s\n", e.what());
    return 1;
  }
  return 0;
}
