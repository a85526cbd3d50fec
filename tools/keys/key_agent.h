// The reference key agent: sends the text of one key file to processes of this host, when they
// connect and when the file changes. docs/key-agent.md
#pragma once

#include "keys/file_watch.h"
#include "tools/keys/agent_clients.h"
#include "tools/keys/agent_socket.h"

#include <string>
#include <vector>

namespace uet::tools {

struct AgentTerms {
  std::string file;
  std::string socket;
  std::vector<uid_t> users;  // at least one
  mode_t mode = 0600;        // of the socket
};

class KeyAgent {
 public:
  // Reads the file and listens. Throws KeyFileError. Descriptors beyond the limit of the process
  // are not used.
  explicit KeyAgent(const AgentTerms& terms);
  // Serves until `stop` can be read.
  void run(int stop);

 private:
  static constexpr uint32_t kClients = 1000;
  static constexpr int kAcceptsMax = 32;         // in a row
  static constexpr int kLookEveryMs = 250;       // at the file and at late clients
  static constexpr uint32_t kLinesASecond = 20;  // so that clients cannot fill the log

  void log(const std::string& line);
  void accept(Instant now);
  void reload(Instant now);
  void read(Instant now);

  std::string file_;
  AgentSocket socket_;
  keys::FileWatch watch_;
  AgentClients clients_;
  AgentClients::Keys keys_;
  bool is_due_ = false;  // a change that could not be read yet
  std::string failure_;  // the last one that was logged
  Instant second_ = Instant::zero();
  uint32_t lines_ = 0;  // in this second
};

}  // namespace uet::tools
