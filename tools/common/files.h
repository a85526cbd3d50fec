// Arguments of a command line that are files, or folders with files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uet::tools {

enum class Folders : uint8_t {
  themselves,   // what is in a folder
  with_nested,  // and in the folders below it
};

// The files that are named, and in the place of a folder its files that end in `extension`
// (".txt"), in the order of their names.
std::vector<std::string> files_of(const std::vector<std::string>& arguments,
                                  const std::string& extension, Folders folders);

}  // namespace uet::tools
