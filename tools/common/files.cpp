// Folders become the files in them.
#include "tools/common/files.h"

#include <algorithm>
#include <filesystem>

namespace uet::tools {

namespace fs = std::filesystem;

namespace {

template <class Iterator>
std::vector<std::string> found_in(const std::string& folder, const std::string& extension) {
  std::vector<std::string> found;
  for (const auto& entry : Iterator(folder)) {
    if (entry.path().extension() == extension) found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<std::string> files_of(const std::vector<std::string>& arguments,
                                  const std::string& extension, Folders folders) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    if (!fs::is_directory(argument)) {
      files.push_back(argument);
      continue;
    }
    const auto found = folders == Folders::with_nested
                           ? found_in<fs::recursive_directory_iterator>(argument, extension)
                           : found_in<fs::directory_iterator>(argument, extension);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace uet::tools
