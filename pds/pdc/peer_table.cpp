// A pool of peers, a hash by address, and a list of those without a reference.
#include "pds/pdc/peer_table.h"

namespace uet::pds {

Result<void> PeerTable::create(Arena& arena, const PeerLimits& limits, uint64_t hash_seed) {
  if (limits.first == 0 || limits.first > limits.most || limits.spare == 0) return Errc::invalid;
  spare_most_ = limits.spare;
  const Room room{limits.first, limits.most};
  UET_CHECK(by_address_.create(arena, room, hash_seed));
  UET_CHECK(hosts_.create(arena, room, hash_seed));
  return peers_.create(arena, room, Reuse::late);
}

Result<PeerId> PeerTable::find_or_add(const FabricAddress& address, Instant now) {
  PeerId id;
  if (find(address, id) != nullptr) return id;
  if (spare_count_ >= spare_most_) drop_longest_spare();
  Peer* peer = peers_.alloc();
  if (peer == nullptr && drop_longest_spare()) peer = peers_.alloc();
  if (peer == nullptr) return Errc::again;
  const auto host = hosts_.join(address);
  id = id_of(*peer);
  if (!host || !by_address_.insert(address, id).ok()) {
    if (host) hosts_.leave(*host);
    peers_.free(peer);
    return Errc::again;
  }
  peer->host = *host;
  peer->address = address;
  peer->private_mark = address.port != kUetPort;
  peer->nacks = peer->connectionless = TokenBucket(now);
  spare_.push_back(*peer);
  ++spare_count_;
  return id;
}

// Replaces the oldest spare peer, whose record is lost. False: all peers have references.
bool PeerTable::drop_longest_spare() {
  Peer* const peer = spare_.pop_front();
  if (peer == nullptr) return false;
  --spare_count_;
  by_address_.erase(peer->address);
  hosts_.leave(peer->host);
  peers_.free(peer);
  return true;
}

Peer* PeerTable::find(const FabricAddress& address, PeerId& id) {
  const PeerId* const found = by_address_.find(address);
  if (found == nullptr) return nullptr;
  id = *found;
  return &(*this)[id];
}

void PeerTable::count_target(PeerId id, int change) {
  Peer& peer = (*this)[id];
  peer.targets = static_cast<uint16_t>(peer.targets + change);
  host_of(peer).targets += static_cast<uint32_t>(change);
}

void PeerTable::count_half_open(PeerId id, int change) {
  Peer& peer = (*this)[id];
  peer.half_open = static_cast<uint16_t>(peer.half_open + change);
  host_of(peer).half_open += static_cast<uint32_t>(change);
}

void PeerTable::count_responses(PeerId id, int change) {
  Peer& peer = (*this)[id];
  peer.responses += static_cast<uint32_t>(change);
  host_of(peer).responses += static_cast<uint32_t>(change);
}

void PeerTable::count_reordered(PeerId id, int change) {
  Peer& peer = (*this)[id];
  peer.reordered += static_cast<uint32_t>(change);
  host_of(peer).reordered += static_cast<uint32_t>(change);
}

void PeerTable::add_ref(PeerId id) {
  Peer& peer = (*this)[id];
  if (peer.refs++ != 0) return;
  spare_.erase(peer);
  --spare_count_;
}

void PeerTable::drop_ref(PeerId id) {
  Peer& peer = (*this)[id];
  UET_ASSERT(peer.refs > 0);
  if (--peer.refs != 0) return;
  spare_.push_back(peer);
  ++spare_count_;
}

}  // namespace uet::pds
