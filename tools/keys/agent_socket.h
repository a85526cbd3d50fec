// The Unix socket of a key agent: its permitted folders, and the files that it may replace.
#pragma once

#include "keys/descriptor.h"

#include <sys/types.h>

#include <string>

namespace uet::tools {

class AgentSocket {
 public:
  // Listens at `path`, with these rights. Throws KeyFileError when users other than root and ours
  // could replace it, and when the path is taken by anything but an unused socket of our user.
  AgentSocket(std::string path, mode_t mode);
  // Removes the socket, unless it was replaced.
  ~AgentSocket();
  AgentSocket(const AgentSocket&) = delete;
  AgentSocket& operator=(const AgentSocket&) = delete;

  int fd() const { return socket_.get(); }
  // The next process that connected; none: not now, or the system refuses.
  keys::Descriptor accept() const;

 private:
  void check_folder() const;
  void make_way() const;
  void listen(mode_t mode);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  keys::Descriptor socket_;
  dev_t device_ = 0;  // of the file
  ino_t inode_ = 0;
};

}  // namespace uet::tools
