// Two ends of one flow with a wire between them that a test works by hand.
#pragma once

#include "sim/transports/catalogue.h"
#include "sim/transports/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace uet::sim::transports {

// 100 Gbit/s: a full packet of 4,160 octets takes 332.8 ns; 43 of them are in flight.
inline Network network_100g() {
  Network out;
  out.mbps = 100'000;
  out.base_rtt = 14'027'520;
  out.bdp_bytes = 43 * 4160;
  out.payload_bytes = 4096;
  out.header_bytes = 64;
  out.queue_bytes = 5 * 43 * 4160;
  return out;
}

struct Pair {
  explicit Pair(const std::string& name, uint64_t packets)
      : transport(make_transport(name)), queue(transport->pull_queue(network)) {
    const FlowSetup setup{7, packets * 4096, 6};
    sender = transport->sender(setup, network, counts);
    receiver = transport->receiver(setup, network, queue.get());
  }
  // The packets that leave by the instant `until`, each as early as it may.
  std::vector<Segment> send(Picoseconds until) {
    std::vector<Segment> out;
    for (Segment segment; now <= until;) {
      if (sender->next(now, segment)) {
        out.push_back(segment);
        continue;
      }
      const Picoseconds next = sender->next_deadline();
      if (next <= now || next > until) break;
      now = next;
      sender->on_deadline(now);
    }
    now = until;
    return out;
  }
  std::vector<Segment> receive(const Segment& packet) {
    std::vector<Segment> out;
    receiver->on_packet(packet, now, out);
    return out;
  }
  void answer(const std::vector<Segment>& answers, const Telemetry* telemetry = nullptr) {
    for (const Segment& segment : answers) sender->on_answer(segment, telemetry, now);
  }

  Network network = network_100g();
  std::unique_ptr<Transport> transport;
  std::unique_ptr<PullQueue> queue;
  Counts counts;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Receiver> receiver;
  Picoseconds now = 0;
};

inline std::string numbers(const std::vector<Segment>& segments) {
  std::string out;
  for (const Segment& s : segments) out += (out.empty() ? "" : " ") + std::to_string(s.number);
  return out;
}

}  // namespace uet::sim::transports
