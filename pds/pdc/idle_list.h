// When each PDC was last used, and which ones have been idle the longest. [PDS-181]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/pdc/peer_table.h"

namespace uet::pds {

class IdleList {
 public:
  explicit IdleList(PeerTable& peers) : peers_(peers) {}

  void add(Pdc& pdc) { lru_[pdc.is_initiator()].push_back(pdc); }
  // PDCs of one role, the longest idle first.
  IntrusiveList<Pdc, LruTag>& of(bool is_initiator) { return lru_[is_initiator]; }
  // A packet of the PDC has passed, either way.
  void touch(Pdc& pdc, Instant now);
  // The packet has proven that its sender is the peer: the peer lives. [PDS-256]
  void heard(const Pdc& pdc, Instant now);

 private:
  PeerTable& peers_;
  IntrusiveList<Pdc, LruTag> lru_[2];  // by role: targets, initiators; longest idle first
};

}  // namespace uet::pds
