// Whether the keys of FI_UET_TSS=file can be used: their files, as a domain would read them.
#pragma once

#include "prov/uet/settings/settings.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uet::tools {

struct KeyFacts {
  bool can_seal = false;          // this build has ciphers and reads key files
  std::string problem;            // why a domain would not open, with the file; empty: it would
  std::string remedy;             // for that
  uint32_t domains = 0;           // secure domains in the file
  bool serves_job = false;        // one of them is for FI_UET_JOB_ID
  std::vector<uint32_t> expired;  // domains whose key for sending has expired
};

// Reads the files that the settings name, with the rights of this process; changes nothing.
KeyFacts look_at_keys(const prov::Settings& settings);

}  // namespace uet::tools
