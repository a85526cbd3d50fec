// A file for a result, opened before the work that gives it: a name that cannot be written is known
// at once, and what the file had stays until then.
#pragma once

#include <string>

namespace uet::tools {

class OutputFile {
 public:
  // Path "-": standard output; empty: none. Throws std::runtime_error, which names the option.
  OutputFile(const std::string& option, const std::string& path);
  // A file that this has made and not written is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_asked() const { return fd_ >= 0; }
  void write(const std::string& text);  // all of it, once; throws std::runtime_error

 private:
  [[noreturn]] void fail() const;

  std::string option_, path_;
  int fd_ = -1;
  bool is_new_ = false;  // made here, and nothing is in it
};

}  // namespace uet::tools
