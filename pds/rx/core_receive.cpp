// Datagrams in: parsing, finding or opening the PDC they belong to. The order of the checks is
// that of PDS 7.1 (V1 to V9); what is behind the door is in core_accept.cpp.
#include "pds/core.h"
#include "pds/door/origin.h"

#include "wire/pds.h"

#include "base/prefetch.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kUnprovenFactor = 3;         // octets sent for each octet received
constexpr uint32_t kUnprovenOctetsMax = 65536;  // however much came

// What came from a source that may be forged lets more go to it. [PDS-252]
void earn(Pdc& pdc, const RxDatagram& d) {
  if (!pdc.is_unverified()) return;
  const auto octets = static_cast<uint32_t>(std::min<size_t>(d.bytes.size(), kUnprovenOctetsMax));
  pdc.unproven_octets =
      std::min(pdc.unproven_octets + kUnprovenFactor * octets, kUnprovenOctetsMax);
}
}  // namespace

// With many PDCs the state of each is out of the cache by the time of its next packet. Two steps
// ahead, so that nothing waits: first the PDC, then what it points to.
void Core::receive(std::span<const RxDatagram> datagrams, Instant now) {
  constexpr size_t kPdcAhead = 6;
  constexpr size_t kRestAhead = 3;
  for (size_t i = 0; i < datagrams.size(); ++i) {
    if (i + kPdcAhead < datagrams.size()) {
      prefetch(pdc_ahead(datagrams[i + kPdcAhead]), sizeof(Pdc));
    }
    if (i + kRestAhead < datagrams.size()) {
      if (Pdc* const pdc = pdc_ahead(datagrams[i + kRestAhead])) {
        prefetch(pdc->path, sizeof(Path));
        prefetch(&peers_[pdc->peer], sizeof(Peer));
        pdc->tx.prefetch_oldest();
      }
    }
    receive(datagrams[i], now);
  }
}

// The PDC that the packet will most likely be for; nothing has been checked. All types that name a
// PDC of ours do so in the same place.
Pdc* Core::pdc_ahead(const RxDatagram& d) const {
  constexpr size_t kDpdcidAt = 10;
  if (d.bytes.size() < kDpdcidAt + 2) return nullptr;
  return table_.find(Pdcid(wire::load_u16(d.bytes.data() + kDpdcidAt)));
}

void Core::receive(const RxDatagram& d, Instant now) {
  counters_.add(Count::rx_packets);
  if (d.bytes.size() < wire::Prologue::kSize) return counters_.add(Count::drop_too_short);
  if (config_.is_trimmed(d.dscp)) return on_trimmed(d, now);
  const auto prologue = wire::Prologue::peek(wire::Reader(d.bytes));
  if (!prologue) return counters_.add(Count::drop_type_reserved);

  switch (prologue->type) {
    case wire::PdsType::rud_request:
    case wire::PdsType::rod_request:
    case wire::PdsType::rud_cc_request:
    case wire::PdsType::rod_cc_request:
      return on_request(d, now);
    case wire::PdsType::ack:
    case wire::PdsType::ack_cc:
    case wire::PdsType::ack_ccx:
      return on_ack(d, prologue->type, now);
    case wire::PdsType::nack:
    case wire::PdsType::nack_ccx:
      return on_nack(d, now);
    case wire::PdsType::control:
      return on_control(d, now);
    case wire::PdsType::rudi_request:  // [PDS-V5]
    case wire::PdsType::rudi_response:
    case wire::PdsType::uud_request:
      return refuse(connectionless_.receive(d, prologue->type, now), now);
    case wire::PdsType::tss:
      return counters_.add(Count::drop_type_unsupported);
  }
}

// Without a PDC the bucket of those without one. [PDS-072]
void Core::refuse(const std::optional<Connectionless::Refusal>& refusal, Instant now) {
  if (!refusal || !take_nack_token(nullptr, now)) return;
  queue_nack(refusal->nack, refusal->to, refusal->ev, refusal->sdi);
}

