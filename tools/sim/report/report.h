// The result of a run as one HTML page that needs nothing else: pictures that D3 draws, which CMake
// has put into the program.
#pragma once

#include "sim/fabric/run.h"

#include <nlohmann/json.hpp>

#include <string>

namespace uet::tools {

// Whether D3 was there when the program was built.
bool can_report();

// `result` is what --json writes. Nothing of it becomes markup or code.
std::string report_page(const nlohmann::json& result, const sim::fabric::Topology& topology,
                        const sim::fabric::RunResult& run);

}  // namespace uet::tools
