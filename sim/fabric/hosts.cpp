// Driving the endpoints.
#include "sim/fabric/hosts.h"

#include "sim/fabric/stack.h"

#include "wire/octets.h"
#include "wire/pds_prologue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace uet::sim::fabric {
namespace {

constexpr uint32_t kJob = 1;
constexpr uint16_t kPid = 1;
constexpr uint16_t kResource = 1;
constexpr uint32_t kInitiator = 1;
constexpr uint8_t kDscpTrimmable = 8, kDscpTrimmableAgain = 10;  // [CMS-171, CMS-172]
constexpr int64_t kStartNs = 1'000'000'000;                      // 0 means never to some

Instant instant(Picoseconds at) { return Instant::from_ns(kStartNs + at / kNanosecond); }
Picoseconds simulated(Instant at) {
  return at.is_never() ? kNever : (at.ns() - kStartNs) * kNanosecond;
}

bool is_sent_again(const TxPacket& request) {
  const auto prologue = wire::Prologue::of(wire::load_u16(request.header));
  return wire::bit(prologue.flags, wire::kFlagRetx);
}

FabricAddress address_of(uint32_t host) {
  return FabricAddress::v4(0x0A000000U | (host & 0xFFFFFF));
}

uint32_t host_at(const FabricAddress& a) {
  return uint32_t{a.ip[1]} << 16 | uint32_t{a.ip[2]} << 8 | a.ip[3];
}

// Room for one packet: the next packet is chosen when it can leave.
TxBatch& batch() {
  static thread_local TxBatch one;
  one.set_limit(1);
  one.set_free_planes(~uint32_t{0});
  return one;
}

void on_completion(void* owner, const ses::Completion& completion) {
  StackHost& host = *static_cast<StackHost*>(owner);
  const auto flow = static_cast<uint32_t>(completion.context.user);
  const auto is_it = [flow](const StackHost::Active& active) { return active.flow == flow; };
  const auto at = std::ranges::find_if(host.active, is_it);
  UET_ASSERT(at != host.active.end());
  const uint64_t left = at->left;
  host.active.erase(at);
  if (!completion.ok() || left == 0) {
    host.ends.push_back({flow, completion.ok()});
    return;
  }
  host.waiting.insert(host.waiting.begin(), {flow, left});
  host.has_rest = true;
}

}  // namespace

Hosts::Hosts(const Topology& topology, const Traffic& traffic, const fep::Config& config,
             uint32_t header_bytes, uint64_t write_bytes, EventQueue& events, uint64_t seed)
    : HostLoop(topology.hosts(), traffic.flows.size(), events),
      traffic_(traffic),
      config_(config),
      header_bytes_(header_bytes),
      write_bytes_(write_bytes),
      seed_(seed),
      landing_(std::clamp<uint64_t>(std::ranges::max(traffic.flows, {}, &Flow::bytes).bytes, 1,
                                    write_bytes)),
      octets_(size_t{config.ses.payload_mtu} + TxBatch::kHeaderBytes) {}

StackHost& Hosts::up(uint32_t index) {
  StackHost& host = hosts_[index];
  if (host.fep == nullptr) open(host);
  return host;
}

void Hosts::open(StackHost& host) {
  auto fep =
      fep::FabricEndpoint::create(config_, address_of(host.index), hash64(host.index, seed_));
  if (!fep.ok()) throw TopologyError("no memory for the endpoint of another host");
  host.fep = std::move(*fep);
  ++up_;
  ses::CompletionSink sink;
  sink.owner = &host;
  sink.complete = on_completion;
  sink.reserve = [](void*) { return true; };
  ses::EndpointOptions options;
  options.tc = TrafficClass(kDscpTrimmable);
  options.tx_size = std::max(1024u, 2 * config_.peers_max);
  options.rx_size = 16;
  const ses::EndpointName name{JobId(kJob), PidOnFep(kPid), ResourceIndex(kResource), kInitiator,
                               false};
  const auto endpoint = host.fep->ses().open_endpoint(name, options, sink, sink);
  UET_ASSERT(endpoint.ok());
  host.endpoint = *endpoint;
  const IoSlice memory{landing_.data(), landing_.size()};
  ses::RegionRequest request;
  request.iov = {&memory, 1};
  request.access = ses::kRemoteWrite;
  ses::MemoryRegions& regions = host.fep->ses().memory();
  const auto region = regions.add(request);
  UET_ASSERT(region.ok());
  regions.enable(*region);
  host.key = regions.key(*region);
}

