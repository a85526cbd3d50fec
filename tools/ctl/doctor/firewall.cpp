// Following rules to a verdict; the two readers are in firewall_text.cpp.
#include "tools/ctl/doctor/firewall.h"

#include <algorithm>

namespace uet::tools {
namespace {

// Rules may jump in a circle only in a text that no firewall printed.
constexpr int kDepthMax = 16;

bool covers(const FirewallRule& rule, uint16_t port) {
  if (!rule.takes_udp) return false;
  return rule.ports.empty() || std::any_of(rule.ports.begin(), rule.ports.end(), [&](PortRange r) {
           return r.first <= port && port <= r.last;
         });
}

class Walk {
 public:
  Walk(const FirewallTable& table, uint16_t port) : table_(table), port_(port) {}

  Passage through(const FirewallChain& base) {
    const FirewallRule::Verdict end = follow(base, false, false, 0);
    const bool blocked =
        end == FirewallRule::Verdict::block || (end == FirewallRule::Verdict::none && base.drops);
    if (blocked) return some_accepted_ ? Passage::some : Passage::blocked;
    return some_blocked_ ? Passage::some : Passage::open;
  }

 private:
  // accept or block: that is what happens. none: the end of the chain was reached.
  // `named`: a rule on the way here was about the port itself.
  FirewallRule::Verdict follow(const FirewallChain& chain, bool conditional, bool named,
                               int depth) {
    using Verdict = FirewallRule::Verdict;
    for (const FirewallRule& rule : chain.rules) {
      if (!covers(rule, port_)) continue;
      const bool maybe = conditional || rule.conditional;
      const bool about_it = named || rule.names_ports();
      Verdict verdict = rule.verdict;
      if (verdict == Verdict::jump) {
        const auto at = table_.chains.find(rule.target);
        if (at == table_.chains.end() || depth == kDepthMax) continue;
        verdict = follow(at->second, maybe, about_it, depth + 1);
      } else if (verdict != Verdict::none && verdict != Verdict::leave && maybe) {
        note(verdict, about_it);
        continue;
      }
      if (verdict == Verdict::leave && !maybe) return Verdict::none;
      if (verdict == Verdict::accept || verdict == Verdict::block) return verdict;
    }
    return Verdict::none;
  }

  // A condition that is not analysed, such as "of 10.0.0.0/8" or "of a known connection". It counts
  // if it is about this port; all others concern other packets.
  void note(FirewallRule::Verdict verdict, bool about_it) {
    if (!about_it) return;
    if (verdict == FirewallRule::Verdict::accept) some_accepted_ = true;
    if (verdict == FirewallRule::Verdict::block) some_blocked_ = true;
  }

  const FirewallTable& table_;
  const uint16_t port_;
  bool some_accepted_ = false;
  bool some_blocked_ = false;
};

}  // namespace

Passage passage(const std::vector<FirewallTable>& tables, bool ipv6, uint16_t port,
                std::string* table) {
  Passage worst = Passage::open;
  for (const FirewallTable& t : tables) {
    if (ipv6 ? !t.ipv6 : !t.ipv4) continue;
    for (const auto& [name, chain] : t.chains) {
      if (!chain.base) continue;
      const Passage here = Walk(t, port).through(chain);
      if (here <= worst) continue;
      worst = here;
      if (table != nullptr) *table = t.name + " " + name;
    }
  }
  return worst;
}

}  // namespace uet::tools
