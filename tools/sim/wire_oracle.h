// Watches every packet that leaves an endpoint: no PSN or pkt_id names two different packets, and a
// resend carries the octets of the first transmission. Sits in front of a simulated port.
#pragma once

#include "io/packet_io.h"

#include "base/packet.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace uet::sim {

class WireOracle final : public io::PacketIo {
 public:
  explicit WireOracle(std::unique_ptr<io::PacketIo> below) : below_(std::move(below)) {}

  io::IoCaps caps() const override { return below_->caps(); }
  FabricAddress local_address() const override { return below_->local_address(); }
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override { return below_->receive(); }
  std::span<const io::PathError> path_errors() override { return below_->path_errors(); }
  int wait_fd() const override { return -1; }

  // The first violation seen, or empty.
  const std::string& violation() const { return violation_; }
  // A digest of everything sent, in order: equal for equal runs. [architecture 11]
  uint64_t digest() const { return digest_; }
  uint64_t packets() const { return packets_; }

 private:
  struct Sent {
    uint64_t content;  // digest of what follows the PDS header
  };
  void check(const TxPacket& packet);
  void check_rudi(const TxPacket& packet);

  std::unique_ptr<io::PacketIo> below_;
  std::map<std::pair<uint32_t, uint32_t>, Sent> sent_;  // (SPDCID, PSN)
  std::map<uint32_t, Sent> sent_by_rudi_;               // pkt_id
  std::string violation_;
  uint64_t digest_ = 0xcbf29ce484222325;
  uint64_t packets_ = 0;
};

}  // namespace uet::sim
