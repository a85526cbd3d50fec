// Lines for the user; see user_message.h.
#include "prov/uet/observe/user_message.h"

#include "prov/uet/api/log.h"

#include <cstdarg>
#include <cstdio>

namespace uet::prov {

void tell_user(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (fi_log_enabled(&provider(), FI_LOG_WARN, FI_LOG_CORE) != 0) {
    UET_WARN(CORE, "%s\n", line);
  } else {
    std::fprintf(stderr, "uet: %s\n", line);
  }
}

}  // namespace uet::prov
