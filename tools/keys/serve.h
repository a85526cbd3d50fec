// uet_keys serve: the command line of the reference key agent.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace uet::tools {

struct ServeOptions {
  std::string file;
  std::string socket;
  std::vector<std::string> allow;  // names or numbers of users; empty: our own
};

// Serves until a signal ends it (SIGTERM, SIGINT, SIGHUP). Throws KeyFileError.
void serve(const ServeOptions& options);

// The number of a user, given by name or number. Nothing: the user does not exist.
std::optional<unsigned> user_of(const std::string& name);

}  // namespace uet::tools
