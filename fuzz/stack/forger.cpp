// Builds packets from the emitters of wire/ and from observed packets.
#include "fuzz/stack/forger.h"

#include "fuzz/stack/node.h"

#include <algorithm>
#include <utility>

namespace uet::fuzz {
namespace {

using wire::NextHeader;
using wire::PdsType;

constexpr uint32_t kStranger = 9;      // the last octet of its address
constexpr uint32_t kRoomBytes = 1600;  // longer than any packet of the runs

template <class Id>
Id near(Program& program, Id base) {
  using Word = decltype(base.value());
  return Id(static_cast<Word>(program.near(base.value())));
}

NextHeader next_header(Program& program, NextHeader usual) {
  const uint8_t drawn = program.u8();
  return drawn < 0x80 ? usual : static_cast<NextHeader>(drawn % 16);
}

}  // namespace

void Forger::hear(const sim::Datagram& packet) {
  Heard& heard = heard_[packet.from == address_of_node(0) ? 0 : 1];
  wire::Reader r(packet.octets);
  const auto prologue = wire::Prologue::peek(r);
  if (!prologue) return;
  NextHeader next_hdr = NextHeader::none;
  if (wire::is_request(prologue->type)) {
    const wire::Request h = wire::Request::read(r);
    heard.self = h.spdcid;
    if (!h.syn) heard.other = h.dpdcid;
    heard.psn = h.psn;
    next_hdr = h.next_hdr;
  } else if (prologue->type == PdsType::ack || prologue->type == PdsType::ack_cc) {
    const bool is_long = prologue->type == PdsType::ack_cc;
    const wire::AckCc cc = is_long ? wire::AckCc::read(r) : wire::AckCc{};
    const wire::Ack h = is_long ? cc.ack : wire::Ack::read(r);
    heard.self = h.spdcid;
    heard.other = h.dpdcid;
    heard.cack = h.cack_psn;
    if (cc.cc_type == wire::CcType::credit) {
      heard.credit = wire::CreditState::unpack(cc.state).credit;
    }
  } else if (prologue->type == PdsType::rudi_request) {
    const wire::RudiRequest h = wire::RudiRequest::read(r);
    heard.pkt_id = h.pkt_id;
    next_hdr = h.next_hdr;
  }
  if (next_hdr != NextHeader::standard) return;
  const auto ses = wire::StandardRequest::parse(r);
  if (ses.ok()) heard.ses = *ses;
}

sim::Datagram Forger::craft(Program& program, Instant now) {
  std::array<std::byte, kRoomBytes> room{};
  wire::Writer w(room);
  const uint8_t how = program.u8();
  speaker_ = how & 1;
  switch ((how >> 1) % 8) {
    case 0:
    case 1:
      write_request(program, w);
      break;
    case 2:
      write_ack(program, w);
      break;
    case 3:
      write_nack(program, w);
      break;
    case 4:
      write_control(program, w);
      break;
    case 5:
      write_connectionless(program, w);
      break;
    default:
      for (uint32_t n = 1 + program.below(48); n > 0; --n) w.u8(program.u8());
      break;
  }
  sim::Datagram packet;
  packet.octets.assign(w.written().begin(), w.written().end());
  packet.from = sender(how >> 4, address_of_node(speaker_));
  packet.to = address_of_node(1 - speaker_);
  packet.left_at = now;
  packet.sdi = forges_ && how >= 0xC0 ? 1 : 0;
  return defuse(std::move(packet));
}

sim::Datagram Forger::alter(sim::Datagram packet, Program& program) const {
  const uint8_t how = program.u8();
  packet.from = sender(how >> 4, packet.from);
  const auto size = static_cast<uint32_t>(packet.octets.size());
  switch (how % 8) {
    case 0:  // as a switch marks trimmed packets [PDS-130]
      packet.dscp = program.flag() ? 16 : 18;
      packet.octets.resize(std::min(size, program.below(64)));
      break;
    case 1:
      packet.octets.resize(program.below(size + 1));
      break;
    case 2:
      packet.ecn = Ecn::ce;
      break;
    default:
      for (uint32_t n = 1 + how % 4; n > 0 && size > 0; --n) {
        const uint32_t at = program.below(std::min(size, 80u));
        packet.octets[at] ^= std::byte{program.u8()};
      }
      break;
  }
  return defuse(std::move(packet));
}

FabricAddress Forger::sender(uint8_t drawn, const FabricAddress& honest) const {
  if (!forges_ || drawn % 4 == 3) return address_of(kStranger);
  FabricAddress from = honest;
  if (drawn % 4 == 2) from.port = static_cast<uint16_t>(from.port ^ 16);
  return from;
}

// Without TSS a stranger that opens PDCs or sends requests without a PDC is a legitimate peer, and
// may write to the same memory as the peers. So a stranger that does not forge must not send these.
sim::Datagram Forger::defuse(sim::Datagram packet) const {
  if (forges_ || packet.octets.size() < 2) return packet;
  const auto type = static_cast<PdsType>(static_cast<uint8_t>(packet.octets[0]) >> 3);
  if (type == PdsType::rudi_request || type == PdsType::uud_request) {
    packet.octets[0] &= std::byte{0x07};
  } else {
    packet.octets[1] &= ~std::byte{1u << wire::kFlagSyn};
  }
  return packet;
}

void Forger::write_request(Program& program, wire::Writer& w) const {
  static constexpr PdsType kTypes[] = {PdsType::rud_request, PdsType::rod_request,
                                       PdsType::rud_cc_request, PdsType::rod_cc_request};
  const Heard& self = heard_[speaker_];
  const uint8_t flags = program.u8();
  wire::Request h;
  h.type = kTypes[flags % 4];
  h.retx = (flags & 4) != 0;
  h.ar = (flags & 8) != 0;
  h.syn = (flags & 16) != 0;
  h.use_rsv_pdc = (flags & 0xC0) == 0xC0;
  h.next_hdr = next_header(program, NextHeader::standard);
  h.psn = near(program, self.psn);
  h.psn_offset = h.syn ? program.u8() % 16u : 0;
  h.clear_psn_offset = static_cast<int16_t>(program.near(0));
  h.spdcid = near(program, self.self);
  h.dpdcid = near(program, self.other);
  h.ccc_id = (flags & 32) != 0 ? program.u8() : uint8_t{0};
  h.emit(w);
  write_ses(program, h.next_hdr, w);
}

void Forger::write_ack(Program& program, wire::Writer& w) const {
  const Heard& self = heard_[speaker_];
  const Heard& other = heard_[1 - speaker_];
  const uint8_t flags = program.u8();
  wire::AckCc h;
  wire::Ack& ack = h.ack;
  ack.type = flags % 4 == 0 ? PdsType::ack : flags % 4 == 3 ? PdsType::ack_ccx : PdsType::ack_cc;
  ack.m = (flags & 4) != 0;
  ack.retx = (flags & 8) != 0;
  ack.p = (flags & 16) != 0;
  ack.epsn = ack.type == PdsType::ack && (flags & 32) != 0;
  ack.req = static_cast<wire::AckRequest>(flags >> 6);
  ack.next_hdr = next_header(program, NextHeader::response);
  ack.cack_psn = near(program, other.psn);
  ack.ack_psn_offset = static_cast<int16_t>(program.near(0));
  ack.spdcid = near(program, self.self);
  ack.dpdcid = near(program, self.other);
  if (ack.type == PdsType::ack) {
    ack.emit(w);
    return write_ses(program, ack.next_hdr, w);
  }
  h.cc_type = static_cast<wire::CcType>(program.u8() % 16);
  h.mpr = program.u8();
  h.sack_psn_offset = static_cast<int16_t>(program.near(0));
  h.sack_bitmap = uint64_t{program.u32()} << 32 | program.u32();
  h.state = ack_state(program, h.cc_type);
  if (ack.type == PdsType::ack_cc) {
    h.emit(w);
  } else {
    wire::AckCcx x;
    x.ack = ack;
    x.mpr = h.mpr;
    x.sack_psn_offset = h.sack_psn_offset;
    x.sack_bitmap = h.sack_bitmap;
    x.emit(w);
  }
  write_ses(program, ack.next_hdr, w);
}

// Credit is mostly near what the end has granted: a few cells more or less.
uint64_t Forger::ack_state(Program& program, wire::CcType type) const {
  const uint64_t high = program.u32();
  const uint32_t low = program.u32();
  if (type != wire::CcType::credit || high % 4 == 0) return high << 32 | low;
  const uint32_t near = heard_[speaker_].credit + static_cast<uint32_t>(high >> 24) - 128;
  return wire::CreditState{near & 0xFFFFFF, static_cast<uint16_t>(low)}.pack();
}

void Forger::write_nack(Program& program, wire::Writer& w) const {
  const Heard& self = heard_[speaker_];
  const Heard& other = heard_[1 - speaker_];
  const uint8_t flags = program.u8();
  wire::NackCcx h;
  wire::Nack& nack = h.nack;
  nack.type = (flags & 0xF0) == 0xF0 ? PdsType::nack_ccx : PdsType::nack;
  nack.m = (flags & 1) != 0;
  nack.retx = (flags & 2) != 0;
  nack.nt = (flags & 4) != 0;
  nack.nack_code = static_cast<wire::NackCode>(program.u8());
  nack.nack_psn = near(program, other.psn);
  nack.nack_pkt_id = PktId(program.near(other.pkt_id.value()));
  nack.spdcid = near(program, self.self);
  nack.dpdcid = near(program, self.other);
  nack.payload = program.near(other.psn.value());
  if (nack.type == PdsType::nack) {
    nack.emit(w);
  } else {
    h.emit(w);
  }
}

void Forger::write_control(Program& program, wire::Writer& w) const {
  const Heard& self = heard_[speaker_];
  const uint8_t flags = program.u8();
  wire::Control h;
  h.ctl_type = static_cast<wire::CtlType>(program.u8() % 16);
  h.isrod = (flags & 1) != 0;
  h.retx = (flags & 2) != 0;
  h.ar = (flags & 4) != 0;
  h.syn = (flags & 8) != 0;
  h.use_rsv_pdc = h.syn && (flags & 16) != 0;
  h.psn = near(program, self.psn);
  h.psn_offset = h.syn ? program.u8() % 16u : 0;
  h.probe_opaque = program.u16();
  h.spdcid = near(program, self.self);
  h.dpdcid = near(program, self.other);
  h.payload = program.near(heard_[1 - speaker_].psn.value());
  h.emit(w);
}

void Forger::write_connectionless(Program& program, wire::Writer& w) const {
  const uint8_t flags = program.u8();
  if (flags % 4 == 0) {
    const wire::Uud h{next_header(program, NextHeader::standard)};
    h.emit(w);
    return write_ses(program, h.next_hdr, w);
  }
  const bool is_response = flags % 4 == 1;
  const NextHeader usual = is_response ? NextHeader::response : NextHeader::standard;
  const NextHeader next_hdr = next_header(program, usual);
  if (is_response) {
    const PktId asked = heard_[1 - speaker_].pkt_id;
    const wire::RudiResponse h{next_hdr, (flags & 4) != 0, (flags & 8) != 0, near(program, asked)};
    h.emit(w);
  } else {
    const wire::RudiRequest h{next_hdr, (flags & 4) != 0, (flags & 8) != 0,
                              near(program, heard_[speaker_].pkt_id)};
    h.emit(w);
  }
  write_ses(program, next_hdr, w);
}

void Forger::write_ses(Program& program, NextHeader next_hdr, wire::Writer& w) const {
  if (wire::is_request(next_hdr)) return write_ses_request(program, next_hdr, w);
  if (wire::is_response(next_hdr)) return write_ses_response(program, next_hdr, w);
}

void Forger::write_ses_request(Program& program, NextHeader next_hdr, wire::Writer& w) const {
  static constexpr wire::SesOpcode kUsual[] = {
      wire::SesOpcode::write, wire::SesOpcode::read,          wire::SesOpcode::send,
      wire::SesOpcode::send,  wire::SesOpcode::datagram_send, wire::SesOpcode::tagged_send,
      wire::SesOpcode::write, wire::SesOpcode::no_op};
  const uint8_t how = program.u8();
  const uint8_t flags = program.u8();
  const uint32_t slot = program.u8() % kSlots;
  wire::RequestCommon common;
  common.opcode = how < 0xE0 ? kUsual[how % 8] : static_cast<wire::SesOpcode>(program.u8() % 64);
  common.ver = (flags & 0xC1) == 0xC1 ? 1 : 0;
  common.dc = (flags & 2) != 0;
  common.ie = (flags & 0x84) == 0x84;
  common.hd = (flags & 8) != 0;
  common.eom = (flags & 16) == 0;
  common.som = (flags & 32) == 0;
  common.job_id = JobId((flags & 0xC0) == 0x40 ? kJob + 1 : kJob);
  common.pid_on_fep = pid_of(slot);
  common.resource_index = index_of(slot);
  const uint32_t payload = program.u8() * 5u;
  const uint64_t offset = program.near(0);
  const uint64_t key = regions_[1 - speaker_][program.u8() % kRegions].key;
  const bool is_rma = wire::has_memory_key(common.opcode);
  // The small header's key. [SES-008]
  if (is_rma && (flags & 0x84) == 4) {
    common.resource_index = ResourceIndex(static_cast<uint16_t>(key & 0xFFF));
  }
  const uint64_t match_bits = is_rma ? key ^ program.near(0) : program.u8() % 8;
  if (next_hdr == NextHeader::small) {
    const wire::SmallRequest h{common, static_cast<uint16_t>(program.near(payload) & 0x3FFF),
                               offset};
    h.emit(w);
  } else if (next_hdr == NextHeader::medium) {
    wire::MediumRequest h;
    h.common = common;
    h.request_length = static_cast<uint16_t>(program.near(payload) & 0x3FFF);
    h.buffer_offset = offset;
    h.initiator = 100 + speaker_;
    h.match_bits = match_bits;
    h.emit(w);
  } else {
    wire::StandardRequest h;
    h.common = common;
    h.message_id = near(program, heard_[speaker_].ses.message_id);
    h.buffer_offset = offset;
    h.initiator = 100 + speaker_;
    h.match_bits = match_bits;
    h.payload_length = static_cast<uint16_t>(program.near(payload) & 0x3FFF);
    h.message_offset = program.near(0);
    h.request_length =
        program.near(common.som && common.eom ? payload : heard_[speaker_].ses.request_length);
    h.emit(w);
  }
  for (uint32_t i = 0; i < payload; ++i) w.u8(static_cast<uint8_t>(i));
}

void Forger::write_ses_response(Program& program, NextHeader next_hdr, wire::Writer& w) const {
  const wire::StandardRequest& asked = heard_[1 - speaker_].ses;
  const uint8_t how = program.u8();
  wire::ResponseCommon common;
  common.list = static_cast<wire::ListCode>(how >> 6);
  common.opcode = next_hdr == NextHeader::response ? wire::ResponseOpcode::response
                                                   : wire::ResponseOpcode::response_w_data;
  common.return_code = static_cast<wire::ReturnCode>(how & 0x3F);
  if (next_hdr == NextHeader::response) {
    const wire::Response h{common, near(program, asked.message_id), program.u8(), JobId(kJob),
                           program.near(asked.request_length)};
    return h.emit(w);
  }
  const uint32_t payload = program.u8() * 5u;
  const auto stated = static_cast<uint16_t>(program.near(payload) & 0x3FFF);
  if (next_hdr == NextHeader::response_data) {
    const wire::ResponseData h{
        common, near(program, MessageId(1)),        JobId(kJob),    near(program, asked.message_id),
        stated, program.near(asked.request_length), program.near(0)};
    h.emit(w);
  } else {
    const wire::ResponseDataSmall h{common, stated, JobId(kJob),
                                    near(program, heard_[1 - speaker_].psn)};
    h.emit(w);
  }
  for (uint32_t i = 0; i < payload; ++i) w.u8(static_cast<uint8_t>(i));
}

}  // namespace uet::fuzz
