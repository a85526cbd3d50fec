// UUD, both sides.
#include "pds/connectionless/uud.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr int64_t kNsPerSecond = 1'000'000'000;
}

uint32_t Uud::transmit(TxBatch& batch, Instant now) {
  complete_sent(now);
  refill(now);
  const uint32_t before = batch.size();
  while (!batch.full() && tokens_ > 0 && batch.size() - before < kPacketsPerTurn) {
    Flow* const flow = ready_.pop_front();
    if (flow == nullptr) break;
    if (send(*flow, batch, now)) wake(*flow);
  }
  if (tokens_ == 0 && !ready_.empty()) with_.counters.add(Count::uud_rate_stalls);
  return batch.size() - before;
}

// Sends one message, which is one packet. False: the flow has no message. [PDS-210]
bool Uud::send(Flow& flow, TxBatch& batch, Instant now) {
  StartedMessage started;
  if (!with_.client.start(flow.id, PdcHandle{}, started, now)) {
    flow.ready = false;
    return false;
  }
  PacketRef ref;
  if (!with_.client.pull(started.message, ref)) return true;
  UET_ASSERT(ref.som && ref.eom);
  wire::Uud h;
  h.next_hdr = ref.next_hdr;
  wire::Writer w(batch.begin());
  h.emit(w);
  with_.client.encode(ref, w, batch);
  batch.commit(static_cast<uint32_t>(w.position()), with_.peers[flow.key.peer].address, ev_.next(),
               flow.key.tc.value(), Ecn::ect0, ref.message.value(), flow.key.sdi);
  sent_.push(ref);
  if (with_.config.uud_packets_per_second != 0) --tokens_;
  with_.counters.add(Count::uud_tx);
  with_.counters.add(Count::tx_payload_bytes, batch.packets().back().payload_bytes);
  return true;
}

// The message completes when the wire has it: UUD has no acknowledgement. [PDS-211]
void Uud::complete_sent(Instant now) {
  while (!sent_.empty()) with_.client.on_response(sent_.pop_front(), {}, now);
}

// Sends no answer, even if the client refuses. [PDS-211]
void Uud::on_request(const wire::Uud& h, const RxDatagram& d, std::span<const std::byte> ses,
                     const FabricAddress& from, Instant now) {
  with_.counters.add(Count::uud_rx);
  const auto peer = with_.peers.find_or_add(from, now);
  if (!peer.ok()) return with_.counters.add(Count::drop_no_peer);
  if (!with_.may_look_at(*peer, now)) return;
  RxRequest request;
  request.peer = *peer;
  request.mode = Mode::uud;
  request.ce = d.ecn == Ecn::ce;
  request.sdi = d.sdi;
  request.next_hdr = h.next_hdr;
  request.ses = ses;
  request.arrival = d.at;
  (void)with_.client.on_request(request, now);
}

// --- the rate cap [PDS-212] ---

void Uud::refill(Instant now) {
  const int64_t rate = with_.config.uud_packets_per_second;
  if (rate == 0) return;
  const int64_t elapsed = std::min<int64_t>((now - refilled_).ns(), kNsPerSecond);
  const int64_t earned = elapsed * rate / kNsPerSecond;
  if (earned <= 0) return;
  const int64_t total = std::min<int64_t>(tokens_ + earned, depth());
  refilled_ =
      total == depth() ? now : refilled_ + Duration::nanoseconds(earned * kNsPerSecond / rate);
  tokens_ = static_cast<uint32_t>(total);
}

void Uud::advance(Instant now) {
  if (next_deadline() <= now) refill(now);
}

// When some packets may go again: not for each one, it would wake the engine every microsecond.
Instant Uud::next_deadline() const {
  const int64_t rate = with_.config.uud_packets_per_second;
  if (tokens_ > 0 || ready_.empty() || rate == 0) return Instant::never();
  const int64_t wanted = std::min<int64_t>(kPacketsPerTurn, std::max<int64_t>(rate / 1000, 1));
  return refilled_ + Duration::nanoseconds(wanted * kNsPerSecond / rate + 1);
}

}  // namespace uet::pds
