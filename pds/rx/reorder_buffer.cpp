// The place of a ROD packet in the list of its PDC. [PDS-079]
#include "pds/rx/reorder_buffer.h"

#include <cstring>

namespace uet::pds {

Result<void> ReorderBuffer::create(Arena& arena, const Config& config) {
  UET_CHECK(packets_.create(arena, config.reorder_packets));
  octets_.create(arena, config.reorder_packets, config.reorder_packet_bytes);
  return {};
}

bool ReorderBuffer::keep(Pdc& pdc, const Inbound& in, uint32_t bytes_max) {
  void* const block = in.ses.size() <= bytes_max ? octets_.take() : nullptr;
  if (block == nullptr) return false;
  ReorderedPacket* const packet = packets_.alloc();
  UET_ASSERT(packet != nullptr);  // as many as there are blocks
  packet->trigger = in.trigger;
  packet->ar = in.ar;
  packet->next_hdr = in.next_hdr;
  packet->length = static_cast<uint32_t>(in.ses.size());
  packet->arrival = in.arrival;
  packet->octets = static_cast<std::byte*>(block);
  if (packet->length > 0) std::memcpy(packet->octets, in.ses.data(), packet->length);
  pdc.order.keep(*packet);
  return true;
}

void ReorderBuffer::free(ReorderedPacket& packet) {
  octets_.give(packet.octets);
  packets_.free(&packet);
}

}  // namespace uet::pds
