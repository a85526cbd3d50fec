// Starting, running and stopping a machine.
#include "sim/host.h"

#include <algorithm>
#include <utility>

namespace uet::sim {

Result<void> Host::start(const fep::Config& config, const FabricAddress& address, uint64_t seed,
                         std::unique_ptr<io::PacketIo> card, LocalClock clock,
                         recording::Writer* writer, const tss::JobTable* jobs) {
  clock_ = clock;
  endpoint_ = std::make_unique<recording::Endpoint>(writer);
  std::unique_ptr<fep::FabricEndpoint> made = UET_TRY(endpoint_->create(config, address, seed));
  if (jobs != nullptr) made->secure(*jobs);
  auto io = endpoint_->watch(std::move(card));
  engine_ = std::make_unique<fep::Engine>(std::move(made), std::move(io));
  return {};
}

void Host::stop() {
  endpoint_->finish();
  engine_.reset();
  endpoint_.reset();
}

Instant Host::next_run(Instant now, bool wants_more) const {
  const Instant deadline = clock_.simulated(engine_->next_deadline());
  // The card of a full uplink is touched when it has room.
  if (engine_->is_blocked() || !(wants_more || fep().has_work())) return deadline;
  return std::min(deadline, now + kRound);
}

bool Host::is_closed() const { return fep().idle() && fep().pds().open_pdcs() == 0; }

}  // namespace uet::sim