// What stands where the step before has prefetched.
void Hosts::prefetch(const StackHost& host, int turns) const {
  if (host.fep == nullptr) return;
  if (turns > 4) {
    host.fep->prefetch(static_cast<uint32_t>(7 - turns));
  }
  for (const HostDue::Arrival& arrival : host.arrivals) {
    const Packet& packet = fabric_->packets()[arrival.packet];
    if (turns == 7) {
      uet::prefetch(&packet, sizeof packet);
    } else if (turns <= 4) {
      host.fep->prefetch(static_cast<uint32_t>(4 - turns),
                         std::span(packet.header).first(packet.header_bytes));
    }
  }
}

Picoseconds Hosts::own_deadline(const StackHost& host) {
  return simulated(host.fep->next_deadline());
}

void Hosts::work(StackHost& host, Picoseconds now) {
  if (host.fep->next_deadline() <= instant(now)) host.fep->advance(instant(now));
  if (host.waiting.empty() || (host.ends.empty() && !host.has_rest)) return;
  host.has_rest = false;
  while (!host.waiting.empty() && post(host, host.waiting.front(), now)) {
    host.waiting.erase(host.waiting.begin());
  }
}

void Hosts::begin(StackHost& host, uint32_t flow, Picoseconds now) {
  const Flow& f = traffic_.flows[flow];
  records_[flow].start = now;
  if (f.is_pause() || f.bytes == 0) {
    host.ends.push_back({flow, true});
    return;
  }
  const StackHost::Waiting whole{flow, f.bytes};
  if (host.waiting.empty() && post(host, whole, now)) return;
  host.waiting.push_back(whole);
}

// The next write of a flow. False: there is no room for it.
bool Hosts::post(StackHost& host, const StackHost::Waiting& next, Picoseconds now) {
  const Flow& f = traffic_.flows[next.flow];
  const StackHost& target = up(f.to);
  const auto peer = host.fep->peers().find_or_add(address_of(f.to), instant(now));
  if (!peer.ok()) throw TopologyError("a host talks to more others than it has room for");
  const IoSlice memory{landing_.data(), std::min<uint64_t>(next.left, write_bytes_)};
  ses::RmaRequest request;
  request.to = {*peer, PidOnFep(kPid), ResourceIndex(kResource), kInitiator, false};
  request.iov = {&memory, 1};
  request.key = target.key;
  request.context = {nullptr, next.flow};
  const auto taken = host.fep->ses().rma(host.endpoint, request, instant(now));
  if (!taken.ok() && taken.error() == Errc::again) return false;
  if (!taken.ok()) {
    throw TopologyError("flow " + std::to_string(next.flow) + " (" + std::to_string(f.from) + "->" +
                        std::to_string(f.to) + "): the stack refuses a write of " +
                        std::to_string(memory.length) + " octets: " + name(taken.error()));
  }
  host.active.push_back({next.flow, f.to, next.left - memory.length});
  return true;
}

void Hosts::receive(StackHost& host, uint32_t index, Picoseconds now) {
  const Packet& packet = fabric_->packets()[index];
  std::memcpy(octets_.data(), packet.header.data(), packet.header_bytes);
  RxDatagram datagram;
  datagram.bytes = {octets_.data(), packet.header_bytes + packet.payload_bytes};
  datagram.from = address_of(packet.from);
  datagram.ev = packet.ev;
  datagram.dscp = packet.dscp;
  datagram.ecn = packet.ecn;
  datagram.at = instant(now);
  fabric_->release(index);
  host.fep->receive({&datagram, 1}, instant(now));
}

