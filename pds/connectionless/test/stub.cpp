// The modes without PDCs, as the tests of other parts see them.
#include "pds/connectionless/connectionless.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::note;

Result<void> Connectionless::adopt(Flow&) {
  note("adopt");
  return {};
}
void Connectionless::transmit(TxBatch&, Instant) { note("connectionless"); }
void Rudi::leave(Flow&) { note("leave"); }
bool Rudi::has_too_long(PeerId, const PathLimit&) { return false; }
void Rudi::end_too_long(PeerId, const PathLimit&, Instant) { note("end_too_long"); }
bool RudiTarget::has_too_long(PeerId, const PathLimit&, Instant) const { return false; }

}  // namespace uet::pds
