// How the kernel treats memory for secrets. [TSS-043, TSS-136, T-55]
#include "keys/secret_memory.h"

#include "tss/domain.h"

#include "base/zero_pages.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace uet::keys {
namespace {

// The flags of the mapping that has this address, as the kernel shows them.
std::string flags_of(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool is_here = false;
  const auto at = reinterpret_cast<uintptr_t>(address);
  while (std::getline(maps, line)) {
    unsigned long first = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &end) == 2) {
      is_here = first <= at && at < end;
    }
    if (is_here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

// [TSS-136, T-55] dd: not dumped; wf: wiped on fork; lo: locked.
TEST(SecretMemoryTest, TheKernelKeepsItOutOfDumpsAndSwap) {
  SecretMemory memory(10000);
  EXPECT_EQ(memory.octets().size(), 10000u);
  const std::string flags = flags_of(memory.octets().data());
  EXPECT_EQ(flags.find(" dd ") != std::string::npos, memory.is_undumped()) << flags;
  EXPECT_EQ(flags.find(" wf ") != std::string::npos, memory.is_wiped_on_fork()) << flags;
#ifndef UET_GUARDS  // AddressSanitizer answers mlock itself
  EXPECT_EQ(flags.find(" lo ") != std::string::npos, memory.is_locked()) << flags;
#endif
  EXPECT_TRUE(memory.is_undumped());
  EXPECT_TRUE(memory.is_wiped_on_fork());
}

// [TSS-043] So a child has no counters and no keys.
TEST(SecretMemoryTest, AForkedChildHasZeros) {
  SecretMemory memory(sizeof(tss::KeySecret) * 2);
  const auto secrets = memory.as<tss::KeySecret>(2);
  secrets[1].secret.fill(std::byte{0x55});
  secrets[1].counter.start(0, 100);
  secrets[1].counter.grant(0, 100);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_wiped = secrets[1].secret[7] == std::byte{0};
    _exit(is_wiped && !secrets[1].counter.take() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(secrets[1].counter.take(), 0u) << "the parent goes on";
}

}  // namespace
}  // namespace uet::keys
