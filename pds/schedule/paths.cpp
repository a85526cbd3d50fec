// Paths: found or made, given back when nobody uses them. [PDS-247]
#include "pds/schedule/paths.h"

#include <algorithm>

namespace uet::pds {

namespace {
// The longest SES header before the payload; for asking CMS about a packet not yet pulled.
constexpr uint32_t kSesHeaderBytes = 44;
}  // namespace

// In a control packet, or in an ACK. [PDS 13, PDS 19.3, T-33]
void Paths::on_credit(Pdc& pdc, uint32_t credit, Instant now) {
  switch (pdc.path->ccc.on_credit({credit, now})) {
    case cms::CreditNews::old:
      return res_.counters.add(Count::credit_old);
    case cms::CreditNews::clamped:
      res_.counters.add(Count::credit_clamped);
      break;
    case cms::CreditNews::taken:
      break;
  }
  schedule_.wake_path(*pdc.path);
}

// In a control packet, or in the head of a request. [PDS 13, PDS 19.3, T-34]
void Paths::on_credit_request(Pdc& pdc, const wire::CreditRequest& h, Instant now) {
  res_.counters.add(Count::credit_request_rx);
  cms::CreditDemands*& demands = pdc.path->demands;
  if (demands == nullptr) demands = demands_.alloc(uint64_t{res_.cms.window_bytes_max});
  const bool is_taken = demands != nullptr && demands->on_request({h.ccc_id, h.credit_target, now});
  if (!is_taken) res_.counters.add(Count::creq_drop);
}

Result<void> Paths::create(Arena& arena, Room room) {
  UET_CHECK(slab_.create(arena, room));
  UET_CHECK(by_key_.create(arena, room, res_.randomness.u64()));
  return demands_.create(arena, res_.config.credit_sources);
}

Path* Paths::take(PathKey key) {
  if (Path* const* const found = by_key_.find(key)) {
    ++(*found)->refs;
    return *found;
  }
  cms::Config cms = res_.cms;
  const uint32_t payload = res_.peers[key.peer].payload_toward(res_.config.payload_mtu);
  cms.mtu_bytes += payload - res_.config.payload_mtu;  // either may be the larger one
  Path* const made = slab_.alloc(key, cms, res_.rng);
  if (made == nullptr) return nullptr;
  if (!by_key_.insert(key, made).ok()) {
    slab_.free(made);
    return nullptr;
  }
  Peer& peer = res_.peers[key.peer];
  made->next_of_peer = peer.first_path;
  peer.first_path = made;
  if (peer.base_rtt_ns != 0) made->ccc.note_base_rtt(Duration::nanoseconds(peer.base_rtt_ns));
  made->refs = 1;
  made->packet_bytes_max = cms::nominal_bytes(wire::Request::kSize + kSesHeaderBytes + payload);
  return made;
}

void Paths::drop(Path& path) {
  UET_ASSERT(path.refs > 0);
  if (--path.refs > 0) return;
  UET_ASSERT(path.ccc.inflight_bytes() == 0);
  Peer& peer = res_.peers[path.key.peer];
  if (const cms::Nscc* const nscc = path.ccc.nscc(); nscc != nullptr && path.has_base_rtt) {
    peer.base_rtt_ns = static_cast<uint32_t>(nscc->base_rtt().ns());
  }
  Path** link = &peer.first_path;
  while (*link != &path) link = &(*link)->next_of_peer;
  *link = path.next_of_peer;
  schedule_.cancel(path);
  if (path.demands != nullptr) demands_.free(path.demands);
  by_key_.erase(path.key);
  slab_.free(&path);
}

}  // namespace uet::pds
