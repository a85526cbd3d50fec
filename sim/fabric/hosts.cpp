// Driving the endpoints.
#include "sim/fabric/hosts.h"

#include "sim/fabric/stack.h"

#include <sys/mman.h>
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
constexpr int64_t kStartNs = 1'000'000'000;  // an instant of 0 means never to some

Instant instant(Picoseconds at) { return Instant::from_ns(kStartNs + at / kNanosecond); }

FabricAddress address_of(uint32_t host) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, static_cast<uint8_t>(host >> 16), static_cast<uint8_t>(host >> 8),
          static_cast<uint8_t>(host)};
  return a;
}

uint32_t host_at(const FabricAddress& a) {
  return uint32_t{a.ip[1]} << 16 | uint32_t{a.ip[2]} << 8 | a.ip[3];
}

TxBatch& batch() {
  static thread_local TxBatch one;
  return one;
}

}  // namespace

Hosts::Landing::Landing(uint64_t bytes) : bytes_(std::max<uint64_t>(bytes, 4096)) {
  void* const got = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw TopologyError("no memory for messages of such lengths");
  memory_ = static_cast<std::byte*>(got);
}

Hosts::Landing::~Landing() { ::munmap(memory_, bytes_); }

Hosts::Hosts(const Topology& topology, const Traffic& traffic, const fep::Config& config,
             uint32_t header_bytes, EventQueue& events, uint64_t seed)
    : traffic_(traffic),
      config_(config),
      header_bytes_(header_bytes),
      events_(events),
      seed_(seed),
      landing_(std::ranges::max(traffic.flows, {}, &Flow::bytes).bytes),
      hosts_(topology.hosts()),
      records_(traffic.flows.size()),
      octets_(size_t{config.ses.payload_mtu} + TxBatch::kHeaderBytes) {
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i].all = this;
    hosts_[i].index = i;
  }
}

Hosts::Host& Hosts::up(uint32_t index, Picoseconds) {
  Host& host = hosts_[index];
  if (host.fep != nullptr) return host;
  auto fep = fep::FabricEndpoint::create(config_, address_of(index), hash64(index, seed_));
  if (!fep.ok()) throw TopologyError("no memory for the endpoint of another host");
  host.fep = std::move(*fep);
  ++up_;
  ses::CompletionSink sink;
  sink.owner = &host;
  sink.complete = &Hosts::on_completion;
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
  const IoSlice memory = landing_.slice(std::ranges::max(traffic_.flows, {}, &Flow::bytes).bytes);
  ses::RegionRequest request;
  request.iov = {&memory, 1};
  request.access = ses::kRemoteWrite;
  const auto region = host.fep->ses().memory().add(request);
  UET_ASSERT(region.ok());
  host.fep->ses().memory().enable(*region);
  host.key = host.fep->ses().memory().key(*region);
  return host;
}

void Hosts::start(uint32_t flow, Picoseconds now) {
  const Flow& f = traffic_.flows[flow];
  records_[flow].start = now;
  if (f.is_pause() || f.bytes == 0) {
    records_[flow].finish = now;
    done_.push_back(flow);
    return;
  }
  Host& host = up(f.from, now);
  if (!host.waiting.empty() || !post(host, flow, now)) return host.waiting.push_back(flow);
  pull(host, now);
  set_timer(host);
}

// False: there is no room for it.
bool Hosts::post(Host& host, uint32_t flow, Picoseconds now) {
  const Flow& f = traffic_.flows[flow];
  const Host& target = up(f.to, now);
  const auto peer = host.fep->peers().find_or_add(address_of(f.to), instant(now));
  if (!peer.ok()) throw TopologyError("a host talks to more others than it has room for");
  const IoSlice memory = landing_.slice(f.bytes);
  ses::RmaRequest request;
  request.to = {*peer, PidOnFep(kPid), ResourceIndex(kResource), kInitiator, false};
  request.iov = {&memory, 1};
  request.key = target.key;
  request.context = {nullptr, flow};
  if (!host.fep->ses().rma(host.endpoint, request, instant(now)).ok()) return false;
  host.active.push_back(flow);
  return true;
}

