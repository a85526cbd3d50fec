// Firewall rules and what becomes of a UDP packet. The texts are what nft 1.0.6 and iptables-save
// 1.8.9 printed for rules that were set by hand, cut to what matters.
#include "tools/ctl/doctor/firewall.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::tools {
namespace {

// One table "inet filter" with a chain "input" of this policy and these rules.
std::string nft(const std::string& policy, const std::string& rules) {
  return R"({"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
    {"table": {"family": "inet", "name": "filter", "handle": 1}},
    {"set": {"family": "inet", "name": "ports", "table": "filter", "type": "inet_service",
             "handle": 2, "flags": ["interval"], "elem": [22, {"range": [4700, 4800]}]}},
    {"chain": {"family": "inet", "table": "filter", "name": "input", "handle": 1,
               "type": "filter", "hook": "input", "prio": 0, "policy": ")" +
         policy + R"("}})" + rules + "]}";
}

std::string rule(const std::string& expressions, const std::string& chain = "input") {
  return R"(, {"rule": {"family": "inet", "table": "filter", "chain": ")" + chain +
         R"(", "handle": 3, "expr": [)" + expressions + "]}}";
}

std::string dport(const std::string& right) {
  return R"({"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}},
            "right": )" +
         right + "}}, ";
}

const std::string kDrop = R"({"drop": null})";
const std::string kReject = R"({"reject": {"type": "icmpx", "expr": "port-unreachable"}})";
const std::string kAccept = R"({"accept": null})";
const std::string kFromTen = R"({"match": {"op": "==", "left": {"payload": {"protocol": "ip",
    "field": "saddr"}}, "right": {"prefix": {"addr": "10.0.0.0", "len": 8}}}}, )";
const std::string kKnown = R"({"match": {"op": "in", "left": {"ct": {"key": "state"}},
    "right": ["established", "related"]}}, )";

Passage nft_passage(const std::string& policy, const std::string& rules, uint16_t port = 4793) {
  return passage(read_nft(nft(policy, rules)), false, port);
}

TEST(DoctorFirewallTest, WithoutRulesThePolicyDecides) {
  EXPECT_EQ(nft_passage("accept", ""), Passage::open);
  EXPECT_EQ(nft_passage("drop", ""), Passage::blocked);
  EXPECT_EQ(passage({}, false, 4793), Passage::open);
}

TEST(DoctorFirewallTest, ARuleIsAboutItsPortsOnly) {
  EXPECT_EQ(nft_passage("accept", rule(dport("4793") + kDrop)), Passage::blocked);
  EXPECT_EQ(nft_passage("accept", rule(dport("4793") + kDrop), 4794), Passage::open);
  EXPECT_EQ(nft_passage("accept", rule(dport(R"({"set": [53, 4793]})") + kReject)),
            Passage::blocked);
  EXPECT_EQ(nft_passage("accept", rule(dport(R"({"set": [53, 4792]})") + kReject)), Passage::open);
  const std::string range = rule(dport(R"({"range": [4000, 5000]})") +
                                 R"({"counter": {"packets": 0, "bytes": 0}}, )" + kDrop);
  EXPECT_EQ(nft_passage("accept", range), Passage::blocked);
  EXPECT_EQ(nft_passage("accept", range, 5001), Passage::open);
  EXPECT_EQ(nft_passage("accept", rule(dport(R"("@ports")") + kDrop), 4800), Passage::blocked);
  EXPECT_EQ(nft_passage("accept", rule(dport(R"("@ports")") + kDrop), 4801), Passage::open);
  const std::string tcp = R"({"match": {"op": "==", "left": {"payload": {"protocol": "tcp",
      "field": "dport"}}, "right": 4793}}, )";
  EXPECT_EQ(nft_passage("accept", rule(tcp + kDrop)), Passage::open);
}

TEST(DoctorFirewallTest, TheFirstRuleThatTakesEverybodyDecides) {
  const std::string open = rule(dport("4793") + kAccept);
  const std::string shut = rule(dport("4793") + kDrop);
  EXPECT_EQ(nft_passage("drop", open + shut), Passage::open);
  EXPECT_EQ(nft_passage("accept", shut + open), Passage::blocked);
  EXPECT_EQ(nft_passage("drop", rule(kKnown + kAccept)), Passage::blocked) << "not known yet";
}

