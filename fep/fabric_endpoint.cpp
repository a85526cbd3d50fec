// Composition of the layers, and nothing else: no protocol rule lives here.
#include "fep/fabric_endpoint.h"

#include "pds/pdc/path_reports.h"
#include "pds/schedule/flow.h"
#include "wire/payload_mtu.h"

#include "base/prefetch.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace uet::fep {
namespace {

// The IP packet size that any path carries: the minimum of IPv6.
constexpr uint32_t kAnyPathBytes = 1280;

}  // namespace

FabricEndpoint::FabricEndpoint(const Config& config, const FabricAddress& local,
                               std::unique_ptr<RandomSource> random)
    : config_(config),
      local_(local),
      random_(std::move(random)),
      arena_(Arena::kDefaultBlockBytes,
             config.commit_in_steps ? Commit::in_steps : Commit::at_once) {}

Result<std::unique_ptr<FabricEndpoint>> FabricEndpoint::create(
    const Config& config, const FabricAddress& local, std::unique_ptr<RandomSource> random) {
  std::unique_ptr<FabricEndpoint> fep(new FabricEndpoint(config, local, std::move(random)));
  RandomSource& source = *fep->random_;
  const pds::PeerLimits peers{std::min(config.peers_max, 64U), config.peers_max,
                              std::min(config.peers_max, 1024U)};
  UET_CHECK(fep->peers_.create(fep->arena_, peers, source.u64()));
  fep->ses_ = UET_TRY(ses::Ses::create(fep->arena_, config.ses, fep->peers_, source.u64()));
  fep->exchange_ = &fep->ses_->exchange();
  fep->pds_ = UET_TRY(
      pds::Pds::create(fep->arena_, config.pds, config.cms, fep->peers_, *fep->exchange_, source));
  fep->ses_->attach(*fep->pds_);
  return fep;
}

void FabricEndpoint::receive(std::span<RxDatagram> datagrams, Instant now) {
  if (config_.allow.size() == 0) return pds_->receive(datagrams, now);
  for (size_t i = 0; i < datagrams.size(); ++i) {
    if (config_.allow.admits(datagrams[i].from)) {
      pds_->receive(datagrams.subspan(i, 1), now);
    } else {
      ++drop_not_allowed_;
    }
  }
}

uint32_t FabricEndpoint::transmit(TxBatch& batch, Instant now, Lead lead) {
  return pds_->transmit(batch, now, lead);
}

void FabricEndpoint::advance(Instant now) {
  pds_->advance(now);
  exchange_->advance(now);
}

Instant FabricEndpoint::next_deadline() const {
  return std::min(pds_->next_deadline(), exchange_->next_deadline());
}

bool FabricEndpoint::has_work(Work which) const { return pds_->has_work(which); }

bool FabricEndpoint::idle() const { return ses_->idle() && pds_->idle(); }

void FabricEndpoint::prefetch(uint32_t step) const {
  if (step == 0) {
    uet::prefetch(&config_.allow, kLineBytes);
    prefetch_between(&local_, this + 1);
  } else if (step == 1) {
    uet::prefetch(pds_, sizeof(pds::Pds));
    ses_->prefetch(0);
  } else {
    pds_->prefetch(0);
  }
}

void FabricEndpoint::prefetch(uint32_t step, std::span<const std::byte> datagram) const {
  const pds::MessageHandle message = pds_->prefetch(step + 1, datagram);
  if (step >= 2) ses_->prefetch(step - 1, message);
}

bool FabricEndpoint::on_sent(TxBatch& batch, Instant now) {
  bool is_any_too_long = false;
  for (const TxPacket& packet : batch.packets()) {
    if (packet.fate == TxFate::never && packet.cookie != 0) {
      if (packet.error == EMSGSIZE) {
        is_any_too_long = true;
      } else {
        exchange_->on_send_failed(packet.cookie, packet.error, now);
      }
    }
  }
  return is_any_too_long;
}

void FabricEndpoint::end_too_long(TxBatch& batch, Instant now) {
  for (const TxPacket& packet : batch.packets()) {
    if (packet.fate == TxFate::never && packet.error == EMSGSIZE && packet.cookie != 0) {
      exchange_->on_send_failed(packet.cookie, packet.error, now);
    }
  }
}

void FabricEndpoint::on_unreachable(const FabricAddress& address, Instant now) {
  pds_->path_reports().on_unreachable(address, now);
}

void FabricEndpoint::on_room(const FabricAddress& address, uint32_t bytes) {
  PeerId id;
  pds::Peer* const peer = peers_.find(address, id);
  if (peer == nullptr) return;
  peer->set_room(bytes);
  // Operations that wait for room also wait for answers, which wake them.
  for (pds::Context* c = peer->first_context; c != nullptr; c = c->next_of_peer) {
    c->limits.room_bytes = peer->room();
  }
}

std::optional<pds::PathChange> FabricEndpoint::on_too_long(const FabricAddress& address,
                                                           uint32_t mtu_bytes, Instant now) {
  if (mtu_bytes == 0) {
    ++path_unknown_;
    return {};
  }
  // No payload is smaller than the minimum, and the report may be forged. [SES-032]
  const bool is_usable = wire::payload_for_path(mtu_bytes) != 0;
  if (!is_usable) ++path_unusable_;
  const uint32_t bytes = is_usable ? mtu_bytes : kAnyPathBytes;
  const bool is_ipv6 = address.family == FabricAddress::Family::ipv6;
  const pds::PathLimit limit{bytes - (is_ipv6 ? 48 : 28), wire::payload_for_path(bytes)};
  const auto change = pds_->path_reports().on_path_limit(address, limit, now);
  if (change.has_value() && change->after < change->before) {
    exchange_->on_path_lowered(change->peer, now);
  }
  return change;
}

}  // namespace uet::fep
