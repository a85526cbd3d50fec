// Assertions about our own code, on in every build. Never used on input from the network or from
// an application: those are answered, not asserted.
#pragma once

namespace uet {

// Prints "file:line: assertion failed: what" on stderr and aborts.
[[noreturn]] void assert_failed(const char* what, const char* file, int line);

}  // namespace uet

#define UET_ASSERT(cond)                                                               \
  do {                                                                                 \
    if (__builtin_expect(!(cond), 0)) ::uet::assert_failed(#cond, __FILE__, __LINE__); \
  } while (0)

// For checks too dear for the packet path of a release build.
#ifdef NDEBUG
#define UET_DEBUG_ASSERT(cond) \
  do {                         \
  } while (0)
#else
#define UET_DEBUG_ASSERT(cond) UET_ASSERT(cond)
#endif
