// The place of a ROD packet in the list of its PDC. [PDS-079]
#include "pds/rx/reorder_buffer.h"

#include "pds/share.h"

#include <cstring>

namespace uet::pds {

Result<void> ReorderBuffer::create(Arena& arena) {
  const Config& config = res_.config;
  UET_CHECK(packets_.create(arena, config.reorder_packets));
  octets_.create(arena, config.reorder_packets, config.reorder_packet_bytes);
  return {};
}

// A PDC that alone holds packets back leaves an eighth free; with several, the shares of peer and
// host apply. Packets of unproven sources count for no peer, and leave a quarter free. [PDS-255,
// T-01, T-02]
bool ReorderBuffer::is_within_limits(const Pdc& pdc) const {
  const uint32_t all = packets_.capacity();
  const uint32_t free = all - packets_.size();
  if (pdc.is_unverified()) return leaves_reserve(1, free, all);
  const Peer& peer = res_.peers[pdc.peer];
  if (peer.reordered == packets_.size()) return 1 + all / 8 <= free;
  return is_within_shares(peer.reordered, res_.peers.host_of(peer).reordered, 1, free, all);
}

bool ReorderBuffer::keep(Pdc& pdc, const Inbound& in) {
  const bool may = is_within_limits(pdc) && in.ses.size() <= res_.config.reorder_packet_bytes;
  void* const block = may ? octets_.take() : nullptr;
  if (block == nullptr) return false;
  ReorderedPacket* const packet = packets_.alloc();
  UET_ASSERT(packet != nullptr);  // as many as there are blocks
  packet->trigger = in.trigger;
  packet->ar = in.ar;
  packet->next_hdr = in.next_hdr;
  packet->length = static_cast<uint32_t>(in.ses.size());
  packet->nominal_bytes = in.nominal_bytes;
  packet->arrival = in.arrival;
  packet->octets = static_cast<std::byte*>(block);
  if (packet->length > 0) std::memcpy(packet->octets, in.ses.data(), packet->length);
  pdc.order.keep(*packet);
  packet->is_counted = !pdc.is_unverified();
  if (packet->is_counted) res_.peers.count_reordered(pdc.peer, 1);
  return true;
}

void ReorderBuffer::free(Pdc& pdc, ReorderedPacket& packet) {
  if (packet.is_counted) res_.peers.count_reordered(pdc.peer, -1);
  octets_.give(packet.octets);
  packets_.free(&packet);
}

}  // namespace uet::pds
