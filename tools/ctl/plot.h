// `uet_ctl plot`: a recording as an HTML page with pictures.
#pragma once

#include <string>

namespace uet::tools {

// Whether pages can be drawn; else says that `command` cannot.
bool can_plot(const char* command);

// Reads the file of `uet_ctl record` and writes the page; reports errors. Returns the exit status:
// 0, or 2 if one of the files cannot be used.
int plot_file(const std::string& recording, const std::string& page);

}  // namespace uet::tools
