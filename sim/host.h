// One simulated machine: a FabricEndpoint driven by its Engine through a network card, with its own
// clock. A call of run() returns when it wants to run again.
#pragma once

#include "sim/local_clock.h"

#include "sim/recording/endpoint.h"

#include "fep/engine.h"
#include "io/packet_io.h"

#include "tss/policy.h"

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <memory>

namespace uet::sim {

class Host {
 public:
  // Between two rounds of a host that has more to send, or more to receive than it takes at once.
  static constexpr Duration kRound = Duration::nanoseconds(200);

  // The machine comes up. `writer` and `jobs` may be null; they outlive this.
  Result<void> start(const fep::Config& config, const FabricAddress& address, uint64_t seed,
                     std::unique_ptr<io::PacketIo> card, LocalClock clock,
                     recording::Writer* writer, const tss::JobTable* jobs = nullptr);
  // The machine goes down: the endpoint and its card end. May start again afterwards.
  void stop();
  bool is_up() const { return engine_ != nullptr; }

  // The following functions are for hosts that are up. Times are simulated ones, not those of the
  // host's clock.

  // Receives, runs timers and sends. Returns whether packets moved.
  bool run(Instant now) { return endpoint_->progress(*engine_, clock_.local(now)); }
  // When to run again although nothing arrives. `wants_more`: there is more to receive, or the
  // application has more to post.
  Instant next_run(Instant now, bool wants_more) const;
  // Starts an orderly close of every PDC; is_closed() becomes true at the end.
  void close(Instant now) { endpoint_->close_all(/*abort=*/false, clock_.local(now)); }
  bool is_closed() const;

  // For the application on it; every call is recorded where there is a writer.
  recording::Endpoint& endpoint() { return *endpoint_; }
  const fep::FabricEndpoint& fep() const { return endpoint_->fep(); }
  const LocalClock& clock() const { return clock_; }

 private:
  std::unique_ptr<recording::Endpoint> endpoint_;  // outlives the engine, which owns the original
  std::unique_ptr<fep::Engine> engine_;
  LocalClock clock_;
};

}  // namespace uet::sim
