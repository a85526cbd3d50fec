// The line between the director and one process: text in packets of a socket pair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace uet::stress {

class Link {
 public:
  explicit Link(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  // False: the other end is gone, or does not read.
  bool tell(const std::string& line) const;
  // The next line, if one is there; an empty one when the other end is gone.
  std::optional<std::string> hear() const;

  // Lines of a process.
  void defect(const std::string& what) const { tell("defect " + what); }

 private:
  int fd_;
};

std::string to_hex(const std::string& octets);
std::string from_hex(const std::string& text);

}  // namespace uet::stress
