// The processes that uet_ctl queries, and the answers that it accepts.
#include "tools/ctl/look.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace uet::tools {
namespace {

bool is_wanted(const std::vector<pid_t>& pids, pid_t pid) {
  return pids.empty() || std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

Look look(const std::vector<pid_t>& pids, const std::function<Reply(const Found&)>& ask) {
  Look out;
  for (const Found& domain : find_domains()) {
    if (!is_wanted(pids, domain.pid)) continue;
    Reply reply = ask(domain);
    if (reply.foreign && pids.empty()) {
      ++out.foreign;
      continue;
    }
    if (!reply.problem.empty()) {
      out.problems.push_back("process " + std::to_string(domain.pid) + ' ' + reply.problem);
    }
    // Any process of the same user can make up a name; the process behind it is certain.
    if (!reply.status.is_object() || !is_wanted(pids, reply.pid)) continue;
    reply.status["pid"] = static_cast<uint32_t>(reply.pid);
    reply.status["program"] = program_of(reply.pid);
    out.domains.push_back(std::move(reply.status));
  }
  return out;
}

bool tell_problems(const Look& look) {
  for (const std::string& problem : look.problems) {
    std::fprintf(stderr, "uet_ctl: %s\n", problem.c_str());
  }
  if (look.foreign > 0) {
    std::fprintf(stderr, "uet_ctl: %zu domains of other users are left out; root sees them\n",
                 look.foreign);
  }
  return look.problems.empty();
}

int explain_nothing(const std::vector<pid_t>& pids) {
  if (pids.empty()) {
    std::fprintf(stderr, "uet_ctl: no process has an open uet domain here\n");
  }
  for (const pid_t pid : pids) {
    std::fprintf(stderr, "uet_ctl: process %d has no open uet domain here\n", pid);
  }
  std::fprintf(stderr,
               "uet_ctl: a process is found in its own network namespace only, and not with "
               "FI_UET_STATS=0 or FI_UET_HELPER=0\n");
  return kNothing;
}

std::string json_of(const std::vector<nlohmann::ordered_json>& domains, int indent) {
  return nlohmann::ordered_json(domains).dump(indent, ' ', false,
                                              nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace uet::tools
