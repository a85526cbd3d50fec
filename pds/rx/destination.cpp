// Demands of credit in, Credit CPs out. [cms.md 5.3]
#include "pds/rx/destination.h"

#include <algorithm>

namespace uet::pds {

namespace {
cms::CreditKey key_of(const Pdc& pdc, uint8_t ccc_id) { return {pdc.peer.value(), ccc_id}; }
}  // namespace

Result<void> Destination::create(Arena& arena) {
  const cms::Config& cms = res_.cms;
  if (cms.pressure_high_bytes != 0) {
    if (cms.pressure_low_bytes >= cms.pressure_high_bytes) return Errc::invalid;
    pressure_.emplace(cms.pressure_low_bytes, cms.pressure_high_bytes, cms.base_rtt);
  }
  // Cells are granted in ACK_CC: without it none would ever be granted again. [CMS-146]
  if (res_.cells.is_on() && res_.config.ack_form != AckForm::cc) return Errc::invalid;
  if (!cms.has_credit()) return {};
  pacer_.emplace();
  cms::CreditRoom room;
  const uint32_t most = res_.config.credit_sources;
  room.sources = {std::min(most, 64U), most};
  room.contexts = {std::min(most, 64U), std::max(most, 2 * most)};
  return pacer_->create(arena, cms, room, res_.randomness.u64());
}

bool Destination::on_demand(Pdc& pdc, const wire::CreditRequest& demand, cms::AskedBy by,
                            Instant now) {
  res_.counters.add(Count::credit_request_rx);
  if (!pacer_) {
    res_.counters.add(Count::creq_unused);
    return true;
  }
  const cms::Asker asker{pdc.handle.value(), !pdc.is_unverified()};
  const auto news =
      pacer_->on_demand(key_of(pdc, demand.ccc_id), demand.credit_target, by, now, asker);
  note_due(now);
  switch (news) {
    case cms::DemandNews::no_room:
      res_.counters.add(Count::creq_drop);
      // The first packets of an unproven source go without credit, and refused it could never prove
      // its address. [T-34, PDS-252]
      return pdc.is_unverified();
    case cms::DemandNews::forged:
      res_.counters.add(Count::creq_unproven);
      return true;
    case cms::DemandNews::clamped:
      res_.counters.add(Count::creq_clamped);
      break;
    case cms::DemandNews::old:
      res_.counters.add(Count::creq_old);
      break;
    case cms::DemandNews::taken:
      break;
  }
  pdc.told.note_ccc(demand.ccc_id);
  return true;
}

void Destination::on_received(const Pdc& pdc, const Inbound& in, cms::Received e) {
  if (!pacer_ || !in.has_cc) return;
  e.bytes = in.nominal_bytes;
  e.ce = in.trigger.ce;
  e.at = in.arrival;
  pacer_->on_received(key_of(pdc, in.credit.ccc_id), e);
  note_due(e.at);
}

// 0: nothing is known of its context.
uint32_t Destination::granted(const Pdc& pdc) {
  if (res_.cells.is_on()) return res_.cells.credit(pdc);
  if (!pacer_ || !pdc.told.knows_ccc()) return 0;
  return pacer_->granted(key_of(pdc, pdc.told.ccc_id())).value_or(0);
}

// The PDC that asked may be gone: then the grant is lost like a packet, and the context waits no
// more. Its source asks again. [CMS-129]
DueGrant Destination::next_grant(Instant now) {
  if (!pacer_) return {};
  while (const auto grant = pacer_->next_grant(now)) {
    Pdc* const pdc = table_.get(PdcHandle(grant->via));
    if (pdc == nullptr || pdc->peer.value() != grant->key.peer || pdc->life.has_failed()) {
      pacer_->withdraw(grant->key);
      res_.counters.add(Count::credit_no_pdc);
      continue;
    }
    DueGrant due;
    due.pdc = pdc;
    due.key = grant->key;
    due.header.ctl_type = wire::CtlType::credit;
    due.header.isrod = pdc->mode == Mode::rod;
    due.header.spdcid = pdc->id;
    due.header.dpdcid = pdc->peer_id;
    due.header.payload = wire::pack_credit(grant->credit);
    return due;
  }
  return {};
}

// The same when the source is unproven and has no octets left. [CMS-129]
void Destination::note_sent(const DueGrant& grant, bool is_sent) {
  res_.counters.add(is_sent ? Count::credit_tx : Count::credit_unproven);
  if (!is_sent) pacer_->withdraw(grant.key);
}

}  // namespace uet::pds
