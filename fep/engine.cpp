// The progress loop: receive, timers, transmit, with a bound on each round.
#include "fep/engine.h"

#include <algorithm>
#include <cerrno>

namespace uet::fep {

Engine::Engine(std::unique_ptr<FabricEndpoint> fep, std::unique_ptr<io::PacketIo> io)
    : fep_(std::move(fep)), io_(std::move(io)), batch_(std::make_unique<TxBatch>()) {}

bool Engine::progress(Instant now) {
  const bool moved = collect(now);
  const bool had_work = has_backlog();
  transmit(now);
  return moved || had_work;
}

bool Engine::collect(Instant now) {
  bool moved = false;
  uint32_t unanswered = 0;  // octets since ACKs could leave
  for (int round = 0; round < kRounds; ++round) {
    const std::span<RxDatagram> datagrams = io_->receive();
    if (datagrams.empty()) break;
    fep_->receive(datagrams, now);
    moved = true;
    uint32_t octets = 0;
    for (const RxDatagram& d : datagrams) octets += static_cast<uint32_t>(d.bytes.size());
    // Little was all there is: asking again would cost a system call per message.
    if (datagrams.size() < TxBatch::kCapacity && octets < kBulkBytes) break;
    // More of a stream may wait, and one ACK covers it too; yet a long run of arrivals must not
    // starve the peer.
    unanswered += octets;
    if (unanswered < kAckBytes) continue;
    unanswered = 0;
    if (!transmit(now, 1, Lead::answers)) break;
  }
  // Bounds the packets of one call: a peer that sends all the time must not delay other timers.
  if (fep_->next_deadline() <= now) fep_->advance(now);
  if (moved && ++rounds_of_arrivals_ < kArrivalRounds) return true;
  rounds_of_arrivals_ = 0;
  on_path_errors(now);
  on_domain_news(now);
  return moved;
}

bool Engine::transmit(Instant now, int rounds, Lead lead) {
  for (int round = 0; round < rounds; ++round) {
    if (batch_->empty() && fep_->transmit(*batch_, now, lead) == 0) return true;
    if (!flush(now)) return false;
    if (!fep_->has_work()) return true;
  }
  return true;
}

bool Engine::flush(Instant now) {
  io_->send(batch_->packets());
  if (fep_->on_sent(*batch_, now)) {
    // Later operations may be posted as soon as these have ended: then their packets fit. [LF-141]
    on_path_errors(now);
    fep_->end_too_long(*batch_, now);
  }
  batch_->compact();
  if (batch_->empty()) return true;
  // The backend is full. Nothing queued may refer to user memory any more, because completions may
  // be reported before the next try.
  const uint32_t needed = batch_->payload_bytes();
  if (bounce_.size() < needed) bounce_.resize(kBounceBytes);
  batch_->detach(bounce_);
  return false;
}

Instant Engine::next_deadline() const { return std::min(fep_->next_deadline(), io_->deadline()); }

void Engine::on_path_errors(Instant now) {
  for (const io::PathError& error : io_->path_errors()) {
    if (error.error == 0) fep_->on_room(error.to, error.room_bytes);
    if (is_unreachable(error.error)) fep_->on_unreachable(error.to, now);
    if (error.error != EMSGSIZE) continue;
    PeerId id;
    // Only peers are passed on: ICMP errors for other addresses are easy to forge. [LF-141]
    if (fep_->peers().find(error.to, id) == nullptr) continue;
    const uint32_t mtu_bytes = io_->route_mtu(error.to);
    const auto change = fep_->on_too_long(error.to, mtu_bytes, now);
    if (report_path_ == nullptr) continue;
    report_path_({error.to, mtu_bytes, change.has_value() ? &*change : nullptr});
  }
}

void Engine::on_domain_news(Instant now) {
  for (const io::DomainNews& news : io_->domain_news()) {
    fep_->close_domain(news.sdi, news.is_gone, now);
  }
}

bool Engine::is_unreachable(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EHOSTDOWN || error == ENETDOWN;
}

}  // namespace uet::fep
