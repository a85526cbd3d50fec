// uet_ctl as a user runs it, against processes that use the provider through libfabric.
#include "prov/uet/test/roles.h"
#include "tools/ctl/test/neighbours.h"
#include "tools/ctl/test/program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace uet::prov::test {
namespace {

using nlohmann::json;

// The answers about one process, by the address of the domain.
std::map<std::string, json> ask(pid_t pid) {
  const Outcome outcome = uet_ctl("stats --json " + std::to_string(pid));
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  std::map<std::string, json> domains;
  const json answer = json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(answer.is_array()) << outcome.out;
  for (const json& domain : answer) domains[domain.value("address", "?")] = domain;
  return domains;
}

uint64_t counter(const json& domain, const char* name) {
  return domain.at("counters").at(name).get<uint64_t>();
}

int connect_to(pid_t pid) {
  const std::string name = "uet-ctl/" + std::to_string(pid) + "/0";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  close(fd);
  return -1;
}

// Two domains in one process; sends as many messages from the first to the second as requested,
// until the request is 0.
void pair_role(const Line& line) {
  Neighbours pair("127.0.47.51", "127.0.47.52");
  line.tell(1);
  const std::array<uint8_t, 5> text{'f', 'i', 'v', 'e', 0};
  while (const uint64_t messages = line.hear_value()) {
    for (uint64_t i = 0; i < messages; ++i) {
      std::array<uint8_t, 8> got{};
      if (!pair.pass(text, got)) return;
      EXPECT_STREQ(reinterpret_cast<const char*>(got.data()), "five");
    }
    line.tell(messages);
  }
}

class UetCtlTest : public RolesTest {
 protected:
  void open(const Settings& settings = {}) {
    pid_ = start(1, settings, pair_role);
    ASSERT_EQ(line_.hear_value(), 1u);
  }
  void send(uint64_t messages) const {
    line_.tell(messages);
    ASSERT_EQ(line_.hear_value(), messages);
  }
  void close() {
    line_.tell(0);
    finish(pid_);
  }

  // Sends datagrams of an undefined packet type to the first domain.
  static void send_nonsense(int count) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(4793);
    to.sin_addr.s_addr = inet_addr("127.0.47.51");
    const uint8_t type_31[12] = {0xF8};  // the type is the first five bits
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(sendto(fd, type_31, sizeof type_31, 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
                12);
    }
    ::close(fd);
  }
  uint64_t counted(const char* name) const { return counter(ask(pid_).at("127.0.47.51"), name); }
  // The same, once it is as high as `wanted`, or after a while.
  uint64_t counted(const char* name, uint64_t wanted) const {
    uint64_t value = counted(name);
    for (int i = 0; i < 1000 && value < wanted; ++i) value = counted(name);
    return value;
  }

  const Line& line_ = ends_[0];
  pid_t pid_ = -1;
};

TEST_F(UetCtlTest, ReadsTheDomainsOfAnotherProcess) {
  open();
  send(3);
  std::map<std::string, json> domains = ask(pid_);
  ASSERT_EQ(domains.size(), 2u);
  // The sends were over when they were copied; their answers may still be on the way.
  for (int i = 0; i < 100 && counter(domains.at("127.0.47.51"), "tx_completed") < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    domains = ask(pid_);
  }
  const json& a = domains.at("127.0.47.51");
  const json& b = domains.at("127.0.47.52");
  EXPECT_EQ(counter(a, "tx_messages"), 3u);
  EXPECT_EQ(counter(a, "tx_completed"), 3u);
  // On a loaded machine a packet may have gone again before its answer was looked at.
  EXPECT_GE(counter(a, "tx_requests"), 3u);
  EXPECT_EQ(counter(a, "tx_payload_bytes"), 5 * counter(a, "tx_requests"));
  EXPECT_EQ(counter(a, "rx_expected"), 0u);
  EXPECT_EQ(counter(b, "rx_expected"), 3u);
  EXPECT_EQ(counter(b, "tx_messages"), 0u);
  EXPECT_EQ(a.at("version"), 1);
  EXPECT_EQ(a.at("pid"), pid_);
  EXPECT_EQ(a.at("program"), "uet_ctl_test");
  EXPECT_EQ(a.at("fabric"), "UET-lo");
  EXPECT_EQ(a.at("domain"), "lo/127.0.47.51");
  EXPECT_EQ(a.at("port"), 4793);
  EXPECT_EQ(a.at("job_id"), 1);
  EXPECT_EQ(a.at("payload_mtu"), 8192);
  EXPECT_EQ(a.at("failure"), "");
  EXPECT_EQ(a.at("endpoint_count"), 1);
  ASSERT_EQ(a.at("endpoints").size(), 1u);
  EXPECT_EQ(a.at("endpoints")[0].at("resource_index"), 1);
  close();
}

