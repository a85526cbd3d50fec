// Gives FabricEndpoints the inputs of a recording, and compares their outputs.
#pragma once

#include "sim/recording/script.h"

#include <cstdint>
#include <optional>
#include <string>

namespace uet::recording {

struct Outcome {
  std::string problem;  // the recording is broken, or this stack lacks something that it needs
  std::optional<Difference> difference;  // refers to the recording
  // Calls with another next deadline afterwards, and the first of them. All else may be equal: then
  // the endpoint wants to run at another time, without an effect here.
  uint64_t deadlines = 0;
  std::optional<Difference> deadline;
  uint64_t endpoints = 0;
  uint64_t calls = 0;
  uint64_t packets = 0;      // that left and were equal
  uint64_t completions = 0;  // the same

  bool is_identical() const {
    return problem.empty() && !difference.has_value() && !deadline.has_value();
  }
};

Outcome replay(const Recording& recording);

}  // namespace uet::recording
