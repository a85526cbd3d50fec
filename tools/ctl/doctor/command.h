// `uet_ctl doctor`: checks whether uet can work on this host, and says how to mend what prevents
// it.
#pragma once

#include <string>

namespace uet::tools {

// Prints; returns the exit status: 0 all is well, 1 there are warnings, 3 there are faults.
int doctor(const std::string& root, bool json);

}  // namespace uet::tools
