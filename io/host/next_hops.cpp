// Questions to rtnetlink, one at a time, answered at once by the kernel.
#include "io/host/next_hops.h"

#include "io/host/netlink.h"
#include "io/host/routes.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <span>

namespace uet::io {
namespace {

uint8_t family_of(const FabricAddress& a) { return static_cast<uint8_t>(socket_family(a)); }

bool same_host(const FabricAddress& a, const FabricAddress& b) {
  return a.ip == b.ip && a.family == b.family && a.scope_id == b.scope_id;
}

template <typename Value>
bool take(std::span<const std::byte> octets, Value* out, size_t length) {
  if (octets.size() != length) return false;
  std::memcpy(out, octets.data(), length);
  return true;
}

}  // namespace

std::unique_ptr<NextHops> NextHops::open(const FabricAddress& local, uint32_t interface_index) {
  std::unique_ptr<NextHops> self(new NextHops(local, interface_index));
  self->netlink_ = open_netlink(NETLINK_ROUTE);
  if (!self->netlink_) return nullptr;
  return self;
}

NextHops::Entry& NextHops::entry_of(const FabricAddress& to) {
  uint64_t halves[2];
  std::memcpy(halves, to.ip.data(), sizeof halves);
  const uint64_t mixed = (halves[0] ^ halves[1] ^ to.scope_id) * 0x9e3779b97f4a7c15u;
  return entries_[mixed >> 54];
}

const NextHop* NextHops::find(const FabricAddress& to, Instant now) {
  Entry& entry = entry_of(to);
  if (same_host(entry.to, to) && now < entry.until) return entry.known ? &entry.hop : nullptr;
  if (now - asked_at_ < kBetween) return nullptr;
  asked_at_ = now;
  entry.to = to;
  entry.known = ask(to, entry.hop);
  entry.until = now + (entry.known ? kKept : kUnknown);
  return nullptr;  // this packet confirms the neighbour
}

void NextHops::forget(const FabricAddress& to) {
  Entry& entry = entry_of(to);
  if (same_host(entry.to, to)) entry.known = false;
}

bool NextHops::ask(const FabricAddress& to, NextHop& hop) {
  ++questions_;
  FabricAddress next;
  hop = {};
  if (!ask_route(to, next, hop.mtu_bytes)) return false;
  hop.on_link = same_host(next, to);
  return ask_neighbour(next, hop);
}

// The router, or the destination itself; false if packets take another interface.
bool NextHops::ask_route(const FabricAddress& to, FabricAddress& next, uint32_t& mtu_bytes) {
  rtmsg fixed{};
  fixed.rtm_family = family_of(to);
  fixed.rtm_dst_len = fixed.rtm_src_len = static_cast<uint8_t>(to.ip_length() * 8);
  Question<rtmsg> question(RTM_GETROUTE, fixed);
  question.add(RTA_DST, to.ip.data(), to.ip_length());
  question.add(RTA_SRC, local_.ip.data(), local_.ip_length());
  if (to.scope_id != 0) question.add(RTA_OIF, &to.scope_id, sizeof to.scope_id);

  std::array<std::byte, 2048> room;
  const std::span<const std::byte> answer = question.ask(netlink_, ++sequence_, RTM_NEWROUTE, room);
  if (answer.empty()) return false;
  std::memcpy(&fixed, answer.data(), sizeof fixed);
  if (fixed.rtm_type != RTN_UNICAST) return false;
  next = to;
  uint32_t interface_index = 0;
  bool understood = true;
  for_each_attribute<rtmsg>(answer, [&](uint16_t type, std::span<const std::byte> value) {
    if (type == RTA_OIF) {
      understood &= take(value, &interface_index, sizeof interface_index);
    } else if (type == RTA_GATEWAY) {
      understood &= take(value, next.ip.data(), to.ip_length());
    } else if (type == RTA_METRICS) {
      mtu_bytes = mtu_in_metrics(value);
    } else if (type == RTA_VIA || type == RTA_ENCAP || type == RTA_MULTIPATH) {
      understood = false;
    }
  });
  return understood && interface_index == interface_index_;
}

bool NextHops::ask_neighbour(const FabricAddress& next, NextHop& hop) {
  constexpr uint16_t kUsable = NUD_PERMANENT | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;
  ndmsg fixed{};
  fixed.ndm_family = family_of(next);
  fixed.ndm_ifindex = static_cast<int>(interface_index_);
  Question<ndmsg> question(RTM_GETNEIGH, fixed);
  question.add(NDA_DST, next.ip.data(), next.ip_length());

  std::array<std::byte, 2048> room;
  const std::span<const std::byte> answer = question.ask(netlink_, ++sequence_, RTM_NEWNEIGH, room);
  if (answer.empty()) return false;
  std::memcpy(&fixed, answer.data(), sizeof fixed);
  if ((fixed.ndm_state & kUsable) == 0) return false;
  bool found = false;
  for_each_attribute<ndmsg>(answer, [&](uint16_t type, std::span<const std::byte> value) {
    if (type == NDA_LLADDR) found = take(value, hop.mac.data(), hop.mac.size());
  });
  return found;
}

}  // namespace uet::io
