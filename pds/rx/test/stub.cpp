// What receives and answers, as the tests of other parts see it.
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/rx/inbox.h"
#include "pds/rx/reorder_buffer.h"
#include "pds/rx/response_store.h"
#include "pds/test/part.h"

#include <utility>

// Destination asks its pacer from its header.
uet::Instant uet::cms::CreditPacer::deadline() const { return Instant::never(); }

namespace uet::pds {

using part::answers;
using part::note;
using part::text;

Admission Inbox::admit(Pdc& pdc, const Inbound& in, Instant) {
  note("admit " + text(in.psn()) + " on " + std::to_string(pdc.id.value()));
  return {answers().to_demux.refusal, answers().to_demux.is_taken, 5};
}
Admission Inbox::on_trimmed_duplicate(Pdc&, const Inbound& in, Arrival, Instant) {
  note("on_trimmed_duplicate " + text(in.psn()));
  return {answers().to_demux.refusal, false, 5};
}
Admission Inbox::answer_again(Pdc&, const AckTrigger& trigger, Count, Instant) {
  note("answer_again " + text(trigger.psn));
  return {answers().to_demux.refusal, false, 5};
}
void Inbox::drain_reorder(Pdc&, Instant) { note("drain_reorder"); }

void AckWriter::send_responses(TxBatch&, Instant) { note("send_responses"); }
void AckWriter::send_answers(TxBatch&, Instant) { note("send_answers"); }
void AckWriter::send_probe_answers(TxBatch&, Instant) { note("send_probe_answers"); }
bool AckWriter::flush_acks(Pdc& pdc, TxBatch&, Instant) {
  note("flush_acks " + std::to_string(pdc.id.value()));
  return true;
}

void ResponseStore::free_stored(Pdc& pdc, StoredResponse& entry) {
  note("free_stored " + text(entry.trigger.psn));
  pdc.responses.drop(entry);
  static_cast<ListNode<StoredTag>&>(entry).unlink();
}
void ReorderBuffer::free(Pdc&, ReorderedPacket& packet) {
  note("free reordered " + text(packet.trigger.psn));
  static_cast<ListNode<ReorderTag>&>(packet).unlink();
}
bool Destination::on_demand(Pdc&, const wire::CreditRequest& demand, cms::AskedBy, Instant) {
  note("on_demand " + std::to_string(demand.credit_target));
  return answers().has_credit_room;
}
void Destination::on_received(const Pdc&, const Inbound&, cms::Received e) {
  note(std::string("on_received") + (e.trimmed ? " trimmed" : "") +
       (e.trimmed_lasthop ? " at the last hop" : "") + (e.duplicate ? " duplicate" : ""));
}
DueGrant Destination::next_grant(Instant) {
  DueGrant due;
  due.pdc = std::exchange(part::answers().grants_on, nullptr);
  return due;
}
void Destination::note_sent(const DueGrant&, bool is_sent) {
  note(is_sent ? "grant sent" : "grant not sent");
}

}  // namespace uet::pds
