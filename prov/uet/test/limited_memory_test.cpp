// Domains where addresses or memory are limited, each in a child process, because the limits are
// the process's and the library reads the environment once. [LF-158, decision 15]
#include "prov/uet/test/node.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace uet::prov::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// A row of /proc/self/status, in octets.
uint64_t status_row(const char* name) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  const std::string wanted = std::string(name) + ":";
  unsigned long long kib = 0;
  for (char line[256]; file != nullptr && std::fgets(line, sizeof line, file) != nullptr;) {
    if (std::string(line).starts_with(wanted)) std::sscanf(line + wanted.size(), "%llu", &kib);
  }
  if (file != nullptr) std::fclose(file);
  return kib * 1024;
}

// Limits a resource to `more` above what the process uses now.
int allow(int resource, const char* row, uint64_t more) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  limit.rlim_cur = status_row(row) + more;
  return setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// Two nodes of this process pass a message. The number of things that went wrong.
int pass_a_message() {
  NodeOptions options;
  Node a(options);
  Node b(options);
  const fi_addr_t to_b = a.insert(b.name());
  const uint32_t sent = 4711;
  uint32_t got = 0;
  int wrong = fi_recv(b.ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr) != 0;
  wrong += fi_send(a.ep, &sent, sizeof sent, nullptr, to_b, nullptr) != 0;
  Done done;
  while (wrong == 0 && !read_one(b.rx_cq, done)) read_one(a.tx_cq, done);
  return wrong + (done.err != 0) + (got != sent) + static_cast<int>(testing::Test::HasFailure());
}

// Text of a child that ran `role` on standard error; its exit status is in `status`.
std::string said(const std::function<int()>& role, int& status) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    alarm(60);
    std::exit(role());
  }
  close(ends[1]);
  std::string text;
  char octets[1024];
  for (ssize_t n; (n = read(ends[0], octets, sizeof octets)) > 0;) text.append(octets, n);
  close(ends[0]);
  waitpid(child, &status, 0);
  return text;
}

class LimitedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "sanitizers reserve addresses of their own";
  }
  void expect_good(const std::function<int()>& role) {
    int status = -1;
    const std::string text = said(role, status);
    EXPECT_EQ(status, 0) << text;
    text_ = text;
  }
  bool is_warned() const { return text_.find("are limited") != text_.npos; }

  std::string text_;
};

// Two domains in 600 MiB, a tenth of their reservation by default.
TEST_F(LimitedMemoryTest, FewConnectionsNeedFewAddresses) {
  expect_good([] {
    setenv("FI_UET_MAX_PDCS", "256", 1);
    setenv("FI_LOG_LEVEL", "warn", 1);
    return allow(RLIMIT_AS, "VmSize", 600 * kMiB) + pass_a_message();
  });
  EXPECT_FALSE(is_warned()) << text_;
}

TEST_F(LimitedMemoryTest, FewAddressesMakeSmallerTablesAndAWarning) {
  expect_good([] {
    setenv("FI_LOG_LEVEL", "warn", 1);
    return allow(RLIMIT_AS, "VmSize", 900 * kMiB) + pass_a_message();
  });
  EXPECT_TRUE(is_warned()) << text_;
}

// RLIMIT_DATA counts as a system without overcommit does: what may be written, used or not.
TEST_F(LimitedMemoryTest, LittleMemoryIsEnoughForTablesOfFullSize) {
  expect_good([] {
    setenv("FI_LOG_LEVEL", "warn", 1);
    return allow(RLIMIT_DATA, "VmData", 600 * kMiB) + pass_a_message();
  });
  EXPECT_FALSE(is_warned()) << text_;
}

TEST_F(LimitedMemoryTest, OnlyUsedMemoryIsLocked) {
  constexpr int kMayNot = 77;
  int status = -1;
  const std::string text = said(
      [] {
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return kMayNot;
        void* const much =
            mmap(nullptr, size_t{8} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (much == MAP_FAILED) return kMayNot;
        munmap(much, size_t{8} << 30);
        const uint64_t before = status_row("VmRSS");
        const int wrong = pass_a_message();
        const uint64_t most = status_row("VmHWM") - before;
        if (most > 400 * kMiB) fprintf(stderr, "resident: %llu\n", (unsigned long long)most);
        return wrong + (most > 400 * kMiB);
      },
      status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kMayNot) {
    GTEST_SKIP() << "this user may not lock all memory";
  }
  EXPECT_EQ(status, 0) << text;
}

}  // namespace
}  // namespace uet::prov::test
