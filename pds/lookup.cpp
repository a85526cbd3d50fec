// The PDC of a packet, or why it has none. [PDS 7.1 V6, V7]
#include "pds/lookup.h"

#include "pds/door/origin.h"

#include "base/prefetch.h"

namespace uet::pds {

Pdc* Lookup::pdc_ahead(std::span<const std::byte> datagram) const {
  return has_dpdcid(datagram) ? table_.find(dpdcid_of(datagram)) : nullptr;
}

void Lookup::prefetch_id(std::span<const std::byte> datagram) const {
  if (has_dpdcid(datagram)) table_.prefetch_id(dpdcid_of(datagram));
}

void Lookup::prefetch_pdc(std::span<const std::byte> datagram) const {
  prefetch(pdc_ahead(datagram), sizeof(Pdc));
}

void Lookup::prefetch_rest(const Pdc& pdc) const {
  prefetch(pdc.context, Context::kHotBytes);
  prefetch(&res_.peers[pdc.peer], sizeof(Peer));
  pdc.tx.prefetch_slot(pdc.tx.base());
}

Pdc* Lookup::of(const Inbound& in, Instant now) {
  if (in.syn) return door_.look_up_syn(in, now);
  Pdc* const pdc = table_.find(in.dpdcid);
  if (pdc == nullptr) {
    if (const Tombstone* const t = table_.find_tombstone(in.dpdcid)) {
      if (t->peer_id == in.spdcid && is_from(*in.datagram, res_.peers[t->peer])) {
        door_.answer_for_tombstone(*t, in, now);
        return nullptr;
      }
    }
    res_.counters.add(Count::drop_no_pdc);
    replies_.nack_stranger(in, wire::NackCode::inv_dpdcid, now);  // [PDS-I20, PDS-T4]
    return nullptr;
  }
  if (!is_from(*in.datagram, res_.peers[pdc->peer])) {
    res_.counters.add(Count::drop_bad_peer);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  if (pdc->state() == PdcState::syn) {
    // A packet that overtook the first ACK: the peer sends return data again, and a control packet
    // gets a NACK. [PDS-042, PDS-162]
    res_.counters.add(Count::drop_syn_state);
    // The packet carries our PDCID, which shows that the peer receives our packets. A packet that
    // is not sealed like the PDC gets no answer. [PDS-252, TSS-078]
    if (in.is_control && in.ar && pdc->sdi == in.sdi()) {
      replies_.nack_stranger(in, wire::NackCode::unexp_event, now, pdc->id);
    }
    return nullptr;
  }
  if (pdc->peer_id != in.spdcid) {
    res_.counters.add(Count::drop_bad_pdcid);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  return pdc;
}

// On a secured PDC an honest packet matches; one that does not match gets no answer. [PDS-V7,
// TSS-073]
void Lookup::refuse_binding(const Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.sdi == 0) replies_.nack_stranger(in, wire::NackCode::pdc_hdr_mismatch, now);
}

// Finds the PDC of an ACK or a NACK, which must come from the peer of that PDC. Null: the packet is
// dropped without an answer. [PDS-V6, PDS-V7, PDS-073, PDS-115]
Pdc* Lookup::of_answer(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d) {
  Pdc* const pdc = table_.find(dpdcid);
  if (pdc == nullptr) {
    res_.counters.add(Count::drop_no_pdc);
    return nullptr;
  }
  if (!is_from(d, res_.peers[pdc->peer])) {
    res_.counters.add(Count::drop_bad_peer);
    return nullptr;
  }
  // Only the peer that we mean can seal for our domain. [PDS-V8, PDS-054]
  const bool believed = res_.config.plain_new_start_psn && is_nack && d.sdi == 0;
  if (pdc->sdi != d.sdi && !believed) {
    res_.counters.add(Count::drop_sdi);
    return nullptr;
  }
  const bool learns = pdc->state() == PdcState::syn;
  const bool matches = pdc->peer_id == spdcid || (is_nack && spdcid == Pdcid{});
  if (!learns && !matches) {
    res_.counters.add(Count::drop_bad_pdcid);
    return nullptr;
  }
  return pdc;
}

}  // namespace uet::pds
