// ROD packets that arrived before their turn, with their octets. [PDS-079]
#pragma once

#include "pds/block_pool.h"
#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

namespace uet::pds {

class ReorderBuffer {
 public:
  explicit ReorderBuffer(Resources& res) : res_(res) {}

  Result<void> create(Arena& arena);
  uint32_t size() const { return packets_.size(); }
  // Keeps the packet at its place in the PDC's list. False: no room, or the room is reserved for
  // other peers.
  bool keep(Pdc& pdc, const Inbound& in);
  // A packet of the PDC.
  void free(Pdc& pdc, ReorderedPacket& packet);

 private:
  bool is_within_limits(const Pdc& pdc) const;

  Resources& res_;
  Slab<ReorderedPacket> packets_;
  BlockPool octets_;
};

}  // namespace uet::pds
