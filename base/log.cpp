// Formatting of log lines.
#include "base/log.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace uet {

const char* name(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warn:
      return "warn";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "debug";
    case LogLevel::trace:
      return "trace";
  }
  return "unknown level";
}

void log(const LogSink& sink, LogLevel level, const char* format, ...) {
  if (!is_logged(sink, level)) return;
  char line[kLogLineMax];
  va_list args;
  va_start(args, format);
  const int length = std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (length < 0) return;  // an encoding error: there is no line
  constexpr char kCut[] = "...";
  if (length >= kLogLineMax) std::memcpy(line + sizeof line - sizeof kCut, kCut, sizeof kCut);
  sink.write(sink.context, level, line);
}

}  // namespace uet
