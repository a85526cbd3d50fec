// One query of the open uet domains of this host: all get the same request; returns their answers
// and why some did not answer.
#pragma once

#include "tools/ctl/control_client.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace uet::tools {

// Exit status of the commands that ask domains.
inline constexpr int kGood = 0;
inline constexpr int kNothing = 1;     // no domain to ask
inline constexpr int kIncomplete = 3;  // some domain did not answer

struct Look {
  std::vector<nlohmann::ordered_json> domains;  // each with "pid" and "program"
  std::vector<std::string> problems;            // a sentence for each that did not answer
  size_t foreign = 0;                           // domains of other users, which were left out
};

// `pids`: only of these processes; empty: of all.
Look look(const std::vector<pid_t>& pids, const std::function<Reply(const Found&)>& ask);

// Prints the problems to standard error. False: there are some.
bool tell_problems(const Look& look);

// Prints why no process may have been found; returns kNothing.
int explain_nothing(const std::vector<pid_t>& pids);

// An array; indent -1: in one line. The name of a program may be invalid UTF-8.
std::string json_of(const std::vector<nlohmann::ordered_json>& domains, int indent);

}  // namespace uet::tools
