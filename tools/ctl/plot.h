// `uet_ctl plot`: a recording as an HTML page with pictures.
#pragma once

#include <string>

namespace uet::tools {

// Whether pages can be drawn; else says that `command` cannot.
bool can_plot(const char* command);

// Reads what `uet_ctl record` wrote and writes the page; says what is wrong. Returns the exit
// status: 0, or 2 where one of the files cannot be used.
int plot_file(const std::string& recording, const std::string& page);

}  // namespace uet::tools
