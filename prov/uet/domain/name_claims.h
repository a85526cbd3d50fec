// The endpoint names that a domain has given out: claims them, as asked for or free ones, and
// writes them as addresses. Any thread. [LF-003, LF-008, LF-010, LF-011]
#pragma once

#include "prov/uet/domain/domain_terms.h"
#include "prov/uet/domain/endpoint_names.h"
#include "prov/uet/settings/settings.h"

#include "ses/types.h"

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace uet::prov {

struct UetAddress;

// Whether that form's one number must name the whole endpoint. [LF-008]
bool is_socket_address(uint32_t addr_format);

class NameClaims {
 public:
  // `pid`: of endpoints that do not ask for one.
  NameClaims(const Settings& settings, const DomainTerms& terms, PidOnFep pid)
      : settings_(settings), terms_(terms), pid_(pid) {}

  // A name for an endpoint. `source` is fi_info.src_addr in the form `addr_format`, or null: valid
  // fields are requests, the others are filled in. Errc::exists: a requested name is taken;
  // Errc::invalid: no address of that form, or of another Fabric Address. [LF-010, LF-011]
  // `auth_key` is a separate JobID, or null for the domain's. [LF-017, LF-018]
  Result<ses::EndpointName> claim(const void* source, size_t source_bytes, uint32_t addr_format,
                                  const uint8_t* auth_key, size_t auth_key_bytes);
  void release(const ses::EndpointName& name);
  // Number of open endpoints, enabled or not.
  size_t count() const;
  // (PIDonFEP, RI) of all, in order.
  std::vector<std::pair<uint16_t, uint16_t>> list() const;
  // The address of an endpoint that peers find at `local`, in the form `addr_format`, as fi_getname
  // does: copies what fits in *length octets, sets *length to the full size; -FI_ETOOSMALL when
  // cut.
  int write(const ses::EndpointName& name, const FabricAddress& local, uint32_t addr_format,
            void* address, size_t* length) const;
  PidOnFep pid() const { return pid_; }

 private:
  bool take(ses::EndpointName& name, const UetAddress& request);

  const Settings& settings_;
  const DomainTerms& terms_;
  const PidOnFep pid_;
  mutable std::mutex mutex_;
  EndpointNames names_;
};

}  // namespace uet::prov
