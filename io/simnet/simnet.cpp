// The simulated network's mechanics: ports, the event queue and the way of a packet from uplink
// over path to downlink and inbox.
#include "io/simnet/simnet.h"

#include "io/frame/frame.h"

#include "base/assert.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uet::io {

SimNet::SimNet(uint64_t seed, const SimConfig& config)
    : config_(config),
      rng_(seed),
      packets_(config.packets_max, std::min(config.carried_bytes_max, config.datagram_bytes_max),
               config.datagram_bytes_max) {
  UET_ASSERT(config.packets_max > 0 && config.datagram_bytes_max > 0);
  events_.reserve(config.packets_max);
}

SimNet::~SimNet() {
  for (const auto& p : ports_) UET_ASSERT(!p->is_attached);
}

uint32_t SimNet::port_for(const FabricAddress& address) {
  UET_ASSERT(address.valid());
  const uint32_t known = directory_.find(address);
  if (known != kNone) return known;

  const auto index = static_cast<uint32_t>(ports_.size());
  ports_.push_back(std::make_unique<simnet::Port>());
  ports_.back()->address = address;
  directory_.add(address, index);
  touched_.add_port();
  events_.reserve(config_.packets_max + ports_.size());
  return index;
}

std::unique_ptr<SimPort> SimNet::attach(const FabricAddress& address) {
  const uint32_t index = port_for(address);
  simnet::Port& port = *ports_[index];
  UET_ASSERT(!port.is_attached);
  port.is_attached = true;
  return std::unique_ptr<SimPort>(new SimPort(*this, index));
}

void SimNet::detach(uint32_t index) {
  simnet::Port& port = *ports_[index];
  const uint32_t unread = port.inbox.clear(packets_);
  counters_.no_port_dropped += unread;
  in_flight_ -= unread;
  port.is_attached = false;
}

void SimNet::set_link(const FabricAddress& address, const FaultPlan& plan) {
  simnet::Port& port = *ports_[port_for(address)];
  port.own_plan = plan;
  port.has_own_plan = true;
}

simnet::Path& SimNet::path_for(const FabricAddress& from, const FabricAddress& to) {
  const uint32_t from_port = port_for(from);
  return paths_.at(from_port, port_for(to));
}

void SimNet::set_path(const FabricAddress& from, const FabricAddress& to, const FaultPlan& plan) {
  simnet::Path& path = path_for(from, to);
  path.plan = plan;
  path.own_plan = true;
}

void SimNet::set_partitioned(const FabricAddress& a, const FabricAddress& b, bool partitioned) {
  path_for(a, b).partitioned = partitioned;
  path_for(b, a).partitioned = partitioned;
}

void SimNet::advance(Instant now) {
  UET_ASSERT(now >= now_);
  while (events_.is_due(now)) {
    const simnet::Event event = events_.take();
    now_ = std::max(now_, Instant::from_ns(event.at_ns));
    switch (event.kind) {
      case simnet::Event::Kind::reached_link:
        reached_link(event.subject, event.at_ns);
        break;
      case simnet::Event::Kind::arrived:
        arrived(event.subject, event.at_ns);
        break;
      case simnet::Event::Kind::writable:
        ports_[event.subject]->wake_pending = false;
        touched_.add(event.subject);
        break;
    }
  }
  now_ = now;
}

void SimNet::send(uint32_t from, std::span<TxPacket> packets) {
  bool blocked = false;  // one uplink: later packets must not overtake one that does not fit
  for (TxPacket& packet : packets) {
    packet.error = 0;
    packet.fate = blocked ? TxFate::later : send_one(from, packet);
    if (packet.fate == TxFate::later) {
      blocked = true;
      ++counters_.pushed_back;
    }
  }
}

uint32_t SimNet::route_mtu(uint32_t index, const FabricAddress& to) const {
  const uint32_t mtu = paths_.plan(index, directory_.find(to)).mtu_bytes;
  return mtu == 0 ? 0 : mtu + header_bytes_of(to);
}

