// A peer with unusual behaviour that the stack must tolerate: between an endpoint and its simulated
// port. It refuses arriving requests by NACKs with codes that our own stack never sends, emits
// packets that must be dropped, and may stop acknowledging. It is honest: refused packets were
// never delivered, added packets name nothing outstanding. It does not forge packets: against
// forgers there is TSS.
#pragma once

#include "sim/faults/stranger.h"
#include "sim/plan.h"

#include "io/layer.h"
#include "wire/pds.h"

#include "base/packet.h"
#include "base/rng.h"

#include <memory>
#include <span>

namespace uet::sim {

class OddPeer final : public io::IoLayer {
 public:
  // `plan` outlives this object. `stranger` receives copies of sent packets; it may be null.
  // `may_be_mute`: plan.mute_after applies to the endpoint.
  OddPeer(std::unique_ptr<io::PacketIo> below, const Plan& plan, Stranger* stranger,
          bool may_be_mute, uint64_t seed)
      : IoLayer(std::move(below)),
        plan_(plan),
        stranger_(stranger),
        may_be_mute_(may_be_mute),
        seed_(seed),
        rng_(seed, 0x6f6464) {}

  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;

 private:
  void add_odd(const TxPacket& packet);
  void add_odd_ack(wire::Reader& r, const TxPacket& like);
  void add_odd_request(const wire::Request& origin, const TxPacket& like);
  void add_odd_control(wire::Control control, const TxPacket& like);
  bool is_mute() const { return may_be_mute_ && plan_.mute_after > 0 && sent_ >= plan_.mute_after; }
  void send_mute(std::span<TxPacket> packets);
  // The fate of an arrived request. True: it is swallowed.
  bool intercept(RxDatagram& datagram);
  static void spoil(RxDatagram& datagram, uint32_t header_bytes, uint64_t draw);
  void refuse(const RxDatagram& datagram, wire::NackCode code);
  bool intercept_rudi(RxDatagram& datagram);
  void answer(const RxDatagram& datagram, const wire::Nack& nack);
  void emit(std::span<const std::byte> octets, const TxPacket& like);

  const Plan& plan_;
  Stranger* stranger_;
  bool may_be_mute_;
  uint64_t sent_ = 0;  // packets, up to the one that makes it mute
  uint64_t seed_;
  Rng rng_;
};

}  // namespace uet::sim
