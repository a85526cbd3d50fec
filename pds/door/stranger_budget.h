// Limits NACKs for packets without a PDC: in all, and for each host to half of that, so that one
// host cannot use up the NACKs of others. Hosts are hashed into 64 buckets with a secret; hosts in
// one bucket share its half. [PDS-072, T-38]
#pragma once

#include "pds/door/token_bucket.h"
#include "pds/pdc/host_table.h"

#include "base/packet.h"
#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace uet::pds {

class StrangerBudget {
 public:
  explicit StrangerBudget(uint64_t secret) : secret_(secret) {}

  // Takes a token; tokens come in at `rate` a second. False: no token for that host.
  [[nodiscard]] bool take(FabricAddress source, uint32_t rate, Instant now) {
    source.port = 0;
    TokenBucket& of_host = of_hosts_[hash_of(source, secret_) % of_hosts_.size()];
    return of_host.take(std::max(rate / kHostShare, 1u), now) && all_.take(rate, now);
  }

 private:
  static constexpr uint32_t kHostShare = 2;

  uint64_t secret_;
  TokenBucket all_;
  std::array<TokenBucket, 64> of_hosts_{};
};

}  // namespace uet::pds
