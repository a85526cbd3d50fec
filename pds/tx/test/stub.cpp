// What sends packets and judges losses, as the tests of other parts see it.
#include "pds/test/part.h"
#include "pds/tx/ack_reader.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/nack_reader.h"
#include "pds/tx/outbox.h"
#include "pds/tx/tail_probes.h"

namespace uet::pds {

using part::answers;
using part::note;
using part::text;

AckEffect AckReader::process_ack(Pdc&, const wire::Ack& ack, const wire::AckCc* cc,
                                 std::span<const std::byte> ses, const RxDatagram&, Instant) {
  note("process_ack " + text(ack.cack_psn) + (cc == nullptr ? "" : ", with a SACK") +
       (ses.empty() ? "" : ", " + std::to_string(ses.size()) + " octets of SES"));
  return {answers().to_demux.is_established, answers().to_demux.is_closed};
}
std::optional<AckTrigger> NackReader::process_nack(Pdc&, const wire::Nack& h, const RxDatagram&,
                                                   Instant) {
  note(std::string("process_nack ") + wire::name(h.nack_code) + " psn " + text(h.nack_psn));
  return answers().to_demux.lost_answer;
}

Duration LossRecovery::rto_of(const Pdc&, uint32_t timeouts) const {
  return part::kRto * (int64_t{1} << timeouts);
}
Duration LossRecovery::limit_of(const Pdc&, const TxSlot&) const { return part::kRto; }
void LossRecovery::ask_for_quiet(Pdc&, Instant) { note("ask_for_quiet"); }
void LossRecovery::ask_for(Pdc&, Psn psn, TxSlot&) { note("ask_for " + text(psn)); }
void LossRecovery::forget(Pdc&, TxSlot&) { note("forget"); }
void LossRecovery::give_up(Pdc&, Psn psn, TxSlot&, const Failure&, Instant) {
  note("give_up " + text(psn));
}
bool LossRecovery::end_delay(Pdc&, Psn psn, TxSlot&, Instant) {
  note("end_delay " + text(psn));
  return false;
}
void LossRecovery::mark_lost(Pdc&, Psn psn, TxSlot&, cms::LossKind, Count, Instant) {
  note("mark_lost " + text(psn));
}

bool Outbox::send_closing_packet(Pdc&, SlotKind kind, TxBatch&, Instant) {
  note(kind == SlotKind::close_cmd ? "send Close command" : "send Close Request");
  return answers().may_send_close;
}
bool Outbox::emit_control(Pdc&, const wire::Control& h, Entropy, TxBatch&) {
  note(std::string("emit ") + wire::name(h.ctl_type) + " payload " + std::to_string(h.payload));
  return answers().may_spend;
}
bool Outbox::flush_control(Pdc&, TxBatch&, Instant) { return true; }
bool Outbox::flush_ack_requests(Pdc&, TxBatch&, Instant) { return true; }
bool Outbox::next_message(Pdc&, Instant) { return answers().has_message; }
Turn Outbox::take_turn(Pdc& pdc, TxBatch&, Instant) {
  note("turn of " + std::to_string(pdc.id.value()));
  return answers().turn;
}

bool TailProbes::check_tail(Pdc&, Instant&, Instant) { return true; }
bool TailProbes::flush_probe(Pdc&, TxBatch&, Instant) { return true; }
void TailProbes::ask_before_timeout(Pdc&, Duration, Instant&, Instant) {
  note("ask_before_timeout");
}

}  // namespace uet::pds
