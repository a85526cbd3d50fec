// Cost of a piece of code in instructions: the processor traps after each of them. Unlike time the
// figure is the same on a busy machine, and nearly the same in each run.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace uet::test {

#if defined(__x86_64__)

namespace instructions_detail {
inline volatile uint64_t count = 0;
inline void on_trap(int) { count = count + 1; }
}  // namespace instructions_detail

// Instructions that fn() takes, including a few of the counting itself; one thread of the process
// at a time. 0 on other processors. Cost: one or two microseconds for each instruction.
template <class Fn>
std::optional<uint64_t> instructions_of(Fn&& fn) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = instructions_detail::on_trap;
  ::sigaction(SIGTRAP, &action, &before);
  instructions_detail::count = 0;
  // The trap flag; 128 octets below the stack pointer may be in use.
  asm volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::
                   : "memory", "cc");
  fn();
  asm volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::
                   : "memory", "cc");
  ::sigaction(SIGTRAP, &before, nullptr);
  return instructions_detail::count;
}

#else

template <class Fn>
std::optional<uint64_t> instructions_of(Fn&&) {
  return std::nullopt;
}

#endif

}  // namespace uet::test
