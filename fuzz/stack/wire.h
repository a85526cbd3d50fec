// The network between the ends of a fuzzed run: packets that have left and not arrived, in the
// order they left, none older than a network lets them grow. Who alters them is up to the program.
#pragma once

#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace uet::fuzz {

struct WirePacket {
  std::vector<std::byte> octets;
  FabricAddress from;
  FabricAddress to;
  Entropy ev;
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  uint32_t sdi = 0;  // secure domain that it was sealed in, and is opened in
  Instant left_at;
};

class Wire {
 public:
  static constexpr uint32_t kPacketsMax = 256;  // then the oldest are lost
  // Closed PDCs are remembered for longer [PDS-176]: an older duplicate could be taken for new.
  static constexpr Duration kLifetime = Duration::milliseconds(50);

  void add(WirePacket packet) {
    if (packets_.size() == kPacketsMax) packets_.pop_front();
    packets_.push_back(std::move(packet));
  }
  // Forgets what is too old.
  void age(Instant now) {
    while (!packets_.empty() && now - packets_.front().left_at > kLifetime) packets_.pop_front();
  }
  bool empty() const { return packets_.empty(); }
  uint32_t size() const { return static_cast<uint32_t>(packets_.size()); }
  WirePacket& operator[](uint32_t index) { return packets_[index]; }
  WirePacket take(uint32_t index) {
    WirePacket packet = std::move(packets_[index]);
    packets_.erase(packets_.begin() + index);
    return packet;
  }

 private:
  std::deque<WirePacket> packets_;
};

}  // namespace uet::fuzz
