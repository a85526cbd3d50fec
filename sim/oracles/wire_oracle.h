// Watches every packet that leaves an endpoint: no PSN or pkt_id names two different packets, a
// resend carries the octets of the first transmission, and no more is outstanding than the windows
// allow. Sits in front of a simulated port.
#pragma once

#include "sim/oracles/sent_packets.h"

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
  // For the endpoint behind it: packets outstanding in each PDC direction, and PSNs beyond the
  // cumulative ACK until the peer states its range.
  struct Windows {
    uint32_t packets = 0;
    uint32_t default_range = 0;
    bool has_payload = true;     // false: of payload only the lengths are compared
    bool starts_repeat = false;  // secured: a PDC begins where the target said, until it says more
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
  // The PSNs that a PDC may send, after all received ACKs. PSNs count from its first one.
  struct Pdc {
    Psn first;
    Pdcid peer;                  // of the receiver; zero: not named yet
    int32_t sent = 0;            // the highest
    int32_t base = 0;            // all before it are answered
    std::set<int32_t> answered;  // the remaining ones
    int32_t cack = -1;           // the highest heard
    int32_t range = 0;           // the widest stated
  };
  // The record of a PDCID.
  struct Context {
    Pdc pdc;           // the PDC that has it, or had it last
    SentPackets sent;  // by earlier PDCs, too
  };
  void note_ack(std::span<const std::byte> bytes, wire::PdsType type);
  void note_new_start(std::span<const std::byte> bytes);
  Context* context_of(Pdcid spdcid) {
    Context** const found = context_by_id_.find(spdcid.value());
    return found == nullptr ? nullptr : *found;
  }
  void move(const wire::Request& syn);
  bool begins_again(Context& context, const wire::Request& request) const;
  // `is_new`: nothing was sent under its PDCID before.
  void check_windows(Pdc& pdc, bool is_new, const wire::Request& request);
  // `payload`: its digest.
  void check(const TxPacket& packet, uint64_t payload);
  void check_rudi(const TxPacket& packet, uint64_t payload);

  Windows windows_;
  Arena arena_;
  std::deque<Context> contexts_;
  HashMap<uint32_t, Context*> context_by_id_;            // by SPDCID
  HashMap<uint32_t, uint64_t> sent_by_rudi_;             // digests as of SentPackets, by pkt_id
  std::set<std::pair<uint32_t, uint32_t>> told_starts_;  // (SPDCID, PSN) of each NEW_START_PSN
  std::string violation_;
  uint64_t digest_ = 0xcbf29ce484222325;
  uint64_t packets_ = 0;
};

}  // namespace uet::sim
