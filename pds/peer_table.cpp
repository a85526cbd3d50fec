// Chunks of peers that never move, a hash by address, and a list of those nobody refers to.
#include "pds/peer_table.h"

#include <new>

namespace uet::pds {

Result<void> PeerTable::create(Arena& arena, uint32_t capacity, uint64_t hash_seed) {
  if (capacity == 0) return Errc::invalid;
  UET_CHECK(by_address_.create(arena, capacity, hash_seed));
  return add_chunk(arena, capacity);
}

Result<void> PeerTable::grow(Arena& arena, uint32_t extra) {
  if (extra == 0) return {};
  if (chunk_count_ == kChunks) return Errc::no_memory;
  // At least doubling bounds both the number of chunks and what the hash leaves behind.
  const uint32_t count = extra > capacity_ ? extra : capacity_;
  UET_CHECK(by_address_.grow(arena, count));
  return add_chunk(arena, count);
}

Result<void> PeerTable::add_chunk(Arena& arena, uint32_t count) {
  auto* const memory = static_cast<Peer*>(arena.allocate(sizeof(Peer) * count, alignof(Peer)));
  if (memory == nullptr) return Errc::no_memory;
  chunks_[chunk_count_++] = {memory, capacity_, count};
  capacity_ += count;
  return {};
}

Result<PeerId> PeerTable::find_or_add(const FabricAddress& address, Instant now) {
  PeerId id;
  if (find(address, id) != nullptr) return id;
  Peer* peer = nullptr;
  if (size_ < capacity_) {
    id = PeerId(size_);
    const Chunk& c = chunks_[chunk_count_ - 1];
    // Earlier chunks fill up first.
    Peer* slot = nullptr;
    if (size_ >= c.first) {
      slot = &c.peers[size_ - c.first];
    } else {
      for (uint32_t i = 0; i < chunk_count_; ++i) {
        const Chunk& e = chunks_[i];
        if (size_ - e.first < e.count) slot = &e.peers[size_ - e.first];
      }
    }
    UET_ASSERT(slot != nullptr);
    peer = new (slot) Peer;
    ++size_;
  } else {
    peer = spare_.pop_front();
    if (peer == nullptr) return Errc::again;
    const PeerId* const old = by_address_.find(peer->address);
    UET_ASSERT(old != nullptr);
    id = *old;
    by_address_.erase(peer->address);
    peer->~Peer();
    peer = new (peer) Peer;
  }
  peer->address = address;
  peer->private_mark = address.port != kUetPort;
  peer->nacks = peer->connectionless = TokenBucket(now);
  spare_.push_back(*peer);
  const auto inserted = by_address_.insert(address, id);
  UET_ASSERT(inserted.ok());
  return id;
}

Peer* PeerTable::find(const FabricAddress& address, PeerId& id) {
  const PeerId* const found = by_address_.find(address);
  if (found == nullptr) return nullptr;
  id = *found;
  return &at(id);
}

void PeerTable::add_ref(PeerId id) {
  Peer& peer = at(id);
  if (peer.refs++ == 0) spare_.erase(peer);
}

void PeerTable::drop_ref(PeerId id) {
  Peer& peer = at(id);
  UET_ASSERT(peer.refs > 0);
  if (--peer.refs == 0) spare_.push_back(peer);
}

}  // namespace uet::pds
