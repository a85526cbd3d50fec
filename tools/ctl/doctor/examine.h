// Problems of a host and their remedies: the judgement of `uet_ctl doctor` over the facts that
// facts.h collects. Reads nothing else.
#pragma once

#include "tools/ctl/doctor/facts.h"

#include <string>
#include <vector>

namespace uet::tools {

enum class Grade : uint8_t {
  ok,
  warning,  // it works, but slower than it could or not for everybody
  fault,    // it does not work
};
const char* grade_name(Grade grade);

struct Finding {
  std::string check;  // one word
  Grade grade = Grade::ok;
  std::string text;
  std::string remedy;  // empty with ok
};

// In the order in which they are best mended.
std::vector<Finding> examine(const Facts& facts);
Grade worst(const std::vector<Finding>& findings);

}  // namespace uet::tools
