// Queues, cables and switches.
#include "sim/fabric/fabric.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace uet::sim::fabric {
namespace {

// The part of the datagram that a switch must leave: the packet delivery header of a request.
// Before it stand the headers of Ethernet, IP and UDP and the checksum. [CMS-165]
constexpr uint32_t kTrimmedHeaderMin = 16;
constexpr uint32_t kLowerHeaders = 14 + 20 + 8 + 4;

constexpr uint8_t kDscpTrimmed = 16, kDscpTrimmedLastHop = 18;  // [CMS-174, CMS-175]

// As a data packet leaves a switch, at free_at.
void stamp(transports::Telemetry& seen, const Port& port) {
  if (seen.count == seen.hops.size()) return;
  transports::Telemetry::Hop& hop = seen.hops[seen.count++];
  hop.at = port.free_at;
  hop.sent_bytes = port.sent_bytes;
  hop.queued_bytes = port.low_bytes - port.serving_bytes;
  hop.mbps = static_cast<uint32_t>(std::lround(256.0 * 8e6 / port.octet_time));
}

// Time of an octet in 1/256 ps.
uint32_t octet_time(uint64_t mbps, double share) {
  return static_cast<uint32_t>(std::lround(256.0 * 8e6 / (static_cast<double>(mbps) * share)));
}

}  // namespace

Fabric::Fabric(const Topology& topology, const SwitchConfig& config, Routes& routes,
               EventQueue& events, uint32_t flows, uint64_t seed, Receiver receiver)
    : topology_(topology),
      config_(config),
      notes_passing_(config.pfc || config.buffer_bytes != 0 || config.telemetry),
      routes_(routes),
      events_(events),
      rng_(seed, 0x666162726963),
      receiver_(receiver),
      ports_(2 * topology.links().size()),
      buffers_(topology.hosts(), topology.switches().size(), config.buffer_bytes),
      trimmed_(flows, 0) {
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    const Link& link = topology.links()[i / 2];
    Port& p = ports_[i];
    p.from = i % 2 == 0 ? link.lower : link.upper;
    p.to = i % 2 == 0 ? link.upper : link.lower;
    p.from_host = topology.is_host(p.from);
    p.to_host = topology.is_host(p.to);
    p.latency = link.latency + (p.to_host ? 0 : topology.switch_at(p.to).latency);
    p.octet_time = octet_time(link.mbps, 1);
  }
}

void Fabric::send(uint32_t packet, Picoseconds now) {
  now_ = now;
  Packet& p = packets_[packet];
  p.path_hash = hash64(uint64_t{p.from} << 32 | p.to, p.ev.value(), 0x7061746873);
  p.in_port = kNoPort;
  ++tally_.sent;
  forward(packet, p.from);
}

Picoseconds Fabric::host_free_at(uint32_t host, Picoseconds now, uint32_t* free_planes) {
  now_ = now;
  Picoseconds first = kNever, waiting = now, busy = kNever;
  uint32_t bit = 1, free = 0, down = 0;
  for (const Edges::Attachment& at : routes_.edges().of(host)) {
    const uint32_t index = at.port ^ 1;
    serve(index);
    const Port& port = ports_[index];
    const bool is_idle = port.serving == kNoPacket;
    if (!port.is_up) down |= bit;
    if (port.is_up && is_idle && !port.is_paused) free |= bit;
    if (port.is_up && !is_idle) busy = std::min(busy, port.free_at);
    bit <<= 1;
    const Picoseconds free_at = is_idle ? now : port.free_at;
    first = std::min(first, free_at);
    // With planes data waits only if it took another port than that of its entropy value.
    if (port.low.empty() && (port.high.empty() || free_planes != nullptr)) continue;
    waiting = std::max(waiting, is_idle ? kNever : free_at);
  }
  if (free_planes == nullptr) return std::max(first, waiting);
  *free_planes = down == bit - 1 ? down : free;
  return std::max(waiting, *free_planes != 0 ? now : busy);
}

void Fabric::on_event(Kind kind, uint32_t index, Picoseconds now) {
  now_ = now;
  if (kind != Kind::pause) return arrive(index);
  serve(index);
  ports_[index].is_paused = !ports_[index].is_paused;
  serve(index);
}

// Brings the port up to now: packets that have left, and the packet in service.
void Fabric::serve(uint32_t index) {
  Port& port = ports_[index];
  while (port.free_at <= now_) {
    if (port.serving == kNoPacket) {
      port.free_at = now_;
    } else {
      finish_service(port);
    }
    if (!start_service(index)) return;
  }
}

void Fabric::finish_service(Port& port) {
  const uint32_t packet = std::exchange(port.serving, kNoPacket);
  port.sent_bytes += port.serving_bytes;
  ++port.sent;
  if (notes_passing_) {
    leave(packets_[packet], port);
    if (config_.telemetry && !port.from_host && !port.serving_high) {
      stamp(telemetry(packet), port);
    }
  }
  if (port.serving_high) {
    port.high_bytes -= port.serving_bytes;
    return;
  }
  port.low_bytes -= port.serving_bytes;
  if (port.low_bytes <= config_.ecn_low || !port.serving_markable || !marks(port)) return;
  packets_[packet].ecn = Ecn::ce;
  ++port.marked;
  ++tally_.marked;
}

