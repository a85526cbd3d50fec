// A folder that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace uet::keys {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string made = std::filesystem::temp_directory_path() / "uet_keys.XXXXXX";
    if (mkdtemp(made.data()) == nullptr) std::abort();
    folder_ = made;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace uet::keys
