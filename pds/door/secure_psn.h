// Chooses the Start_PSN of secured PDCs, at either end. The target decides, so that no recorded
// packet opens a PDC again. SecureStarts keeps the state. Packets are sealed and verified below;
// here a packet carries the domain it was verified under. [PDS 4.2]
#pragma once

#include "pds/door/secure_start.h"
#include "pds/pdc/pdc.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

#include "wire/pds.h"

namespace uet::pds {

class SecurePsn {
 public:
  explicit SecurePsn(Resources& res) : res_(res) {}

  Result<void> create(Arena& arena) {
    return known_.create(arena, res_.config.secure_starts, res_.randomness.u64());
  }
  // Target: where a new PDC begins; `pending`: the initiator must learn it first.
  Psn secure_start(const Inbound& in, PeerId peer, bool& pending);
  // Target: nothing that was sent on the PDC may open the next one. [PDS-053]
  Psn raise_floor(const Pdc& pdc);
  // Initiator: where a PDC begins that the table has just made. A secured PDC begins at the value
  // that the target sent before, else at PdcTable::draw_low_start(); a PDC in the clear at the
  // Start_PSN that it was made with. [PDS-050]
  Psn initial_start(const Pdc& made, PeerId peer, uint32_t sdi, const PdcTable& table);
  // Initiator: the closing ACK says where the next PDC may begin. [PDS-053]
  void learn_start(const Pdc& pdc, const wire::Ack& ack);

 private:
  Resources& res_;
  SecureStarts known_;
};

}  // namespace uet::pds
