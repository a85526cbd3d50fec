// Other processes query a process while its threads send messages: each request is answered, and
// the messages continue.
#include "prov/uet/test/node.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace uet::prov::test {
namespace {

constexpr int kQuestions = 60;

// A connection to the `number`th domain of this process; -1: there is no such domain.
int connect_to(int number) {
  const std::string name = "uet-ctl/" + std::to_string(getpid()) + "/" + std::to_string(number);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  timeval patience{};
  patience.tv_sec = kPatience.count();
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  ::close(fd);
  return -1;
}

// The answer of the domain; empty: none.
std::string ask(int number, std::string_view question) {
  const int fd = connect_to(number);
  if (fd < 0) return {};
  std::string answer(1 << 20, '\0');
  ssize_t got = ::send(fd, question.data(), question.size(), MSG_NOSIGNAL);
  if (got > 0) got = ::recv(fd, answer.data(), answer.size(), 0);
  ::close(fd);
  answer.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return answer;
}

class AskedTest : public PairTest {
 protected:
  void SetUp() override { open(); }

  // One message from a to b, until both completions.
  void pass(uint64_t number) {
    uint64_t sent = number, got = 0;
    ASSERT_EQ(fi_recv(b->ep, &got, sizeof got, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a->ep, &sent, sizeof sent, nullptr, to_b, nullptr), 0);
    next(b->rx_cq);
    next(a->tx_cq);
    ASSERT_EQ(got, number);
  }
  void pass_until(const std::atomic<bool>& is_over) {
    uint64_t messages = 0;
    while (!is_over && !HasFatalFailure()) pass(++messages);
    EXPECT_GT(messages, 0u);
  }
};

TEST_F(AskedTest, EachQuestionIsAnsweredWhileMessagesMove) {
  constexpr std::array<std::string_view, 3> kAll{"uet-ctl 1 stats", "uet-ctl 1 dump",
                                                 "uet-ctl 1 paths"};
  std::atomic<bool> is_over = false;
  std::vector<std::string> bad;
  std::thread asker([&] {
    for (int i = 0; i < kQuestions; ++i) {
      const std::string_view question = kAll[static_cast<size_t>(i) % kAll.size()];
      const std::string answer = ask(i % 2, question);
      if (!answer.starts_with("{") || answer.find("\"version\":1") == answer.npos) {
        bad.push_back(std::string(question) + ": " + answer.substr(0, 60));
      }
    }
    is_over = true;
  });
  pass_until(is_over);
  asker.join();
  EXPECT_TRUE(bad.empty()) << bad.size() << " of " << kQuestions << ", the first: " << bad[0];
}

// More connections than there are places, nonsense, and clients that leave before the answer.
TEST_F(AskedTest, BadClientsStopNothing) {
  std::atomic<bool> is_over = false;
  std::thread crowd([&] {
    std::vector<int> held;
    for (int i = 0; i < 200; ++i) {
      const int fd = connect_to(i % 2);
      if (fd < 0) continue;
      if (held.size() < 20) {
        held.push_back(fd);
        continue;
      }
      const std::string_view words = i % 4 < 2 ? "nonsense" : "uet-ctl 1 dump";
      EXPECT_EQ(::send(fd, words.data(), words.size(), MSG_NOSIGNAL), ssize_t(words.size()));
      ::close(fd);
    }
    for (const int fd : held) ::close(fd);
    is_over = true;
  });
  pass_until(is_over);
  crowd.join();
  EXPECT_NE(ask(0, "uet-ctl 1 stats"), "");
}

}  // namespace
}  // namespace uet::prov::test
