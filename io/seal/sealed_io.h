// A layer around a backend that seals leaving packets and opens arriving ones, with the keys of
// secure domains (tss/). A packet that cannot be sealed does not leave; a packet that cannot be
// opened is counted, and the stack neither sees nor answers it. Captures of the layers below show
// sealed packets. [TSS-076, TSS-083..094, TSS-140, decision 23]
#pragma once

#include "io/layer.h"

#include "tss/opener.h"
#include "tss/sealer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace uet::io {

class SealedIo final : public IoLayer {
 public:
  struct Terms {
    bool refuses_clear = true;  // both ways: no job may talk in the clear [TSS-077, TSS-084]
    uint32_t seal_bytes = tss::kSealBytesMax;  // maximum that a seal adds in any domain
    uint64_t cut_dscps = 0;                    // of packets that a switch has cut; bit i: DSCP i
    std::function<Instant()> clock;            // check of the keys; some milliseconds late does no
                                               // harm
    // Keeps keys and counters: before packets are moved, at most once in kTendEvery while they are.
    // Returns when it wants to be called although none is.
    std::function<Instant(Instant)> tend;
    // Domains that are taken out of use, since the last call; may be empty.
    std::function<std::span<const DomainNews>()> news;
    std::function<void(const CounterSink&)> counters;  // the owner of the keys; may be empty
  };
  // How soon a change of the keys is noticed.
  static constexpr Duration kTendEvery = Duration::milliseconds(50);

  // `domains` outlives this object.
  SealedIo(std::unique_ptr<PacketIo> below, tss::Domains& domains, Terms terms);

  IoCaps caps() const override;
  // Seals each packet at each try, with a new counter. A packet that cannot be sealed has fate
  // `never`: EKEYEXPIRED without a key to transmit with, EKEYREJECTED without a counter, ENOKEY
  // without a domain, EMSGSIZE when it is too long. [TSS-039, TSS-040, TSS-109]
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  std::span<const DomainNews> domain_news() override {
    return terms_.news ? terms_.news() : inner().domain_news();
  }
  Instant deadline() const override { return std::min(deadline_, inner().deadline()); }
  // Counters of all domains together, as tss_<name>; counters of the layers above are 0 there.
  void report_counters(const CounterSink& sink) const override;

 private:
  // The longest packet of the stack, sealed. Not a power of two: the first lines of all rooms would
  // share a cache set.
  static constexpr size_t kRoomBytes = TxBatch::kHeaderBytes + 8192 + tss::kSealBytesMax + 64;
  static constexpr uint32_t kRunBytes = 64 * 1024;  // where a backend joins no packets
  static constexpr size_t kPeekBytes = 64;          // of a cut packet; PDS headers have 28 at most
  // Batches of refused packets in a row, after which receive() returns empty.
  static constexpr int kBatchesMax = 16;

  Instant tend();
  size_t send_run(std::span<TxPacket> packets, size_t done, bool& is_held, Instant now);
  static bool is_behind_a_held_one(std::span<const TxPacket> before, const TxPacket& packet);
  bool seal(TxPacket& packet, size_t place, Instant now);
  bool open(RxDatagram& datagram, Instant now);
  bool peek(RxDatagram& datagram, Instant now);
  tss::Route route_of(const RxDatagram& datagram) const;

  tss::Domains& domains_;
  Terms terms_;
  tss::Sealer sealer_;
  tss::Opener opener_;
  FabricAddress local_;
  uint32_t run_bytes_;      // sealed together
  tss::Carriage carriage_;  // with UDP or without [TSS-022, TSS-025]
  Instant tend_at_ = Instant::zero();
  Instant deadline_ = Instant::never();
  std::unique_ptr<std::byte[]> rooms_;
  std::array<TxPacket, TxBatch::kCapacity> sealed_{};
};

}  // namespace uet::io
