// The modes without PDCs, as the tests of other parts see them.
#include "pds/connectionless/connectionless.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::answers;
using part::note;

Result<void> Connectionless::adopt(Flow&) {
  note("adopt");
  return {};
}
std::optional<Connectionless::Refusal> Connectionless::receive(const RxDatagram&,
                                                               wire::PdsType type, Instant) {
  note(std::string("connectionless ") + wire::name(type));
  return answers().to_demux.refused_without_pdc;
}
std::optional<Connectionless::Refusal> Connectionless::receive_trimmed(const RxDatagram&,
                                                                       wire::NackCode code) const {
  note(std::string("cut connectionless ") + wire::name(code));
  return answers().to_demux.refused_without_pdc;
}
void Connectionless::transmit(TxBatch&, Instant) { note("connectionless"); }
void Rudi::on_nack(const wire::Nack&, const RxDatagram&, Instant) { note("NACK of RUDI"); }
void Rudi::leave(Flow&) { note("leave"); }
bool Rudi::has_too_long(PeerId, const PathLimit&) { return false; }
void Rudi::end_too_long(PeerId, const PathLimit&, Instant) { note("end_too_long"); }
bool RudiTarget::has_too_long(PeerId, const PathLimit&, Instant) const { return false; }

}  // namespace uet::pds
