// Test roles in separate processes, each with its FI_UET_* parameters and a line to another; every
// wait has an end. The test's own process never opens the library.
#pragma once

#include "prov/uet/test/node.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace uet::prov::test {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Settings = std::vector<std::pair<const char*, const char*>>;

inline constexpr size_t kBytes = 100000;

// One end of a line between two processes that keeps message boundaries.
struct Line {
  int fd = -1;

  void tell(const std::vector<uint8_t>& bytes) const {
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  }
  void tell(uint64_t value) const { EXPECT_EQ(::send(fd, &value, 8, MSG_NOSIGNAL), 8); }
  std::vector<uint8_t> hear() const {
    std::vector<uint8_t> bytes(256);
    const ssize_t got = receive(bytes.data(), bytes.size());
    EXPECT_GT(got, 0) << "the other process ended early";
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }
  uint64_t hear_value() const {
    uint64_t value = 0;
    EXPECT_EQ(receive(&value, 8), 8) << "the other process ended early";
    return value;
  }

 private:
  // A stopped process that continues gets EINTR, because the line has a time limit.
  ssize_t receive(void* to, size_t room) const {
    ssize_t got = 0;
    do {
      got = ::recv(fd, to, room, 0);
    } while (got < 0 && errno == EINTR);
    return got;
  }
};

// The next entry, with the engine run by this call; err -1 when none came in time.
inline Done await(fid_cq* cq, milliseconds limit = kPatience) {
  const auto end = Clock::now() + limit;
  Done done;
  while (!read_one(cq, done)) {
    if (Clock::now() > end) {
      done.err = -1;
      done.text = "no completion came";
      return done;
    }
  }
  return done;
}

inline uint64_t base_of(const Node& node, const void* memory) {
  const bool by_address = (node.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  return by_address ? reinterpret_cast<uint64_t>(memory) : 0;
}

class RolesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ends_[0] = {ends[0]};
    ends_[1] = {ends[1]};
    const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
    for (const int end : ends) {
      ASSERT_EQ(setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    }
  }
  void TearDown() override {
    for (const pid_t pid : running_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    close(ends_[0].fd);
    close(ends_[1].fd);
  }

  // Runs `role` in a child on end 0 or 1 of the line. This process never opens the library itself:
  // it reads the environment once, so each child needs a fresh start.
  template <class Role>
  pid_t start(int end, const Settings& settings, Role role) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      for (const auto& [name, value] : settings) setenv(name, value, 1);
      role(ends_[end]);
      std::fflush(nullptr);
      _exit(HasFailure() ? 1 : 0);
    }
    EXPECT_GT(pid, 0);
    running_.push_back(pid);
    return pid;
  }
  // Waits for the end of a child that found nothing wrong.
  void finish(pid_t pid, seconds limit = kPatience) {
    const auto end = Clock::now() + limit;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (Clock::now() > end) {
        FAIL() << "a process hangs";  // killed by TearDown
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    std::erase(running_, pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  // Returns when no thread of the process runs any more.
  static void stop(pid_t pid) {
    kill(pid, SIGSTOP);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  void kill_and_reap(pid_t pid) {
    kill(pid, SIGKILL);
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
    std::erase(running_, pid);
  }

  Line ends_[2];

 private:
  std::vector<pid_t> running_;
};

// A target's memory, and how a peer names it.
struct Target {
  explicit Target(const NodeOptions& options = {}) : node(options) {
    region = node.registered(memory.data(), kBytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
  }
  ~Target() { EXPECT_EQ(fi_close(&region->fid), 0); }
  void introduce(const Line& line) const {
    line.tell(node.name());
    line.tell(fi_mr_key(region));
    line.tell(base_of(node, memory.data()));
  }

  std::vector<uint8_t> memory = std::vector<uint8_t>(kBytes);
  Node node;
  fid_mr* region = nullptr;
};

// The peer's view of a Target.
struct Remote {
  Remote(Node& node, const Line& line)
      : addr(node.insert(line.hear())), key(line.hear_value()), base(line.hear_value()) {}
  fi_addr_t addr;
  uint64_t key;
  uint64_t base;
};

}  // namespace uet::prov::test
