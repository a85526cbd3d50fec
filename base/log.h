// Where log lines go: a plain function pointer that the owner of the stack provides. Lines are
// formatted in a fixed buffer on the stack. Not for per-packet paths above `trace`.
#pragma once

#include <cstdint>

namespace uet {

enum class LogLevel : uint8_t {
  error,  // something failed for good
  warn,   // something failed and was dealt with, or a configuration looks wrong
  info,   // set-up and tear-down
  debug,  // events of a connection
  trace,  // packets
};

// The word for a level. Never null.
const char* name(LogLevel level);

// A sink without a function takes nothing.
struct LogSink {
  // `message` is zero-terminated, without a line end, valid during the call.
  void (*write)(void* context, LogLevel level, const char* message) = nullptr;
  void* context = nullptr;
  LogLevel level = LogLevel::warn;  // the most talkative level that is written
};

// For guarding arguments that are dear to compute.
inline bool is_logged(const LogSink& sink, LogLevel level) {
  return sink.write != nullptr && level <= sink.level;
}

inline constexpr int kLogLineMax = 512;  // octets, with the terminating zero

// printf formatting. A longer line is cut and ends in "...".
[[gnu::format(printf, 3, 4)]] void log(const LogSink& sink, LogLevel level, const char* format,
                                       ...);

}  // namespace uet
