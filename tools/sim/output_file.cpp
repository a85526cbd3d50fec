// Opening without losing the earlier content.
#include "tools/sim/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
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
  // What is there, be it a device or a link, is written where it is.
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) part_ = path + ".part";
  const std::string& name = part_.empty() ? path_ : part_;
  fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && !part_.empty()) ::unlink(part_.c_str());
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

bool OutputFile::is_same(const OutputFile& other) const {
  struct stat own {};
  struct stat others {};
  if (::fstat(fd_, &own) != 0 || ::fstat(other.fd_, &others) != 0) return false;
  return S_ISREG(own.st_mode) && own.st_dev == others.st_dev && own.st_ino == others.st_ino;
}

void OutputFile::write(const std::string& text) {
  // Pipes and devices have no length.
  if (path_ != "-" && ::ftruncate(fd_, 0) != 0 && errno != EINVAL) fail();
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done < 0 && errno != EINTR) fail();
    if (done > 0) rest.remove_prefix(static_cast<size_t>(done));
  }
  if (part_.empty()) return;
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail();
  part_.clear();
}

void OutputFile::fail() const {
  throw std::runtime_error(option_ + " " + path_ +
                           ": cannot be written: " + std::generic_category().message(errno));
}

}  // namespace uet::tools
