// Watches every packet that leaves an endpoint: no PSN or pkt_id names two different packets, a
// resend carries the octets of the first transmission, and no more is outstanding than the windows
// allow. Sits in front of a simulated port.
#pragma once

#include "io/layer.h"
#include "wire/pds_request.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/packet.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace uet::sim {

class WireOracle final : public io::IoLayer {
 public:
  // Of the endpoint behind it: packets outstanding of each PDC direction, and PSNs beyond the
  // cumulative ACK until the peer states its range.
  struct Windows {
    uint32_t packets = 0;
    uint32_t default_range = 0;
    bool has_payload = true;  // false: of payload only the lengths are compared
  };
  WireOracle(std::unique_ptr<io::PacketIo> below, Windows windows);

  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;

  // The first violation seen, or empty.
  const std::string& violation() const { return violation_; }
  // A digest of everything sent, in order: equal for equal runs. [architecture 7]
  uint64_t digest() const { return digest_; }
  uint64_t packets() const { return packets_; }

 private:
  // What a PDC may send, after all ACKs that came for it. PSNs count from its first one.
  struct Pdc {
    Psn first;
    int32_t sent = 0;            // the highest
    int32_t base = 0;            // all before it are answered
    std::set<int32_t> answered;  // the others that are
    int32_t cack = -1;           // the highest heard
    int32_t range = 0;           // the widest stated
  };
  void note_ack(std::span<const std::byte> bytes, wire::PdsType type);
  void note_new_start(std::span<const std::byte> bytes);
  Pdc* pdc_of(uint32_t spdcid);
  void move(const wire::Request& syn);
  void check_windows(const wire::Request& request);
  // `payload`: its digest.
  void check(const TxPacket& packet, uint64_t payload);
  void check_rudi(const TxPacket& packet, uint64_t payload);

  Windows windows_;
  // Digests of what follows the PDS header, by SPDCID << 32 | PSN, and by pkt_id.
  Arena arena_;
  HashMap<uint64_t, uint64_t> sent_;
  HashMap<uint32_t, uint64_t> sent_by_rudi_;
  std::deque<Pdc> pdcs_;
  HashMap<uint32_t, Pdc*> pdc_by_id_;                    // by SPDCID
  std::set<std::pair<uint32_t, uint32_t>> told_starts_;  // (SPDCID, PSN) of each NEW_START_PSN
  std::string violation_;
  uint64_t digest_ = 0xcbf29ce484222325;
  uint64_t packets_ = 0;
};

}  // namespace uet::sim
