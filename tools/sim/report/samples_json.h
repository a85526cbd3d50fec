// The samples of a run as JSON: of each kind of link together, and of the queues that got longest.
#pragma once

#include "sim/fabric/run.h"

#include <nlohmann/json.hpp>

#include <string>

namespace uet::tools {

// "leaf > spine": the kind of link a port is on, and its direction.
std::string kind_of_port(const sim::fabric::Topology& topology, const sim::fabric::Port& port);

// null when no samples were taken. Rates and counts of an instant are since the one before.
nlohmann::json json_of_samples(const sim::fabric::Topology& topology,
                               const sim::fabric::RunResult& result);

}  // namespace uet::tools