// Linear between the two thresholds, when the packet leaves, by the queue behind it. [CMS-181]
bool Fabric::marks(const Port& port) {
  const bool is_on = config_.ecn && !port.from_host && (config_.ecn_last_hop || !port.to_host);
  if (!is_on || port.low_bytes <= config_.ecn_low) return false;
  if (port.low_bytes > config_.ecn_high) return true;
  const uint64_t above = port.low_bytes - config_.ecn_low;
  return rng_.below(uint64_t{config_.ecn_high - config_.ecn_low} * config_.ecn_one_in) < above;
}

transports::Telemetry& Fabric::telemetry(uint32_t packet) {
  if (packet >= telemetry_.size()) telemetry_.resize(packet + 1);
  return telemetry_[packet];
}

// The next packet, at free_at. False: none may go.
bool Fabric::start_service(uint32_t index) {
  Port& port = ports_[index];
  const bool is_high = !port.high.empty();
  if (!is_high && (port.low.empty() || port.is_paused)) return false;
  const uint32_t packet = (is_high ? port.high : port.low).pop(packets_);
  Packet& p = packets_[packet];
  port.serving = packet;
  port.free_at += (Picoseconds{p.wire_bytes} * port.octet_time) >> 8;
  port.serving_bytes = p.wire_bytes;
  port.serving_high = p.is_high;
  port.serving_markable = p.ecn != Ecn::not_ect;
  p.port = index;
  p.epoch = port.epoch;
  events_.add(port.free_at + port.latency, event(Kind::arrival, packet));
  return true;
}

void Fabric::arrive(uint32_t packet) {
  Packet& p = packets_[packet];
  const uint32_t index = p.port;
  serve(index);
  const Port& port = ports_[index];
  if (p.epoch != port.epoch) return drop(packet, tally_.link_dropped);
  ++tally_.hops;
  if (port.to_host) return receiver_.arrived(receiver_.owner, packet, port.to, now_);
  p.in_port = index;
  forward(packet, port.to);
}

void Fabric::forward(uint32_t packet, uint32_t node) {
  const uint32_t port = choose(node, packets_[packet]);
  if (port == kNoPort) return drop(packet, tally_.route_dropped);
  enqueue(packet, port);
}

// A port that is down is known at once to the switch that it belongs to.
uint32_t Fabric::choose(uint32_t node, const Packet& packet) {
  const auto ports = routes_.next_ports(node, packet.to);
  if (ports.empty()) return kNoPort;
  if (config_.deals_to_planes && topology_.is_host(node)) {
    const auto attached = routes_.edges().of(node);
    const uint32_t port = attached[packet.ev.value() % attached.size()].port ^ 1;
    if (ports_[port].is_up && std::ranges::find(ports, port) != ports.end()) return port;
  }
  const auto count = static_cast<uint32_t>(ports.size());
  const uint32_t hashed = count == 1 ? 0 : routes_.choice(node, packet.path_hash, count);
  if (!config_.adaptive || packet.is_high || count == 1) {
    if (ports_[ports[hashed]].is_up) return ports[hashed];
    std::vector<uint32_t> live;
    for (const uint32_t port : ports) {
      if (ports_[port].is_up) live.push_back(port);
    }
    if (live.empty()) return ports[hashed];
    const auto left = static_cast<uint32_t>(live.size());
    return live[routes_.choice(node, packet.path_hash * 0x9E3779B97F4A7C15 + 1, left)];
  }
  uint32_t best = kNoPort, least = UINT32_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t port = ports[(hashed + i) % count];
    serve(port);
    const Port& p = ports_[port];
    const uint32_t queued = p.low_bytes + p.high_bytes;
    if (!p.is_up || queued >= least) continue;
    least = queued;
    best = port;
  }
  return best == kNoPort ? ports[hashed] : best;
}

void Fabric::enqueue(uint32_t packet, uint32_t index) {
  serve(index);
  Port& port = ports_[index];
  if (!port.is_up) return drop(packet, tally_.link_dropped);
  if (packets_[packet].is_high) {
    enqueue_high(packet, port);
  } else {
    enqueue_low(packet, port);
  }
  if (port.serving != kNoPacket) return;
  port.free_at = now_;
  start_service(index);
}

// The ports of a switch are brought up to now when it seems to be full.
bool Fabric::has_room(const Port& port, const Packet& packet) {
  if (!buffers_.fits(port.from, packet.wire_bytes)) {
    for (uint32_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i].from == port.from) serve(i);
    }
    if (!buffers_.fits(port.from, packet.wire_bytes)) return false;
  }
  if (packet.is_high) return port.high_bytes + packet.wire_bytes <= config_.high_bytes;
  return config_.pfc || port.low_bytes + packet.wire_bytes <= config_.low_bytes;
}

