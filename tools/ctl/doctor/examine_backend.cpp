// A sentence for each value of FI_UET_IO.
#include "tools/ctl/doctor/examine_backend.h"

#include <cstdio>
#include <string>
#include <utility>

namespace uet::tools {
namespace {

constexpr const char* kGiveRight = "setcap cap_net_raw+ep PROGRAM, or unset FI_UET_IO";

Finding finding(Grade grade, std::string text, std::string remedy = {}) {
  return {"packet", grade, std::move(text), std::move(remedy)};
}

bool has_frames(const std::string& kernel) {
  unsigned major = 0, minor = 0;
  (void)std::sscanf(kernel.c_str(), "%u.%u", &major, &minor);
  return major > 6 || (major == 6 && minor >= 2);
}

// The backend that FI_UET_IO names, and why it is not available.
Finding asked_for(const std::string& what, const std::string& setting, const std::string& refused) {
  if (refused.empty()) return finding(Grade::ok, what + " everywhere: FI_UET_IO=" + setting);
  return finding(Grade::fault, "FI_UET_IO=" + setting + " opens no domain: " + refused,
                 "unset FI_UET_IO");
}

// FI_UET_IO=ip or ip-packet.
Finding without_udp(const Facts& facts, const prov::Settings& settings) {
  const bool wants_frames = settings.io == prov::IoChoice::ip_packet;
  const std::string setting = wants_frames ? "FI_UET_IO=ip-packet" : "FI_UET_IO=ip";
  if (!facts.net_raw) {
    return finding(Grade::fault, setting + " opens no raw sockets: they need CAP_NET_RAW",
                   kGiveRight);
  }
  if (wants_frames && !has_frames(facts.kernel)) {
    return finding(Grade::fault, setting + " opens no packet sockets: they need Linux 6.2 or later",
                   "use FI_UET_IO=ip, which sends the same packets");
  }
  return finding(Grade::ok, (wants_frames ? "packet" : "raw") +
                                std::string(" sockets of IP protocol ") +
                                std::to_string(settings.ip_protocol) + " everywhere: " + setting +
                                "; all peers need that protocol");
}

Finding no_packet_sockets(bool asked_for, const std::string& why, const char* remedy) {
  if (asked_for) {
    return finding(Grade::fault, "FI_UET_IO=packet opens no packet sockets: " + why, remedy);
  }
  return finding(Grade::ok, "UDP sockets instead of packet sockets: " + why);
}

Finding packet_sockets_of(const std::string& name, const std::string& why, bool asked_for) {
  if (why.empty()) {
    return finding(Grade::ok, name +
                                  ": packet sockets; found no firewall, IPsec or tc rules that "
                                  "they would bypass");
  }
  if (asked_for) {
    return finding(Grade::ok, name + ": packet sockets, because FI_UET_IO=packet says so: " + why);
  }
  return finding(Grade::ok, name + ": UDP sockets: " + why);
}

// FI_UET_IO=auto or packet.
std::vector<Finding> packet_sockets(const Facts& facts, bool asked_for) {
  if (!has_frames(facts.kernel)) {
    return {no_packet_sockets(asked_for, "they need Linux 6.2 or later", "unset FI_UET_IO")};
  }
  if (!facts.net_raw) {
    return {
        no_packet_sockets(asked_for, "they need CAP_NET_RAW, which this user lacks", kGiveRight)};
  }
  if (facts.passed_by.empty()) {
    return {finding(Grade::ok, "UDP sockets: no Ethernet interface is up")};
  }
  std::vector<Finding> findings;
  for (const auto& [name, why] : facts.passed_by) {
    findings.push_back(packet_sockets_of(name, why, asked_for));
  }
  return findings;
}

}  // namespace

std::vector<Finding> examine_backend(const Facts& facts, const prov::Settings& settings) {
  switch (settings.io) {
    case prov::IoChoice::udp:
      return {finding(Grade::ok, "UDP sockets everywhere: FI_UET_IO=udp")};
    case prov::IoChoice::uring:
      return {asked_for("UDP sockets with io_uring", "uring", facts.ring_refused)};
    case prov::IoChoice::ip_xdp:
      return {asked_for("AF_XDP without UDP", "ip-xdp", facts.xdp_refused)};
    case prov::IoChoice::xdp:
      return {asked_for("AF_XDP", "xdp", facts.xdp_refused)};
    case prov::IoChoice::ip:
    case prov::IoChoice::ip_packet:
      return {without_udp(facts, settings)};
    case prov::IoChoice::automatic:
    case prov::IoChoice::packet:
      break;
  }
  return packet_sockets(facts, settings.io == prov::IoChoice::packet);
}

}  // namespace uet::tools
