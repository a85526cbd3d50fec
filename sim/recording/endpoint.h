// A FabricEndpoint for simulations and cases. Every call goes through here, and a Writer records
// each with its inputs, questions and outputs. Without a Writer calls pass straight on.
#pragma once

#include "sim/recording/peers.h"
#include "sim/recording/recorded_names.h"
#include "sim/recording/tape.h"
#include "sim/recording/watched_sinks.h"

#include "fep/engine.h"

#include <memory>
#include <span>

namespace uet::recording {

class Endpoint {
 public:
  // `writer` outlives this; null: nothing is recorded.
  explicit Endpoint(Writer* writer) : tape_(writer) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Makes the wrapped FabricEndpoint. Call first, and once; the result is used through this only,
  // and ends before this does.
  Result<std::unique_ptr<fep::FabricEndpoint>> create(const fep::Config& config,
                                                      const FabricAddress& local, uint64_t seed);
  // The I/O for an Engine that drives it.
  std::unique_ptr<io::PacketIo> watch(std::unique_ptr<io::PacketIo> io);
  // Call before the FabricEndpoint ends, while the application's memory is there.
  void finish();

  // As in Ses, PeerTable, FabricEndpoint and Engine. Lists of jobs are not recorded: the options
  // and requests here have none, and no request of a region is directed.
  Result<ses::EndpointId> open_endpoint(const ses::EndpointName& name,
                                        const ses::EndpointOptions& options,
                                        const ses::CompletionSink& tx,
                                        const ses::CompletionSink& rx);
  Result<ses::ReceiveQueueId> open_shared(uint32_t rx_size);
  void close_endpoint(ses::EndpointId id, Instant now);
  Peers& peers() { return peers_; }
  // Adds and enables a region; returns its key.
  Result<uint64_t> add_region(const ses::RegionRequest& request);
  Result<ses::Taken> send(ses::EndpointId id, const ses::SendRequest& request, Instant now);
  Result<ses::Taken> rma(ses::EndpointId id, const ses::RmaRequest& request, Instant now);
  Result<ses::Taken> atomic(ses::EndpointId id, const ses::AtomicRequest& request, Instant now);
  Result<void> receive(ses::EndpointId id, const ses::ReceiveRequest& request, Instant now);
  Result<void> receive(ses::ReceiveQueueId id, const ses::ReceiveRequest& request, Instant now);
  bool cancel(ses::EndpointId id, void* op_context, Instant now);
  Result<void> cancel(ses::ReceiveQueueId id, void* op_context, Instant now);
  void close_all(bool abort, Instant now);

  // With an Engine.
  bool progress(fep::Engine& engine, Instant now);

  // Without one.
  void receive(std::span<RxDatagram> datagrams, Instant now);
  uint32_t transmit(TxBatch& batch, Instant now);
  bool on_sent(TxBatch& batch, Instant now);
  void advance(Instant now);
  void on_unreachable(const FabricAddress& address, Instant now);
  void on_too_long(const FabricAddress& address, uint32_t mtu_bytes, Instant now);

  // Looks only, which nothing depends on.
  const fep::FabricEndpoint& fep() const { return *fep_; }
  const FabricAddress& local_address() const { return fep_->local_address(); }

 private:
  Tape tape_;
  RecordedNames names_;
  WatchedSinks sinks_{tape_, names_};
  Peers peers_{tape_, names_};
  fep::FabricEndpoint* fep_ = nullptr;
};

}  // namespace uet::recording
