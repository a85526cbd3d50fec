// Builds bursts of packets, and answers to challenges and ACKs.
#include "fuzz/stack/strangers.h"

#include "fuzz/stack/node.h"

#include "wire/ses.h"

#include <array>

namespace uet::fuzz {
namespace {

constexpr uint32_t kPayload = 24;

uint32_t number_of(const FabricAddress& a) { return a.ip[3]; }

bool is_stranger(const FabricAddress& a) {
  return number_of(a) >= Strangers::kFirst && number_of(a) < Strangers::kFirst + Strangers::kCount;
}

}  // namespace

// A message of 24 octets, or the first packet of a longer one.
sim::Datagram Strangers::request(uint32_t number, const FabricAddress& to, const wire::Request& h,
                                 Instant now) const {
  std::array<std::byte, 128> room{};
  wire::Writer w(room);
  h.emit(w);
  wire::StandardRequest s;
  s.common.opcode = wire::SesOpcode::send;
  s.common.som = true;
  s.common.eom = (number & 2) == 0;
  s.common.job_id = JobId(kJob);
  s.common.pid_on_fep = pid_of(number % 2);
  s.common.resource_index = index_of(number % 2);
  s.message_id = MessageId(static_cast<uint16_t>(h.psn.value() | 1));
  s.initiator = number;
  s.request_length = s.common.eom ? kPayload : 5000;
  s.emit(w);
  for (uint32_t i = 0; i < kPayload; ++i) w.u8(uint8_t{0x5a});
  sim::Datagram packet;
  packet.octets.assign(w.written().begin(), w.written().end());
  packet.from = address_of(number);
  packet.to = to;
  packet.left_at = now;
  return packet;
}

std::vector<sim::Datagram> Strangers::knock(Program& program, Instant now) {
  const uint8_t how = program.u8();
  const uint32_t count = 1 + program.u8() % kCount;
  const uint32_t first = program.u8() % kCount;
  const Psn psn(program.u32());
  const auto id = static_cast<uint16_t>(1 + program.u8());
  const FabricAddress to = address_of_node(how & 1);
  std::vector<sim::Datagram> burst;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t number = kFirst + (first + i) % kCount;
    sim::Datagram packet;
    if ((how >> 2 & 3) == 3) {  // an ACK without a PDC
      std::array<std::byte, wire::Ack::kSize> room{};
      wire::Writer w(room);
      wire::Ack h;
      h.cack_psn = psn + static_cast<int32_t>(i);
      h.spdcid = Pdcid(id);
      h.dpdcid = Pdcid(static_cast<uint16_t>(psn.value() + i * 257));
      h.emit(w);
      packet.octets.assign(w.written().begin(), w.written().end());
    } else if ((how >> 2 & 3) == 2) {
      std::array<std::byte, wire::Control::kSize> room{};
      wire::Writer w(room);
      wire::Control h;
      h.ctl_type = wire::CtlType::close_cmd;
      h.isrod = (how & 2) != 0;
      h.syn = h.ar = true;
      h.psn = psn + 1;
      h.psn_offset = 1;
      h.spdcid = Pdcid(id);
      h.emit(w);
      packet.octets.assign(w.written().begin(), w.written().end());
    } else {
      wire::Request h;
      h.type = (how & 2) != 0 ? wire::PdsType::rod_request : wire::PdsType::rud_request;
      h.next_hdr = wire::NextHeader::standard;
      h.syn = true;
      h.ar = (how & 16) != 0;
      h.clear_psn_offset = -1;
      h.psn = psn;
      h.spdcid = Pdcid(id);
      packet = request(number, to, h, now);
    }
    packet.from = address_of(number);
    packet.to = to;
    packet.left_at = now;
    if (!is_real(number)) accounts_[number].came += packet.octets.size();
    burst.push_back(std::move(packet));
  }
  return burst;
}

void Strangers::hear(const sim::Datagram& packet, Instant now) {
  if (!is_stranger(packet.to)) return;
  const uint32_t number = number_of(packet.to);
  if (!is_real(number)) {
    Account& account = accounts_[number];
    account.went += packet.octets.size();
    UET_ASSERT(is_sealed_ || account.went <= 3 * account.came);
    return;
  }
  wire::Reader reader(packet.octets);
  const auto prologue = wire::Prologue::peek(reader);
  if (!prologue) return;
  wire::Request h;
  h.next_hdr = wire::NextHeader::standard;
  h.ar = true;
  h.clear_psn_offset = -1;
  if (prologue->type == wire::PdsType::nack) {
    const wire::Nack nack = wire::Nack::read(reader);
    if (nack.nack_code != wire::NackCode::new_start_psn) return;
    h.syn = h.retx = true;
    h.psn = Psn(nack.payload);
    h.spdcid = nack.dpdcid;
    return follow(packet, h, now);
  }
  if (prologue->type != wire::PdsType::ack && prologue->type != wire::PdsType::ack_cc) return;
  const wire::Ack ack = wire::Ack::read(reader);
  h.psn = ack.cack_psn + 1;
  h.spdcid = ack.dpdcid;
  h.dpdcid = ack.spdcid;
  follow(packet, h, now);
}

void Strangers::follow(const sim::Datagram& packet, const wire::Request& h, Instant now) {
  constexpr size_t kAnswersMax = 32;
  if (answers_.size() == kAnswersMax || h.spdcid == Pdcid()) return;
  answers_.push_back(request(number_of(packet.to), packet.from, h, now));
}

}  // namespace uet::fuzz