// [PDS-V4] Packets of strangers that are dropped are visible from outside.
TEST_F(UetCtlTest, ShowsDroppedPackets) {
  open();
  send_nonsense(4);
  EXPECT_EQ(counted("drop_type_reserved", 4), 4u);
  EXPECT_EQ(counter(ask(pid_).at("127.0.47.52"), "drop_type_reserved"), 0u);
  close();
}

// A datagram of a host that FI_UET_ALLOW does not name is dropped before its type
// is read.
TEST_F(UetCtlTest, PacketsOfUnlistedSourcesAreDroppedUnread) {
  open({{"FI_UET_ALLOW", "10.0.0.0/8,fd00::/8"}});
  send_nonsense(3);
  EXPECT_EQ(counted("drop_not_allowed", 3), 3u);
  EXPECT_EQ(counted("drop_type_reserved"), 0u);
  EXPECT_EQ(counted("rx_packets"), 0u);
  close();
}

TEST_F(UetCtlTest, PeersThatAreAllowedTalk) {
  open({{"FI_UET_ALLOW", "127.0.47.48/29"}});
  send(2);
  const std::map<std::string, json> domains = ask(pid_);
  EXPECT_EQ(counter(domains.at("127.0.47.52"), "rx_expected"), 2u);
  EXPECT_EQ(counter(domains.at("127.0.47.52"), "drop_not_allowed"), 0u);
  close();
}

TEST_F(UetCtlTest, TextShowsTheDomainAndCountersThatAreNotZero) {
  open();
  send(2);
  const std::string pid = std::to_string(pid_);
  const Outcome brief = uet_ctl("stats " + pid);
  EXPECT_EQ(brief.status, 0);
  EXPECT_TRUE(contains(brief.out, pid + " uet_ctl_test: lo/127.0.47.51, 127.0.47.51 port 4793, "
                                        "fabric UET-lo, JobID 1, payload 8192, open "))
      << brief.out;
  EXPECT_TRUE(contains(brief.out, "  tx_messages                  2\n")) << brief.out;
  EXPECT_TRUE(contains(brief.out, "resource index 1\n")) << brief.out;
  EXPECT_FALSE(contains(brief.out, "drop_no_pdc")) << "zero";
  EXPECT_FALSE(contains(brief.out, "FAILED")) << brief.out;
  const Outcome all = uet_ctl("stats --all " + pid);
  EXPECT_TRUE(contains(all.out, "  drop_no_pdc                  0\n")) << all.out;
  EXPECT_TRUE(contains(uet_ctl("stats").out, brief.out.substr(0, 40))) << "all processes";
  close();
}

TEST_F(UetCtlTest, WatchingShowsIncreases) {
  open();
  send(3);
  std::FILE* const pipe = begin("stats --watch 2 --count 2 " + std::to_string(pid_));
  std::array<char, 200> first;
  ASSERT_NE(std::fgets(first.data(), first.size(), pipe), nullptr);  // the first round is out
  send(5);
  const Outcome outcome = test::finish(pipe, first.data());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.out, "  tx_messages                  3\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "  tx_messages                  +5\n")) << outcome.out;
  const Outcome lines = uet_ctl("stats --json --watch 0.01 --count 3 " + std::to_string(pid_));
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 3);
  close();
}

TEST_F(UetCtlTest, ReportsThatThereIsNoDomain) {
  const std::string self = std::to_string(getpid());  // opens no domain
  const Outcome text = uet_ctl("stats " + self);
  EXPECT_EQ(text.status, 1);
  EXPECT_TRUE(contains(text.out, "process " + self + " has no open uet domain here")) << text.out;
  EXPECT_TRUE(contains(text.out, "FI_UET_STATS=0")) << text.out;
  EXPECT_TRUE(contains(uet_ctl("stats --json " + self).out, "[]\n"));
}

