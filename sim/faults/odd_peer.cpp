// Refusals and useless packets.
#include "sim/faults/odd_peer.h"

#include "wire/pds.h"

#include <algorithm>
#include <array>

namespace uet::sim {
namespace {

using wire::NackCode;

// Codes after which the packet goes again, now or later. [PDS 10.2]
constexpr NackCode kForNow[] = {
    NackCode::trimmed,          NackCode::trimmed_lasthop,  NackCode::no_pdc_avail,
    NackCode::no_ccc_avail,     NackCode::no_bitmap,        NackCode::no_pkt_buffer,
    NackCode::no_gtd_del_avail, NackCode::no_ses_msg_avail, NackCode::no_resource,
    NackCode::psn_oor_window,   NackCode::pkt_not_rcvd,     NackCode::ack_with_data,
    NackCode::rcvd_ses_procg,   NackCode::rcvr_infer_loss,  NackCode::exp_nack_normal,
    NackCode::new_start_psn,    NackCode::trimmed_ack,
};
// Codes that end a message or a PDC. INVALID_SYN does so to a SYN only.
constexpr NackCode kForGood[] = {
    NackCode::gtd_resp_unavail,  NackCode::exp_nack_err,   NackCode::exp_nack_fatal,
    NackCode::closing,           NackCode::closing_in_err, NackCode::pdc_hdr_mismatch,
    NackCode::pdc_mode_mismatch, NackCode::unexp_event,
};

// The same for RUDI. [PDS-203, PDS-207]
constexpr NackCode kRudiForNow[] = {NackCode::trimmed, NackCode::no_pkt_buffer,
                                    NackCode::no_ses_msg_avail, NackCode::no_resource};

// Far from every PSN in use, so that an answer to it matches no other packet.
constexpr int32_t kFarAway = 1 << 24;

// The same for every copy of a packet, which is known by its PDCID, if any, and its PSN or pkt_id.
uint64_t draw_of(uint64_t seed, uint16_t pdcid, uint32_t number) {
  uint64_t x = seed ^ (uint64_t{pdcid} << 32 | number);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

bool is_rendezvous(std::byte opcode) {
  const auto code = static_cast<wire::SesOpcode>(opcode & std::byte{0x3f});
  return code == wire::SesOpcode::rendezvous_send || code == wire::SesOpcode::rendezvous_tsend;
}

}  // namespace

void OddPeer::send(std::span<TxPacket> packets) {
  if (is_mute()) return send_mute(packets);
  sent_ += packets.size();
  inner().send(packets);
  for (const TxPacket& packet : packets) {
    if (packet.fate != TxFate::sent) continue;
    if (stranger_ != nullptr) stranger_->hear(packet);
    if (rng_.chance(plan_.odd_packets)) add_odd(packet);
  }
}

// Replaces each ACK by another packet of the same PDC without news: the peer still counts as alive.
void OddPeer::send_mute(std::span<TxPacket> packets) {
  for (TxPacket& packet : packets) {
    const wire::Reader r({packet.header, packet.header_bytes});
    const auto prologue = wire::Prologue::peek(r);
    if (!prologue || !wire::is_ack(prologue->type)) {
      inner().send({&packet, 1});
      continue;
    }
    packet.fate = TxFate::sent;
    wire::Reader header = r;
    const wire::Ack ack = wire::Ack::read(header);
    wire::Control h;
    h.ctl_type = wire::CtlType::credit;
    h.spdcid = ack.spdcid;
    h.dpdcid = ack.dpdcid;
    std::array<std::byte, wire::Control::kSize> octets{};
    wire::Writer w(octets);
    h.emit(w);
    emit(octets, packet);
  }
}

void OddPeer::emit(std::span<const std::byte> octets, const TxPacket& like) {
  std::array<std::byte, 64> header{};
  UET_ASSERT(octets.size() <= header.size());
  std::copy(octets.begin(), octets.end(), header.begin());
  TxPacket packet;
  packet.header = header.data();
  packet.header_bytes = static_cast<uint16_t>(octets.size());
  packet.to = like.to;
  packet.sdi = like.sdi;
  packet.dscp = 46;
  inner().send({&packet, 1});
}

// A relative of a packet that was just sent, from the same PDC, about a PSN far away.
void OddPeer::add_odd(const TxPacket& packet) {
  wire::Reader r({packet.header, packet.header_bytes});
  const auto prologue = wire::Prologue::peek(r);
  if (!prologue) return;
  if (prologue->type == wire::PdsType::ack) return add_odd_ack(r, packet);
  if (!wire::is_request(prologue->type)) return;
  const wire::Request origin = wire::Request::read(r);
  if (!origin.syn) add_odd_request(origin, packet);
}

void OddPeer::add_odd_ack(wire::Reader& r, const TxPacket& like) {
  const auto parsed = wire::Ack::parse(r);
  if (!parsed.ok()) return;
  wire::Ack ack = *parsed;
  ack.next_hdr = wire::NextHeader::none;
  ack.cack_psn = ack.cack_psn + kFarAway;  // acknowledges unsent packets [PDS-090]
  std::array<std::byte, 64> octets{};
  wire::Writer w(octets);
  ack.emit(w);
  emit(w.written(), like);
}

void OddPeer::add_odd_request(const wire::Request& origin, const TxPacket& like) {
  wire::Request h = origin;
  h.psn = h.psn + kFarAway;
  h.clear_psn_offset = 0;
  wire::Control control;
  control.spdcid = h.spdcid;
  control.dpdcid = h.dpdcid;
  control.psn = h.psn;
  control.isrod = wire::is_rod(h.type);
  control.ar = true;
  std::array<std::byte, 64> octets{};
  wire::Writer w(octets);
  switch (rng_.below(9)) {
    case 0:  // the other mode [PDS-001]
      h.type = wire::is_rod(h.type) ? wire::PdsType::rud_request : wire::PdsType::rod_request;
      break;
    case 1:  // another PDC [PDS-073]
      h.spdcid = Pdcid(static_cast<uint16_t>(h.spdcid.value() ^ 0x4001));
      break;
    case 2:  // payload of the other direction [PDS-012]
      h.next_hdr = wire::is_response(h.next_hdr) ? wire::NextHeader::standard
                                                 : wire::NextHeader::response_data;
      break;
    case 3:  // outside every window
      break;
    case 4:  // so old that it cannot be a duplicate
      h.psn = h.psn - 2 * kFarAway;
      break;
    case 5:
      control.ctl_type = static_cast<wire::CtlType>(6 + rng_.below(6));  // some unknown
      return add_odd_control(control, like);
    case 6:  // clears nothing: one of the two directions is wrong [PDS-161]
      control.ctl_type = rng_.chance(0.5) ? wire::CtlType::clear_cmd : wire::CtlType::clear_req;
      control.payload = (h.psn - kFarAway - 2000).value();
      return add_odd_control(control, like);
    case 7:
      control.ctl_type = wire::CtlType::ack_req;
      return add_odd_control(control, like);
    case 8: {  // a NACK of something that is not outstanding [PDS-115]
      wire::Nack nack;
      nack.nack_code = kForGood[rng_.below(std::size(kForGood))];
      nack.nack_psn = h.psn;
      nack.spdcid = h.spdcid;
      nack.dpdcid = h.dpdcid;
      nack.emit(w);
      return emit(w.written(), like);
    }
  }
  h.emit(w);
  emit(w.written(), like);
}

void OddPeer::add_odd_control(wire::Control control, const TxPacket& like) {
  std::array<std::byte, 64> octets{};
  wire::Writer w(octets);
  control.emit(w);
  emit(w.written(), like);
}

std::span<RxDatagram> OddPeer::receive() {
  const std::span<RxDatagram> all = inner().receive();
  if (plan_.refused_packets == 0 && plan_.broken_requests == 0 && plan_.broken_returns == 0 &&
      !plan_.spoil) {
    return all;
  }
  size_t kept = 0;
  for (RxDatagram& datagram : all) {
    if (intercept(datagram)) continue;
    all[kept++] = datagram;
  }
  return all.first(kept);
}

bool OddPeer::intercept(RxDatagram& datagram) {
  wire::Reader r(datagram.bytes);
  const auto parsed = wire::Request::parse(r);
  if (!parsed.ok()) return intercept_rudi(datagram);
  const wire::Request h = *parsed;
  if (wire::is_request(h.next_hdr) && rng_.chance(plan_.broken_requests)) {
    const uint64_t cut = rng_.below(r.remaining() + 1);
    datagram.bytes = datagram.bytes.first(h.size() + std::min<uint64_t>(cut, 8));
    return false;
  }
  if (wire::is_response(h.next_hdr) && rng_.chance(plan_.broken_returns)) {
    datagram.bytes = datagram.bytes.first(h.size() + std::min<uint64_t>(r.remaining(), 8));
    return false;
  }
  const uint64_t draw = draw_of(seed_, h.spdcid.value(), h.psn.value());
  if (plan_.spoil && draw % 64 == 0 && h.next_hdr == wire::NextHeader::standard) {
    // Every copy has the same fate, with SYN or without; otherwise a packet that is reported as
    // refused might have been executed.
    if ((draw & 64) != 0) {
      spoil(datagram, h.size(), draw >> 8);
      return false;
    }
    refuse(datagram, h.syn ? NackCode::invalid_syn : kForGood[(draw >> 8) % std::size(kForGood)]);
    return true;
  }
  if (!rng_.chance(plan_.refused_packets)) return false;
  if (h.syn) {
    refuse(datagram, NackCode::no_ccc_avail);
  } else if (wire::is_rod(h.type) && rng_.chance(0.3)) {
    refuse(datagram, NackCode::rod_ooo);
  } else {
    refuse(datagram, kForNow[rng_.below(std::size(kForNow))]);
  }
  return true;
}

// The fate of a RUDI request: as above, with the codes of RUDI.
bool OddPeer::intercept_rudi(RxDatagram& datagram) {
  wire::Reader r(datagram.bytes);
  const auto parsed = wire::RudiRequest::parse(r);
  if (!parsed.ok()) return false;
  const uint64_t draw = draw_of(seed_, 0, parsed->pkt_id.value());
  if (plan_.spoil && draw % 64 == 0 && parsed->next_hdr == wire::NextHeader::standard) {
    // Header data, which no idempotent request has. [SES-077]
    if ((draw & 64) != 0 && r.remaining() > 1) {
      datagram.bytes[wire::RudiRequest::kSize + 1] |= std::byte{0x04};
    } else {
      spoil(datagram, wire::RudiRequest::kSize, draw >> 8);
    }
    return false;
  }
  if (!rng_.chance(plan_.refused_packets)) return false;
  wire::Nack nack;
  nack.nt = true;
  nack.nack_code = kRudiForNow[rng_.below(std::size(kRudiForNow))];
  nack.nack_pkt_id = parsed->pkt_id;
  nack.retx = parsed->retx;
  answer(datagram, nack);
  return true;
}

void OddPeer::refuse(const RxDatagram& datagram, NackCode code) {
  wire::Reader r(datagram.bytes);
  const wire::Request h = wire::Request::read(r);
  wire::Nack nack;
  nack.nack_code = code;
  nack.nack_psn = h.psn;
  nack.retx = h.retx;
  nack.spdcid = h.syn ? Pdcid{} : h.dpdcid;
  nack.dpdcid = h.spdcid;
  nack.payload = h.psn.value();
  answer(datagram, nack);
}

void OddPeer::answer(const RxDatagram& datagram, const wire::Nack& nack) {
  std::array<std::byte, wire::Nack::kSize> octets{};
  wire::Writer w(octets);
  nack.emit(w);
  TxPacket like;
  like.to = datagram.from;
  like.to.port = kUetPort;
  like.sdi = datagram.sdi;
  emit(w.written(), like);
}

// Changes a field of the request header to what must be refused: version, opcode, initiator error,
// process, index or length. [SES-107..115]
void OddPeer::spoil(RxDatagram& datagram, uint32_t header_bytes, uint64_t draw) {
  constexpr size_t kCommon = 44;  // the standard request header
  std::span<std::byte> ses = datagram.bytes.subspan(header_bytes);
  if (ses.size() < kCommon) return;
  switch (draw % 6) {
    case 0:
      ses[1] |= std::byte{0x40};  // ver 1
      break;
    case 1:
      ses[0] = std::byte{0x3f};  // an unknown operation
      break;
    case 2:
      ses[1] |= std::byte{0x10};  // ie
      break;
    case 3:
      ses[8] ^= std::byte{0x08};  // pid_on_fep: a process that is not there
      break;
    case 4:
      ses[10] ^= std::byte{0x08};  // resource_index: one that is not there
      break;
    case 5:
      // request_length: far beyond the sent octets. The packets of a rendezvous do not add up to
      // it, so there it is a length that no message may have. [SES-030, SES-088]
      std::fill_n(ses.begin() + 40, is_rendezvous(ses[0]) ? 4 : 1, std::byte{0xff});
      break;
  }
}

}  // namespace uet::sim
