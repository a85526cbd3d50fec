// The socket of uet_ctl against hostile clients. serve() is called by hand: if it waited for a
// client, the test would hang.
#include "prov/uet/observe/control_socket.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

constexpr char kAnswer[] = "all is well";

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

sockaddr_un address_of(const std::string& name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

// A client under the test's control.
class Client {
 public:
  explicit Client(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    socklen_t length = 0;
    const sockaddr_un address = address_of(name, length);
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  bool connected() const { return connected_; }
  bool say(const std::string& text) const {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // Received octets: "" is the end of the connection, nothing means that nothing came yet.
  std::optional<std::string> hear() const {
    std::string text(1000, '\0');
    const ssize_t got = ::recv(fd_.get(), text.data(), text.size(), 0);
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }

 private:
  io::Fd fd_;
  bool connected_ = false;
};

class ControlSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = ControlSocket::open([this](std::string_view request) {
      return request == kStatsRequest ? answer_ : std::string();
    });
    ASSERT_NE(server_, nullptr);
  }

  std::string answer_ = kAnswer;
  std::unique_ptr<ControlSocket> server_;
};

TEST_F(ControlSocketTest, OneRequestOneAnswerAndTheEnd) {
  const Client client(server_->name());
  ASSERT_TRUE(client.connected());
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  EXPECT_EQ(client.hear(), std::nullopt) << "serve() was not called yet";
  server_->serve();
  EXPECT_EQ(client.hear(), kAnswer);
  EXPECT_EQ(client.hear(), "");
}

TEST_F(ControlSocketTest, ARequestMayComeLater) {
  const Client client(server_->name());
  server_->serve();
  server_->serve();
  EXPECT_EQ(client.hear(), std::nullopt);
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  EXPECT_EQ(client.hear(), kAnswer);
}

TEST_F(ControlSocketTest, OtherRequestsAreRefusedInWords) {
  const std::string good(kStatsRequest);
  const std::vector<std::string> requests = {"x",
                                             good + "\n",
                                             good + '\0',
                                             good.substr(0, good.size() - 1),
                                             "uet-ctl 2 stats",
                                             "UET-CTL 1 STATS",
                                             std::string(63, 'a'),
                                             std::string(64, 'a'),
                                             std::string(65, 'a'),
                                             good + std::string(60'000, ' '),
                                             std::string(16, '\0'),
                                             "{\"stats\":1}"};
  for (const std::string& request : requests) {
    const Client client(server_->name());
    ASSERT_TRUE(client.say(request)) << request.size();
    server_->serve();
    EXPECT_EQ(client.hear(), R"({"error":"this process does not know that request"})") << request;
    EXPECT_EQ(client.hear(), "") << request;
  }
}

// Every prefix of the request, as a separate packet.
TEST_F(ControlSocketTest, ACutRequestIsRefused) {
  for (size_t length = 1; length < kStatsRequest.size(); ++length) {
    const Client client(server_->name());
    ASSERT_TRUE(client.say(std::string(kStatsRequest.substr(0, length))));
    server_->serve();
    EXPECT_NE(client.hear(), kAnswer) << length;
  }
}

TEST_F(ControlSocketTest, AClientThatLeavesIsForgotten) {
  const size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    {
      const Client client(server_->name());
      server_->serve();
    }
    server_->serve();
  }
  EXPECT_EQ(open_descriptors(), before);
}

// Silent clients hold eight descriptors at most, and exclude no other client.
TEST_F(ControlSocketTest, SilentClientsDoNotStandInTheWay) {
  const size_t before = open_descriptors();
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(std::make_unique<Client>(server_->name()));
    ASSERT_TRUE(silent.back()->connected()) << i;
    server_->serve();
  }
  EXPECT_LE(open_descriptors(), before + silent.size() + 8 + 1) << "eight, and what watches them";
  EXPECT_EQ(silent.front()->hear(), "") << "the oldest gave way";

  const Client client(server_->name());
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  EXPECT_EQ(client.hear(), kAnswer);
}

// While serve() is not called, the system queues a limited number of clients and refuses others.
TEST_F(ControlSocketTest, TheQueueOfWaitingClientsIsBounded) {
  std::vector<std::unique_ptr<Client>> clients;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<Client>(server_->name()));
    refused += clients.back()->connected() ? 0 : 1;
  }
  EXPECT_GE(refused, 80);
  clients.clear();
  for (int i = 0; i < 4; ++i) server_->serve();
  const Client client(server_->name());
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  EXPECT_EQ(client.hear(), kAnswer);
}

// A client that asks and does not read: the part beyond the system's buffer is lost.
TEST_F(ControlSocketTest, AnAnswerThatDoesNotFitIsLost) {
  answer_ = std::string(64u << 20, 'x');
  const Client client(server_->name());
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  EXPECT_EQ(client.hear(), "");
  answer_ = kAnswer;
  const Client other(server_->name());
  ASSERT_TRUE(other.say(std::string(kStatsRequest)));
  server_->serve();
  EXPECT_EQ(other.hear(), kAnswer);
}

// A second request on the same connection is not read: it ended with the first answer. The system
// says so (a reset) before it hands out the answer.
TEST_F(ControlSocketTest, SeveralRequestsAtOnceGetOneAnswer) {
  const Client client(server_->name());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  server_->serve();
  EXPECT_EQ(client.hear(), "");
  EXPECT_EQ(client.hear(), kAnswer);
  EXPECT_EQ(client.hear(), "");
}

TEST_F(ControlSocketTest, EachDomainHasItsName) {
  const auto second = ControlSocket::open([](std::string_view) { return std::string("second"); });
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second->name(), server_->name());
  const Client client(second->name());
  ASSERT_TRUE(client.say(std::string(kStatsRequest)));
  server_->serve();
  second->serve();
  EXPECT_EQ(client.hear(), "second");
}

// Other processes have taken the names that this process would use: it takes the next, or has no
// socket.
TEST_F(ControlSocketTest, TakenNamesDoNoHarm) {
  std::vector<io::Fd> squatters;
  for (int i = 0; i < 64; ++i) {
    squatters.emplace_back(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    socklen_t length = 0;
    const sockaddr_un address = address_of(
        std::string(kControlPrefix) + std::to_string(getpid()) + "/" + std::to_string(i), length);
    static_cast<void>(::bind(squatters.back().get(), reinterpret_cast<const sockaddr*>(&address),
                             length));  // the number of server_ is taken already
  }
  EXPECT_EQ(ControlSocket::open([](std::string_view) { return std::string(); }), nullptr);
  squatters.erase(squatters.begin() + 40);
  const auto server = ControlSocket::open([](std::string_view) { return std::string(); });
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->name().ends_with("/40")) << server->name();
}

// [T-56] Needs root, which can change its user.
TEST_F(ControlSocketTest, ForeignUsersAreTurnedAway) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can try this";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const Client client(server_->name());
    if (!client.connected() || !client.say(std::string(kStatsRequest))) _exit(3);
    for (int i = 0; i < 10'000; ++i) {
      const std::optional<std::string> heard = client.hear();
      if (heard) _exit(heard->empty() ? 0 : 4);
      usleep(1000);
    }
    _exit(5);
  }
  int status = -1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    server_->serve();
    usleep(1000);
  }
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace uet::prov
