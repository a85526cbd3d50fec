// Start_PSNs of secured PDCs at either end. [PDS 4.2, PDS-V8]
#include "pds/door/secure_psn.h"

#include <algorithm>

namespace uet::pds {

// Start of a new target PDC; `pending` when the initiator must learn it first. In the method with
// floors, the start of a source without a floor is accepted, with two exceptions. After a floor was
// forgotten none is accepted: a later floor may lie below PSNs that the source used before, and
// recorded packets would be accepted. Nor is a source accepted if not all PSNs that it has used lie
// below its floor. [PDS-T2, PDS-053]
Psn SecurePsn::secure_start(const Inbound& in, PeerId peer, bool& pending) {
  pending = false;
  if (in.sdi() == 0) return in.start_psn;
  if (known_.has_forgotten_floor() || res_.config.start_method == StartMethod::random_1rtt) {
    pending = true;
    return Psn(res_.randomness.u32());
  }
  const KnownStart* const floor = known_.find({res_.peers[peer].address, in.sdi(), true});
  if (floor != nullptr && floor->is_spent()) {
    pending = true;
    return Psn(res_.randomness.u32());
  }
  pending = floor != nullptr && in.start_psn.before(floor->psn);
  return pending ? floor->psn : in.start_psn;
}

// At the end of a PDC: nothing that was sent on it may open the next one. [PDS-053]
Psn SecurePsn::raise_floor(const Pdc& pdc) {
  const Psn received = pdc.rx.max_received();
  const Psn sent = pdc.tx.next() - 1;
  const Psn floor = (sent.after(received) ? sent : received) + 1;
  const uint32_t used = pdc.start.is_long()
                            ? KnownStart::kUsedMax
                            : static_cast<uint32_t>(std::max(floor - pdc.start.psn(), 0));
  known_.raise({res_.peers[pdc.peer].address, pdc.sdi, true}, floor,
               std::min(used, KnownStart::kUsedMax));
  return floor;
}

// The start that the target sent before, else a low random one. [PDS-050]
Psn SecurePsn::initial_start(const Pdc& made, PeerId peer, uint32_t sdi, const PdcTable& table) {
  if (sdi == 0) return made.start.psn();
  const KnownStart* const told = known_.find({res_.peers[peer].address, sdi, false});
  return told != nullptr ? told->psn : table.draw_low_start(made.id, res_.randomness);
}

// The closing ACK says where the next PDC may begin. [PDS-053]
void SecurePsn::learn_start(const Pdc& pdc, const wire::Ack& ack) {
  if (pdc.sdi != 0 && ack.has_expected_psn()) {
    known_.raise({res_.peers[pdc.peer].address, pdc.sdi, false}, ack.expected_start_psn);
  }
}

}  // namespace uet::pds
