// A backend around another one, which it owns. Calls that a layer does not change go to the other
// one.
#pragma once

#include "io/packet_io.h"

#include <memory>
#include <utility>

namespace uet::io {

class IoLayer : public PacketIo {
 public:
  IoCaps caps() const override { return inner_->caps(); }
  FabricAddress local_address() const override { return inner_->local_address(); }
  uint16_t source_port(Entropy ev) override { return inner_->source_port(ev); }
  void send(std::span<TxPacket> packets) override { inner_->send(packets); }
  std::span<RxDatagram> receive() override { return inner_->receive(); }
  std::span<const PathError> path_errors() override { return inner_->path_errors(); }
  std::span<const DomainNews> domain_news() override { return inner_->domain_news(); }
  uint32_t route_mtu(const FabricAddress& to) override { return inner_->route_mtu(to); }
  Instant deadline() const override { return inner_->deadline(); }
  int wait_fd() const override { return inner_->wait_fd(); }
  void on_sleep(bool begins) override { inner_->on_sleep(begins); }
  bool watch_input(int fd) override { return inner_->watch_input(fd); }
  int failure() const override { return inner_->failure(); }
  void finish() override { inner_->finish(); }
  void report_counters(const CounterSink& sink) const override { inner_->report_counters(sink); }

  PacketIo& inner() { return *inner_; }
  const PacketIo& inner() const { return *inner_; }

 protected:
  // A layer that may fail to open takes over the other backend later, by take_over().
  IoLayer() = default;
  explicit IoLayer(std::unique_ptr<PacketIo> inner) : inner_(std::move(inner)) {}
  void take_over(std::unique_ptr<PacketIo>& inner) { inner_ = std::move(inner); }
  void give_back(std::unique_ptr<PacketIo>& inner) { inner = std::move(inner_); }

 private:
  std::unique_ptr<PacketIo> inner_;
};

}  // namespace uet::io
