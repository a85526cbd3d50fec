// What follows when a request or control packet has its PDC. [PDS 7.1 V8]
#include "pds/request_demux.h"

namespace uet::pds {

void RequestDemux::receive(const Inbound& in, Instant now) {
  Pdc* const pdc = lookup_.of(in, now);
  if (pdc == nullptr) return;
  if (pdc->sdi != in.sdi()) return res_.counters.add(Count::drop_sdi);  // [PDS-V8]
  if (pdc->state() == PdcState::pending && !door_.leave_pending(*pdc, in, now)) return;
  idle_.touch(*pdc, now);
  Proofs::earn(*pdc, *in.datagram);
  if (pdc->is_unverified()) schedule_.want_send(*pdc);  // data that waited for octets
  const PdcHandle handle = pdc->handle;
  const Admission result = inbox_.admit(*pdc, in, now);
  send_refusal(*pdc, in.trigger, result, now);
  // Each packet may be the last one that a received Close has waited for. The PDC may be gone then.
  if (result.is_taken && pdc->life.close_received()) steps_.finish_received_close(*pdc, now);
  if (in.syn) door_.drop_if_unused(handle);
}

void RequestDemux::send_refusal(Pdc& pdc, const AckTrigger& packet, const Admission& result,
                                Instant now) {
  if (!result.is_refused()) return;
  replies_.nack(pdc, result.nack, packet, result.payload, now);
}

void RequestDemux::answer_again(Pdc& pdc, const AckTrigger& packet, Instant now) {
  send_refusal(pdc, packet, inbox_.answer_again(pdc, packet, Count::ack_duplicate, now), now);
}

}  // namespace uet::pds
