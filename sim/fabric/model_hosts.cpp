// Driving flows of a comparison transport.
#include "sim/fabric/model_hosts.h"

#include "sim/fabric/stack.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace uet::sim::fabric {
namespace {

using transports::Segment;
using transports::SegmentKind;
using transports::Telemetry;

static_assert(sizeof(Segment) <= Packet::kHeaderBytes);

std::unique_ptr<transports::Transport> made(const std::string& name) {
  try {
    return transports::make_transport(name);
  } catch (const std::invalid_argument& error) {
    throw TopologyError(error.what());
  }
}

bool goes_to_receiver(SegmentKind kind) {
  return kind == SegmentKind::data || kind == SegmentKind::request;
}

}  // namespace

ModelHosts::ModelHosts(const Topology& topology, const Routes& routes, const Traffic& traffic,
                       const std::string& transport, const transports::Network& network,
                       EventQueue& events)
    : HostLoop(topology.hosts(), traffic.flows.size(), events),
      routes_(routes),
      traffic_(traffic),
      transport_(made(transport)),
      facts_(*transports::transport_named(transport)),
      network_(network),
      senders_(traffic.flows.size()),
      receivers_(traffic.flows.size()) {}

ModelHost& ModelHosts::up(uint32_t index) {
  ModelHost& host = hosts_[index];
  if (host.is_up) return host;
  host.is_up = true;
  host.pulls = transport_->pull_queue(network_);
  ++up_;
  return host;
}

void ModelHosts::begin(ModelHost& host, uint32_t flow, Picoseconds now) {
  const Flow& f = traffic_.flows[flow];
  records_[flow].start = now;
  if (f.is_pause() || f.bytes == 0) {
    host.ends.push_back({flow, true});
    return;
  }
  const transports::FlowSetup setup{flow, f.bytes, routes_.links_between(f.from, f.to)};
  senders_[flow] = transport_->sender(setup, network_, counts_);
  receivers_[flow] = transport_->receiver(setup, network_, up(f.to).pulls.get());
  host.sending.push_back(flow);
}

void ModelHosts::receive(ModelHost& host, uint32_t index, Picoseconds now) {
  const Packet& packet = fabric_->packets()[index];
  Segment segment;
  std::memcpy(static_cast<void*>(&segment), packet.header.data(), sizeof segment);
  segment.is_marked = segment.is_marked || packet.ecn == Ecn::ce;
  segment.is_trimmed = segment.payload_bytes != 0 && packet.payload_bytes == 0;
  if (goes_to_receiver(segment.kind)) {
    answer(host, segment, packet.from, index, now);
  } else {
    news(host, segment, facts_.uses_telemetry ? &fabric_->telemetry(index) : nullptr, now);
  }
  fabric_->release(index);
}

// Answers carry back the fields that switches have written.
void ModelHosts::answer(ModelHost& host, const Segment& segment, uint32_t from, uint32_t packet,
                        Picoseconds now) {
  out_.clear();
  receivers_[segment.flow]->on_packet(segment, now, out_);
  for (const Segment& out : out_) {
    host.answers.push_back({out, from, std::nullopt});
    if (facts_.uses_telemetry) host.answers.back().telemetry = fabric_->telemetry(packet);
  }
}

void ModelHosts::news(ModelHost& host, const Segment& segment, const Telemetry* telemetry,
                      Picoseconds now) {
  std::unique_ptr<transports::Sender>& sender = senders_[segment.flow];
  if (sender == nullptr) return;  // it has ended
  sender->on_answer(segment, telemetry, now);
  if (!sender->is_done()) return;
  sender.reset();
  std::erase(host.sending, segment.flow);
  host.ends.push_back({segment.flow, true});
}

void ModelHosts::work(ModelHost& host, Picoseconds now) {
  for (const uint32_t flow : host.sending) {
    if (senders_[flow]->next_deadline() <= now) senders_[flow]->on_deadline(now);
  }
  Segment grant;
  while (host.pulls != nullptr && host.pulls->take(now, grant)) {
    host.answers.push_back({grant, traffic_.flows[grant.flow].from, std::nullopt});
  }
}

