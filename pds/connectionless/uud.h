// UUD: one packet per message, no answer of any kind, done when it has left. [PDS-210 .. PDS-212]
#pragma once

#include "pds/connectionless/surroundings.h"
#include "pds/schedule/flow.h"

#include "cms/config.h"
#include "cms/entropy/oblivious.h"
#include "wire/pds.h"

#include "base/packet.h"
#include "base/ring.h"
#include "base/rng.h"

#include <array>

namespace uet::pds {

class Uud {
 public:
  Uud(const Surroundings& with, const cms::Config& cms, uint64_t seed)
      : with_(with), rng_(seed), ev_(cms, rng_), tokens_(depth()) {
    sent_.attach(sent_memory_);
  }

  // The flow may have a message for start().
  void wake(Flow& flow) {
    if (!flow.is_queued()) ready_.push_back(flow);
  }
  void on_request(const wire::Uud& h, const RxDatagram& d, std::span<const std::byte> ses,
                  const FabricAddress& from, Instant now);
  // Reports what the call before this one put into a batch, then adds more.
  uint32_t transmit(TxBatch& batch, Instant now);
  // Lets the rate cap go on.
  void advance(Instant now);
  Instant next_deadline() const;
  bool has_work() const { return !sent_.empty() || (!ready_.empty() && tokens_ > 0); }
  bool idle() const { return sent_.empty() && ready_.empty(); }
  // Reports what was sent; nothing else is held.
  void abort(Instant now) { complete_sent(now); }

 private:
  static constexpr uint32_t kBurstMin = 64;

  uint32_t depth() const {
    const uint32_t rate = with_.config.uud_packets_per_second;
    return rate / 1000 > kBurstMin ? rate / 1000 : kBurstMin;  // a millisecond's worth
  }
  void refill(Instant now);
  bool send(Flow& flow, TxBatch& batch, Instant now);
  void complete_sent(Instant now);

  Surroundings with_;
  Rng rng_;
  cms::ObliviousSelector ev_;
  IntrusiveList<Flow, ReadyFlowTag> ready_;
  // In the batch: their memory may be given back when the batch was handed over.
  std::array<PacketRef, kPacketsPerTurn> sent_memory_;
  Ring<PacketRef> sent_;
  uint32_t tokens_;  // packets that the rate cap admits now
  Instant refilled_;
};

}  // namespace uet::pds
