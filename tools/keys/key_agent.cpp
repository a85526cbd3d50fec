// One loop around poll().
#include "tools/keys/key_agent.h"

#include "keys/key_file.h"
#include "keys/whole_file.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace uet::tools {

namespace {

Instant present() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Instant::from_ns(int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

// How many processes can be served: as many descriptors as the system gives, less our own.
uint32_t raise_limit(uint32_t wanted) {
  constexpr rlim_t kOwn = 32 + AgentClients::kSilentMax;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  limit.rlim_cur =
      std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, wanted + kOwn));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<uint32_t>(std::clamp<rlim_t>(limit.rlim_cur, kOwn + 1, wanted + kOwn) - kOwn);
}

}  // namespace

KeyAgent::KeyAgent(const AgentTerms& terms)
    : file_(terms.file),
      socket_(terms.socket, terms.mode),
      watch_(terms.file),
      clients_(terms.users, raise_limit(kClients), [this](const std::string& line) { log(line); }) {
  read(present());
  log("listens on " + terms.socket);
}

void KeyAgent::log(const std::string& line) {
  const Instant now = present();
  if (now - second_ >= Duration::seconds(1)) {
    if (lines_ > kLinesASecond) {
      std::fprintf(stderr, "uet_keys serve: %u lines more\n", lines_ - kLinesASecond);
    }
    second_ = now;
    lines_ = 0;
  }
  if (++lines_ <= kLinesASecond) std::fprintf(stderr, "uet_keys serve: %s\n", line.c_str());
}

// Throws KeyFileError: the file is wrong, and the old keys are served on.
void KeyAgent::read(Instant now) {
  const keys::SecretText text = keys::read_secret_file(file_);
  (void)keys::parse_key_file(text.view(), file_);
  AgentClients::Keys next =
      std::make_shared<const keys::SecretText>(keys::frame_of(keys::FrameKind::keys, text.view()));
  if (keys_ != nullptr && keys_->view() == next->view()) return;
  if (keys_ != nullptr)
    log(file_ + " has changed: " + std::to_string(clients_.count()) + " processes");
  keys_ = next;
  clients_.offer(std::move(next), now);
}

void KeyAgent::reload(Instant now) {
  if (watch_.has_changed()) is_due_ = true;
  if (!is_due_) return;
  try {
    read(now);
    is_due_ = false;
    failure_.clear();
  } catch (const keys::KeyFileError& error) {
    if (failure_ != error.what()) log(std::string(error.what()) + "; the keys of before are given");
    failure_ = error.what();
  }
}

void KeyAgent::accept(Instant now) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    keys::Descriptor client = socket_.accept();
    if (!client) return;
    clients_.add(std::move(client), now);
  }
}

void KeyAgent::run(int stop) {
  std::vector<pollfd> events;
  Instant look_at = present();
  while (true) {
    events.assign({{.fd = stop, .events = POLLIN, .revents = 0},
                   {.fd = socket_.fd(), .events = POLLIN, .revents = 0}});
    clients_.watch(events);
    if (::poll(events.data(), events.size(), kLookEveryMs) < 0) {
      for (pollfd& one : events) one.revents = 0;
    }
    if (events[0].revents != 0) return;
    const Instant now = present();
    clients_.serve(events.data() + 2, now);
    if (events[1].revents != 0) accept(now);
    if (now < look_at) continue;
    reload(now);
    look_at = now + Duration::milliseconds(kLookEveryMs);
  }
}

}  // namespace uet::tools
