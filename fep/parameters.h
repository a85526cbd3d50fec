// The table of the stack's tunables by name: what FI_UET_<NAME> reads, what docs/configuration.md
// lists, what uet_sim sets. One row per tunable; meaning and default live with the member.
#pragma once

#include "fep/config.h"

#include "base/result.h"

#include <cstdint>
#include <span>

namespace uet::fep {

struct Parameter {
  const char* name;  // upper snake case, without FI_UET_ [LF-130]
  const char* unit;  // "packets", "octets", "us", "0 or 1", ...
  int64_t min;
  int64_t max;
  const char* help;    // one sentence for people
  const char* source;  // rule id, or "ours"
  int64_t (*get)(const Config&);
  void (*set)(Config&, int64_t);
};

// Every row, in the order of the documentation.
std::span<const Parameter> parameters();

// The row of that name, or null.
const Parameter* find_parameter(const char* name);

// Sets one tunable. Errc::not_found: no such name. Errc::invalid: out of range; values are
// rejected, not clamped, and nothing was changed. [PDS-221]
Result<void> set_parameter(Config& config, const char* name, int64_t value);

// Sets what the UEC reference provider needs of its peers, each of which is a row as well: to be
// called before single rows are set, which then come on top. [PDS 22]
void meet_refprov(Config& config);

// Makes what depends on other members consistent with them: call once, after the last change.
void settle(Config& config);

}  // namespace uet::fep