// One packet at a time, and the next one when it has left.
void Hosts::pull(StackHost& host, Picoseconds now) {
  if (host.pull_at != kNever) return;
  TxBatch& out = batch();
  const bool has_planes = config_.cms.entropy.planes > 1;
  uint32_t planes = ~uint32_t{0};
  while (host.fep->has_work()) {
    const Picoseconds free_at =
        fabric_->host_free_at(host.index, now, has_planes ? &planes : nullptr);
    if (free_at == kNever) return;  // PFC; wake() follows
    if (free_at > now) {
      host.pull_at = free_at;
      return;
    }
    out.set_free_planes(planes);
    if (host.fep->transmit(out, instant(now)) == 0) return;
    for (const TxPacket& packet : out.packets()) leave(host, packet, now);
    out.clear();
  }
}

void Hosts::leave(StackHost& host, const TxPacket& packet, Picoseconds now) {
  const uint32_t index = fabric_->packets().take();
  Packet& p = fabric_->packets()[index];
  UET_ASSERT(packet.header_bytes <= Packet::kHeaderBytes);
  std::memcpy(p.header.data(), packet.header, packet.header_bytes);
  p.header_bytes = static_cast<uint8_t>(packet.header_bytes);
  p.payload_bytes = packet.payload_bytes;
  p.wire_bytes = std::max(packet.payload_bytes + header_bytes_, kControlBytes);
  p.from = host.index;
  p.to = host_at(packet.to);
  p.ev = packet.ev;
  p.dscp = packet.dscp;
  p.ecn = packet.ecn;
  p.is_trimmable = packet.dscp == kDscpTrimmable || packet.dscp == kDscpTrimmableAgain;
  p.is_high = packet.dscp == config_.pds.control_dscp;
  p.flow = 0;
  if (packet.payload_bytes != 0) {
    p.flow = flow_of(host, p.to);
    ++records_[p.flow].sent;
    if (is_sent_again(packet)) {
      ++records_[p.flow].resent;
    } else {
      bytes_begun_ += packet.payload_bytes;
    }
  }
  uint64_t first = 0;
  std::memcpy(&first, packet.header, sizeof first);
  host.digest = hash64(host.digest ^ first, uint64_t{p.to} << 32 | p.wire_bytes,
                       static_cast<uint64_t>(now) ^ uint64_t{p.ev.value()} << 48);
  fabric_->send(index, now);
}

// The flow of a data packet. With several to one host, the first one.
uint32_t Hosts::flow_of(const StackHost& host, uint32_t to) {
  for (const StackHost::Active& active : host.active) {
    if (active.to == to) return active.flow;
  }
  return 0;
}

void Hosts::look(uint32_t index, Picoseconds now, std::vector<SenderSample>& out) const {
  const StackHost& host = hosts_[index];
  out.clear();
  pdcs_.resize(host.fep == nullptr ? 0 : host.fep->pds().open_pdcs());
  if (!pdcs_.empty()) pdcs_.resize(host.fep->pds().snapshot(pdcs_, instant(now)));
  for (const pds::PdcSnapshot& pdc : pdcs_) {
    if (!pdc.is_initiator || (!pdc.has_message && pdc.inflight_bytes == 0)) continue;
    const int64_t rtt = std::max<int64_t>(pdc.round_trip.ns(), 0);
    out.push_back({pdc.window_bytes, pdc.inflight_bytes, static_cast<uint64_t>(rtt)});
  }
}

std::vector<std::pair<std::string, uint64_t>> Hosts::counters() const {
  std::vector<std::pair<std::string, uint64_t>> out;
  for (const StackHost& host : hosts_) {
    if (host.fep == nullptr) continue;
    size_t at = 0;
    host.fep->for_each_counter([&](const char* name, uint64_t value) {
      if (at == out.size()) out.emplace_back(name, 0);
      out[at++].second += value;
    });
  }
  return out;
}

}  // namespace uet::sim::fabric
