// Composition of the layers, and nothing else: no protocol rule lives here.
#include "fep/fabric_endpoint.h"

#include "base/rng.h"

#include <algorithm>

namespace uet::fep {

FabricEndpoint::FabricEndpoint(const Config& config, const FabricAddress& local)
    : config_(config), local_(local) {}

Result<std::unique_ptr<FabricEndpoint>> FabricEndpoint::create(const Config& config,
                                                               const FabricAddress& local,
                                                               uint64_t seed) {
  std::unique_ptr<FabricEndpoint> fep(new FabricEndpoint(config, local));
  Rng seeds(seed);
  const pds::PeerLimits peers{std::min(config.peers_max, 64U), config.peers_max,
                              std::min(config.peers_max, 1024U)};
  UET_CHECK(fep->peers_.create(fep->arena_, peers, seeds.u64()));
  fep->ses_ = UET_TRY(ses::Ses::create(fep->arena_, config.ses, fep->peers_, seeds.u64()));
  fep->pds_ = UET_TRY(
      pds::Pds::create(fep->arena_, config.pds, config.cms, fep->peers_, *fep->ses_, seeds.u64()));
  fep->ses_->attach(ses::port_of(*fep->pds_));
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

uint32_t FabricEndpoint::transmit(TxBatch& batch, Instant now) {
  return pds_->transmit(batch, now);
}

void FabricEndpoint::advance(Instant now) {
  pds_->advance(now);
  ses_->advance(now);
}

Instant FabricEndpoint::next_deadline() const {
  return std::min(pds_->next_deadline(), ses_->next_deadline());
}

bool FabricEndpoint::has_work() const { return pds_->has_work(); }

bool FabricEndpoint::idle() const { return ses_->idle() && pds_->idle(); }

void FabricEndpoint::on_sent(TxBatch& batch, Instant now) {
  for (const TxPacket& packet : batch.packets()) {
    if (packet.fate == TxFate::never && packet.cookie != 0) {
      ses_->on_send_failed(packet.cookie, packet.error, now);
    }
  }
}

void FabricEndpoint::on_unreachable(const FabricAddress& address, Instant now) {
  pds_->on_unreachable(address, now);
}

}  // namespace uet::fep
