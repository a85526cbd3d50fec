// The socket through which uet_ctl queries a domain: a Unix socket in the abstract name space, so
// that nothing remains when the process dies. One short request, one answer, and the connection
// ends. Serves clients of the same user and of root only; serve() never waits for a client.
#pragma once

#include "io/socket.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace uet::prov {

// The names of all sockets begin so; the process ID and a number follow: "uet-ctl/4711/0".
inline constexpr std::string_view kControlPrefix = "uet-ctl/";
// The requests, each answered by one JSON object: counters of a domain, its waiting operations, and
// its congestion contexts; " N" after the last one asks for a later page. The number is its
// version.
inline constexpr std::string_view kStatsRequest = "uet-ctl 1 stats";
inline constexpr std::string_view kDumpRequest = "uet-ctl 1 dump";
inline constexpr std::string_view kContextsRequest = "uet-ctl 1 paths";

class ControlSocket {
 public:
  // Makes the text of the answer to a request, empty to one that it does not know.
  using Answer = std::function<std::string(std::string_view request)>;

  // `answer` is called by serve() only. Null when the system refuses: a domain works without.
  static std::unique_ptr<ControlSocket> open(Answer answer);

  // Readable when serve() has something to do. May be another one after serve().
  int fd() const { return epoll_ ? epoll_.get() : listener_.get(); }
  // Takes new clients and answers requests; bounded. A silent client keeps its place until kClients
  // newer ones came.
  void serve();
  // Without the leading zero octet.
  const std::string& name() const { return name_; }

 private:
  static constexpr uint32_t kClients = 8;
  static constexpr uint32_t kNames = 64;  // domains of one process
  static constexpr uint32_t kRequestBytes = 64;
  static constexpr int kAnswerBytes = 1 << 20;  // asked of the system; it grants 200 KiB at least

  ControlSocket() = default;
  bool listen();
  bool bind();
  bool watch(const io::Fd& fd);
  void accept();
  void watch_silent();
  bool is_welcome(const io::Fd& client) const;
  void read(io::Fd& client);

  Answer answer_;
  std::string name_;
  io::Fd listener_;
  io::Fd epoll_;  // the listener and the clients; only while a client is silent
  std::array<io::Fd, kClients> clients_;
  uint32_t next_client_ = 0;  // place of the next client
};

}  // namespace uet::prov
