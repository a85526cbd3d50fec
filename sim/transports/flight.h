// Packets of a flow that are unsent, in flight, lost, or have arrived; for senders that resend only
// missing ones.
#pragma once

#include "sim/transports/segment.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace uet::sim::transports {

class Flight {
 public:
  struct Next {
    uint32_t number;
    bool is_resent;
  };

  explicit Flight(uint32_t packets) : packets_(packets) {}

  bool has_packet() const { return !lost_.empty() || next_ < packets_.size(); }
  // Lost packets go before new ones. Requires has_packet().
  Next take() {
    if (lost_.empty()) return {next_++, false};
    const uint32_t number = lost_.front();
    lost_.pop_front();
    return {number, true};
  }
  void on_sent(uint32_t number, uint16_t path, Picoseconds now) {
    packets_[number] = {now, path, State::in_flight};
    sent_.push_back({number, now});
    ++inflight_;
  }
  // False: it was known.
  bool on_acked(uint32_t number) {
    Packet& packet = packets_[number];
    if (packet.state == State::acked) return false;
    if (packet.state == State::in_flight) --inflight_;
    if (packet.state == State::lost) std::erase(lost_, number);
    packet.state = State::acked;
    ++acked_;
    drop_known();
    return true;
  }
  // The packet that was sent at that time is lost. False: it is not in flight any more.
  bool on_lost(uint32_t number, Picoseconds sent_at) {
    Packet& packet = packets_[number];
    if (packet.state != State::in_flight || packet.sent_at != sent_at) return false;
    packet.state = State::lost;
    --inflight_;
    lost_.push_back(number);
    drop_known();
    return true;
  }
  // The one in flight that left first is lost. Returns the path it took.
  uint16_t lose_oldest() {
    const Sent oldest = sent_.front();
    on_lost(oldest.number, oldest.at);
    return packets_[oldest.number].path;
  }
  // When that packet left; kNever: none is in flight.
  Picoseconds oldest_at() const { return sent_.empty() ? kNever : sent_.front().at; }

  uint32_t next() const { return next_; }  // was not sent yet
  uint32_t inflight() const { return inflight_; }
  size_t waiting() const { return packets_.size() - next_ + lost_.size(); }
  bool is_done() const { return acked_ == packets_.size(); }

 private:
  enum class State : uint8_t {
    unsent,
    in_flight,
    lost,
    acked
  };
  struct Packet {
    Picoseconds sent_at = 0;  // last
    uint16_t path = 0;
    State state = State::unsent;
  };
  struct Sent {
    uint32_t number;
    Picoseconds at;
  };

  void drop_known() {
    const auto is_known = [this](const Sent& sent) {
      const Packet& packet = packets_[sent.number];
      return packet.state != State::in_flight || packet.sent_at != sent.at;
    };
    while (!sent_.empty() && is_known(sent_.front())) sent_.pop_front();
  }

  std::vector<Packet> packets_;
  std::deque<Sent> sent_;  // in this order; the first one is in flight
  std::deque<uint32_t> lost_;
  uint32_t next_ = 0, inflight_ = 0, acked_ = 0;
};

}  // namespace uet::sim::transports