// Decides the fate of one packet. From `sent` on the network has it.
TxFate SimNet::send_one(uint32_t from_index, TxPacket& packet) {
  simnet::Port& from = *ports_[from_index];
  const uint32_t to_index = directory_.find(packet.to);
  const simnet::Path* path = to_index == kNone ? nullptr : paths_.find(from_index, to_index);
  const FaultPlan& plan = paths_.plan(from_index, to_index);

  const uint32_t mtu = plan.mtu_bytes == 0 ? config_.datagram_bytes_max : plan.mtu_bytes;
  if (packet.bytes() > std::min(mtu, config_.datagram_bytes_max)) {
    packet.error = EMSGSIZE;
    ++counters_.too_long;
    if (plan.mtu_bytes != 0) report(from_index, packet.to, EMSGSIZE);
    return TxFate::never;
  }

  Instant departs = now_;
  if (const uint64_t rate = from.plan_or(paths_.plan()).rate_bps; rate != 0) {
    const uint64_t queued = from.uplink.queued_bytes(now_.ns(), rate);
    if (queued != 0 && queued + packet.bytes() > config_.send_queue_bytes_max) {
      if (!from.wake_pending) {
        from.wake_pending = true;
        const int64_t has_room = from.uplink.when_queued(config_.send_queue_bytes_max / 2, rate);
        events_.add(std::max(has_room, now_.ns() + 1), simnet::Event::Kind::writable, from_index);
      }
      return TxFate::later;
    }
    departs = Instant::from_ns(from.uplink.queue(packet.bytes(), now_.ns(), rate));
  }

  ++counters_.sent;
  if (to_index == kNone) {
    ++counters_.no_port_dropped;
    report(from_index, packet.to, EHOSTUNREACH);
  } else if (path != nullptr && path->partitioned) {
    ++counters_.partition_dropped;
  } else if (lost(from, plan, departs)) {
    // The loss was counted where it was decided.
  } else {
    launch(from_index, to_index, packet, departs);
  }
  return TxFate::sent;
}

// Draws the same numbers whatever the plan says, so that a run changes little when a plan does.
bool SimNet::lost(simnet::Port& from, const FaultPlan& plan, Instant departs) {
  const bool loss = rng_.chance(plan.loss);
  const bool burst = rng_.chance(plan.burst);
  if (plan.blackholed(departs)) {
    ++counters_.blackhole_dropped;
    return true;
  }
  if (from.burst_left == 0 && burst) from.burst_left = plan.burst_packets;
  if (from.burst_left > 0) {
    --from.burst_left;
    ++counters_.burst_dropped;
    return true;
  }
  if (loss) ++counters_.loss_dropped;
  return loss;
}

// Copies the packet, corrupts and duplicates it if the plan says so, and sends it on its way.
void SimNet::launch(uint32_t from, uint32_t to, const TxPacket& tx, Instant departs) {
  const FaultPlan& plan = paths_.plan(from, to);
  const bool corrupt = rng_.chance(plan.corrupt);
  const bool duplicate = rng_.chance(plan.duplicate);
  const uint64_t bit = rng_.below(uint64_t{tx.bytes()} * 8 + 1);

  if (corrupt) ++counters_.corrupted;
  if (corrupt && !plan.deliver_corrupt) {
    ++counters_.corrupt_dropped;
    return;
  }
  const uint32_t index = packets_.allocate();
  if (index == kNone) {
    ++counters_.pool_dropped;
    return;
  }
  const FabricAddress& source = ports_[from]->address;
  simnet::Packet& packet = packets_[index];
  packet = {source, tx.bytes(), from, to, kNone, 0, tx.ev, tx.dscp, tx.ecn};
  packet.from.port = nominal_source_port(source, tx.ev);
  UET_ASSERT(tx.header_bytes <= packets_.carried_bytes());
  std::byte* at = packets_.octets(index);
  const std::byte* const end = at + packets_.carried_bytes();
  std::memcpy(at, tx.header, tx.header_bytes);
  at += tx.header_bytes;
  for (uint32_t i = 0; i < tx.slice_count; ++i) {
    const auto carried = std::min(tx.slices[i].length, static_cast<size_t>(end - at));
    std::memcpy(at, tx.slices[i].data, carried);
    at += carried;
  }
  if (corrupt && packet.bytes > 0) {
    const uint64_t place = bit % (uint64_t{std::min(packet.bytes, packets_.carried_bytes())} * 8);
    packets_.octets(index)[place / 8] ^= std::byte{1} << (place % 8);
  }

  if (duplicate) {
    ++counters_.duplicated;
    const uint32_t copy = packets_.copy(index);
    if (copy == kNone) {
      ++counters_.pool_dropped;
    } else {
      put_on_path(copy, plan, departs);
    }
  }
  put_on_path(index, plan, departs);
}