TEST(DoctorFirewallTest, ConditionsMeanSome) {
  EXPECT_EQ(nft_passage("drop", rule(kFromTen + dport("4793") + kAccept)), Passage::some);
  EXPECT_EQ(nft_passage("accept", rule(kFromTen + dport("4793") + kDrop)), Passage::some);
  EXPECT_EQ(nft_passage("drop", rule(R"({"limit": {"rate": 10}}, )" + dport("4793") + kAccept)),
            Passage::some);
}

TEST(DoctorFirewallTest, JumpsAreFollowedAndComeBack) {
  const std::string chain = R"(, {"chain": {"family": "inet", "table": "filter",
      "name": "more", "handle": 9}})";
  const std::string jump = rule(R"({"jump": {"target": "more"}})");
  EXPECT_EQ(nft_passage("accept", chain + jump + rule(dport("4793") + kDrop, "more")),
            Passage::blocked);
  EXPECT_EQ(nft_passage("accept", chain + jump + rule(R"({"return": null})", "more") +
                                      rule(dport("4793") + kDrop, "more")),
            Passage::open);
  EXPECT_EQ(nft_passage("drop", chain + jump + rule(dport("4793") + kAccept, "more")),
            Passage::open);
  EXPECT_EQ(nft_passage("drop", chain + rule(kFromTen + R"({"jump": {"target": "more"}})") +
                                    rule(dport("4793") + kAccept, "more")),
            Passage::some);
  EXPECT_EQ(nft_passage("drop", chain + jump + rule(R"({"jump": {"target": "more"}})", "more")),
            Passage::blocked)
      << "a circle ends";
}

TEST(DoctorFirewallTest, ATextThatIsNotFromNftHasNoRules) {
  for (const char* text : {"", "[]", "{", R"({"nftables": []})"}) {
    EXPECT_TRUE(read_nft(text).empty()) << text;
  }
}

std::string iptables(const std::string& policy, const std::string& rules) {
  return "# Generated by iptables-save v1.8.9 on Sun Nov 22 06:26:07 2026\n*filter\n:INPUT " +
         policy + " [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n" + rules + "COMMIT\n";
}

Passage iptables_passage(const std::string& policy, const std::string& rules,
                         uint16_t port = 4793) {
  return passage(read_iptables(iptables(policy, rules), false), false, port);
}

TEST(DoctorFirewallTest, IptablesRulesAreReadTheSameWay) {
  EXPECT_EQ(iptables_passage("DROP", ""), Passage::blocked);
  EXPECT_EQ(iptables_passage("ACCEPT", "-A INPUT -p udp -m udp --dport 4793 -j DROP\n"),
            Passage::blocked);
  EXPECT_EQ(iptables_passage("ACCEPT",
                             "-A INPUT -p udp -m multiport --dports 53,4793 -j REJECT "
                             "--reject-with icmp-port-unreachable\n"),
            Passage::blocked);
  EXPECT_EQ(iptables_passage("DROP",
                             "-A INPUT -p udp -m udp --dport 4000:5000 -m comment --comment "
                             "\"my -j DROP rule\" -j ACCEPT\n"),
            Passage::open);
  EXPECT_EQ(iptables_passage("DROP", "-A INPUT -p tcp -m tcp --dport 4793 -j ACCEPT\n"),
            Passage::blocked);
  EXPECT_EQ(iptables_passage("DROP", "-A INPUT -s 10.0.0.0/8 -p udp --dport 4793 -j ACCEPT\n"),
            Passage::some);
  EXPECT_EQ(iptables_passage("ACCEPT", "-A INPUT -p tcp --syn -j DROP\n"), Passage::open);
  EXPECT_EQ(iptables_passage("ACCEPT", "-A INPUT -p udp ! --dport 53 -j DROP\n", 4793),
            Passage::open)
      << "an exclusion is a condition that is about no port";
  EXPECT_EQ(iptables_passage("ACCEPT",
                             ":mine - [0:0]\n-A INPUT -j mine\n-A mine -p udp --dport "
                             "4793 -j DROP\n"),
            Passage::blocked);
}

TEST(DoctorFirewallTest, FamiliesHaveTheirOwnTables) {
  const auto six = read_iptables(iptables("DROP", ""), true);
  EXPECT_EQ(passage(six, false, 4793), Passage::open);
  std::string table;
  EXPECT_EQ(passage(six, true, 4793, &table), Passage::blocked);
  EXPECT_EQ(table, "ip6tables filter INPUT");
  EXPECT_EQ(passage(read_nft(nft("drop", "")), true, 4793, &table), Passage::blocked);
  EXPECT_EQ(table, "inet filter input");
}

}  // namespace
}  // namespace uet::tools
