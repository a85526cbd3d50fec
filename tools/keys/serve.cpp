// Users, signals, and memory that the kernel keeps out of core dumps.
#include "tools/keys/serve.h"

#include "keys/key_file.h"
#include "tools/keys/key_agent.h"

#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>

namespace uet::tools {

std::optional<unsigned> user_of(const std::string& name) {
  unsigned number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  const passwd* const entry = ::getpwnam(name.c_str());
  if (entry == nullptr) return {};
  return entry->pw_uid;
}

namespace {

void forbid_core_dumps() {
  const rlimit none{};
  (void)::setrlimit(RLIMIT_CORE, &none);
#ifndef UET_GUARDS  // the leak checker reads the memory of its own process
  (void)::prctl(PR_SET_DUMPABLE, 0);
#endif
}

AgentTerms terms_of(const ServeOptions& options) {
  AgentTerms terms{.file = options.file, .socket = options.socket, .users = {}, .mode = 0600};
  for (const std::string& name : options.allow) {
    const auto user = user_of(name);
    if (!user) throw keys::KeyFileError("there is no user " + name);
    if (std::find(terms.users.begin(), terms.users.end(), *user) != terms.users.end()) continue;
    terms.users.push_back(*user);
    // Connecting needs the right to write. A user who is not in the list is refused.
    if (*user != ::geteuid()) terms.mode = 0666;
  }
  if (terms.users.empty()) terms.users.push_back(::geteuid());
  return terms;
}

// Readable after a signal that ends the agent.
keys::Descriptor signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int one : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, one);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  return keys::Descriptor(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

void serve(const ServeOptions& options) {
  forbid_core_dumps();
  const keys::Descriptor stop = signals();
  if (!stop) throw keys::KeyFileError("the system gives no descriptor for signals");
  KeyAgent(terms_of(options)).run(stop.get());
}

}  // namespace uet::tools
