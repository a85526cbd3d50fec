// An attacker on the network who sees all packets and sends any: packets built from observed ones
// with changed fields, altered copies, or random octets. With forging it uses the addresses of the
// honest ends; without, only its own address.
#pragma once

#include "fuzz/stack/ledger.h"
#include "fuzz/stack/program.h"

#include "sim/world/datagram.h"
#include "wire/pds.h"
#include "wire/ses.h"

#include <array>

namespace uet::fuzz {

class Forger {
 public:
  Forger(bool forges, const std::array<Regions, kNodes>& regions)
      : forges_(forges), regions_(regions) {}

  // A packet that an honest end sent.
  void hear(const sim::Datagram& packet);

  // One packet of the kind that the program names.
  sim::Datagram craft(Program& program, Instant now);
  // The packet with some octets changed, cut, or marked by a switch.
  sim::Datagram alter(sim::Datagram packet, Program& program) const;

 private:
  // Packets seen from one end.
  struct Heard {
    Pdcid self;  // its PDC, and the other end's that it speaks to
    Pdcid other;
    Psn psn;  // of its last request
    Psn cack;
    uint32_t credit = 0;  // that it granted; 24 bits
    PktId pkt_id;
    wire::StandardRequest ses;
  };

  void write_request(Program& program, wire::Writer& w) const;
  void write_ack(Program& program, wire::Writer& w) const;
  uint64_t ack_state(Program& program, wire::CcType type) const;
  void write_nack(Program& program, wire::Writer& w) const;
  void write_control(Program& program, wire::Writer& w) const;
  void write_connectionless(Program& program, wire::Writer& w) const;
  void write_ses(Program& program, wire::NextHeader next_hdr, wire::Writer& w) const;
  void write_ses_request(Program& program, wire::NextHeader next_hdr, wire::Writer& w) const;
  void write_ses_response(Program& program, wire::NextHeader next_hdr, wire::Writer& w) const;
  FabricAddress sender(uint8_t drawn, const FabricAddress& honest) const;
  sim::Datagram defuse(sim::Datagram packet) const;

  bool forges_;
  const std::array<Regions, kNodes>& regions_;
  std::array<Heard, kNodes> heard_{};
  uint32_t speaker_ = 0;  // the end that the packet being made claims to come from
};

}  // namespace uet::fuzz
