// The interface of an actor in a world: anything that sends and receives datagrams and has
// deadlines. A whole FabricEndpoint is one, a Pds with the client of a test is one, and so are
// compositions in tests.
#pragma once

#include "base/packet.h"
#include "base/time.h"

#include <concepts>
#include <cstdint>
#include <span>

namespace uet::sim {

template <class S>
concept Station = requires(S& s, TxBatch& batch, std::span<RxDatagram> datagrams, Instant now) {
  // Adds packets that may leave now; returns how many.
  { s.transmit(batch, now) } -> std::convertible_to<uint32_t>;
  s.receive(datagrams, now);
  s.advance(now);
  { s.next_deadline() } -> std::convertible_to<Instant>;
};

// One batch of packets that the station sends now. Calls leave(packet) for each packet; it may set
// in `fate` that the system refuses the packet. Reports the fates to a station that has on_sent().
// The batch is empty before and after. Returns how many packets there were.
template <Station S, class Leave>
inline uint32_t take_batch(S& station, TxBatch& batch, Instant now, Leave&& leave) {
  const auto count = static_cast<uint32_t>(station.transmit(batch, now));
  if (count == 0) return 0;
  for (TxPacket& packet : batch.packets()) {
    packet.fate = TxFate::sent;
    leave(packet);
  }
  if constexpr (requires { station.on_sent(batch, now); }) {
    if (station.on_sent(batch, now)) station.end_too_long(batch, now);
  }
  batch.compact();
  return count;
}

}  // namespace uet::sim
