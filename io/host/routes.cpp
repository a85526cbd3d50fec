// One question for the route, and one for the interface where the route has no MTU of its own.
#include "io/host/routes.h"

#include "io/host/netlink.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace uet::io {
namespace {

bool take(std::span<const std::byte> octets, uint32_t& out) {
  if (octets.size() != sizeof out) return false;
  std::memcpy(&out, octets.data(), sizeof out);
  return true;
}

}  // namespace

uint32_t mtu_in_metrics(std::span<const std::byte> octets) {
  uint32_t mtu_bytes = 0;
  while (octets.size() >= sizeof(rtattr)) {
    rtattr attribute;
    std::memcpy(&attribute, octets.data(), sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > octets.size()) break;
    const auto value = octets.first(attribute.rta_len).subspan(RTA_LENGTH(0));
    if (attribute.rta_type == RTAX_MTU) take(value, mtu_bytes);
    const size_t step = RTA_ALIGN(attribute.rta_len);
    octets = step < octets.size() ? octets.subspan(step) : std::span<const std::byte>();
  }
  return mtu_bytes;
}

Route Routes::ask(const FabricAddress& from, const FabricAddress& to, Instant now) {
  if (!netlink_) netlink_ = open_netlink(NETLINK_ROUTE);
  rtmsg fixed{};
  fixed.rtm_family = static_cast<uint8_t>(socket_family(to));
  fixed.rtm_dst_len = fixed.rtm_src_len = static_cast<uint8_t>(to.ip_length() * 8);
  Question<rtmsg> question(RTM_GETROUTE, fixed);
  question.add(RTA_DST, to.ip.data(), to.ip_length());
  question.add(RTA_SRC, from.ip.data(), from.ip_length());
  if (to.scope_id != 0) question.add(RTA_OIF, &to.scope_id, sizeof to.scope_id);

  std::array<std::byte, 2048> room;
  const std::span<const std::byte> answer = question.ask(netlink_, 1, RTM_NEWROUTE, room);
  if (answer.empty()) return {};
  std::memcpy(&fixed, answer.data(), sizeof fixed);
  if (fixed.rtm_type != RTN_UNICAST && fixed.rtm_type != RTN_LOCAL) return {};
  Route route;
  route.is_local = fixed.rtm_type == RTN_LOCAL;
  uint32_t interface_index = 0;
  for_each_attribute<rtmsg>(answer, [&](uint16_t type, std::span<const std::byte> value) {
    if (type == RTA_OIF) take(value, interface_index);
    if (type == RTA_METRICS) route.mtu_bytes = mtu_in_metrics(value);
  });
  if (route.mtu_bytes == 0) route.mtu_bytes = interface_mtu(interface_index, now);
  return route;
}

uint32_t Routes::interface_mtu(uint32_t interface_index, Instant now) {
  if (interface_index == interface_index_ && now < interface_until_) return interface_mtu_;
  interface_index_ = interface_index;
  interface_until_ = now + kKept;
  interface_mtu_ = 0;
  ifinfomsg fixed{};
  fixed.ifi_index = static_cast<int>(interface_index);
  Question<ifinfomsg> question(RTM_GETLINK, fixed);
  std::array<std::byte, 8192> room;
  const std::span<const std::byte> answer = question.ask(netlink_, 2, RTM_NEWLINK, room);
  if (answer.empty()) return 0;
  for_each_attribute<ifinfomsg>(answer, [&](uint16_t type, std::span<const std::byte> value) {
    if (type == IFLA_MTU) take(value, interface_mtu_);
  });
  return interface_mtu_;
}

// The only place where it may be kept.
Routes::Entry& Routes::entry_of(const FabricAddress& to) {
  uint64_t halves[2];
  std::memcpy(halves, to.ip.data(), sizeof halves);
  const uint64_t mixed = (halves[0] ^ halves[1] ^ to.scope_id) * 0x9e3779b97f4a7c15u;
  return entries_[mixed >> 58];
}

Route Routes::find(const FabricAddress& from, const FabricAddress& to, Instant now) {
  const Entry& entry = entry_of(to);
  const bool is_known = entry.to.family == to.family && entry.to.ip == to.ip &&
                        entry.to.scope_id == to.scope_id && now < entry.until;
  if (is_known) return entry.route;
  const Route route = ask(from, to, now);
  entry_of(to) = {to, route, now + kKept};
  return route;
}

Route Routes::ask_anew(const FabricAddress& from, const FabricAddress& to, Instant now) {
  interface_until_ = Instant::zero();
  const Route route = ask(from, to, now);
  entry_of(to) = {to, route, now + kKept};
  return route;
}

}  // namespace uet::io
