// The process's end of the connection to a key agent.
#include "keys/agent_source.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace uet::keys {

namespace {

constexpr Duration kFirstTriesEvery = Duration::milliseconds(50);

Instant present() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Instant::from_ns(int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

void wait_for(int socket, Duration most) {
  pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
  (void)::poll(&readable, socket < 0 ? 0 : 1, static_cast<int>(most.ms()) + 1);
}

}  // namespace

AgentSource::AgentSource(const std::string& path, Duration patience) : KeySource(path) {
  await_first(patience);
}

void AgentSource::await_first(Duration patience) {
  const Instant end = present() + patience;
  Outcome outcome = connect();
  while (!outcome.problem.empty() && !outcome.is_lasting && present() < end) {
    wait_for(-1, kFirstTriesEvery);
    outcome = connect();
  }
  if (!outcome.problem.empty()) throw KeyFileError(name() + ": " + outcome.problem);
  answer_by_ = end;
  while (!read_frames(present())) {
    if (!problem_.empty()) throw KeyFileError(std::exchange(problem_, {}));
    wait_for(socket_.get(), std::max(end - present(), Duration::zero()));
  }
}

KeyFile AgentSource::read() { return parse_key_file(text_.view(), name()); }

AgentSource::Outcome AgentSource::connect() {
  sockaddr_un address{};
  if (!set_socket_path(name(), address))
    return {"is not the path of a socket: it must have at most 107 octets", true};
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return {std::string("no socket: ") + std::strerror(errno), true};
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ECONNREFUSED) return {"no key agent listens there", false};
    if (error == EAGAIN) return {"the key agent takes no connections", false};
    return {std::string("cannot be connected to: ") + std::strerror(error), true};
  }
  const std::optional<Peer> peer = peer_of(made.get());
  if (!peer) return {"the kernel does not say whose socket this is", true};
  if (peer->user != 0 && peer->user != ::geteuid()) {
    return {"belongs to user " + std::to_string(peer->user) +
                ", and keys are taken from root and from the own user only",
            true};
  }
  // A new socket has room for it. An agent that refuses us may have ended already: its message can
  // still be read.
  const SecretText request =
      frame_of(FrameKind::subscribe, subscription(program_invocation_short_name));
  const std::string_view octets = request.view();
  [[maybe_unused]] const ssize_t sent =
      ::send(made.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  socket_ = std::move(made);
  reader_ = FrameReader(FrameReader::Reads::answers);
  return {};
}

bool AgentSource::has_news(Instant now) {
  if (!socket_ && now >= retry_at_) reconnect(now);
  if (socket_ && read_frames(now)) return true;
  if (problem_.empty()) return false;
  throw KeyFileError(std::exchange(problem_, {}));
}

void AgentSource::reconnect(Instant now) {
  const Outcome outcome = connect();
  answer_by_ = now + kAnswerTime;
  if (outcome.problem.empty()) return;
  if (outcome.is_lasting) complain(outcome.problem);
  try_later(now);
}

// True: keys came. If the connection ended for a reason that should be logged, problem_ has it.
bool AgentSource::read_frames(Instant now) {
  bool is_new = false;
  for (int i = 0; socket_ && i < kReadsMax; ++i) {
    switch (receive(socket_.get(), reader_)) {
      case Received::some:
        if (answer_by_.is_never() && reader_.is_begun()) answer_by_ = now + kAnswerTime;
        break;
      case Received::frame:
        is_new |= on_frame(now);
        break;
      case Received::nothing:
        if (now >= answer_by_) lose("the key agent does not answer", now);
        return is_new;
      case Received::ended:
        lose("the key agent went away", now);
        break;
      case Received::broken:
        lose("the process at this socket is not a key agent", now);
        break;
    }
  }
  return is_new;
}

bool AgentSource::on_frame(Instant now) {
  Frame frame = reader_.take();
  if (frame.kind == FrameKind::error) {
    lose("the key agent says: " + printable(frame.body.view()), now);
    return false;
  }
  text_ = std::move(frame.body);
  answer_by_ = Instant::never();
  if (good_since_.is_never()) good_since_ = now;
  told_.clear();
  return true;
}

void AgentSource::lose(const std::string& why, Instant now) {
  socket_ = Descriptor();
  if (!good_since_.is_never()) {
    ++losses_;
    if (now - good_since_ > kGoodTime) retry_ = kRetryMin;
    complain(why + "; its keys stay in use");
  } else {
    complain(why);
  }
  good_since_ = answer_by_ = Instant::never();
  try_later(now);
}

void AgentSource::try_later(Instant now) {
  retry_at_ = now + retry_;
  retry_ = std::min(retry_ * 2, kRetryMax);
}

void AgentSource::complain(const std::string& problem) {
  if (problem == told_) return;
  told_ = problem;
  problem_ = name() + ": " + problem;
}

}  // namespace uet::keys
