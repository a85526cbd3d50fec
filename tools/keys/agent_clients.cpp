// Processes that get keys.
#include "tools/keys/agent_clients.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace uet::tools {

AgentClients::AgentClients(std::vector<uid_t> users, uint32_t most, Log log)
    : users_(std::move(users)),
      share_(std::max<uint32_t>(1, most / static_cast<uint32_t>(users_.size()))),
      log_(std::move(log)) {}

bool AgentClients::is_welcome(uid_t user) const {
  return std::find(users_.begin(), users_.end(), user) != users_.end();
}

uint32_t AgentClients::served(uid_t user) const {
  return static_cast<uint32_t>(
      std::count_if(clients_.begin(), clients_.end(),
                    [&](const Client& c) { return c.is_served && c.peer.user == user; }));
}

bool AgentClients::say(const Client& client, const std::string& what) const {
  log_(client.name + ": " + what);
  return false;
}

void AgentClients::refuse(const Client& client, const std::string& why) const {
  const keys::SecretText frame = keys::frame_of(keys::FrameKind::error, why);
  const std::string_view octets = frame.view();
  // A client that does not read it learns it from the end of the connection.
  [[maybe_unused]] const ssize_t sent =
      ::send(client.socket.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)say(client, "refused: " + why);
}

void AgentClients::add(keys::Descriptor socket, Instant now) {
  const auto peer = keys::peer_of(socket.get());
  if (!peer) return;
  Client client;
  client.socket = std::move(socket);
  client.peer = *peer;
  client.name = "user " + std::to_string(peer->user) + ", process " + std::to_string(peer->process);
  client.by = now + kAskTime;
  if (!is_welcome(peer->user)) {
    return refuse(client, "user " + std::to_string(peer->user) + " may not have these keys");
  }
  drop_oldest_silent();
  clients_.push_back(std::move(client));
}

// They stand in the order in which they came.
void AgentClients::drop_oldest_silent() {
  const auto is_silent = [](const Client& c) { return !c.is_served; };
  if (std::count_if(clients_.begin(), clients_.end(), is_silent) < kSilentMax) return;
  const auto oldest = std::find_if(clients_.begin(), clients_.end(), is_silent);
  (void)say(*oldest, "dropped: it asked for nothing, and others came");
  clients_.erase(oldest);
}

void AgentClients::watch(std::vector<pollfd>& all) const {
  for (const Client& client : clients_) {
    const auto events = static_cast<short>(client.sending ? POLLIN | POLLOUT : POLLIN);
    all.push_back({.fd = client.socket.get(), .events = events, .revents = 0});
  }
}

void AgentClients::serve(const pollfd* events, Instant now) {
  for (auto client = clients_.begin(); client != clients_.end(); ++events) {
    bool stays = events->revents == 0 || read(*client, now);
    if (stays && client->sending && (events->revents & POLLOUT) != 0) stays = push(*client, now);
    if (stays && now >= client->by) {
      stays = say(*client, client->is_served ? "dropped: it does not read its keys"
                                             : "dropped: it asked for nothing");
    }
    client = stays ? std::next(client) : clients_.erase(client);
  }
}

bool AgentClients::read(Client& client, Instant now) {
  switch (keys::receive(client.socket.get(), client.reader)) {
    case keys::Received::nothing:
      return true;
    case keys::Received::ended:
      return say(client, "ended");
    case keys::Received::some:
      if (!client.is_served) return true;
      [[fallthrough]];  // version 1 has one request
    case keys::Received::broken:
      return say(client, "dropped: it says what no process says");
    case keys::Received::frame:
      return answer(client, now);
  }
  return false;
}

bool AgentClients::answer(Client& client, Instant now) {
  const keys::Frame request = client.reader.take();
  const auto asked = keys::parse_subscription(request.body.view());
  if (client.is_served || !asked) return say(client, "dropped: it says what no process says");
  client.name += " (" + asked->process_name + ")";
  if (asked->version != keys::kAgentVersion) {
    refuse(client, "this key agent has version " + std::to_string(keys::kAgentVersion));
    return false;
  }
  if (served(client.peer.user) >= share_) {
    refuse(client, "too many processes of user " + std::to_string(client.peer.user));
    return false;
  }
  client.is_served = true;
  client.sending = keys_;
  client.by = now + kReadTime;
  (void)say(client, "gets its keys");
  return push(client, now);
}

void AgentClients::offer(Keys keys, Instant now) {
  keys_ = std::move(keys);
  std::erase_if(clients_, [&](Client& client) {
    if (!client.is_served) return false;
    if (client.sending) {
      client.next = keys_;
      return false;
    }
    client.sending = keys_;
    client.by = now + kReadTime;
    return !push(client, now);
  });
}

bool AgentClients::push(Client& client, Instant now) {
  while (client.sending) {
    const std::string_view rest = client.sending->view().substr(client.sent);
    const ssize_t n =
        ::send(client.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n < 0) return say(client, "ended");
    client.sent += static_cast<size_t>(n);
    client.by = now + kReadTime;
    if (client.sent < client.sending->view().size()) continue;
    client.sending = std::exchange(client.next, nullptr);
    client.sent = 0;
  }
  client.by = Instant::never();
  return true;
}

}  // namespace uet::tools
