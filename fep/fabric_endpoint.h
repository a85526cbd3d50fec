// The whole stack seen from outside: one Fabric Address of this process. Packets in, packets out,
// timers, and Ses for posting. Deterministic: same config, seed and calls, same octets.
// [architecture 3, 7]
#pragma once

#include "fep/config.h"

#include "pds/path_limit.h"
#include "pds/pds.h"
#include "ses/ses.h"

#include "base/arena.h"
#include "base/packet.h"
#include "base/random_source.h"
#include "base/result.h"
#include "base/time.h"

#include <memory>
#include <optional>
#include <span>

namespace uet::fep {

class FabricEndpoint {
 public:
  // `local` is the address at which peers reach us. Reserves address space for all memory, some 3
  // GB by default; pages are taken as they are used, some 30 kB at first. In production `random` is
  // the system's generator: peers must not be able to guess its output. [PDS-193, T-04]
  static Result<std::unique_ptr<FabricEndpoint>> create(const Config& config,
                                                        const FabricAddress& local,
                                                        std::unique_ptr<RandomSource> random);
  // The same with numbers that follow from a seed, for simulations and tests.
  static Result<std::unique_ptr<FabricEndpoint>> create(const Config& config,
                                                        const FabricAddress& local, uint64_t seed) {
    return create(config, local, std::make_unique<SeededRandom>(seed));
  }

  ses::Ses& ses() { return *ses_; }
  // Which jobs are secured, and in which domain; once, before the first endpoint. The table
  // outlives this. [TSS-074]
  void secure(const tss::JobTable& jobs) { exchange_->secure(&jobs); }
  // Payloads that were copied when they were posted and that the peers may not have yet.
  const ses::CopyTally& copies() const { return exchange_->copies(); }
  pds::Pds& pds() { return *pds_; }
  const pds::Pds& pds() const { return *pds_; }
  pds::PeerTable& peers() { return peers_; }
  const pds::PeerTable& peers() const { return peers_; }
  // Removes an address vector entry of the peer. The last one releases the peer's records in SES.
  void unlist(PeerId peer, Instant now) {
    if (peers_.unlist(peer)) ses_->forget(peer, now);
  }
  // Octets of all pools and tables so far: they follow the highest number in use, and are freed at
  // the end. Only used pages are resident.
  size_t memory_bytes() const { return arena_.used_bytes(); }
  const FabricAddress& local_address() const { return local_; }
  const Config& config() const { return config_; }

  void receive(std::span<RxDatagram> datagrams, Instant now);
  uint32_t transmit(TxBatch& batch, Instant now, Lead lead = Lead::answers);
  void advance(Instant now);
  Instant next_deadline() const;
  bool has_work(Work which = Work::any) const;  // transmit would add packets now
  bool idle() const;

  // For a caller that knows which datagrams come soon: both prefetch what these will need, in steps
  // of which each follows addresses in what the one before has prefetched: 0 to 2 for every
  // datagram, then 0 to 3 for one.
  void prefetch(uint32_t step) const;
  void prefetch(uint32_t step, std::span<const std::byte> datagram) const;

  // Looks at the fates in a batch that was offered to the network: packets refused for good fail
  // their message. Call before compact(). True: some are too long for their route; first report
  // known limits, then call end_too_long().
  [[nodiscard]] bool on_sent(TxBatch& batch, Instant now);
  // The messages of such packets end, unless on_too_long() has ended them.
  void end_too_long(TxBatch& batch, Instant now);
  void on_unreachable(const FabricAddress& address, Instant now);
  // At most `bytes` octets are in flight to that peer, because the path to it holds no more (a ring
  // of shared memory). 0: no limit. [decision 21]
  void on_room(const FabricAddress& address, uint32_t bytes);
  // A packet was too long for the route to `address`. `mtu_bytes`: MTU of the route in octets of
  // IP packets, 0 when the system does not know it. Returns the change of the payload size toward
  // that address, or nothing when the report is ignored. [LF-141]
  std::optional<pds::PathChange> on_too_long(const FabricAddress& address, uint32_t mtu_bytes,
                                             Instant now);

  // Starts an orderly close of every PDC, in agreement with the peers; idle() becomes true at the
  // end. With `abort` all PDCs end at once, their operations in error, without a packet to the
  // peers.
  void close_all(bool abort, Instant now) { pds_->close_all(abort, now); }

  // The same for the operations of a secure domain that is being taken out of use. Call it
  // repeatedly until a call with `abort`. Operations end with FailureReason::no_key. The table of
  // jobs must have the domain closed before.
  void close_domain(uint32_t sdi, bool abort, Instant now) {
    pds_->close_all(abort, now, sdi);
    if (abort) exchange_->end_domain(sdi, now);
  }

  // Calls fn(name, value) for every counter of every layer, always in the same order.
  template <class F>
  void for_each_counter(F fn) const {
    pds_->counters().for_each([&](const char* name, uint64_t value) { fn(name, value); });
    ses_->counters().for_each([&](const char* name, uint64_t value) { fn(name, value); });
    fn("retained_now", copies().now);
    fn("retained_bytes", copies().bytes);
    fn("retained_bytes_high", copies().bytes_high);
    fn("drop_not_allowed", drop_not_allowed_);
    fn("path_unknown", path_unknown_);
    fn("path_unusable", path_unusable_);
  }

 private:
  FabricEndpoint(const Config& config, const FabricAddress& local,
                 std::unique_ptr<RandomSource> random);

  Config config_;
  FabricAddress local_;
  std::unique_ptr<RandomSource> random_;
  Arena arena_;
  pds::PeerTable peers_;
  ses::Ses* ses_ = nullptr;
  ses::Exchange* exchange_ = nullptr;  // that of ses_
  pds::Pds* pds_ = nullptr;
  uint64_t drop_not_allowed_ = 0;  // datagrams from sources outside Config::allow
  uint64_t path_unknown_ = 0;      // ICMP errors of long packets that the system does not confirm
  uint64_t path_unusable_ = 0;     // routes said to carry less than the smallest payload needs
};

}  // namespace uet::fep