// One packet at a time, and the next one when it has left.
void ModelHosts::pull(ModelHost& host, Picoseconds now) {
  while (host.pull_at == kNever && !(host.answers.empty() && host.sending.empty())) {
    const Picoseconds free_at = fabric_->host_free_at(host.index, now);
    if (free_at == kNever) break;  // PFC; wake() follows
    if (free_at > now) {
      host.pull_at = free_at;
    } else if (!send_answer(host, now) && !send_data(host, now)) {
      break;
    }
  }
  find_deadline(host, now);
}

// A flow that is due and cannot leave is asked again when the card is free.
void ModelHosts::find_deadline(ModelHost& host, Picoseconds now) {
  host.deadline = host.pulls == nullptr ? kNever : host.pulls->next_deadline();
  for (const uint32_t flow : host.sending) {
    const Picoseconds next = senders_[flow]->next_deadline();
    if (next > now) host.deadline = std::min(host.deadline, next);
  }
}

// PFC lets no port of the host send data.
bool ModelHosts::is_paused(const ModelHost& host) const {
  return std::ranges::all_of(routes_.edges().of(host.index), [this](const auto& at) {
    return fabric_->ports()[at.port ^ 1].is_paused;
  });
}

bool ModelHosts::send_answer(ModelHost& host, Picoseconds now) {
  if (host.answers.empty()) return false;
  const ModelHost::Answer& first = host.answers.front();
  leave(host, first.segment, first.to, first.telemetry ? &*first.telemetry : nullptr, now);
  host.answers.pop_front();
  return true;
}

bool ModelHosts::send_data(ModelHost& host, Picoseconds now) {
  if (is_paused(host)) return false;
  const size_t count = host.sending.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (host.turn + i) % count;
    const uint32_t flow = host.sending[at];
    Segment segment;
    if (!senders_[flow]->next(now, segment)) continue;
    host.turn = at + 1;
    leave(host, segment, traffic_.flows[flow].to, nullptr, now);
    return true;
  }
  return false;
}

void ModelHosts::leave(ModelHost& host, const Segment& segment, uint32_t to,
                       const Telemetry* telemetry, Picoseconds now) {
  const uint32_t index = fabric_->packets().take();
  Packet& p = fabric_->packets()[index];
  const bool is_data = segment.kind == SegmentKind::data;
  std::memcpy(p.header.data(), &segment, sizeof segment);
  p.header_bytes = sizeof segment;
  p.payload_bytes = is_data ? segment.payload_bytes : 0;
  p.wire_bytes = std::max(p.payload_bytes + network_.header_bytes, kControlBytes);
  p.from = host.index;
  p.to = to;
  p.ev = Entropy(segment.path);
  p.dscp = 0;
  p.ecn = is_data && facts_.uses_marks ? Ecn::ect0 : Ecn::not_ect;
  p.is_trimmable = is_data && facts_.uses_trimming;
  p.is_high = !is_data;
  p.flow = segment.flow;
  if (is_data) {
    ++records_[segment.flow].sent;
    records_[segment.flow].resent += segment.is_resent ? 1 : 0;
    bytes_begun_ += segment.is_resent ? 0 : segment.payload_bytes;
  }
  if (facts_.uses_telemetry) {
    fabric_->telemetry(index) = telemetry == nullptr ? Telemetry() : *telemetry;
  }
  const uint64_t what = uint64_t{segment.flow} << 32 | segment.number;
  host.digest = hash64(host.digest ^ what, uint64_t{p.to} << 32 | p.wire_bytes,
                       static_cast<uint64_t>(now) ^ uint64_t{segment.path} << 48);
  fabric_->send(index, now);
}

void ModelHosts::look(uint32_t index, Picoseconds, std::vector<SenderSample>& out) const {
  out.clear();
  for (const uint32_t flow : hosts_[index].sending) {
    const transports::SenderState state = senders_[flow]->state();
    out.push_back(
        {state.window_bytes, state.inflight_bytes, static_cast<uint64_t>(state.rtt / kNanosecond)});
  }
}

std::vector<std::pair<std::string, uint64_t>> ModelHosts::counters() const {
  const transports::Counts& c = counts_;
  return {{"data_sent", c.data_sent}, {"data_resent", c.data_resent},
          {"acks", c.acks},           {"nacks", c.nacks},
          {"cnps", c.cnps},           {"pulls", c.pulls},
          {"timeouts", c.timeouts},   {"go_backs", c.go_backs}};
}

}  // namespace uet::sim::fabric
