// Opening without losing the earlier content.
#include "tools/sim/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace uet::tools {

OutputFile::OutputFile(const std::string& option, const std::string& path)
    : option_(option), path_(path) {
  if (path.empty()) return;
  if (path == "-") {
    fd_ = STDOUT_FILENO;
    return;
  }
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  fd_ = ::open(path.c_str(), kFlags | O_EXCL, 0666);
  is_new_ = fd_ >= 0;
  if (fd_ < 0 && errno == EEXIST) fd_ = ::open(path.c_str(), kFlags, 0666);
  if (fd_ < 0) fail();
}

OutputFile::~OutputFile() {
  if (is_new_) ::unlink(path_.c_str());
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

void OutputFile::write(const std::string& text) {
  is_new_ = false;
  // Pipes and devices have no length.
  if (path_ != "-" && ::ftruncate(fd_, 0) != 0 && errno != EINVAL) fail();
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done < 0 && errno != EINTR) fail();
    if (done > 0) rest.remove_prefix(static_cast<size_t>(done));
  }
}

void OutputFile::fail() const {
  throw std::runtime_error(option_ + " " + path_ +
                           ": cannot be written: " + std::generic_category().message(errno));
}

}  // namespace uet::tools