void Hosts::on_completion(void* owner, const ses::Completion& completion) {
  Host& host = *static_cast<Host*>(owner);
  const auto flow = static_cast<uint32_t>(completion.context.user);
  host.all->records_[flow].failed = !completion.ok();
  host.all->done_.push_back(flow);
  std::erase(host.active, flow);
}

void Hosts::arrived(const Packet& packet, Picoseconds now) {
  Host& host = hosts_[packet.to];
  std::memcpy(octets_.data(), packet.header.data(), packet.header_bytes);
  RxDatagram datagram;
  datagram.bytes = {octets_.data(), packet.header_bytes + packet.payload_bytes};
  datagram.from = address_of(packet.from);
  datagram.ev = packet.ev;
  datagram.dscp = packet.dscp;
  datagram.ecn = packet.ecn;
  datagram.at = instant(now);
  host.fep->receive({&datagram, 1}, instant(now));
  follow(host, now);
}

void Hosts::on_event(Kind kind, uint32_t index, Picoseconds now) {
  Host& host = hosts_[index];
  if (kind == Kind::pull) {
    if (host.pull_at != now) return;
    host.pull_at = kNever;
    return pull(host, now);
  }
  if (host.timer_at != now) return;
  host.timer_at = kNever;
  if (host.fep->next_deadline() <= instant(now)) host.fep->advance(instant(now));
  follow(host, now);
}

// After the endpoint was given something.
void Hosts::follow(Host& host, Picoseconds now) {
  while (!host.waiting.empty() && !done_.empty() && post(host, host.waiting.front(), now)) {
    host.waiting.erase(host.waiting.begin());
  }
  pull(host, now);
  set_timer(host);
}

// One packet at a time, and the next one when it has left: what goes first is decided late.
void Hosts::pull(Host& host, Picoseconds now) {
  if (host.pull_at != kNever) return;
  TxBatch& out = batch();
  out.set_limit(1);
  while (host.fep->has_work()) {
    const Picoseconds free_at = fabric_->host_free_at(host.index, now);
    if (free_at == kNever) return;
    if (free_at > now) {
      host.pull_at = free_at;
      return events_.add(free_at, event(Kind::pull, host.index));
    }
    if (host.fep->transmit(out, instant(now)) == 0) return;
    for (const TxPacket& packet : out.packets()) leave(host, packet, now);
    out.clear();
  }
}

void Hosts::leave(Host& host, const TxPacket& packet, Picoseconds now) {
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
  }
  uint64_t first = 0;
  std::memcpy(&first, packet.header, sizeof first);
  digest_ = hash64(digest_ ^ first, uint64_t{p.from} << 32 | p.to,
                   static_cast<uint64_t>(now) ^ uint64_t{p.wire_bytes} << 48 ^ p.ev.value());
  fabric_->send(index, now);
}

// The flow that a data packet belongs to. Of several to one host it is taken for the first.
uint32_t Hosts::flow_of(Host& host, uint32_t to) {
  for (size_t i = 0; i < host.active.size(); ++i) {
    if (traffic_.flows[host.active[i]].to != to) continue;
    return host.active[i];
  }
  return 0;
}

void Hosts::set_timer(Host& host) {
  const Instant next = host.fep->next_deadline();
  if (next.is_never()) return;
  const Picoseconds at = (next.ns() - kStartNs) * kNanosecond;
  if (at >= host.timer_at) return;
  host.timer_at = at;
  events_.add(at, event(Kind::timer, host.index));
}

std::span<const uint32_t> Hosts::take_done() {
  std::swap(done_, taken_);
  done_.clear();
  return taken_;
}

std::vector<std::pair<std::string, uint64_t>> Hosts::counters() const {
  std::vector<std::pair<std::string, uint64_t>> out;
  for (const Host& host : hosts_) {
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