void Core::on_request(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const wire::PdsType type = wire::Prologue::of(wire::load_u16(r.peek(2))).type;
  const uint32_t size =
      wire::is_request_with_cc(type) ? wire::Request::kSizeCc : wire::Request::kSize;
  if (r.remaining() < size) return counters_.add(Count::drop_malformed);
  const wire::Request h = wire::Request::read(r);
  // Return data carries response headers, so wire::Request::check() would refuse too much here.
  // [PDS-V4]
  if (wire::is_reserved(h.next_hdr) || h.spdcid == Pdcid{}) {
    return counters_.add(Count::drop_malformed);
  }
  if (h.next_hdr == wire::NextHeader::none && !h.syn) return counters_.add(Count::drop_malformed);
  counters_.add(Count::rx_requests);
  on_inbound(Inbound::of(h, d, r.rest()), now);
}

void Core::on_control(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::Control::parse(r);
  if (!h) return counters_.add(Count::drop_malformed);
  on_inbound(Inbound::of(*h, d), now);
}

void Core::on_inbound(const Inbound& in, Instant now) {
  Pdc* const pdc = in.syn ? look_up_syn(in, now) : look_up(in, now);
  if (pdc == nullptr) return;
  if (pdc->sdi != in.sdi()) return counters_.add(Count::drop_sdi);  // [PDS-V8]
  if (pdc->state() == PdcState::pending && !leave_pending(*pdc, in, now)) return;
  heard(*pdc, now);
  earn(*pdc, *in.datagram);
  if (pdc->is_unverified()) want_send(*pdc);  // data that waited for octets
  const PdcHandle handle = pdc->handle;
  admit(*pdc, in, now);
  if (in.syn) drop_if_unused(handle);
}

// A SYN that was refused leaves nothing behind, whoever refused it: its resend has all that opens a
// PDC. Only a gap of ROD is remembered, so that not each packet behind it is answered, and a
// message that the client has begun to track, which would keep its place for a PDC that is gone.
// [PDS-047, PDS-112, T-57]
void Core::drop_if_unused(PdcHandle handle) {
  Pdc* const pdc = table_.get(handle);
  const bool is_used = pdc == nullptr || pdc->is_initiator() || pdc->confirmed ||
                       pdc->rx.max_received() != pdc->start_psn - 1 ||
                       pdc->rod_nacked == pdc->rx_next || client_.has_open_message(handle);
  if (is_used) return;
  counters_.add(Count::pdc_unused);
  discard(*pdc);
}

void Core::heard(Pdc& pdc, Instant now) {
  Peer& peer = peers_[pdc.peer];
  peer.last_heard = now;
  peer.unreachable_since = Instant::never();
  touch(pdc, now);
}

