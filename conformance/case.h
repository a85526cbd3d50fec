// A case as text, read: its header and its steps. docs/howto/conformance.md is the manual.
#pragma once

#include "conformance/host.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace uet::conformance {

// A line to be carried out; a block has the lines between its braces in `body`.
struct Step {
  size_t line = 0;
  std::string text;  // without the comment
  std::vector<Step> body;
};

struct Case {
  std::string file;
  std::string title;
  std::vector<std::string> rules;
  // Something in it is only possible with a host in this process.
  bool needs_process = false;
  HostSpec host;
  std::map<std::string, FabricAddress, std::less<>> peers;
  std::vector<Step> steps;
};

// Reads a case. Returns the error, as FILE:LINE: ..., or nothing.
std::string read_case(std::string_view text, const std::string& file, Case& out);

}  // namespace uet::conformance
