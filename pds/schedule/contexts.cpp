// Contexts: found or made, freed when the last user leaves. [PDS-247]
#include "pds/schedule/contexts.h"

#include <bitset>

namespace uet::pds {

namespace {
// The longest SES header before the payload; for asking CMS about a packet not yet pulled.
constexpr uint32_t kSesHeaderBytes = 44;
}  // namespace

Result<void> Contexts::create(Arena& arena, Room room) {
  UET_CHECK(slab_.create(arena, room));
  single_seed_ = res_.randomness.u64();
  return by_key_.create(arena, room, res_.randomness.u64());
}

// Numbers are given out in turn, so that none is reused soon: the peer may remember the grants to
// the last context with that number. Cost: the contexts toward that peer. [CMS-006, CMS-119]
Result<uint8_t> Contexts::take_ccc_id(Peer& peer) const {
  std::bitset<kCccIds> used;
  for (const Context* context = peer.first_context; context != nullptr;
       context = context->next_of_peer) {
    used.set(context->ccc_id);
  }
  if (used.all()) return Errc::again;
  while (used[peer.next_ccc_id]) ++peer.next_ccc_id;
  return peer.next_ccc_id++;
}

Context* Contexts::take(ContextKey key) {
  if (Context* const* const found = by_key_.find(key)) {
    ++(*found)->refs;
    return *found;
  }
  cms::Config cms = res_.cms;
  const uint32_t payload = res_.peers[key.peer].payload_toward(res_.config.payload_mtu);
  cms.mtu_bytes += payload - res_.config.payload_mtu;  // either may be the larger one
  Peer& peer = res_.peers[key.peer];
  uint8_t ccc_id = 0;
  if (cms.has_credit()) {
    const Result<uint8_t> free = take_ccc_id(peer);
    if (!free.ok()) return nullptr;
    ccc_id = *free;
  }
  Context* const made = slab_.alloc(key, cms, single_number(key), res_.rng, senders_);
  if (made == nullptr) return nullptr;
  if (!by_key_.insert(key, made).ok()) {
    slab_.free(made);
    return nullptr;
  }
  made->ccc_id = ccc_id;
  made->limits.room_bytes = peer.room();
  made->next_of_peer = peer.first_context;
  peer.first_context = made;
  made->refs = 1;
  const uint32_t seal = res_.config.has_domains ? res_.config.seal_bytes : 0;
  const uint32_t header = cms.has_credit() ? wire::Request::kSizeCc : wire::Request::kSize;
  made->limits.packet_bytes_max = cms::nominal_bytes(header + kSesHeaderBytes + payload + seal);
  return made;
}

void Contexts::drop(Context& context) {
  UET_ASSERT(context.refs > 0);
  if (--context.refs > 0) return;
  UET_ASSERT(context.ccc.inflight_bytes() == 0);
  Peer& peer = res_.peers[context.key.peer];
  context.remember_base_rtt(peer);
  Context** link = &peer.first_context;
  while (*link != &context) link = &(*link)->next_of_peer;
  *link = context.next_of_peer;
  schedule_.cancel(context);
  by_key_.erase(context.key);
  slab_.free(&context);
}

}  // namespace uet::pds
