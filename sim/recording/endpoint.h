// A FabricEndpoint as simulations and cases use it. Every call goes through here, and with a Writer
// each is recorded with what it reads, asks for and gives. Without one calls pass straight on.
#pragma once

#include "sim/recording/events.h"
#include "sim/recording/file.h"
#include "sim/recording/memory_book.h"

#include "fep/engine.h"

#include <deque>
#include <map>
#include <memory>
#include <span>

namespace uet::recording {

class Endpoint {
 public:
  // `writer` outlives this; null: nothing is recorded.
  explicit Endpoint(Writer* writer) : writer_(writer) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Makes the FabricEndpoint that this stands for. Call first, and once; what is returned is used
  // through this only, and ends before this does.
  Result<std::unique_ptr<fep::FabricEndpoint>> create(const fep::Config& config,
                                                      const FabricAddress& local, uint64_t seed);
  // The I/O for an Engine that drives it.
  std::unique_ptr<io::PacketIo> watch(std::unique_ptr<io::PacketIo> io);
  // Call before the FabricEndpoint ends, while the application's memory is there.
  void finish();

  // As of Ses, PeerTable, FabricEndpoint and Engine. Lists of jobs are not recorded: there is none
  // in the options and requests given here, and no request of a region is directed.
  Result<ses::EndpointId> open_endpoint(const ses::EndpointName& name,
                                        const ses::EndpointOptions& options,
                                        const ses::CompletionSink& tx,
                                        const ses::CompletionSink& rx);
  Result<ses::ReceiveQueueId> open_shared(uint32_t rx_size);
  void close_endpoint(ses::EndpointId id, Instant now);
  Result<PeerId> find_or_add(const FabricAddress& address, Instant now);
  void add_ref(PeerId peer) { keep(peer, /*is_listed=*/false); }
  void list(PeerId peer) { keep(peer, /*is_listed=*/true); }
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
  friend class WatchedIo;
  struct WatchedSink {
    Endpoint* endpoint = nullptr;
    uint32_t number = 0;
    ses::CompletionSink sink;
  };
  static void on_complete(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);
  static void on_release(void* owner);
  ses::CompletionSink watched(const ses::CompletionSink& sink);
  static Sink shape_of(const ses::CompletionSink& sink);

  template <class Body>
  void write(Kind kind, const Body& body) {
    writer_->append(kind, number_, encoded(body));
  }
  void write(const MemoryBook::News& news);
  // Records the call, makes it, and records what it returns.
  template <class Body, class Call>
  auto recorded(Kind kind, const Body& body, Call call) {
    write(kind, body);
    auto result = call();
    write(Kind::returned, returned_of(result));
    return result;
  }
  void returned(uint64_t value = 0, Instant deadline = Instant::zero()) {
    write(Kind::returned, Returned{0, value, deadline});
  }
  void keep(PeerId peer, bool is_listed);
  Remote remote(const ses::Destination& to);
  Context context(const ses::OpContext& context, const Pieces& memory);
  uint32_t op_number(void* op);
  uint32_t peer_number(PeerId peer) const;
  Receive receive_record(const ses::ReceiveRequest& request, Queue queue, Instant now,
                         MemoryBook::News& news);
  Atomic atomic_record(ses::EndpointId id, const ses::AtomicRequest& request, Instant now,
                       MemoryBook::News& news);

  Writer* const writer_;
  uint32_t number_ = 0;
  fep::FabricEndpoint* fep_ = nullptr;
  MemoryBook memory_;
  std::deque<WatchedSink> sinks_;
  std::map<ses::EndpointId, uint32_t> endpoints_;
  uint32_t endpoints_opened_ = 0;
  std::map<ses::ReceiveQueueId, uint32_t> shared_;
  std::map<PeerId, uint32_t> peers_;
  std::map<void*, uint32_t> ops_;    // contexts of posts, from 1 on
  std::map<Context, Pieces> posts_;  // the memory of the last post of a context
  Instant now_;                      // of the progress under way
};

}  // namespace uet::recording
