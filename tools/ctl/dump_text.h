// The answer to `uet_ctl dump` as people read it. The JSON object is as
// prov/uet/observe/dump.h writes it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace uet::tools {

std::string dump_for_people(const nlohmann::ordered_json& domain);

}  // namespace uet::tools
