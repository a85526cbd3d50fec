// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns packets to PDCs. A packet names the PDC of its receiver by DPDCID, which is known once
// the receiver has sent a SYN or an answer; a SYN names that of its sender only. [PDS-014]
#include "dissector/octet_map.h"
#include "dissector/pdc.h"

#include "wire/pds_prologue.h"

namespace uet::dissector {

namespace {

using wire::PdsType;

// One end of a PDC: its owner and its identifier. `peer` is zero in keys of `ends`.
struct Key {
  uint8_t owner[16];
  uint8_t peer[16];
  uint16_t port;
  uint16_t pdcid;
};

struct End {
  Pdc* pdc;
  uint8_t way;  // the direction in which the owner sends
};

wmem_map_t* ends;    // by owner, its UDP port, its PDCID
wmem_map_t* halves;  // by owner, peer, the owner's PDCID; its port is not known
wmem_map_t* syns;    // by owner, peer, the peer's UDP port, the owner's PDCID
uint32_t pdc_count;

Key end_key(const address& owner, uint32_t port, uint16_t pdcid) {
  Key key{};
  put_address(key.owner, owner);
  key.port = static_cast<uint16_t>(port);
  key.pdcid = pdcid;
  return key;
}

Key half_key(const address& owner, const address& peer, uint16_t pdcid) {
  Key key{};
  put_address(key.owner, owner);
  put_address(key.peer, peer);
  key.pdcid = pdcid;
  return key;
}

const End* find(wmem_map_t* map, const Key& key) {
  return static_cast<const End*>(wmem_map_lookup(map, &key));
}

void insert(wmem_map_t* map, const Key& key, Pdc* pdc, uint8_t way) {
  auto* end = wmem_new(wmem_file_scope(), End);
  *end = {pdc, way};
  wmem_map_insert(map, wmem_memdup(wmem_file_scope(), &key, sizeof key), end);
}

Pdc* make(packet_info* pinfo, const PdsFields& f) {
  auto* pdc = wmem_new0(wmem_file_scope(), Pdc);
  pdc->number = pdc_count++;
  pdc->first_frame = pinfo->num;
  pdc->rod = f.type == PdsType::rod_request || f.type == PdsType::rod_cc_request || f.isrod;
  for (Direction& way : pdc->way) {
    way.by_psn = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    way.open = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    way.by_message = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    way.mp_range = 1024;
  }
  return pdc;
}

uint32_t own_port(const packet_info* pinfo, const Packet& packet) {
  return packet.native ? 0 : pinfo->destport;
}

// A SYN is of the PDC that its sender opened with the same identifier and start. [PDS-046]
Pdc* of_syn(packet_info* pinfo, const Packet& packet) {
  const PdsFields& f = packet.pds;
  const Key half = half_key(pinfo->net_src, pinfo->net_dst, f.spdcid);
  Key opened = half;
  opened.port = static_cast<uint16_t>(own_port(pinfo, packet));
  const End* known = find(syns, opened);
  if (known != nullptr && known->pdc->start_psn == f.start_psn) return known->pdc;
  Pdc* pdc = make(pinfo, f);
  pdc->has_start = true;
  pdc->start_psn = f.start_psn;
  pdc->pdcid[0] = f.spdcid;
  insert(syns, opened, pdc, 0);
  insert(halves, half, pdc, 0);
  insert(ends, end_key(pinfo->net_src, answer_port(pinfo, packet), f.spdcid), pdc, 0);
  return pdc;
}

// Notes the identifier that the sender shows, and that the receiver is at this port.
void learn(packet_info* pinfo, const Packet& packet, Pdc* pdc, uint8_t way) {
  const PdsFields& f = packet.pds;
  const uint8_t back = way ^ 1U;
  if (f.spdcid != 0 && pdc->pdcid[way] != f.spdcid) {
    pdc->pdcid[way] = f.spdcid;
    insert(halves, half_key(pinfo->net_src, pinfo->net_dst, f.spdcid), pdc, way);
  }
  if (f.dpdcid == 0) return;
  pdc->pdcid[back] = f.dpdcid;
  const Key receiver = end_key(pinfo->net_dst, own_port(pinfo, packet), f.dpdcid);
  const End* known = find(ends, receiver);
  if (known == nullptr || known->pdc != pdc) insert(ends, receiver, pdc, back);
}

bool fits(const Pdc& pdc, uint8_t way, uint16_t pdcid) {
  return pdcid == 0 || pdc.pdcid[way] == 0 || pdc.pdcid[way] == pdcid;
}

bool has_pdc(const PdsFields& f) {
  switch (f.type) {
    case PdsType::rudi_request:
    case PdsType::rudi_response:
    case PdsType::uud_request:
    case PdsType::tss:
      return false;
    case PdsType::nack:
    case PdsType::nack_ccx:
      return !f.nt;
    default:
      return true;
  }
}

}  // namespace

uint32_t answer_port(const packet_info* pinfo, const Packet& packet) {
  if (packet.native) return 0;
  return packet.pds.private_mark ? pinfo->srcport & ~15U : wire::kUdpPort;
}

void forget_pdcs() {
  ends = octet_map<Key>();
  halves = octet_map<Key>();
  syns = octet_map<Key>();
  pdc_count = 0;
}

Pdc* pdc_of(packet_info* pinfo, const Packet& packet, uint8_t& way) {
  const PdsFields& f = packet.pds;
  way = 0;
  if (!has_pdc(f)) return nullptr;
  if (f.syn) return of_syn(pinfo, packet);

  const End* receiver = find(ends, end_key(pinfo->net_dst, own_port(pinfo, packet), f.dpdcid));
  if (receiver == nullptr || !fits(*receiver->pdc, receiver->way ^ 1U, f.spdcid)) {
    receiver = find(halves, half_key(pinfo->net_dst, pinfo->net_src, f.dpdcid));
  }
  if (receiver != nullptr && fits(*receiver->pdc, receiver->way ^ 1U, f.spdcid)) {
    way = receiver->way ^ 1U;
    learn(pinfo, packet, receiver->pdc, way);
    return receiver->pdc;
  }
  // Its beginning is not in the capture: requests come from the initiator, answers do not.
  way = wire::is_request(f.type) || f.type == PdsType::control ? 0 : 1;
  Pdc* pdc = make(pinfo, f);
  learn(pinfo, packet, pdc, way);
  return pdc;
}

}  // namespace uet::dissector
