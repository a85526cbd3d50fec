// A host under test in this process: one fabric endpoint, sans-IO, in simulated time.
#pragma once

#include "conformance/host.h"

#include "sim/recording/file.h"

#include "base/result.h"

#include <memory>
#include <string>

namespace uet::conformance {

// The host, or null and the error in the settings or endpoints. With a writer, which outlives the
// host, inputs and outputs of its fabric endpoint are recorded.
std::unique_ptr<Host> make_in_process(const HostSpec& spec, std::string& problem,
                                      recording::Writer* writer = nullptr);

}  // namespace uet::conformance
