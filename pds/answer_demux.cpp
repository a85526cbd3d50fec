// ACKs and NACKs: parsed, and given to the reader of their kind. [PDS 7.1]
#include "pds/answer_demux.h"

namespace uet::pds {

using wire::NackCode;

void AnswerDemux::on_ack(const RxDatagram& d, wire::PdsType type, Instant now) {
  wire::Reader r(d.bytes);
  wire::AckCc cc;
  bool has_cc = type != wire::PdsType::ack;
  if (type == wire::PdsType::ack) {
    const auto h = wire::Ack::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc.ack = *h;
  } else if (type == wire::PdsType::ack_cc) {
    const auto h = wire::AckCc::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc = *h;
  } else {
    const auto h = wire::AckCcx::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc.ack = h->ack;
    cc.mpr = h->mpr;
    cc.sack_psn_offset = h->sack_psn_offset;
    cc.sack_bitmap = h->sack_bitmap;
  }
  Pdc* const pdc = lookup_.of_answer(cc.ack.dpdcid, cc.ack.spdcid, false, d);
  if (pdc == nullptr) return;
  // In SYN we send no Probe, so this ACK answers nothing that we sent. [PDS-042]
  if (pdc->state() == PdcState::syn && cc.ack.p) return res_.counters.add(Count::drop_probe_answer);
  const AckEffect effect =
      ack_reader_.process_ack(*pdc, cc.ack, has_cc ? &cc : nullptr, r.rest(), d, now);
  if (effect.is_established) lookup_.learn_peer_id(*pdc);
  if (effect.is_closed) steps_.on_close_answered(*pdc, cc.ack, now);
}

void AnswerDemux::on_nack(const RxDatagram& d, const wire::Nack& h, Instant now) {
  Pdc* const pdc = lookup_.of_answer(h.dpdcid, h.spdcid, true, d);
  if (pdc == nullptr) return;
  if (pdc->sdi != d.sdi && h.nack_code != NackCode::new_start_psn) {
    return res_.counters.add(Count::drop_sdi);
  }
  const auto again = nack_reader_.process_nack(*pdc, h, d, now);
  if (again) requests_.answer_again(*pdc, *again, now);
}

}  // namespace uet::pds
