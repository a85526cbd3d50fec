// A process and its key agent: agents that answer, that end, and that say something else.
#include "keys/agent_source.h"
#include "keys/test/temporary_folder.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

namespace uet::keys {
namespace {

constexpr Instant kConnectedAt = Instant::from_ns(1'000'000'000);

std::string text_with(char digit) {
  return "[[domain]]\nsdi = 7\nmode = \"cluster\"\n[[domain.key]]\nan = 0\nsecret = \"" +
         std::string(64, digit) + "\"\n";
}
// The first octet of the only key.
int first_octet(const KeyFile& file) {
  return std::to_integer<int>(file.domains.at(0).keys.at(0).key.secret[0]);
}

// A key agent's actions on one connection after the other, octet by octet.
class Listener {
 public:
  explicit Listener(const std::string& path) : path_(path) {
    sockaddr_un address{};
    EXPECT_TRUE(set_socket_path(path, address));
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
  }
  ~Listener() { ::unlink(path_.c_str()); }
  int socket() const { return socket_.get(); }
  // The next process, after its request came.
  Descriptor accept() const {
    pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 5000), 1) << "no process connects";
    if (waiting.revents == 0) return Descriptor();
    Descriptor client(::accept(socket_.get(), nullptr, nullptr));
    char request[128];
    const ssize_t got = ::recv(client.get(), request, sizeof request, 0);
    EXPECT_GT(got, 6);
    EXPECT_EQ(std::string(request, 6),
              std::string("\0\0\0", 3) + static_cast<char>(got - 4) + "\x01\x01");
    return client;
  }

