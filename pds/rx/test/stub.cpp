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
DueGrant Destination::next_grant(Instant) {
  DueGrant due;
  due.pdc = std::exchange(part::answers().grants_on, nullptr);
  return due;
}
void Destination::note_sent(const DueGrant&, bool is_sent) {
  note(is_sent ? "grant sent" : "grant not sent");
}

}  // namespace uet::pds
