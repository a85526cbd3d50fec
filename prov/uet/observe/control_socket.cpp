// The server's side of uet_ctl; see control_socket.h.
#include "prov/uet/observe/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace uet::prov {

std::unique_ptr<ControlSocket> ControlSocket::open(Answer answer) {
  std::unique_ptr<ControlSocket> self(new ControlSocket);
  self->answer_ = std::move(answer);
  if (!self->listen()) return nullptr;
  return self;
}

bool ControlSocket::listen() {
  // Packets: a request arrives whole or not at all, and an answer is sent in one call or not at
  // all.
  listener_ = io::Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return listener_ && bind() && ::listen(listener_.get(), kClients) == 0;
}

// Takes the first free number. Other processes may hold some of the names; uet_ctl asks the system
// for the owner of a socket and does not trust its name.
bool ControlSocket::bind() {
  for (uint32_t number = 0; number < kNames; ++number) {
    name_ = std::string(kControlPrefix) + std::to_string(::getpid()) + "/" + std::to_string(number);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data(), name_.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

bool ControlSocket::watch(const io::Fd& fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd.get();
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

void ControlSocket::serve() {
  if (!epoll_) {
    accept();
    return watch_silent();
  }
  std::array<epoll_event, kClients + 1> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    // Clients first: accept() may give their places, and the numbers of their descriptors, away.
    for (io::Fd& client : clients_) {
      if (client && client.get() == events[static_cast<size_t>(i)].data.fd) read(client);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (events[static_cast<size_t>(i)].data.fd == listener_.get()) accept();
  }
  watch_silent();
}

// Most clients have asked by the time that they are accepted, and are gone when they are answered.
void ControlSocket::watch_silent() {
  const bool any = std::any_of(clients_.begin(), clients_.end(),
                               [](const io::Fd& client) { return static_cast<bool>(client); });
  if (!any) {
    epoll_ = io::Fd();
    return;
  }
  if (epoll_) return;
  epoll_ = io::Fd(::epoll_create1(EPOLL_CLOEXEC));
  bool is_watched = epoll_ && watch(listener_);
  for (const io::Fd& client : clients_) is_watched = is_watched && (!client || watch(client));
  if (is_watched) return;
  for (io::Fd& client : clients_) client = io::Fd();
  epoll_ = io::Fd();
}

void ControlSocket::accept() {
  for (uint32_t i = 0; i < kClients; ++i) {
    io::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    if (!is_welcome(client) || (epoll_ && !watch(client))) continue;
    io::Fd& place = clients_[next_client_++ % kClients];
    place = std::move(client);
    read(place);
  }
}

bool ControlSocket::is_welcome(const io::Fd& client) const {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

// Answers and ends the connection, unless the request has not come yet.
void ControlSocket::read(io::Fd& client) {
  std::array<char, kRequestBytes> request;
  const ssize_t got = ::recv(client.get(), request.data(), request.size(), MSG_TRUNC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    const size_t bytes = static_cast<size_t>(got);
    const bool fits = bytes <= request.size();
    std::string text;
    if (fits) text = answer_(std::string_view(request.data(), bytes));
    if (text.empty()) text = R"({"error":"this process does not know that request"})";
    (void)io::set_option(client, SOL_SOCKET, SO_SNDBUF, kAnswerBytes);
    // The system keeps the answer for a client that reads later; one that cannot be kept is lost.
    [[maybe_unused]] const ssize_t sent =
        ::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  client = io::Fd();
}

}  // namespace uet::prov
