// FI_UET_TSS=agent: processes that get their keys from uet_keys serve. docs/key-agent.md
#include "prov/uet/test/rollover_roles.h"

#include <fcntl.h>

namespace uet::prov::test {
namespace {

class KeyAgentTest : public SecuredRolloverTest {
 protected:
  // Clears the agent's log. Returns when the agent listens.
  void start_agent() {
    const std::string log = path("agent.log");
    std::filesystem::remove(log);
    agent_ = start(0, {}, [&](const Line&) {
      const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(fd, STDERR_FILENO);
      ::execl(UET_KEYS, UET_KEYS, "serve", "--socket", path("keys.sock").c_str(),
              path("keys").c_str(), nullptr);
    });
    await_log("listens on", 1);
  }
  // Waits until `lines` lines of the agent's log have this text.
  void await_log(const std::string& text, int lines) const {
    const auto end = Clock::now() + kPatience;
    int found = 0;
    while (found < lines && Clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(5));
      std::ifstream in(path("agent.log"));
      found = 0;
      for (std::string line; std::getline(in, line);) found += line.find(text) != line.npos;
    }
    ASSERT_GE(found, lines) << text;
  }
  // Processes look for new keys every 50 ms while packets move.
  static void let_them_look() { std::this_thread::sleep_for(milliseconds(200)); }

  Settings served(const Settings& more = {}) {
    Settings all =
        secured({{"FI_UET_TSS", "agent"}, {"FI_UET_TSS_AGENT", kept(path("keys.sock"))}});
    std::erase_if(all,
                  [](const auto& one) { return std::string_view(one.first) == "FI_UET_TSS_KEYS"; });
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  pid_t agent_ = 0;
};

// [TSS-045..048, TSS-050] The agent's file is replaced under load. During the second rollover the
// agent is killed, the file changes, and another agent begins: nothing is lost.
TEST_F(KeyAgentTest, KeysAreReplacedUnderLoadAndTheAgentMayDie) {
  agent_losses_ = 1;
  start_agent();
  const pid_t a = start(0, served(), [](const Line& line) { talk(line, true); });
  const pid_t b = start(1, served(), [](const Line& line) { talk(line, false); });
  await_log("gets its keys", 2);
  int changes = 0;
  const int rollovers = std::max(3, setting("UET_ROLLOVERS", 3));
  for (int i = 0; i < rollovers; ++i) {
    const auto texts = rollover(i);
    for (size_t step = 0; step < texts.size(); ++step) {
      if (i == 1 && step == 1) {
        kill_and_reap(agent_);
        let_them_look();  // and talk without an agent
        write_keys("keys", texts[step]);
        start_agent();
        await_log("gets its keys", 2);
        changes = 0;
      } else {
        write_keys("keys", texts[step]);
        await_log("has changed: 2 processes", ++changes);
      }
      let_them_look();
    }
  }
  end_talk();
  finish(a);
  finish(b);
}

// [TSS-109, T-17] No agent, an agent without keys, or two sources: nothing goes in the clear.
TEST_F(KeyAgentTest, WithoutKeysFromTheAgentNoDomainOpens) {
  const auto begin = Clock::now();
  finish(start(0, served(), cannot_open));
  EXPECT_LT(Clock::now() - begin, seconds(15));
  start_agent();
  finish(start(0, served({{"FI_UET_TSS_KEYS", kept(path("keys"))}}), cannot_open));
  finish(start(0, served({{"FI_UET_TSS", "off"}}), cannot_open));
  finish(start(0, served({{"FI_UET_TSS", "file"}}), cannot_open));
  finish(start(0, served({{"FI_UET_TSS_COUNTERS", kept(path("none"))}}), cannot_open));
}

}  // namespace
}  // namespace uet::prov::test
