// Reports the first problem: one that prevents a domain from opening, then one that stops its
// packets.
#include "tools/ctl/doctor/examine_keys.h"

namespace uet::tools {

Finding examine_keys(const KeyFacts& keys, uint32_t job) {
  const auto fault = [](std::string text, std::string remedy) {
    return Finding{"keys", Grade::fault, std::move(text), std::move(remedy)};
  };
  if (!keys.can_seal) {
    return fault("FI_UET_TSS=file: this build has no ciphers",
                 "build with OpenSSL 3 and toml++, or unset FI_UET_TSS");
  }
  if (!keys.problem.empty()) return fault(keys.problem, keys.remedy);
  if (!keys.serves_job) {
    const std::string name = std::to_string(job);
    return fault("no secure domain of the key file is for job " + name,
                 "add " + name + " to the jobs of a domain, or set FI_UET_JOB_ID");
  }
  if (!keys.expired.empty()) {
    return fault(
        "the sending key of domain " + std::to_string(keys.expired.front()) + " has expired",
        "uet_keys roll FILE, copy FILE to all hosts, uet_keys activate FILE");
  }
  return {"keys", Grade::ok, std::to_string(keys.domains) + " secure domains, and a counter file",
          ""};
}

}  // namespace uet::tools