 private:
  std::string path_;
  Descriptor socket_;
};

void say(const Descriptor& client, std::string_view octets) {
  EXPECT_EQ(::send(client.get(), octets.data(), octets.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(octets.size()));
}
void say_keys(const Descriptor& client, char digit) {
  say(client, frame_of(FrameKind::keys, text_with(digit)).view());
}

class AgentSourceTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("keys.sock");

  // A process that is connected and has the key of 1s, and the agent's end.
  struct Connected {
    std::unique_ptr<Listener> listener;
    Descriptor client;
    std::unique_ptr<AgentSource> source;
  };
  Connected connected() {
    Connected all;
    all.listener = std::make_unique<Listener>(path_);
    std::thread agent([&] {
      all.client = all.listener->accept();
      say_keys(all.client, '1');
    });
    all.source = std::make_unique<AgentSource>(path_);
    agent.join();
    return all;
  }
  // The error text of a process whose agent answers by `answer`.
  std::string failure(const std::function<void(const Descriptor&)>& answer,
                      Duration patience = 200_ms) {
    const Listener listener(path_);
    std::atomic<bool> is_over = false;
    std::thread agent([&] {
      const Descriptor client = listener.accept();
      answer(client);
      if (client) {
        while (!is_over) usleep(1000);
      }
    });
    std::string text;
    try {
      AgentSource source(path_, patience);
    } catch (const KeyFileError& error) {
      text = error.what();
    }
    is_over = true;
    agent.join();
    return text.substr(0, path_.size()) == path_ ? text.substr(path_.size()) : text;
  }
};

std::string said(AgentSource& source, Instant now) {
  try {
    EXPECT_FALSE(source.has_news(now));
  } catch (const KeyFileError& error) {
    return error.what();
  }
  return "";
}

// [TSS-045]
TEST_F(AgentSourceTest, KeysComeAtFirstAndWhenTheyChange) {
  const Connected all = connected();
  EXPECT_EQ(first_octet(all.source->read()), 0x11);
  EXPECT_FALSE(all.source->has_news(kConnectedAt));
  say_keys(all.client, '2');
  EXPECT_TRUE(all.source->has_news(kConnectedAt));
  EXPECT_EQ(first_octet(all.source->read()), 0x22);
  EXPECT_EQ(first_octet(all.source->read()), 0x22) << "a reload that failed reads again";
  EXPECT_FALSE(all.source->has_news(kConnectedAt));
}

// Of several changes only the last one is applied.
TEST_F(AgentSourceTest, ChangesThatWaitedAreReadTogether) {
  const Connected all = connected();
  for (const char digit : {'2', '3', '4'}) say_keys(all.client, digit);
  EXPECT_TRUE(all.source->has_news(kConnectedAt));
  EXPECT_EQ(first_octet(all.source->read()), 0x44);
}

// [TSS-045] The keys stay; the loss is reported once; retries are counted by time.
TEST_F(AgentSourceTest, AnAgentThatGoesAwayIsTriedAgain) {
  Connected all = connected();
  all.client = Descriptor();
  EXPECT_EQ(said(*all.source, kConnectedAt),
            path_ + ": the key agent went away; its keys stay in use");
  EXPECT_EQ(all.source->losses(), 1u);
  EXPECT_EQ(first_octet(all.source->read()), 0x11);
  all.listener.reset();
  Instant now = kConnectedAt;
  for (int tries = 0; tries < 20; ++tries) {
    EXPECT_EQ(said(*all.source, now), "");
    now = now + AgentSource::kRetryMax;
  }
  all.listener = std::make_unique<Listener>(path_);
  EXPECT_FALSE(all.source->has_news(now)) << "connects";
  all.client = all.listener->accept();
  say_keys(all.client, '2');
  EXPECT_TRUE(all.source->has_news(now));
  EXPECT_EQ(first_octet(all.source->read()), 0x22);
  EXPECT_EQ(all.source->losses(), 1u);
}

// Keys that the agent sent before it ended are taken, and then its end is reported.
TEST_F(AgentSourceTest, TheLastKeysOfAnAgentAreTaken) {
  Connected all = connected();
  say_keys(all.client, '2');
  all.client = Descriptor();
  EXPECT_TRUE(all.source->has_news(kConnectedAt));
  EXPECT_EQ(first_octet(all.source->read()), 0x22);
  EXPECT_NE(said(*all.source, kConnectedAt), "");
  EXPECT_EQ(said(*all.source, kConnectedAt), "");
}

// After 100 ms, 200 ms, ... 5 s; each try is a connection here.
TEST_F(AgentSourceTest, TriesAreBoundedByTime) {
  Connected all = connected();
  all.client = Descriptor();
  (void)said(*all.source, kConnectedAt);
  int tries = 0;
  for (Instant now = kConnectedAt; now < kConnectedAt + 60_s; now = now + 10_ms) {
    (void)said(*all.source, now);  // closed below: the next loss, without keys
    pollfd waiting{.fd = all.listener->socket(), .events = POLLIN, .revents = 0};
    while (::poll(&waiting, 1, 0) == 1) {
      ++tries;
      (void)all.listener->accept();
    }
  }
  EXPECT_GE(tries, 15);
  EXPECT_LE(tries, 18) << "0.1 + 0.2 + ... + 3.2 s, then one in 5 s";
  EXPECT_EQ(all.source->losses(), 1u);
}

TEST_F(AgentSourceTest, WithoutAnAgentThereAreNoKeys) {
  const auto failure_of = [](const std::string& path) {
    try {
      AgentSource source(path, 60_ms);
    } catch (const KeyFileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(failure_of(path_), path_ + ": no key agent listens there");
  {
    const Listener left_behind(path_);
    ASSERT_EQ(::rename(path_.c_str(), folder_.path("x").c_str()), 0);
  }
  EXPECT_EQ(failure_of(folder_.path("x")), folder_.path("x") + ": no key agent listens there");
  const std::string longest(120, 'x');
  EXPECT_EQ(failure_of(longest),
            longest + ": is not the path of a socket: it must have at most 107 octets");
}

// An agent that starts a little later is waited for.
TEST_F(AgentSourceTest, AnAgentMayStartLater) {
  std::unique_ptr<Listener> listener;
  std::thread agent([&] {
    usleep(150'000);
    listener = std::make_unique<Listener>(path_);
    const Descriptor client = listener->accept();
    say_keys(client, '1');
  });
  AgentSource source(path_);
  EXPECT_EQ(first_octet(source.read()), 0x11);
  agent.join();
}

TEST_F(AgentSourceTest, AnAgentThatSaysSomethingElseIsRefused) {
  EXPECT_EQ(failure([](const Descriptor& c) { say(c, "HTTP/1.1 200 OK\r\n"); }),
            ": the process at this socket is not a key agent");
  EXPECT_EQ(failure([](const Descriptor& c) { say(c, "\xFF\xFF\xFF\xFF\x02"); }),
            ": the process at this socket is not a key agent");
  EXPECT_EQ(failure([](const Descriptor& c) {
              say(c, frame_of(FrameKind::error, "no \x1b keys").view());
            }),
            ": the key agent says: no ? keys");
  EXPECT_EQ(failure([](const Descriptor& c) { ::shutdown(c.get(), SHUT_RDWR); }),
            ": the key agent went away");
}

TEST_F(AgentSourceTest, AnAgentThatStallsIsGivenUp) {
  EXPECT_EQ(failure([](const Descriptor&) {}), ": the key agent does not answer");
  EXPECT_EQ(failure([](const Descriptor& c) {
              say(c, frame_of(FrameKind::keys, text_with('1')).view().substr(0, 50));
            }),
            ": the key agent does not answer");
}

// Half a frame while keys are in use: they stay, the connection does not.
TEST_F(AgentSourceTest, HalfAFrameEndsTheConnectionInTime) {
  Connected all = connected();
  say(all.client, frame_of(FrameKind::keys, text_with('2')).view().substr(0, 50));
  EXPECT_FALSE(all.source->has_news(kConnectedAt));
  EXPECT_FALSE(all.source->has_news(kConnectedAt + AgentSource::kAnswerTime - 1_ms));
  EXPECT_NE(said(*all.source, kConnectedAt + AgentSource::kAnswerTime), "");
  EXPECT_EQ(all.source->losses(), 1u);
  EXPECT_EQ(first_octet(all.source->read()), 0x11);
}

// An invalid key file from the agent is refused with the line of the error.
TEST_F(AgentSourceTest, AnInvalidKeyFileIsReportedWithItsLine) {
  Connected all = connected();
  say(all.client, frame_of(FrameKind::keys, "[[domain]]\nsdi = \"x\"\n").view());
  EXPECT_TRUE(all.source->has_news(kConnectedAt));
  try {
    (void)all.source->read();
    FAIL();
  } catch (const KeyFileError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, path_.size() + 3), path_ + ":2:");
  }
}

// [T-54] An agent of another user could make this process use keys that it knows.
TEST_F(AgentSourceTest, AnAgentOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chmod(folder_.path(".").c_str(), 0777), 0);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t agent = ::fork();
  if (agent == 0) {
    const bool is_other = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
    const Listener listener(path_);
    [[maybe_unused]] const ssize_t n = ::write(ready[1], "x", 1);
    ::pause();
    _exit(is_other ? 0 : 1);
  }
  char ok = 0;
  ASSERT_EQ(::read(ready[0], &ok, 1), 1);
  // Our own user is root; for a test of "neither root nor ours" that is the whole difference.
  try {
    AgentSource source(path_, 200_ms);
    ADD_FAILURE() << "took keys of another user";
  } catch (const KeyFileError& error) {
    EXPECT_EQ(std::string(error.what()),
              path_ +
                  ": belongs to user 65534, and keys are taken from root and from the own user "
                  "only");
  }
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace uet::keys