// When the queue is full either this packet or the last one in it is cut, with equal chance: else
// a source in step with the queue would always lose, or always win. [CMS-170]
void Fabric::enqueue_low(uint32_t packet, Port& port) {
  if (!port.from_host && !has_room(port, packets_[packet])) {
    uint32_t victim = packet;
    if (!port.low.empty() && rng_.below(2) == 0) {
      victim = port.low.pop_last(packets_);
      port.low_bytes -= packets_[victim].wire_bytes;
      leave(packets_[victim], port);
    }
    trim(victim, port);
    if (victim == packet) return;
    // The last one may have been shorter.
    if (!has_room(port, packets_[packet])) return trim(packet, port);
  }
  Packet& p = packets_[packet];
  port.low.push(packets_, packet);
  port.low_bytes += p.wire_bytes;
  port.low_max = std::max(port.low_max, port.low_bytes);
  enter(p, port);
}

void Fabric::enqueue_high(uint32_t packet, Port& port) {
  Packet& p = packets_[packet];
  if (!port.from_host && !has_room(port, p)) {
    ++port.dropped;
    return drop(packet, tally_.queue_dropped);
  }
  port.high.push(packets_, packet);
  port.high_bytes += p.wire_bytes;
  port.high_max = std::max(port.high_max, port.high_bytes);
  enter(p, port);
}

void Fabric::trim(uint32_t packet, Port& port) {
  Packet& p = packets_[packet];
  if (!config_.trimming || !p.is_trimmable) {
    ++port.dropped;
    return drop(packet, tally_.queue_dropped);
  }
  ++port.trimmed;
  ++tally_.trimmed;
  ++trimmed_[p.flow];
  const uint32_t left = config_.trim_bytes - std::min(config_.trim_bytes, kLowerHeaders);
  const uint32_t header = std::max(left, kTrimmedHeaderMin);
  p.header_bytes = static_cast<uint8_t>(std::min<uint32_t>(p.header_bytes, header));
  p.payload_bytes = 0;
  p.wire_bytes = config_.trim_bytes;
  p.dscp = port.to_host ? kDscpTrimmedLastHop : kDscpTrimmed;
  p.is_trimmable = false;
  p.is_high = true;
  enqueue_high(packet, port);
}

void Fabric::drop(uint32_t packet, uint64_t& counter) {
  ++counter;
  packets_.give(packet);
}

// A packet is in the switch that the port belongs to.
void Fabric::enter(const Packet& packet, const Port& port) {
  if (!notes_passing_ || port.from_host) return;
  buffers_.enter(port.from, packet.wire_bytes);
  if (!config_.pfc || packet.is_high) return;
  Port& source = ports_[packet.in_port];
  source.entered += packet.wire_bytes;
  if (source.entered <= config_.pfc_off || source.pauses) return;
  source.pauses = true;
  ++tally_.pauses;
  events_.add(now_ + source.latency, event(Kind::pause, packet.in_port));
}

void Fabric::leave(const Packet& packet, const Port& port) {
  if (!notes_passing_ || port.from_host) return;
  buffers_.leave(port.from, packet.wire_bytes);
  if (!config_.pfc || packet.is_high) return;
  Port& source = ports_[packet.in_port];
  source.entered -= packet.wire_bytes;
  if (source.entered > config_.pfc_on || !source.pauses) return;
  source.pauses = false;
  // It left at free_at; the port is looked at only now.
  const Picoseconds left_at = port.serving == kNoPacket ? std::min(port.free_at, now_) : now_;
  events_.add(std::max(left_at + source.latency, now_), event(Kind::pause, packet.in_port));
}

void Fabric::set_link(uint32_t link, double share, Picoseconds now) {
  now_ = now;
  for (const uint32_t index : {up_port(link), down_port(link)}) {
    Port& port = ports_[index];
    serve(index);
    port.is_up = share > 0;
    if (port.is_up) {
      port.octet_time = octet_time(topology_.links()[link].mbps, share);
    } else {
      flush(port);
    }
  }
}

// Queued packets are lost, and packets on the cable or in service do not arrive.
void Fabric::flush(Port& port) {
  ++port.epoch;
  if (port.serving != kNoPacket) leave(packets_[port.serving], port);
  for (Queue* const queue : {&port.low, &port.high}) {
    while (!queue->empty()) {
      const uint32_t packet = queue->pop(packets_);
      leave(packets_[packet], port);
      drop(packet, tally_.link_dropped);
    }
  }
  port.serving = kNoPacket;
  port.low_bytes = port.high_bytes = 0;
}

void Fabric::reroute() {
  std::vector<bool> is_up(topology_.links().size());
  for (uint32_t link = 0; link < is_up.size(); ++link) is_up[link] = ports_[up_port(link)].is_up;
  routes_.build(is_up);
}

}  // namespace uet::sim::fabric
