// An HTML page that needs nothing else: data, and scripts that draw it with D3, which CMake has put
// into the program. The scripts find put, short and plot of plots.js.
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace uet::tools {

// Whether D3 was there when the program was built.
bool can_draw();

// The parts that one kind of page adds to the common ones. They are files of the project and are
// not escaped.
struct PageParts {
  const char* title;
  const char* style;
  const char* body;
  std::initializer_list<const char*> scripts;
};

// `data` is the constant `name` of the scripts. It cannot become markup or code.
std::string page_of(const PageParts& parts, const char* name, const nlohmann::json& data);

}  // namespace uet::tools
