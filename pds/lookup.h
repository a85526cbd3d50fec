// Finds the PDC of a packet, and holds the packet against what the PDC is bound to. [PDS 7.1 V6,
// V7]
#pragma once

#include "pds/door/door.h"
#include "pds/door/replies.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

#include <span>

namespace uet::pds {

// All packet types that have a DPDCID have it at the same offset.
inline constexpr size_t kDpdcidAt = 10;
inline bool has_dpdcid(std::span<const std::byte> datagram) {
  return datagram.size() >= kDpdcidAt + 2;
}
inline Pdcid dpdcid_of(std::span<const std::byte> datagram) {
  return Pdcid(wire::load_u16(datagram.data() + kDpdcidAt));
}

class Lookup {
 public:
  Lookup(Resources& res, PdcTable& table, Replies& replies, Door& door)
      : res_(res), table_(table), replies_(replies), door_(door) {}

  // Of a request or control packet; a SYN may open one. Null: the packet was answered or dropped.
  Pdc* of(const Inbound& in, Instant now);
  // Of an ACK or a NACK, which must come from the peer of that PDC. Null: it was dropped without an
  // answer.
  Pdc* of_answer(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d);
  // The PDC has learnt the PDCID of its peer. Without memory a SYN of the peer by that id is not
  // known to be wrong, and opens a PDC.
  void learn_peer_id(Pdc& pdc) { (void)table_.bind_peer(pdc); }

  // The PDC that the datagram is most likely for; nothing has been checked yet.
  Pdc* pdc_ahead(std::span<const std::byte> datagram) const;
  // Of the PDC that the datagram is for: prefetches the entry of the table, the PDC, and the memory
  // that the PDC points to.
  void prefetch_id(std::span<const std::byte> datagram) const;
  void prefetch_pdc(std::span<const std::byte> datagram) const;
  void prefetch_rest(const Pdc& pdc) const;

 private:
  void refuse_binding(const Pdc& pdc, const Inbound& in, Instant now);

  Resources& res_;
  PdcTable& table_;
  Replies& replies_;
  Door& door_;
};

}  // namespace uet::pds
