// ROD packets that arrived before their turn, with their octets. [PDS-079]
#pragma once

#include "pds/block_pool.h"
#include "pds/config.h"
#include "pds/pdc/pdc.h"
#include "pds/rx/inbound.h"

namespace uet::pds {

class ReorderBuffer {
 public:
  Result<void> create(Arena& arena, const Config& config);
  uint32_t size() const { return packets_.size(); }
  // Keeps the packet at its place in the PDC's list. False: no room.
  bool keep(Pdc& pdc, const Inbound& in, uint32_t bytes_max);
  void free(ReorderedPacket& packet);

 private:
  Slab<ReorderedPacket> packets_;
  BlockPool octets_;
};

}  // namespace uet::pds
