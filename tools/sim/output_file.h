// A file for a result, opened before the work that gives it: a name that cannot be written is known
// at once, and what the file had stays until then. A new file gets its name when all is in it;
// until then it is called NAME.part, which is what stays of a program that was killed.
#pragma once

#include <string>

namespace uet::tools {

class OutputFile {
 public:
  // Path "-": standard output; empty: none. Throws std::runtime_error, which names the option.
  OutputFile(const std::string& option, const std::string& path);
  // A file that this has made and not written whole is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_asked() const { return fd_ >= 0; }
  // Whether what is written to one replaces what is written to the other.
  bool is_same(const OutputFile& other) const;
  void write(const std::string& text);  // all of it, once; throws std::runtime_error

 private:
  [[noreturn]] void fail() const;

  std::string option_, path_;
  std::string part_;  // name until the end of a file that this makes; empty: there was one
  int fd_ = -1;
};

}  // namespace uet::tools
