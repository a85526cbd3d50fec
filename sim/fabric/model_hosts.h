// The hosts of a fabric that run a comparison transport (sim/transports): flows of two ends each,
// and a card that serves answers first and senders in turns.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/host_loop.h"
#include "sim/fabric/routes.h"
#include "sim/fabric/topology.h"

#include "sim/transports/catalogue.h"
#include "sim/transports/transport.h"

#include "sim/traffic/traffic.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::sim::fabric {

struct ModelHost : HostDue {
  struct Answer {
    transports::Segment segment;
    uint32_t to;
    std::optional<transports::Telemetry> telemetry;
  };

  bool is_up = false;
  std::vector<uint32_t> sending;                 // flows
  size_t turn = 0;                               // of the first of them that may send next
  std::deque<Answer> answers;                    // to send
  std::unique_ptr<transports::PullQueue> pulls;  // null: the transport has none
  Picoseconds deadline = kNever;
};

class ModelHosts : public HostLoop<ModelHosts, ModelHost> {
 public:
  // All references outlive this. Throws TopologyError for an unknown transport.
  ModelHosts(const Topology& topology, const Routes& routes, const Traffic& traffic,
             const std::string& transport, const transports::Network& network, EventQueue& events);
  void attach(Fabric& fabric) { fabric_ = &fabric; }

  uint32_t up() const { return up_; }
  // State of the flows that a host sends.
  void look(uint32_t host, Picoseconds now, std::vector<SenderSample>& out) const;
  // Over all flows together.
  std::vector<std::pair<std::string, uint64_t>> counters() const;

 private:
  friend class HostLoop<ModelHosts, ModelHost>;

  static void prefetch(const ModelHost&, int) {}
  static bool is_up(const ModelHost& host) { return host.is_up; }
  static Picoseconds own_deadline(const ModelHost& host) { return host.deadline; }
  ModelHost& up(uint32_t host);
  void begin(ModelHost& host, uint32_t flow, Picoseconds now);
  void receive(ModelHost& host, uint32_t packet, Picoseconds now);
  void answer(ModelHost& host, const transports::Segment& segment, uint32_t from, uint32_t packet,
              Picoseconds now);
  void news(ModelHost& host, const transports::Segment& segment,
            const transports::Telemetry* telemetry, Picoseconds now);
  void work(ModelHost& host, Picoseconds now);
  void pull(ModelHost& host, Picoseconds now);
  void find_deadline(ModelHost& host, Picoseconds now);
  bool is_paused(const ModelHost& host) const;
  bool send_answer(ModelHost& host, Picoseconds now);
  bool send_data(ModelHost& host, Picoseconds now);
  void leave(ModelHost& host, const transports::Segment& segment, uint32_t to,
             const transports::Telemetry* telemetry, Picoseconds now);

  const Routes& routes_;
  const Traffic& traffic_;
  const std::unique_ptr<transports::Transport> transport_;
  const transports::TransportFacts facts_;
  const transports::Network network_;
  Fabric* fabric_ = nullptr;
  std::vector<std::unique_ptr<transports::Sender>> senders_;  // by flow; null: not, or done
  std::vector<std::unique_ptr<transports::Receiver>> receivers_;
  transports::Counts counts_;
  uint32_t up_ = 0;
  std::vector<transports::Segment> out_;  // of a receiver
};

}  // namespace uet::sim::fabric
