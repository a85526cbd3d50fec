// `uet_ctl dump` for a user whose process hangs.
#include "prov/uet/test/roles.h"
#include "tools/ctl/test/neighbours.h"
#include "tools/ctl/test/program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

namespace uet::prov::test {
namespace {

using nlohmann::json;

constexpr const char* kSilent = "127.0.47.63";

std::string run(const std::string& arguments, int& status) {
  const Outcome outcome = uet_ctl(arguments);
  status = outcome.status;
  return outcome.out;
}

// The dumps of a process, by the address of the domain.
std::map<std::string, json> dumps(pid_t pid) {
  int status = -1;
  const std::string out = run("dump --json " + std::to_string(pid), status);
  EXPECT_EQ(status, 0) << out;
  std::map<std::string, json> domains;
  const json answer = json::parse(out, nullptr, false);
  EXPECT_TRUE(answer.is_array()) << out;
  for (const json& domain : answer) domains[domain.value("address", "?")] = domain;
  return domains;
}

// Bound where peers are looked for, and deaf.
struct SilentPeer {
  SilentPeer() : fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(4793);
    at.sin_addr.s_addr = inet_addr(kSilent);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  ~SilentPeer() { close(fd); }
  int fd;
};

std::vector<uint8_t> name_of_silent_peer() {
  NodeOptions options;
  options.address = kSilent;
  return Node(options).name();
}

// A sends to an address that never answers and, without a receive, to B; B waits for a tag that
// never comes.
void hanging_role(const Line& line) {
  const std::vector<uint8_t> silent = name_of_silent_peer();
  const SilentPeer peer;
  NodeOptions options;
  options.address = "127.0.47.62";
  Node b(options);
  options.address = "127.0.47.61";
  options.tx_op_flags = FI_TRANSMIT_COMPLETE;  // the completion says that B has answered
  Node a(options);
  const fi_addr_t to_b = a.insert(b.name());
  const fi_addr_t to_silent = a.insert(silent);
  b.insert(a.name());
  std::array<uint8_t, 3000> text{};
  std::array<uint8_t, 64> room{};
  int context[3] = {};
  ASSERT_EQ(
      fi_trecv(b.ep, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, 0x77, 0x8, &context[0]), 0);
  ASSERT_EQ(fi_send(a.ep, text.data(), text.size(), nullptr, to_b, &context[1]), 0);
  EXPECT_EQ(await(a.tx_cq).context, &context[1]);
  ASSERT_EQ(fi_tsend(a.ep, text.data(), 40, nullptr, to_silent, 0x99, &context[2]), 0);
  line.tell(reinterpret_cast<uint64_t>(&context[2]));
  line.hear_value();
}

class UetCtlDumpTest : public RolesTest {};

TEST_F(UetCtlDumpTest, AHangIsExplained) {
  const pid_t pid = start(1, {}, hanging_role);
  const uint64_t context = ends_[0].hear_value();
  std::map<std::string, json> domains = dumps(pid);
  ASSERT_EQ(domains.size(), 2u);
  const json& a = domains.at("127.0.47.61");
  EXPECT_EQ(a.at("version"), 1);
  EXPECT_EQ(a.at("pid"), pid);
  EXPECT_EQ(a.at("held"), false);
  ASSERT_EQ(a.at("operations").at("count"), 1) << a.dump(2);
  const json& op = a.at("operations").at("listed").at(0);
  EXPECT_EQ(op.at("kind"), "tagged_send");
  EXPECT_EQ(op.at("state"), "started");
  EXPECT_EQ(op.at("peer"), std::string(kSilent) + " 4793");
  EXPECT_EQ(op.at("tag"), 0x99);
  EXPECT_EQ(op.at("bytes"), 40);
  EXPECT_EQ(op.at("packets_sent"), 1);
  EXPECT_EQ(op.at("packets_done"), 0);
  std::array<char, 24> hex;
  std::snprintf(hex.data(), hex.size(), "0x%llx", static_cast<unsigned long long>(context));
  EXPECT_EQ(op.at("context"), hex.data());

  const json& pdcs = a.at("pdcs");
  EXPECT_EQ(pdcs.at("count"), 2) << "toward B, and toward an address without a process";
  const json& pdc = pdcs.at("listed").at(0);  // the busy one
  EXPECT_EQ(pdc.at("peer"), std::string(kSilent) + " 4793");
  EXPECT_EQ(pdc.at("state"), "SYN");
  EXPECT_EQ(pdc.at("role"), "initiator");
  EXPECT_EQ(pdc.at("peer_id"), 0);
  const uint32_t outstanding =
      pdc.at("tx_next").get<uint32_t>() - pdc.at("tx_base").get<uint32_t>();
  EXPECT_EQ(outstanding, 1u);
  EXPECT_GT(pdc.at("waiting_us"), 0);
  EXPECT_GE(pdc.at("timer_us"), -1'000'000);

  const json& b = domains.at("127.0.47.62");
  ASSERT_EQ(b.at("receives").at("count"), 1);
  const json& receive = b.at("receives").at("listed").at(0);
  EXPECT_EQ(receive.at("tag"), 0x77);
  EXPECT_EQ(receive.at("ignore"), 8);
  EXPECT_EQ(receive.at("bytes"), 64);
  EXPECT_EQ(receive.at("matched"), false);
  ASSERT_EQ(b.at("kept").at("count"), 1);
  EXPECT_EQ(b.at("kept").at("listed").at(0).at("bytes"), 3000);
  EXPECT_EQ(b.at("kept").at("listed").at(0).at("complete"), true);
  EXPECT_EQ(b.at("kept").at("listed").at(0).at("peer"), "127.0.47.61 4793");
  EXPECT_EQ(b.at("kept_pages"), 1);
  ends_[0].tell(0);
  kill_and_reap(pid);  // its send would hold up the close
}

TEST_F(UetCtlDumpTest, TextShowsPdcsOperationsAndReceives) {
  const pid_t pid = start(1, {}, hanging_role);
  ends_[0].hear_value();
  int status = -1;
  const std::string text = run("dump " + std::to_string(pid), status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text.find(std::to_string(pid) + ' '), 0u) << text;  // the first word of the first line
  for (const char* part :
       {", 127.0.47.61 port 4793\n",
        "\n  1 operations in flight\n    tagged_send of "
        "40 octets, context 0x",
        "tag or key 153, to 127.0.47.63 4793 ", ": started, 0 of 1 packets answered",
        " initiator rud SYN with 127.0.47.63 4793: 1 outstanding",
        "\n  1 receives posted\n    tagged receive of 64 octets", "tag 119 ignore 8",
        "\n  1 unexpected messages held\n    message of 3000 octets from 127.0.47.61 4793"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\nin\n" << text;
  }
  kill_and_reap(pid);
}

void busy_role(const Line& line) { pass_until_told(line, "127.0.47.64", "127.0.47.65", 20'000); }

TEST_F(UetCtlDumpTest, AProcessContinuesDuringADump) {
  const pid_t pid = start(1, {}, busy_role);
  ASSERT_EQ(ends_[0].hear_value(), 1u);
  for (int i = 0; i < 60; ++i) {
    const std::map<std::string, json> domains = dumps(pid);
    ASSERT_EQ(domains.size(), 2u);
    for (const auto& [address, domain] : domains) {
      // The list agrees with the counts: both were copied at one moment.
      for (const char* list : {"pdcs", "operations", "receives", "kept", "arriving"}) {
        if (domain.at("held") == true) continue;
        EXPECT_EQ(domain.at(list).at("count"), domain.at(list).at("listed").size()) << list;
      }
    }
  }
  ends_[0].tell(0);
  EXPECT_GT(ends_[0].hear_value(), 0u);
  finish(pid);
}

TEST_F(UetCtlDumpTest, NothingToDumpAndWrongUsageAreSaid) {
  int status = -1;
  EXPECT_NE(run("dump " + std::to_string(getpid()), status).find("has no open uet domain"),
            std::string::npos);
  EXPECT_EQ(status, 1);
  run("dump --watch 1", status);
  EXPECT_EQ(status, 2);
}

}  // namespace
}  // namespace uet::prov::test
