// Where a key agent listens.
#include "tools/keys/agent_socket.h"

#include "keys/agent_protocol.h"
#include "keys/key_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace uet::tools {

namespace {

constexpr int kWaiting = 128;  // processes that connect at the same time

keys::Descriptor new_socket() {
  return keys::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

AgentSocket::AgentSocket(std::string path, mode_t mode) : path_(std::move(path)) {
  sockaddr_un address{};
  if (!keys::set_socket_path(path_, address))
    fail("is not the path of a socket: it must have at most 107 octets");
  check_folder();
  make_way();
  listen(mode);
}

AgentSocket::~AgentSocket() {
  struct stat s {};
  if (::lstat(path_.c_str(), &s) == 0 && s.st_dev == device_ && s.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

void AgentSocket::fail(const std::string& what) const {
  throw keys::KeyFileError(path_ + ": " + what);
}

// A user who may write to the folder could replace the socket. In a folder like /tmp only the owner
// of a file can.
void AgentSocket::check_folder() const {
  const std::string folder = std::filesystem::absolute(path_).parent_path();
  struct stat s {};
  if (::stat(folder.c_str(), &s) != 0) fail(folder + ": " + std::strerror(errno));
  const bool is_sticky = s.st_uid == 0 && (s.st_mode & S_ISVTX) != 0;
  if (s.st_uid != 0 && s.st_uid != ::geteuid()) fail("the folder belongs to another user");
  if ((s.st_mode & 022) != 0 && !is_sticky) {
    fail("others may write to the folder (chmod go-w " + folder + ")");
  }
}

// Removes what an agent of our user left behind.
void AgentSocket::make_way() const {
  struct stat s {};
  if (::lstat(path_.c_str(), &s) != 0) {
    if (errno != ENOENT) fail(std::strerror(errno));
    return;
  }
  if (!S_ISSOCK(s.st_mode)) fail("is there, and no socket");
  if (s.st_uid != ::geteuid()) fail("is a socket of another user");
  sockaddr_un address{};
  (void)keys::set_socket_path(path_, address);
  const keys::Descriptor asks = new_socket();
  if (::connect(asks.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED) {
    fail("a process listens there");
  }
  if (::unlink(path_.c_str()) != 0) fail(std::strerror(errno));
}

void AgentSocket::listen(mode_t mode) {
  sockaddr_un address{};
  (void)keys::set_socket_path(path_, address);
  socket_ = new_socket();
  const mode_t before = ::umask(static_cast<mode_t>(~mode & 0777));
  const int bound =
      ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) fail(std::string("cannot be made: ") + std::strerror(error));
  struct stat s {};
  if (::lstat(path_.c_str(), &s) == 0) {
    device_ = s.st_dev;
    inode_ = s.st_ino;
  }
  if (::listen(socket_.get(), kWaiting) != 0) fail(std::strerror(errno));
}

keys::Descriptor AgentSocket::accept() const {
  return keys::Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace uet::tools
