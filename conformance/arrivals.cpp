// Takes the packets and events of the host, and makes text of them.
#include "conformance/arrivals.h"

#include "conformance/pattern.h"
#include "conformance/values.h"

#include <cstdio>
#include <utility>
#include <vector>

namespace uet::conformance {

std::string event_text(const Event& e) {
  std::string text = (e.name.empty() ? "event " : "completion " + e.name + " kind=") + e.kind;
  text += " status=" + e.status;
  if (!e.code.empty()) text += " code=" + e.code;
  text += " bytes=" + std::to_string(e.bytes);
  if (e.truncated != 0) text += " truncated=" + std::to_string(e.truncated);
  if (e.tag != 0) text += " tag=" + std::to_string(e.tag);
  if (e.has_data) text += " data=" + std::to_string(e.data);
  if (e.initiator != 0) text += " initiator=" + std::to_string(e.initiator);
  return text;
}

void Arrivals::note(std::string text) {
  char time[32];
  std::snprintf(time, sizeof time, "%12.6f ms  ", static_cast<double>(elapsed().ns()) / 1e6);
  text = time + text;
  if (trace_) std::printf("%s\n", text.c_str());
  past_.push_back(std::move(text));
  if (past_.size() > kShown) past_.pop_front();
}

std::string Arrivals::peer_name(const FabricAddress& address) const {
  for (const auto& [name, peer] : case_.peers) {
    if (peer == address) return name;
  }
  return address_text(address);
}

void Arrivals::wait(Instant until) {
  std::vector<Datagram> packets;
  std::vector<Event> events;
  host_.wait(until, packets, events);
  for (Datagram& d : packets) {
    note("host > " + peer_name(d.peer) + describe(d));
    packets_.push_back(std::move(d));
  }
  for (Event& e : events) {
    note(event_text(e));
    events_.push_back(std::move(e));
  }
}

void Arrivals::discard() {
  wait(host_.now());
  packets_.clear();
  events_.clear();
}

}  // namespace uet::conformance