TEST_F(UetCtlTest, WrongUsageIsReported) {
  for (const char* arguments : {"", "stat", "stats --watch 0", "stats --count 3", "stats abc",
                                "stats 0", "stats -1", "stats --jsn"}) {
    const Outcome outcome = uet_ctl(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_FALSE(outcome.out.empty()) << arguments;
  }
  for (const char* arguments : {"--help", "stats --help", "--version"}) {
    EXPECT_EQ(uet_ctl(arguments).status, 0) << arguments;
  }
}

TEST_F(UetCtlTest, ProcessesWithStatsOrHelperOffAreNotShown) {
  for (const char* variable : {"FI_UET_STATS", "FI_UET_HELPER"}) {
    open({{variable, "0"}});
    EXPECT_EQ(uet_ctl("stats " + std::to_string(pid_)).status, 1) << variable;
    close();
  }
}

TEST_F(UetCtlTest, AFailingNetworkIsShown) {
  open({{"FI_UET_FAULT", "fail=0s"}});
  std::string failure;
  for (int i = 0; i < 1000 && failure.empty(); ++i)
    failure = ask(pid_).at("127.0.47.51")["failure"];
  EXPECT_EQ(failure, std::strerror(EIO));
  EXPECT_TRUE(contains(uet_ctl("stats").out, std::string("\n  FAILED: ") + std::strerror(EIO)));
  close();
}

TEST_F(UetCtlTest, AStoppedProcessIsWaitedForBriefly) {
  open();
  stop(pid_);
  const Outcome outcome = uet_ctl("stats " + std::to_string(pid_));
  EXPECT_EQ(outcome.status, 3);
  EXPECT_TRUE(contains(outcome.out, "does not answer; is it stopped?")) << outcome.out;
  kill(pid_, SIGCONT);
  EXPECT_EQ(ask(pid_).size(), 2u);
  close();
}

// Some clients hold their connections, leave early or send nonsense. The process continues with its
// messages, and other clients are answered.
TEST_F(UetCtlTest, BadClientsDoNotStopMessages) {
  open();
  std::vector<int> stuck;
  line_.tell(2000);
  const auto end = Clock::now() + seconds(2);
  uint64_t nonsense = 0;
  while (Clock::now() < end) {
    const int fd = connect_to(pid_);
    if (fd < 0) continue;
    if (stuck.size() < 30) {
      stuck.push_back(fd);
      continue;
    }
    nonsense += ::send(fd, "nonsense", 8, MSG_NOSIGNAL) == 8 ? 1 : 0;
    ::close(fd);
  }
  EXPECT_GT(nonsense, 10u);
  EXPECT_EQ(line_.hear_value(), 2000u) << "messages stopped";
  const std::map<std::string, json> domains = ask(pid_);
  EXPECT_EQ(counter(domains.at("127.0.47.51"), "tx_completed"), 2000u);
  for (const int fd : stuck) ::close(fd);
  close();
}

// Output of uet_ctl for an answer under the name of the process `pid`.
Outcome told(const std::string& answer, pid_t pid, const std::string& arguments) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "uet-ctl/" + std::to_string(pid) + "/0";
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(fd, 8), 0);
  std::thread liar([&] {
    const int client = ::accept(fd, nullptr, nullptr);
    char request[64];
    EXPECT_GT(::recv(client, request, sizeof request, 0), 0);
    EXPECT_EQ(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL), ssize_t(answer.size()));
    ::close(client);
  });
  Outcome outcome = uet_ctl(arguments + " " + std::to_string(pid));
  liar.join();
  ::close(fd);
  return outcome;
}

// A socket with another process's name is not accepted as that process.
TEST_F(UetCtlTest, ASocketOfAnotherProcessIsRefused) {
  const std::string lie = R"({"version":1,"pid":1,"counters":{"tx_messages":1}})";
  EXPECT_EQ(told(lie, 1, "stats").status, 1);
}

TEST_F(UetCtlTest, ControlCharactersInAnswersAreEscaped) {
  const std::string clear_screen =
      R"({"version":1,"domain":"\u001b[2J","failure":"\r\u007f","counters":{"tx_messages":1}})";
  const Outcome outcome = told(clear_screen, getpid(), "stats");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.out, ": ?[2J, ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "FAILED: ??\n")) << outcome.out;
}

TEST_F(UetCtlTest, AnswersWithMembersOfTheWrongKindAreReported) {
  const Outcome outcome =
      told(R"({"version":1,"open_ms":"long","counters":{}})", getpid(), "stats");
  EXPECT_EQ(outcome.status, 3) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "members of the wrong kind")) << outcome.out;
}

TEST_F(UetCtlTest, ProgramNamesThatAreNotUtf8AreEscaped) {
  char before[16];
  ASSERT_EQ(prctl(PR_GET_NAME, before), 0);
  ASSERT_EQ(prctl(PR_SET_NAME, "caf\xC3\x1B"), 0);
  const Outcome outcome = told(R"({"version":1,"counters":{}})", getpid(), "stats --json");
  ASSERT_EQ(prctl(PR_SET_NAME, before), 0);
  EXPECT_EQ(outcome.status, 0);
  const json answer = json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(answer.is_array()) << outcome.out;
  EXPECT_EQ(answer[0].at("program"), "caf\xEF\xBF\xBD?");
}

}  // namespace
}  // namespace uet::prov::test
