// The I/O under an Engine, recorded: arriving and leaving packets, and their fates.
#pragma once

#include "sim/recording/tape.h"

#include "io/layer.h"

#include <memory>

namespace uet::recording {

class WatchedIo final : public io::IoLayer {
 public:
  WatchedIo(std::unique_ptr<io::PacketIo> below, Tape& tape)
      : IoLayer(std::move(below)), tape_(tape) {}

  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  std::span<const io::PathError> path_errors() override;
  uint32_t route_mtu(const FabricAddress& to) override;

 private:
  Tape& tape_;
};

}  // namespace uet::recording
