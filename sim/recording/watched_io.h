// The I/O under an Engine, recorded: what arrives, what leaves and what became of it.
#pragma once

#include "sim/recording/tape.h"

#include "io/packet_io.h"

#include <memory>

namespace uet::recording {

class WatchedIo final : public io::PacketIo {
 public:
  WatchedIo(std::unique_ptr<io::PacketIo> below, Tape& tape)
      : below_(std::move(below)), tape_(tape) {}

  io::IoCaps caps() const override { return below_->caps(); }
  FabricAddress local_address() const override { return below_->local_address(); }
  int wait_fd() const override { return below_->wait_fd(); }
  void report_counters(const io::CounterSink& sink) const override {
    below_->report_counters(sink);
  }
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  std::span<const io::PathError> path_errors() override;
  uint32_t route_mtu(const FabricAddress& to) override;

 private:
  std::unique_ptr<io::PacketIo> below_;
  Tape& tape_;
};

}  // namespace uet::recording
