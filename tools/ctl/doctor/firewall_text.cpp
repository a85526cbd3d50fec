// The output of nft and iptables-save as rules. An unknown part makes a rule conditional: it is
// then no verdict about all packets.
#include "tools/ctl/doctor/firewall.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace uet::tools {
namespace {

using nlohmann::json;
using Verdict = FirewallRule::Verdict;
using Sets = std::map<std::string, json>;  // of a table, by name

void add_ports(const json& value, const Sets& sets, FirewallRule& rule) {
  if (value.is_number_unsigned()) {
    const auto port = value.get<uint16_t>();
    rule.ports.push_back({port, port});
  } else if (value.is_array()) {
    for (const json& element : value) add_ports(element, sets, rule);
  } else if (value.is_string()) {
    const auto set = sets.find(value.get<std::string>().substr(1));  // "@name"
    if (set != sets.end()) add_ports(set->second, sets, rule);
  } else if (value.is_object() && value.contains("set")) {
    add_ports(value["set"], sets, rule);
  } else if (value.is_object() && value.contains("range") && value["range"].size() == 2) {
    rule.ports.push_back({value["range"][0].get<uint16_t>(), value["range"][1].get<uint16_t>()});
  }
}

bool names_udp(const json& value) {
  if (value.is_string()) return value == "udp";
  if (value.is_number_unsigned()) return value == 17;
  const json& list = value.is_object() && value.contains("set") ? value["set"] : value;
  if (!list.is_array()) return false;
  for (const json& element : list) {
    if (names_udp(element)) return true;
  }
  return false;
}

// {"op": "==", "left": ..., "right": ...}
void read_match(const json& match, const Sets& sets, FirewallRule& rule) {
  const json left = match.value("left", json::object());
  const json right = match.value("right", json());
  const std::string op = match.value("op", "");
  const bool equal = op == "==" || op == "in";
  const json payload = left.value("payload", json::object());
  const std::string protocol = payload.value("protocol", "");
  const std::string field = payload.value("field", "");
  const bool of_protocol = field == "protocol" || field == "nexthdr" ||
                           left.value("meta", json::object()).value("key", "") == "l4proto";
  if (of_protocol && equal) {
    if (!names_udp(right)) rule.takes_udp = false;
  } else if ((protocol == "udp" || protocol == "th") && field == "dport" && equal) {
    add_ports(right, sets, rule);
    if (rule.ports.empty()) rule.conditional = true;
  } else if (protocol == "tcp" || protocol == "icmp" || protocol == "icmpv6" ||
             protocol == "sctp") {
    rule.takes_udp = false;
  } else {
    rule.conditional = true;
  }
}

void read_expressions(const json& expressions, const Sets& sets, FirewallRule& rule) {
  for (const json& e : expressions) {
    if (!e.is_object() || e.empty()) continue;
    const std::string kind = e.begin().key();
    if (kind == "match") {
      read_match(*e.begin(), sets, rule);
    } else if (kind == "accept") {
      rule.verdict = Verdict::accept;
    } else if (kind == "drop" || kind == "reject") {
      rule.verdict = Verdict::block;
    } else if (kind == "jump" || kind == "goto") {
      rule.verdict = Verdict::jump;
      rule.target = e.begin()->value("target", "");
    } else if (kind == "return") {
      rule.verdict = Verdict::leave;
    } else if (kind != "counter" && kind != "log" && kind != "comment") {
      rule.conditional = true;
    }
  }
}

FirewallRule read_rule(const json& expressions, const Sets& sets) {
  FirewallRule rule;
  try {
    read_expressions(expressions, sets, rule);
  } catch (const json::exception&) {
    rule.conditional = true;  // a form that we have not met
  }
  return rule;
}

FirewallTable& table_of(std::vector<FirewallTable>& tables, const json& item) {
  const std::string family = item.value("family", "");
  const std::string name = family + " " + item.value("table", "");
  for (FirewallTable& t : tables) {
    if (t.name == name) return t;
  }
  FirewallTable& made = tables.emplace_back();
  made.name = name;
  made.ipv4 = family == "ip" || family == "inet";
  made.ipv6 = family == "ip6" || family == "inet";
  return made;
}

// The words of a line of iptables-save; quotes hold a word together.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// "4793", "4000:5000", "53,4793"
void add_ports(std::string_view text, FirewallRule& rule) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    PortRange range;
    const char* const end = part.data() + part.size();
    const auto first = std::from_chars(part.data(), end, range.first);
    range.last = range.first;
    if (first.ptr != end && *first.ptr == ':') std::from_chars(first.ptr + 1, end, range.last);
    rule.ports.push_back(range);
  }
}

