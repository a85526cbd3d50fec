// Both ends of the rendezvous, as the tests of other parts see them: no message is one.
#include "ses/rendezvous/exposures.h"
#include "ses/rendezvous/pulls.h"

#include "base/test/calls.h"

namespace uet::ses {

using uet::test::note;

Result<void> Exposures::create() { return {}; }
void Exposures::expose(const Endpoint&, TxMessage&, std::span<const IoSlice>, uint8_t) {
  note("expose");
}
void Exposures::conceal(TxMessage&) {}
void Exposures::free(TxMessage&) {}
bool Exposures::shorten(TxMessage&, uint16_t) { return true; }
Exposure* Exposures::of_region(RegionId, PeerId) { return nullptr; }
TxMessage* Exposures::on_read_begun(Exposure&, uint64_t, uint32_t) { return nullptr; }
TxMessage* Exposures::on_answer_end(const AnswerEnd&) { return nullptr; }
TxMessage* Exposures::on_served(Exposure&, uint32_t) { return nullptr; }
void Exposures::on_answer_cut(const AnswerEnd& cut) {
  note("answer of " + std::to_string(cut.length) + " cut");
}
void Exposures::note_delivered(TxMessage&, wire::ListCode, uint32_t) {}
Instant Exposures::next_look(const TxMessage&) const { return Instant::never(); }
bool Exposures::on_silence(Exposure&) { return false; }
bool Exposures::on_probe_answered(Exposure&, wire::ReturnCode) { return true; }
Completion::Status Exposures::end_of(TxMessage&) { return Completion::Status::ok; }

Result<void> Pulls::create(Rng&) { return {}; }
Pull* Pulls::make(const Request&) { return nullptr; }
void Pulls::free(Pull&) { note("free pull"); }
void Pulls::read_rest(const Endpoint&, Pull&, PostedReceive&, const Arrived&) { note("read_rest"); }
void Pulls::discard(const Endpoint&, Pull&, uint32_t) { note("discard pull"); }
void Pulls::on_end(const InternalEnd&) { note("pull ended"); }
void Pulls::close(const Endpoint&) { note("close pulls"); }
void Pulls::retry() {}
Instant Pulls::next_deadline() const { return Instant::never(); }

}  // namespace uet::ses
