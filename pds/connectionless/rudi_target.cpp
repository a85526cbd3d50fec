// RUDI at the target.
#include "pds/connectionless/rudi_target.h"

#include <algorithm>

namespace uet::pds {

using wire::NackCode;

NackCode RudiTarget::on_request(const wire::RudiRequest& h, const RxDatagram& d,
                                std::span<const std::byte> ses, const FabricAddress& from,
                                Instant now) {
  with_.counters.add(Count::rudi_rx);
  // Asked before the client executes anything. [PDS-203]
  if (answers_.full()) {
    with_.counters.add(Count::drop_rudi_answers_full);
    return NackCode::no_resource;
  }
  const auto peer = with_.peers.find_or_add(from, now);
  if (!peer.ok()) {
    with_.counters.add(Count::drop_no_peer);
    return NackCode::no_resource;
  }
  if (!with_.may_look_at(*peer, now)) return NackCode::none;
  RxRequest request;
  request.peer = *peer;
  request.mode = Mode::rudi;
  request.ce = d.ecn == Ecn::ce;
  request.sdi = d.sdi;
  request.next_hdr = h.next_hdr;
  request.token.psn = Psn(h.pkt_id.value());
  request.ses = ses;
  request.arrival = d.at;
  const Verdict verdict = with_.client.on_request(request, now);
  switch (verdict.kind) {
    case Verdict::Kind::respond:
      break;
    case Verdict::Kind::nack:
      return verdict.nack;
    case Verdict::Kind::drop:
      with_.counters.add(Count::drop_client);
      return NackCode::none;
    case Verdict::Kind::accept:
    case Verdict::Kind::later:
      UET_ASSERT(false);  // the client knows that every request is answered at once
      return NackCode::none;
  }
  Answer answer;
  answer.to = from;
  answer.peer = *peer;
  answer.pkt_id = h.pkt_id;
  answer.data = verdict.answer;
  answer.ev = d.ev;
  answer.m = request.ce;
  answer.retx = h.retx;
  answer.sdi = d.sdi;
  answer.response = verdict.response;
  answers_.push(answer);
  return NackCode::none;
}

uint32_t RudiTarget::transmit(TxBatch& batch, Instant now) {
  const uint32_t before = batch.size();
  while (!answers_.empty() && !batch.full() && batch.size() - before < kPacketsPerTurn) {
    emit(answers_.pop_front(), batch, now);
  }
  return batch.size() - before;
}

// Echoes number, entropy value, CE mark and RETX of the request. Data is no control traffic.
// [PDS-200, PDS-202, PDS-069, WIRE-014, WIRE-015]
void RudiTarget::emit(const Answer& answer, TxBatch& batch, Instant now) {
  PacketRef ref;
  const bool has_data = answer.data != MessageHandle{};
  if (has_data && !with_.client.pull(answer.data, ref)) return;
  wire::RudiResponse h;
  h.next_hdr = has_data ? ref.next_hdr : answer.response.next_hdr;
  h.m = answer.m;
  h.retx = answer.retx;
  h.pkt_id = answer.pkt_id;
  wire::Writer w(batch.begin());
  h.emit(w);
  if (has_data) {
    with_.client.encode(ref, w, batch);
  } else {
    w.bytes({answer.response.bytes.data(), answer.response.length});
  }
  const Config& config = with_.config;
  batch.commit(static_cast<uint32_t>(w.position()), answer.to, answer.ev,
               has_data ? config.return_class.value() : config.control_dscp,
               has_data ? Ecn::ect0 : Ecn::not_ect, 0, answer.sdi);
  with_.counters.add(Count::rudi_responses_tx);
  if (!has_data) return;
  sent_[sent_next_++ % kSentMax] = {answer.peer, batch.packets().back().bytes(), now};
  // It will not be sent again: a lost one is asked for by a new request.
  with_.client.on_response(ref, {}, now);
}

bool RudiTarget::has_too_long(PeerId peer, const PathLimit& limit, Instant now) const {
  return std::any_of(sent_.begin(), sent_.end(), [&](const Sent& s) {
    return s.peer == peer && s.bytes > limit.datagram_bytes && now - s.at < kUnderWay;
  });
}

void RudiTarget::abort(Instant now) {
  while (!answers_.empty()) {
    const Answer answer = answers_.pop_front();
    if (answer.data == MessageHandle{}) continue;
    with_.client.on_aborted(answer.data, {.reason = FailureReason::aborted}, now);
  }
}

}  // namespace uet::pds