FirewallRule read_line(const std::vector<std::string>& words) {
  FirewallRule rule;
  // From the third on: "-A CHAIN ..."
  for (size_t i = 2; i + 1 < words.size(); ++i) {
    const std::string& option = words[i];
    const std::string& value = words[i + 1];
    if (option == "-p") {
      if (value != "udp" && value != "all") rule.takes_udp = false;
    } else if (option == "--dport" || option == "--dports") {
      add_ports(value, rule);
    } else if (option == "-j" || option == "-g") {
      rule.verdict = value == "ACCEPT"                      ? Verdict::accept
                     : value == "DROP" || value == "REJECT" ? Verdict::block
                     : value == "RETURN"                    ? Verdict::leave
                                                            : Verdict::jump;
      rule.target = value;
    } else if (option != "--reject-with" && option != "--comment" &&
               !(option == "-m" && (value == "udp" || value == "multiport" || value == "comment" ||
                                    value == "tcp"))) {
      rule.conditional = true;
      if (option == "!") {
        i += 1;  // an excluded port is not the one to look for
      } else if (value.starts_with('-')) {
        continue;  // an option that takes no value
      }
    }
    i += 1;
  }
  return rule;
}

}  // namespace

std::vector<FirewallTable> read_nft(std::string_view text) {
  std::vector<FirewallTable> tables;
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return tables;
  const json list = all.value("nftables", json::array());
  std::map<std::string, Sets> sets;
  for (const json& item : list) {
    if (!item.contains("set")) continue;
    const json& set = item["set"];
    sets[set.value("family", "") + " " + set.value("table", "")][set.value("name", "")] =
        set.value("elem", json::array());
  }
  for (const json& item : list) {
    if (item.contains("chain")) {
      const json& chain = item["chain"];
      FirewallChain& made = table_of(tables, chain).chains[chain.value("name", "")];
      const std::string hook = chain.value("hook", "");
      made.base = hook == "input" || hook == "prerouting";
      made.drops = chain.value("policy", "") == "drop";
    } else if (item.contains("rule")) {
      const json& rule = item["rule"];
      FirewallTable& table = table_of(tables, rule);
      table.chains[rule.value("chain", "")].rules.push_back(
          read_rule(rule.value("expr", json::array()), sets[table.name]));
    }
  }
  return tables;
}

std::vector<FirewallTable> read_iptables(std::string_view text, bool ipv6) {
  std::vector<FirewallTable> tables;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with('*')) {
      FirewallTable& table = tables.emplace_back();
      table.name = (ipv6 ? "ip6tables " : "iptables ") + std::string(line.substr(1));
      table.ipv4 = !ipv6;
      table.ipv6 = ipv6;
      continue;
    }
    if (tables.empty()) continue;
    FirewallTable& table = tables.back();
    const std::vector<std::string> words = words_of(line);
    if (line.starts_with(':') && words.size() > 1) {
      const std::string name = words[0].substr(1);
      FirewallChain& chain = table.chains[name];
      chain.base = name == "INPUT" || name == "PREROUTING";
      chain.drops = words[1] == "DROP";
    } else if (words.size() > 2 && words[0] == "-A") {
      table.chains[words[1]].rules.push_back(read_line(words));
    }
  }
  return tables;
}

}  // namespace uet::tools
