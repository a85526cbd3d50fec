// Old values of atomics on their way back, which the memory they came from does not hold any more.
// Peers have shares of the room for them. [T-02, T-39]
#pragma once

#include "pds/pdc/peer_table.h"
#include "pds/share.h"

#include "base/arena.h"
#include "base/result.h"
#include "base/serial.h"
#include "base/slab.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::ses {

struct FetchBuffer {
  static constexpr uint32_t kBytes = 1024;
  std::array<std::byte, kBytes> bytes;
};

class FetchBuffers {
 public:
  explicit FetchBuffers(pds::PeerTable& peers) : peers_(peers) {}
  Result<void> create(Arena& arena, uint32_t count) { return buffers_.create(arena, count); }

  // A buffer for an answer to that peer; the caller holds a reference to the peer. Null: no buffer
  // is free, or the rest is reserved for other peers.
  FetchBuffer* take(PeerId id) {
    pds::Peer& peer = peers_[id];
    pds::Host& host = peers_.host_of(peer);
    const uint32_t free = buffers_.capacity() - buffers_.size();
    if (!pds::is_within_shares(peer.fetches, host.fetches, 1, free, buffers_.capacity())) {
      return nullptr;
    }
    FetchBuffer* const buffer = buffers_.alloc();
    if (buffer == nullptr) return nullptr;
    ++peer.fetches;
    ++host.fetches;
    return buffer;
  }
  // Returns a buffer that was taken for that peer.
  void give_back(PeerId id, FetchBuffer& buffer) {
    pds::Peer& peer = peers_[id];
    --peer.fetches;
    --peers_.host_of(peer).fetches;
    buffers_.free(&buffer);
  }

 private:
  pds::PeerTable& peers_;
  Slab<FetchBuffer> buffers_;
};

}  // namespace uet::ses
