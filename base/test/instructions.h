// What a piece of code costs, in instructions: it runs step by step in a child process. Unlike time
// the figure is the same on a busy machine, and nearly the same with each run.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>

namespace uet::test {

// Instructions that fn() takes, with about a hundred of the counting itself. fn() runs in a copy of
// this process: what it changes is not seen here. More than `limit` are not counted. None where
// processes may not be traced. Cost: some microseconds for each instruction.
template <class Fn>
std::optional<uint64_t> instructions_of(Fn&& fn, uint64_t limit = 200'000) {
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    fn();
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  const auto wait = [child] {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  };
  uint64_t count = 0;
  int status = wait();
  const bool has_begun = WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
  while (has_begun && count < limit && ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0) {
    status = wait();
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) break;
    ++count;
  }
  const bool has_ended =
      has_begun && WIFSTOPPED(status) && (WSTOPSIG(status) == SIGSTOP || count == limit);
  if (WIFSTOPPED(status)) {
    ::kill(child, SIGKILL);
    wait();
  }
  if (!has_ended) return std::nullopt;
  return count;
}

}  // namespace uet::test
