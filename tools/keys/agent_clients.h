// The processes that a key agent serves. Their number is limited, in all and for each user; one
// that does not ask, or does not read its keys, loses its place. Nothing here waits.
#pragma once

#include "keys/agent_protocol.h"
#include "keys/descriptor.h"

#include "base/time.h"

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace uet::tools {

class AgentClients {
 public:
  // A frame with keys.
  using Keys = std::shared_ptr<const keys::SecretText>;
  using Log = std::function<void(const std::string& line)>;

  // Serves these users, `most` processes in all, divided between the users.
  AgentClients(std::vector<uid_t> users, uint32_t most, Log log);

  // The frame for every process from now on, present and future ones.
  void offer(Keys keys, Instant now);
  // A process connected; one of another user is refused with a message.
  void add(keys::Descriptor socket, Instant now);
  // Appends what to wait for.
  void watch(std::vector<pollfd>& all) const;
  // Reads, writes, and drops slow clients. `events`: the list of watch(), with its events.
  void serve(const pollfd* events, Instant now);

  size_t count() const { return clients_.size(); }

  static constexpr uint32_t kSilentMax = 64;  // connected, and nothing asked yet
  static constexpr Duration kAskTime = Duration::seconds(2);
  static constexpr Duration kReadTime = Duration::seconds(10);  // without reading any octet

 private:
  struct Client {
    keys::Descriptor socket;
    keys::Peer peer;
    std::string name;  // "user 1000, process 4711 (ring)"
    keys::FrameReader reader{keys::FrameReader::Reads::requests};
    bool is_served = false;  // it has asked
    Keys sending, next;      // keys that changed meanwhile
    size_t sent = 0;         // octets of `sending`
    Instant by = Instant::never();
  };

  bool is_welcome(uid_t user) const;
  uint32_t served(uid_t user) const;
  void drop_oldest_silent();
  // Each false: the client is to go, and that was said.
  bool read(Client& client, Instant now);
  bool answer(Client& client, Instant now);
  bool push(Client& client, Instant now);
  bool say(const Client& client, const std::string& what) const;
  void refuse(const Client& client, const std::string& why) const;

  std::vector<uid_t> users_;
  uint32_t share_;  // processes of a user
  Log log_;
  Keys keys_;
  std::list<Client> clients_;
};

}  // namespace uet::tools