Pdc* Core::look_up(const Inbound& in, Instant now) {
  Pdc* const pdc = table_.find(in.dpdcid);
  if (pdc == nullptr) {
    if (const Tombstone* const t = table_.find_tombstone(in.dpdcid)) {
      if (t->peer_id == in.spdcid && is_from(*in.datagram, peers_[t->peer])) {
        answer_for_tombstone(*t, in, now);
        return nullptr;
      }
    }
    counters_.add(Count::drop_no_pdc);
    nack_stranger(in, wire::NackCode::inv_dpdcid, now);  // [PDS-T4]
    return nullptr;
  }
  if (!is_from(*in.datagram, peers_[pdc->peer])) {
    counters_.add(Count::drop_bad_peer);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  if (pdc->state() == PdcState::syn) {
    // What overtook the first ACK: return data comes again by itself, and who sent a control packet
    // hears that it was too early. [PDS-042, PDS-162]
    counters_.add(Count::drop_syn_state);
    if (in.is_control && in.ar) nack_stranger(in, wire::NackCode::unexp_event, now);
    return nullptr;
  }
  if (pdc->peer_id != in.spdcid) {
    counters_.add(Count::drop_bad_pdcid);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  return pdc;
}

// Whose PDC is secured cannot be honest when it does not match: it gets no answer.
// [PDS-V7, TSS-073]
void Core::refuse_binding(const Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.sdi == 0) nack_stranger(in, wire::NackCode::pdc_hdr_mismatch, now);
}

// [PDS-046]
Pdc* Core::look_up_syn(const Inbound& in, Instant now) {
  const FabricAddress from = reply_address(in);
  PeerId id;
  if (peers_.find(from, id) == nullptr) return open_target(in, from, now);
  if (Pdc* const pdc = table_.find_peer(id, in.spdcid)) {
    // Somebody without keys was there first, who has not shown that it hears us. [T-03]
    if (in.sdi() != 0 && pdc->is_unverified()) {
      fail(*pdc, {FailureReason::aborted, {}, false}, Count::pdc_displaced, false, now);
      return open_target(in, from, now);
    }
    const bool is_same = pdc->start_psn == in.start_psn || pdc->state() == PdcState::pending;
    if (!pdc->is_initiator() && is_same) return pdc;
    if (pdc->sdi != in.sdi()) {
      counters_.add(Count::drop_sdi);
      return nullptr;
    }
    nack_stranger(in, wire::NackCode::invalid_syn, now);
    // A restarted peer: is anybody still behind the old PDC? [PDS-191]
    if (!pdc->is_initiator()) ask_close(*pdc, now);
    return nullptr;
  }
  if (const Tombstone* const t = table_.find_tombstone(id, in.spdcid)) {
    if (t->start_psn == in.start_psn) {
      answer_for_tombstone(*t, in, now);
      return nullptr;
    }
  }
  return open_target(in, from, now);
}

// T1, T3. A refused SYN leaves nothing behind. [PDS-045, PDS-047, PDS-048]
Pdc* Core::open_target(const Inbound& in, const FabricAddress& from, Instant now) {
  const auto refuse = [&](wire::NackCode code) -> Pdc* {
    nack_stranger(in, code, now);
    return nullptr;
  };
  if (in.is_control && in.ctl_type != wire::CtlType::noop) {
    return refuse(wire::NackCode::unexp_event);  // [PDS-040, PDS-162]
  }
  if (!in.is_control && !wire::is_request(in.next_hdr)) {
    return refuse(wire::NackCode::pdc_hdr_mismatch);
  }
  if (in.psn() - in.start_psn >= static_cast<int32_t>(config_.tracked_packets())) {
    return refuse(wire::NackCode::invalid_syn);
  }
  bool is_proven = false;
  if (is_challenged(in, from, is_proven, now)) return nullptr;
  if (!rx_pool_.can_take()) return refuse(wire::NackCode::no_bitmap);
  relieve_pressure(false, now);
  if (!is_proven && half_open_full()) {
    counters_.add(Count::half_open_limit);
    return refuse(wire::NackCode::no_pdc_avail);
  }
  const auto peer = peers_.find_or_add(from, now);
  if (!peer) {
    counters_.add(Count::drop_no_peer);
    return refuse(wire::NackCode::no_pdc_avail);
  }
  const JobId job = in.is_control ? JobId{} : client_.job_of(in.ses);
  if (!in.use_rsv_pdc && !has_share(*peer, in.sdi(), job, now)) {
    return refuse(wire::NackCode::no_pdc_avail);
  }
  Path* const to_peer = path({*peer, config_.return_class});
  if (to_peer == nullptr) return refuse(wire::NackCode::no_ccc_avail);
  Pdc* const pdc =
      in.use_rsv_pdc ? table_.allocate_reserved(random_) : table_.allocate(false, random_);
  if (pdc == nullptr) {
    drop_path(*to_peer);
    counters_.add(Count::pdc_alloc_fail);
    return refuse(wire::NackCode::no_pdc_avail);
  }
  pdc->path = to_peer;
  pdc->job = job;
  start_target(*pdc, in, *peer, is_proven, now);
  return pdc;
}

// What the SYN says of it.
void Core::start_target(Pdc& pdc, const Inbound& in, PeerId peer, bool is_proven, Instant now) {
  bool pending = false;
  const Psn start = secure_start(in, peer, pending);
  pdc.start_psn = start;
  pdc.tx.start(start);  // both spaces begin alike [PDS-031]
  pdc.rx.start(start, config_.tracked_packets());
  pdc.life.change(pending ? PdcEvent::start_needed : PdcEvent::opened);
  pdc.sdi = in.sdi();
  pdc.mode = in.mode;
  pdc.peer = peer;
  pdc.peer_id = in.spdcid;
  pdc.sweep.start(start);
  pdc.rx_next = start;
  pdc.highest_arrived = pdc.cleared = start - 1;
  pdc.range.start(start, config_.default_mpr);
  pdc.last_active = now;
  peers_.add_ref(peer);
  table_.bind_peer(pdc);
  lru_[0].push_back(pdc);
  arm_by(pdc, now + config_.idle_time);
  pdc.confirmed = is_proven;
  if (!is_proven) {
    ++half_open_;
    peers_.count_half_open(peer, 1);
    pdc.tail.opaque = static_cast<uint16_t>(random_.u32());  // no forger knows it
  }
  if (!pdc.is_reserved) {
    peers_.count_target(peer, 1);
    shares_.take(pdc.sdi, pdc.job);
  }
  counters_.add(Count::pdc_opened_target);
  if (pending) {
    pdc.close_at = now + config_.new_pdc_time;
    arm_by(pdc, pdc.close_at);
  }
}

// A late duplicate of something that was answered before the PDC closed. [PDS-176]
void Core::answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now) {
  counters_.add(Count::tombstone_hits);
  const bool is_new = in.psn().after(t.close_psn);
  if (is_new || t.is_doubtful) {
    if (!take_nack_token(&peers_[t.peer], now)) return;  // [PDS-072]
    // Only a request could be new here, and it was not executed. [PDS-T16]
    wire::Nack h;
    h.nack_code = is_new ? wire::NackCode::closing : wire::NackCode::gtd_resp_unavail;
    h.nack_psn = in.psn();
    h.retx = in.trigger.retx;
    h.m = in.trigger.ce;
    h.spdcid = t.id;
    h.dpdcid = t.peer_id;
    h.payload = (t.close_psn + 1).value();
    return queue_nack(h, peers_[t.peer].address, in.trigger.ev, in.sdi());
  }
  wire::Ack h;
  h.retx = in.trigger.retx;
  h.m = in.trigger.ce;
  h.spdcid = t.id;
  h.dpdcid = t.peer_id;
  h.cack_psn = t.close_psn;
  const int32_t offset = in.psn() - t.close_psn;
  h.ack_psn_offset = offset < -32768 ? int16_t{0} : static_cast<int16_t>(offset);
  queue_ack(h, peers_[t.peer].address, in.trigger.ev, in.sdi());
}

// ACKs and NACKs: a PDC of ours, from the peer it belongs to. They are dropped without an answer
// otherwise. [PDS-V6, PDS-V7, PDS-073, PDS-115]
Pdc* Core::look_up_answered(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d) {
  Pdc* const pdc = table_.find(dpdcid);
  if (pdc == nullptr) {
    counters_.add(Count::drop_no_pdc);
    return nullptr;
  }
  if (!is_from(d, peers_[pdc->peer])) {
    counters_.add(Count::drop_bad_peer);
    return nullptr;
  }
  // Only the peer that we mean can seal for our domain. [PDS-V8, PDS-054]
  const bool believed = config_.plain_new_start_psn && is_nack && d.sdi == 0;
  if (pdc->sdi != d.sdi && !believed) {
    counters_.add(Count::drop_sdi);
    return nullptr;
  }
  const bool learns = pdc->state() == PdcState::syn;
  const bool matches = pdc->peer_id == spdcid || (is_nack && spdcid == Pdcid{});
  if (!learns && !matches) {
    counters_.add(Count::drop_bad_pdcid);
    return nullptr;
  }
  return pdc;
}

}  // namespace uet::pds
