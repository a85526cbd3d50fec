// Training runs in TOML: a key for each field, in the tables model, parallelism and cluster. Values
// are numbers, or text with units such as "70B" or "400Gbps".
#pragma once

#include "sim/traffic/quantity.h"
#include "sim/training/training.h"

#include <span>
#include <string>
#include <string_view>

namespace uet::sim {

struct TrainingKey {
  const char* table;
  const char* name;
  const char* meaning;  // with its default
  // Sets the field; throws TrafficError, which says what may stand there.
  void (*set)(Training& training, std::string_view value);
};
std::span<const TrainingKey> training_keys();

// Keys that are missing keep what `training` has. Throws TrafficError "NAME:LINE: what"; does not
// look for problem().
void read_training(Training& training, std::string_view text, const std::string& name);
void read_training_file(Training& training, const std::string& path);

}  // namespace uet::sim
