// What receives and answers, as the tests of other parts see it.
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/rx/inbox.h"
#include "pds/rx/reorder_buffer.h"
#include "pds/rx/response_store.h"
#include "pds/test/part.h"

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
void Destination::send_grants(TxBatch&, Instant) { note("send_grants"); }

}  // namespace uet::pds
