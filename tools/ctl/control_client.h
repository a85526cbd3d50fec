// Finding the open uet domains of this host and asking them, for uet_ctl. Blocks for kPatience at
// most with each; prints nothing.
#pragma once

#include "base/time.h"

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {

// How long a domain may take to answer. Its helper thread looks every 10 ms.
inline constexpr Duration kPatience = Duration::seconds(2);

// One socket of the domains of this network namespace.
struct Found {
  std::string name;  // without the leading zero octet
  pid_t pid = 0;     // as its name says; not to be believed
};
// All of them, by process and number. Empty when the system lists none.
std::vector<Found> find_domains();

struct Reply {
  nlohmann::ordered_json status;  // the domain's answer; null: none of use
  pid_t pid = 0;                  // as the system says; 0: the process has ended
  std::string problem;            // a sentence; empty: none
  bool foreign = false;           // another user's domain: only that user and root may ask it
};
// `request` is one of prov/uet/observe/control_socket.h.
Reply ask(const Found& domain, std::string_view request);

// The congestion contexts of a domain, page by page, as one answer to kContextsRequest. If there
// are more than `most`, contexts with octets to send or in flight are kept; "count" is the number
// of all. A domain that ends meanwhile gives a problem. Cost: up to 10 ms for each 256 contexts.
Reply ask_contexts(const Found& domain, uint32_t most);

// The name of the process, or "?".
std::string program_of(pid_t pid);

}  // namespace uet::tools
