// Whether and when a message may go again, and in packets of which length.
#include "ses/outgoing/settling.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::ses {

// A peer whose application has no receive for the message answers each time: that may last. A peer
// with only other reasons makes no progress, and is given up after the same time as on a PDC
// without progress. [SES-135, SES-191, PDS-148]
bool Settling::may_retry(TxMessage& m) {
  if (m.retries == 0) m.first_refused = res_.now;
  if (res_.config.retry_limit != 0 && m.retries >= res_.config.retry_limit) return false;
  if (waits_for_application(m.code)) {
    m.stuck_since = Instant::zero();
    return true;
  }
  if (m.stuck_since == Instant::zero()) m.stuck_since = res_.now;
  return res_.now - m.stuck_since < res_.config.retry_patience * 5;
}

Duration Settling::retry_delay(uint32_t retries) {
  const Config& c = res_.config;
  const auto span = static_cast<uint64_t>((c.retry_time_max - c.retry_time_min).ns());
  const int64_t drawn = c.retry_time_min.ns() + static_cast<int64_t>(res_.rng.below(span + 1));
  const uint32_t doublings = std::min<uint32_t>(retries, 16);
  return std::min(Duration::nanoseconds(drawn) * (int64_t{1} << doublings), c.retry_time_cap);
}

void Settling::retry(TxMessage& m, Duration delay) {
  res_.counters.add(Counter::tx_retried);
  ++m.retries;
  operations_.forget_attempt(m);
  fit(m);
  order_.again(m, delay);
}

// The answer to a read comes on the way back, which has another limit. [LF-141, PDS-250]
void Settling::fit(TxMessage& m) {
  const uint16_t payload = res_.payload_toward(m.remote->key.peer);
  if (m.mtu <= payload || m.is_read() || m.is_probe) return;
  if (m.exposure != nullptr && !Exposures::shorten(m, payload)) return;
  if (m.opcode == wire::SesOpcode::datagram_send) {  // cannot be cut [SES-104]
    if (m.push_length > payload) end_too_long(m);
    return;
  }
  m.mtu = payload;
  if (m.segment_length > payload) {
    m.header = wire::NextHeader::standard;  // the other headers are for one packet [SES-043]
    m.is_quiet = false;
  }
  if (m.state == TxMessage::State::queued) order_.announce(m);
}

// UNSUPPORTED_SIZE of a peer that cannot send that many octets at a time [SES-157]: from here on
// each packet is a separate message, which states its length [LF-131]. False: another cause.
bool Settling::ask_less(TxMessage& m) {
  if (m.code != wire::ReturnCode::unsupported_size || !m.is_read()) return false;
  if (std::min<uint32_t>(m.mtu, m.segment_length) <= wire::kPayloadMtuMin) return false;
  const PeerId id = m.remote->key.peer;
  pds::Peer& peer = (*res_.peers)[id];
  if (res_.payload_toward(id) >= m.mtu) peer.lower_payload(m.mtu / 2u);
  m.mtu = res_.payload_toward(id);
  m.header = wire::NextHeader::standard;
  m.segment_length =
      static_cast<uint32_t>(std::min<uint64_t>(m.memory.bytes() - m.segment_start, m.mtu));
  m.push_length = m.segment_length;
  m.may_repeat = m.may_repeat && m.segment_length == m.memory.bytes();
  return true;
}

}  // namespace uet::ses
