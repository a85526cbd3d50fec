// The keys of one simulated host, which are replaced while it runs. All hosts replace them at the
// same time, like a key manager; an idle host does it with its next packet.
#pragma once

#include "io/seal/sealed_io.h"
#include "tss/policy.h"

#include "base/arena.h"
#include "base/time.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace uet::sim {

class SecuredHost {
 public:
  // `counter`: the first that the host may use, as if read from the file of counters. `now` is
  // simulated time. `peers`: number of peers with ready keys; each costs time here.
  SecuredHost(const FabricAddress& address, uint64_t counter, uint64_t seed,
              std::function<Instant()> now, uint32_t peers = 256);

  // The card with a layer that seals; this object outlives it.
  // `cut_dscps`: bit i: packets with DSCP i were cut by a switch.
  std::unique_ptr<io::PacketIo> around(std::unique_ptr<io::PacketIo> card, uint64_t cut_dscps = 0);
  const tss::JobTable& jobs() const { return jobs_; }
  // The first counter that was not used with any key.
  uint64_t counter() const { return counter_; }
  tss::Counts counts() { return domains_.total_counts(); }

 private:
  static constexpr uint32_t kSdi = 7;
  static constexpr Duration kPeriod = Duration::milliseconds(400);  // of a key
  static constexpr uint64_t kGrant = 1 << 20;

  void install(uint64_t number, Instant now);
  Instant tend(Instant now);

  Arena arena_;
  std::vector<tss::KeySecret> secrets_;
  tss::Domains domains_;
  tss::JobTable jobs_;
  std::function<Instant()> now_;
  uint64_t counter_;
  uint64_t transmits_ = 0;  // with this key
  uint64_t newest_ = 0;     // key that is installed
};

}  // namespace uet::sim
