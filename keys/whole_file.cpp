// Open, check what was opened, read; write, sync, rename, sync the folder.
#include "keys/whole_file.h"

#include "keys/descriptor.h"
#include "keys/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace uet::keys {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw KeyFileError(path + ": " + what);
}
[[noreturn]] void fail_errno(const std::string& path, const std::string& what) {
  fail(path, what + ": " + std::strerror(errno));
}

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path, "cannot be written");
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

void check_secret_file(int file, const std::string& path) {
  struct stat s {};
  if (fstat(file, &s) != 0) fail_errno(path, "cannot be examined");
  if (!S_ISREG(s.st_mode)) fail(path, "is not a regular file");
  if (s.st_uid != geteuid()) fail(path, "belongs to another user (chown it)");
  if ((s.st_mode & 077) != 0) {
    fail(path, "others may read or write it (chmod 600 " + path + ")");
  }
}

SecretText read_secret_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_errno(path, "cannot be opened");
  check_secret_file(file.get(), path);
  struct stat s {};
  if (fstat(file.get(), &s) != 0) fail_errno(path, "cannot be examined");
  if (static_cast<size_t>(s.st_size) > kFileBytesMax) fail(path, "is longer than 4 MiB");
  SecretText text(static_cast<size_t>(s.st_size));
  const std::span<char> room = text.octets();
  size_t done = 0;
  while (done < room.size()) {
    const ssize_t n = read(file.get(), room.data() + done, room.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path, "cannot be read");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  text.shorten(done);
  return text;
}

void replace_secret_file(const std::string& path, std::string_view text) {
  std::string made = path + ".XXXXXX";
  const Descriptor file(mkostemp(made.data(), O_CLOEXEC));  // mode 0600
  if (file.get() < 0) fail_errno(path, "a file beside it cannot be made");
  try {
    write_all(file.get(), text, made);
    if (fsync(file.get()) != 0) fail_errno(made, "cannot be made durable");
    if (rename(made.c_str(), path.c_str()) != 0) fail_errno(path, "cannot be replaced");
  } catch (const KeyFileError&) {
    unlink(made.c_str());
    throw;
  }
  const std::string parent = std::filesystem::absolute(path).parent_path();
  const Descriptor folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || fsync(folder.get()) != 0) fail_errno(parent, "cannot be made durable");
}

}  // namespace uet::keys
