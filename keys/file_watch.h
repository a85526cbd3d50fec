// Whether a file was replaced or written since the last look: by its inode, size and time, so it
// costs one system call and no descriptor. Another owner or mode counts, too.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

namespace uet::keys {

class FileWatch {
 public:
  explicit FileWatch(std::string path) : path_(std::move(path)) { (void)has_changed(); }

  // False while the file is missing: it is being replaced, or nothing can be read from it.
  bool has_changed() {
    struct stat s {};
    if (::stat(path_.c_str(), &s) != 0) return false;
    const Seen seen{s.st_ino, s.st_size,
                    int64_t{s.st_ctim.tv_sec} * 1'000'000'000 + s.st_ctim.tv_nsec};
    return std::exchange(seen_, seen) != seen;
  }

 private:
  struct Seen {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Seen&) const = default;
  };
  std::string path_;
  Seen seen_;
};

}  // namespace uet::keys