void SimNet::put_on_path(uint32_t index, const FaultPlan& plan, Instant departs) {
  const uint64_t jitter = rng_.below(static_cast<uint64_t>(plan.jitter.ns()) + 1);
  const bool reorder = rng_.chance(plan.reorder);
  const uint64_t held = rng_.below(static_cast<uint64_t>(plan.reorder_delay.ns()) + 1);
  int64_t at_ns = departs.ns() + plan.delay.ns() + static_cast<int64_t>(jitter);
  if (reorder) {
    at_ns += static_cast<int64_t>(held);
    ++counters_.reordered;
  }
  ++in_flight_;
  events_.add(at_ns, simnet::Event::Kind::reached_link, index);
}

// The queue in front of the receiver's link: tail drop, and CE above the mark. [WIRE-015]
void SimNet::reached_link(uint32_t index, int64_t at_ns) {
  simnet::Packet& packet = packets_[index];
  simnet::Wire& link = ports_[packet.to_port]->downlink;
  const FaultPlan& plan = ports_[packet.to_port]->plan_or(paths_.plan());
  if (plan.rate_bps == 0) return arrived(index, at_ns);

  const uint64_t queued = link.queued_bytes(at_ns, plan.rate_bps);
  if (plan.queue_bytes != 0 && queued + packet.bytes > plan.queue_bytes) {
    return overflow(index, plan, at_ns);
  }
  const bool capable = packet.ecn == Ecn::ect0 || packet.ecn == Ecn::ect1;
  if (capable && plan.ecn_mark_bytes != 0 && queued > plan.ecn_mark_bytes) {
    packet.ecn = Ecn::ce;
    ++counters_.ce_marked;
  }
  events_.add(link.queue(packet.bytes, at_ns, plan.rate_bps), simnet::Event::Kind::arrived, index);
}

// No room in the queue: a trimmable packet loses its tail and continues in the class with priority;
// any other is dropped. [WIRE-019]
void SimNet::overflow(uint32_t index, const FaultPlan& plan, int64_t at_ns) {
  simnet::Packet& packet = packets_[index];
  if (plan.trim_bytes == 0 || packet.dscp != plan.trimmable_dscp ||
      packet.bytes <= plan.trim_bytes) {
    return note_dropped(index, counters_.queue_dropped);
  }
  packet.bytes = plan.trim_bytes;
  packet.dscp = plan.trimmed_dscp;
  ++counters_.trimmed;
  simnet::Wire& link = ports_[packet.to_port]->downlink;
  const int64_t arrives = link.overtake(packet.bytes, at_ns, plan.rate_bps);
  events_.add(arrives, simnet::Event::Kind::arrived, index);
}

void SimNet::arrived(uint32_t index, int64_t at_ns) {
  simnet::Packet& packet = packets_[index];
  simnet::Port& to = *ports_[packet.to_port];
  if (!to.is_attached) {
    report(packet.from_port, to.address, ECONNREFUSED);
    return note_dropped(index, counters_.no_port_dropped);
  }
  if (to.inbox.bytes() + packet.bytes > config_.inbox_bytes_max) {
    return note_dropped(index, counters_.inbox_dropped);
  }
  packet.arrived_ns = at_ns;
  to.inbox.add(packets_, index);
  touched_.add(packet.to_port);
}

// A packet that was under way is under way no more.
void SimNet::note_dropped(uint32_t packet, uint64_t& count) {
  ++count;
  --in_flight_;
  packets_.release(packet);
}

std::span<RxDatagram> SimNet::receive(uint32_t port) {
  const std::span<RxDatagram> datagrams = ports_[port]->inbox.receive(packets_);
  in_flight_ -= static_cast<uint32_t>(datagrams.size());
  counters_.delivered += datagrams.size();
  return datagrams;
}

void SimNet::report(uint32_t index, const FabricAddress& to, int error) {
  simnet::Port& port = *ports_[index];
  if (port.is_attached && port.inbox.report(to, error)) touched_.add(index);
}

std::span<const PathError> SimPort::path_errors() {
  return net_.ports_[index_]->inbox.take_errors();
}

IoCaps SimPort::caps() const {
  IoCaps caps;
  const uint32_t mtu = net_.paths_.plan().mtu_bytes;
  caps.max_datagram_bytes =
      mtu == 0 ? net_.config_.datagram_bytes_max : std::min(mtu, net_.config_.datagram_bytes_max);
  caps.entropy_values = net_.ports_[index_]->address.port == kUetPort ? 65536 : 16;
  caps.receive_buffer_bytes = net_.config_.inbox_bytes_max;
  caps.ecn = true;
  return caps;
}

FabricAddress SimPort::local_address() const { return net_.ports_[index_]->address; }

bool SimPort::readable() const { return !net_.ports_[index_]->inbox.is_empty(); }

}  // namespace uet::io
