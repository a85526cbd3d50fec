// A host under test in this process: one fabric endpoint, sans-IO, in simulated time.
#pragma once

#include "conformance/host.h"

#include "base/result.h"

#include <memory>
#include <string>

namespace uet::conformance {

// The host, or null and what is wrong with the settings or endpoints.
std::unique_ptr<Host> make_in_process(const HostSpec& spec, std::string& problem);

}  // namespace uet::conformance
