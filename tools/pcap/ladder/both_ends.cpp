// Two sightings show one packet when their UET octets and their direction are the same. The end of
// each point, and the difference of their clocks, follow from the packets that were seen once at
// each: none can arrive before it was sent.
#include "tools/pcap/ladder/both_ends.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

namespace uet::tools::ladder {

namespace {

struct Sighting {
  uint32_t index = 0;  // in the capture
  uint8_t way = 0;
  bool at_target = false;
  int64_t time_ns = 0;
};

using Sightings = std::vector<Sighting>;
// By direction and the octets from UET on; earlier octets may only differ in fields of switches.
using ByContent = std::map<std::pair<uint8_t, std::string_view>, Sightings>;

// The UET octets of a frame, cut short headers included.
std::string_view uet_of(const Captured& packet) {
  constexpr size_t kIpv4 = 20, kIpv6 = 40, kUdp = 8;
  size_t skip = packet.link_type == kLinkRawIp ? 0 : wire::EthernetHeader::kSizeUntagged;
  const auto& o = packet.octets;
  if (skip < o.size()) skip += (static_cast<unsigned>(o[skip]) >> 4) == 4 ? kIpv4 : kIpv6;
  skip = std::min(skip + kUdp, o.size());
  return {reinterpret_cast<const char*>(o.data()) + skip, o.size() - skip};
}

// The two points that saw most of the PDC.
std::optional<std::pair<uint32_t, uint32_t>> points_of(std::span<const Captured> packets,
                                                       const std::vector<Member>& members) {
  std::map<uint32_t, uint32_t> seen;
  for (const Member& m : members) ++seen[packets[m.index].point];
  std::vector<std::pair<uint32_t, uint32_t>> order;  // count, point
  order.reserve(seen.size());
  for (const auto& [point, count] : seen) order.emplace_back(count, point);
  std::sort(order.begin(), order.end(), std::greater<>());
  if (order.size() < 2) return std::nullopt;
  return std::pair{order[0].second, order[1].second};
}

ByContent by_content(std::span<const Captured> packets, const std::vector<Member>& members,
                     std::pair<uint32_t, uint32_t> points) {
  ByContent out;
  for (const Member& m : members) {
    const Captured& packet = packets[m.index];
    if (packet.point != points.first && packet.point != points.second) continue;
    out[{m.way, uet_of(packet)}].push_back(
        {m.index, m.way, packet.point == points.second, static_cast<int64_t>(packet.time_ns)});
  }
  return out;
}

// The shortest times from the first point to the second, by way.
struct Delays {
  int64_t shortest[2] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()};
  int64_t longest[2] = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min()};
  bool seen[2]{};
};

Delays delays_of(const ByContent& contents) {
  Delays out;
  for (const auto& [key, sightings] : contents) {
    if (sightings.size() != 2 || sightings[0].at_target == sightings[1].at_target) continue;
    const Sighting& first = sightings[sightings[0].at_target ? 1 : 0];
    const Sighting& second = sightings[sightings[0].at_target ? 0 : 1];
    const int64_t delay = second.time_ns - first.time_ns;
    const uint8_t way = key.first;
    out.shortest[way] = std::min(out.shortest[way], delay);
    out.longest[way] = std::max(out.longest[way], delay);
    out.seen[way] = true;
  }
  return out;
}

// Whether the first point is at the target: packets reach it after the second.
bool turned_round(const Delays& d) {
  if (d.seen[0] && d.seen[1]) return d.shortest[0] - d.longest[1] < 0;
  return d.seen[0] ? d.shortest[0] < 0 : d.longest[1] > 0;
}

// How much later the target's clock is, when its times are impossible without a correction.
int64_t clock_of(const Delays& d) {
  if (!d.seen[0] || !d.seen[1]) return 0;
  const int64_t there = d.shortest[0], back = -d.longest[1];
  if (there >= 0 && back >= 0) return 0;
  return (there - back) / 2;
}

Rung rung_of(std::span<const Captured> packets, const Sighting& sent) {
  Rung rung;
  rung.captured = &packets[sent.index];
  rung.frame = packets[sent.index].number;
  rung.way = sent.way;
  rung.time_ns = sent.time_ns;
  return rung;
}

// An arrival belongs to the latest transmission before it that has none yet.
void match(std::span<const Captured> packets, const Sightings& sightings,
           std::vector<Rung>& rungs) {
  Sightings sent, arrived;
  for (const Sighting& s : sightings) (s.at_target == (s.way == 0) ? arrived : sent).push_back(s);
  const auto earlier = [](const Sighting& a, const Sighting& b) { return a.time_ns < b.time_ns; };
  std::stable_sort(sent.begin(), sent.end(), earlier);
  std::stable_sort(arrived.begin(), arrived.end(), earlier);
  const size_t first = rungs.size();
  for (const Sighting& s : sent) {
    rungs.push_back(rung_of(packets, s));
    rungs.back().fate = Fate::lost;
  }
  std::vector<size_t> open;  // transmissions before the arrival, not matched
  size_t next = 0;
  for (const Sighting& a : arrived) {
    while (next < sent.size() && sent[next].time_ns <= a.time_ns) open.push_back(first + next++);
    if (open.empty()) {
      rungs.push_back(rung_of(packets, a));
      rungs.back().fate = Fate::unsent;
      continue;
    }
    Rung& rung = rungs[open.back()];
    open.pop_back();
    rung.fate = Fate::arrived;
    rung.other_frame = packets[a.index].number;
    rung.arrived_ns = a.time_ns;
  }
}

void one_point(std::span<const Captured> packets, Ladder& ladder) {
  for (const Member& m : ladder.conversation.members) {
    ladder.rungs.push_back(
        rung_of(packets, {m.index, m.way, false, static_cast<int64_t>(packets[m.index].time_ns)}));
  }
}

bool two_points(std::span<const Captured> packets, Ladder& ladder) {
  const auto& members = ladder.conversation.members;
  const auto points = points_of(packets, members);
  if (!points) return false;
  ByContent contents = by_content(packets, members, *points);
  Delays delays = delays_of(contents);
  if (!delays.seen[0] && !delays.seen[1]) return false;  // not of the same packets
  if (turned_round(delays)) {
    contents = by_content(packets, members, {points->second, points->first});
    delays = delays_of(contents);
  }
  ladder.both_ends = true;
  ladder.clock_ns = clock_of(delays);
  for (auto& [key, sightings] : contents) {
    for (Sighting& s : sightings) {
      if (s.at_target) s.time_ns -= ladder.clock_ns;
    }
    match(packets, sightings, ladder.rungs);
  }
  return true;
}

}  // namespace

void join_ends(std::span<const Captured> packets, Ladder& ladder) {
  if (!two_points(packets, ladder)) one_point(packets, ladder);
  std::stable_sort(ladder.rungs.begin(), ladder.rungs.end(), [](const Rung& a, const Rung& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.frame < b.frame;
  });
  if (ladder.rungs.empty()) return;
  const int64_t start = ladder.rungs.front().time_ns;
  for (Rung& rung : ladder.rungs) {
    rung.time_ns -= start;
    rung.arrived_ns -= rung.fate == Fate::arrived ? start : 0;
  }
}

}  // namespace uet::tools::ladder
