// A request or control packet of a PDC after parsing: one shape for both, because both carry PSNs.
#pragma once

#include "pds/client.h"
#include "pds/rx/ack_scheduler.h"
#include "pds/rx/rx_window.h"
#include "pds/sent_tick.h"

#include "cms/events.h"
#include "wire/pds.h"

#include "base/packet.h"

#include <span>

namespace uet::pds {

// How a request that was accepted is answered.
enum class Answer : uint8_t {
  by_the_rules,  // of coalescing
  wanted,        // an ACK that names the PSN, or whose cumulative ACK covers it [PDS-064]
  sent,          // its response goes out in a separate ACK
};

struct Inbound {
  const RxDatagram* datagram = nullptr;  // null: from the reorder buffer
  Instant arrival;
  AckTrigger trigger;
  Psn start_psn;  // with syn
  Psn clear_psn;  // requests
  Pdcid spdcid;
  Pdcid dpdcid;  // without syn
  Mode mode = Mode::rud;
  bool syn = false;
  bool ar = false;
  bool use_rsv_pdc = false;
  bool private_mark = false;
  bool is_control = false;
  bool has_cc = false;         // requests: `credit` is there
  uint32_t nominal_bytes = 0;  // requests [CMS-015]
  wire::CreditRequest credit;
  wire::CtlType ctl_type{};  // control packets
  uint32_t ctl_payload = 0;
  uint16_t probe_opaque = 0;
  wire::NextHeader next_hdr{};  // requests
  std::span<const std::byte> ses;

  Psn psn() const { return trigger.psn; }
  uint32_t sdi() const { return datagram == nullptr ? 0 : datagram->sdi; }

  // What a datagram says of a request apart from its octets.
  static void take(Inbound& in, const RxDatagram& d, Psn psn, bool retx, uint32_t seal_bytes) {
    in.datagram = &d;
    in.arrival = d.at;
    in.trigger = {psn, d.ev, d.ecn == Ecn::ce, retx, SentTick::of(d.at)};
    in.nominal_bytes = cms::nominal_bytes(static_cast<uint32_t>(d.bytes.size()) + seal_bytes);
  }
  static Inbound of(const wire::Request& h, const RxDatagram& d, std::span<const std::byte> ses,
                    uint32_t seal_bytes) {
    Inbound in;
    take(in, d, h.psn, h.retx, seal_bytes);
    in.has_cc = h.has_cc();
    in.credit = {h.ccc_id, h.credit_target};
    in.start_psn = h.start_psn();
    in.clear_psn = h.clear_psn_offset <= 0 ? h.clear_psn() : h.psn - 1;
    in.spdcid = h.spdcid;
    in.dpdcid = h.dpdcid;
    in.mode = wire::is_rod(h.type) ? Mode::rod : Mode::rud;
    in.syn = h.syn;
    in.ar = h.ar;
    in.use_rsv_pdc = h.use_rsv_pdc;
    in.private_mark = h.private_mark;
    in.next_hdr = h.next_hdr;
    in.ses = ses;
    return in;
  }
  static Inbound of(const wire::Control& h, const RxDatagram& d) {
    Inbound in;
    in.datagram = &d;
    in.arrival = d.at;
    in.trigger = {h.psn, d.ev, d.ecn == Ecn::ce, h.retx, SentTick::of(d.at)};
    in.start_psn = h.start_psn();
    in.spdcid = h.spdcid;
    in.dpdcid = h.dpdcid;
    in.mode = h.isrod ? Mode::rod : Mode::rud;
    in.syn = h.syn;
    in.ar = h.ar;
    in.use_rsv_pdc = h.use_rsv_pdc;
    in.private_mark = h.private_mark;
    in.is_control = true;
    in.ctl_type = h.ctl_type;
    in.ctl_payload = h.payload;
    in.probe_opaque = h.probe_opaque;
    return in;
  }
};

}  // namespace uet::pds
