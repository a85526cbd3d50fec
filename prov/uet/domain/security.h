// The secure domains that a libfabric domain talks in: keys from the file or the agent and counters
// from the file that the settings name, kept while it runs. FI_UET_TSS. [decision 23]
#pragma once

#include "prov/uet/settings/settings.h"

#include "base/packet.h"
#include "io/packet_io.h"
#include "keys/limits.h"
#include "tss/policy.h"

#include <cstdint>
#include <memory>

namespace uet::prov {

class Security {
 public:
  // Null after a warning that names the remedy: a file is missing, wrong or not secret, no key
  // agent answers, the address does not fit, or this build lacks OpenSSL or toml++. Then nothing
  // may be sent.
  static std::shared_ptr<Security> open(const Settings& settings, const FabricAddress& local);
  virtual ~Security() = default;
  Security(const Security&) = delete;
  Security& operator=(const Security&) = delete;

  // The backend with a layer that seals and opens, which keeps this object.
  virtual std::unique_ptr<io::PacketIo> around(std::unique_ptr<io::PacketIo> backend) = 0;
  // Octets that a seal adds at most.
  uint32_t seal_bytes() const { return seal_bytes_; }
  const tss::JobTable& jobs() const { return jobs_; }
  // The limits of the first reading of the keys. [TSS-145]
  const keys::Limits& limits() const { return limits_; }

 protected:
  Security() = default;
  uint32_t seal_bytes_ = 0;
  tss::JobTable jobs_;
  keys::Limits limits_;
};

}  // namespace uet::prov
