// Seals every packet of a node before the network and opens it behind, with the layer that the
// provider uses (io::SealedIo) and with keys that change during the run. The forger is a member of
// the domain, who can seal any packet in the name of any node, or an outsider. Against an outsider
// only those packets open that a node sealed, unchanged and on their own path. [TSS-143]
#pragma once

#include "fuzz/stack/carrier.h"
#include "fuzz/stack/ledger.h"

#include "sim/secured_host.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace uet::fuzz {

class SealedCarrier final : public Carrier {
 public:
  explicit SealedCarrier(bool has_insider) : has_insider_(has_insider) {}
  ~SealedCarrier() override;

  bool is_sealed() const override { return true; }
  bool is_authentic() const override { return !has_insider_; }
  void prepare(fep::Config& config) const override;
  void set_clock(std::function<Instant()> now) override { now_ = std::move(now); }
  const tss::JobTable* begin(uint32_t node) override;
  void send(uint32_t node, TxPacket& packet, sim::Datagram& datagram) override;
  bool receive(sim::Datagram& datagram) override;
  void forge(sim::Datagram& datagram) override;
  bool replay(Program& program, sim::Datagram& datagram) override;

 private:
  class Card;
  // A host with the keys.
  struct End {
    std::unique_ptr<sim::SecuredHost> host;
    std::unique_ptr<io::PacketIo> io;
    Card* card = nullptr;  // below `io`
  };
  struct Sealed {
    std::vector<std::byte> content;
    FabricAddress from, to;
  };

  End make_end(const FabricAddress& at, uint64_t counter);
  sim::Datagram seal(End& end, TxPacket& packet);
  static void alter(Program& program, sim::Datagram& datagram);
  void check(const std::vector<std::byte>& octets, const sim::Datagram& opened) const;

  bool has_insider_;
  std::function<Instant()> now_;
  std::array<End, kNodes> nodes_;
  std::map<std::array<uint8_t, 6>, End> insider_;    // by the address that it speaks for
  std::map<std::vector<std::byte>, Sealed> sealed_;  // by nodes
  std::vector<sim::Datagram> recorded_;              // the same, in their order
};

}  // namespace uet::fuzz
