// Handles a route that now carries shorter packets only. Longer packets under way never arrive,
// however often they are sent again, so their messages end at once and not after a minute of
// silence. Later messages use the smaller payload. [PDS-250]
#include "pds/pdc/path_reports.h"

#include "cms/events.h"

#include <algorithm>

namespace uet::pds {

namespace {

// Calls fn(psn, slot) for every packet that must still arrive and is too long.
template <class Fn>
void for_each_too_long(Pdc& pdc, const PathLimit& limit, Fn&& fn) {
  // The limit is of the sealed packet.
  const uint32_t nominal_max = cms::nominal_bytes(limit.datagram_bytes);
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    const bool is_needed =
        slot.kind == SlotKind::data && !slot.state.is_answered() && !slot.state.has_arrived();
    if (is_needed && slot.bytes > nominal_max) fn(p, slot);
  }
}

}  // namespace

void PathReports::on_unreachable(const FabricAddress& address, Instant now) {
  PeerId id;
  Peer* const peer = res_.peers.find(address, id);
  if (peer == nullptr) return;
  res_.counters.add(Count::unreachable_reports);
  // A series ends when a packet of the peer arrives, or when no send failed for a while.
  const bool is_first = peer->unreachable_since.is_never() ||
                        now - peer->unreachable_last >= res_.config.unreachable_time;
  if (is_first) peer->unreachable_since = now;
  peer->unreachable_last = now;
}

// A report about no packet under way is a mistake or a forgery and changes nothing. Packets that
// can go again as short ones do so now, under the same PSNs, and their PDC closes in order: other
// messages on it continue, and the peer drops its part of the ended ones. If one of the packets
// cannot be shortened, the PDC fails together with that packet's neighbours, which are not too
// long; the peer is alive and may hold state, so it gets a Close. [PDS-250]
std::optional<PathChange> PathReports::on_path_limit(const FabricAddress& to, PathLimit limit,
                                                     Instant now) {
  PeerId id;
  Peer* const peer = res_.peers.find(to, id);
  if (peer == nullptr) return {};
  res_.counters.add(Count::path_reports);
  bool is_concerned = connectionless_.has_too_long(id, limit, now);
  table_.for_each([&](Pdc& pdc) {
    if (is_concerned || pdc.peer != id) return;
    for_each_too_long(pdc, limit, [&](Psn, TxSlot&) { is_concerned = true; });
  });
  if (!is_concerned) {
    res_.counters.add(Count::path_reports_ignored);
    return {};
  }
  const uint32_t before = peer->payload_toward(res_.config.payload_mtu);
  const uint32_t after = std::min(before, limit.payload);
  if (after < before) {
    res_.counters.add(Count::path_lowered);
    peer->lower_payload(after);
  }
  res_.peers.add_ref(id);  // what fails below may be all that kept it
  table_.for_each([&](Pdc& pdc) {
    if (pdc.peer != id) return;
    bool is_cut = false;
    bool is_lost = false;
    for_each_too_long(pdc, limit, [&](Psn psn, TxSlot& slot) {
      if (!res_.client.shorten(slot.ref)) {
        is_lost = true;
        return loss_.give_up(pdc, psn, slot, {.reason = FailureReason::too_long}, now);
      }
      is_cut = true;
      loss_.forget(pdc, slot);  // no congestion lost it
      loss_.mark_lost(pdc, psn, slot, cms::LossKind::inferred, Count::retx_too_long, now);
    });
    if (is_cut) schedule_.wake_context(*pdc.context);
    if (is_lost) {
      ending_.fail(pdc, {.reason = FailureReason::closed}, Count::pdc_closed_too_long,
                   Notice::close, now);
    } else if (is_cut && pdc.is_initiator()) {
      closing_.begin_close(pdc);
    }
  });
  connectionless_.end_too_long(id, limit, now);
  res_.peers.drop_ref(id);
  return PathChange{id, before, after};
}

}  // namespace uet::pds
