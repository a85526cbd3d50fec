// Passes batches on, and records them.
#include "sim/recording/watched_io.h"

namespace uet::recording {

void WatchedIo::send(std::span<TxPacket> packets) {
  tape_.write(Kind::packets, packets_of(packets));
  inner().send(packets);
  tape_.write(Kind::fates, fates_of(packets, tape_.now()));
}

std::span<RxDatagram> WatchedIo::receive() {
  const std::span<RxDatagram> got = inner().receive();
  Datagrams record{tape_.now(), {}};
  for (const RxDatagram& d : got) {
    record.all.push_back({d, Octets(d.bytes.begin(), d.bytes.end())});
  }
  tape_.write(Kind::datagrams, record);
  return got;
}

std::span<const io::PathError> WatchedIo::path_errors() {
  const std::span<const io::PathError> got = inner().path_errors();
  PathErrors record;
  for (const io::PathError& e : got) {
    record.all.push_back({e.to, static_cast<uint32_t>(e.error)});
  }
  tape_.write(Kind::path_errors, record);
  return got;
}

uint32_t WatchedIo::route_mtu(const FabricAddress& to) {
  const uint32_t mtu_bytes = inner().route_mtu(to);
  tape_.write(Kind::route_mtu, RouteMtu{to, mtu_bytes});
  return mtu_bytes;
}

}  // namespace uet::recording
