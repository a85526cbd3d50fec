// The part of examine() about keys.
#pragma once

#include "tools/ctl/doctor/examine.h"

namespace uet::tools {

// With FI_UET_TSS=file and that job.
Finding examine_keys(const KeyFacts& keys, uint32_t job);

}  // namespace uet::tools
