// The result of a run as one HTML page with pictures.
#pragma once

#include "sim/fabric/run.h"

#include "tools/page/page.h"

#include <nlohmann/json.hpp>

#include <string>

namespace uet::tools {

// `result` is the output of --json. It cannot become markup or code.
std::string report_page(const nlohmann::json& result, const sim::fabric::Topology& topology,
                        const sim::fabric::RunResult& run);

}  // namespace uet::tools
