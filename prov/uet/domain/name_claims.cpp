// Claims and addresses of names; see name_claims.h.
#include "prov/uet/domain/name_claims.h"

#include "prov/uet/address/address.h"
#include "prov/uet/domain/info.h"

#include "ses/config.h"

#include <optional>
#include <string>

namespace uet::prov {

bool is_socket_address(uint32_t addr_format) {
  return addr_format == FI_SOCKADDR || addr_format == FI_SOCKADDR_IN ||
         addr_format == FI_SOCKADDR_IN6;
}

bool NameClaims::take(ses::EndpointName& name, const UetAddress& request) {
  const uint16_t pid = name.pid.value();
  if (request.has_ri) {
    name.ri = ResourceIndex{request.ri};
    return names_.take(pid, request.ri);
  }
  name.ri = ResourceIndex{names_.take_any(pid)};
  return name.ri.value() != 0;
}

Result<ses::EndpointName> NameClaims::claim(const void* source, size_t source_bytes,
                                            uint32_t addr_format, const uint8_t* auth_key,
                                            size_t auth_key_bytes) {
  UetAddress request;
  if (source != nullptr && source_bytes != 0) {
    request = UET_TRY(read_address(addr_format, source, source_bytes));
    const bool other = request.fa.family != terms_.local.family || request.fa.ip != terms_.local.ip;
    if (request.fa.valid() && other) return Errc::invalid;
  }
  ses::EndpointName name;
  name.job = terms_.job;
  if (auth_key_bytes != 0) {
    if (terms_.has_av_keys) return Errc::invalid;
    const std::optional<uint32_t> job = job_of_key(auth_key, auth_key_bytes);
    if (!job) return Errc::invalid;
    name.job = JobId{*job};
  }
  // One index for all jobs of the endpoint. [LF-020]
  name.absolute = request.absolute || settings_.absolute || terms_.has_av_keys;
  name.pid = request.has_pid ? PidOnFep{request.pid} : pid_;

  const std::lock_guard lock(mutex_);
  if (!take(name, request)) return Errc::exists;
  if (request.has_initiator) {
    name.initiator_id = request.initiator_id;
  } else if (is_socket_address(addr_format)) {
    UetAddress own;
    own.has_pid = own.has_ri = true;
    own.pid = name.pid.value();
    own.ri = name.ri.value();
    name.initiator_id = service_number(own);
  } else {
    name.initiator_id = settings_.initiator_id.value_or(
        telling_initiator(name.pid.value(), name.ri.value(), name.absolute));
  }
  return name;
}

void NameClaims::release(const ses::EndpointName& name) {
  const std::lock_guard lock(mutex_);
  names_.release(name.pid.value(), name.ri.value());
}

size_t NameClaims::count() const {
  const std::lock_guard lock(mutex_);
  return names_.size();
}

std::vector<std::pair<uint16_t, uint16_t>> NameClaims::list() const {
  const std::lock_guard lock(mutex_);
  return names_.list();
}

int NameClaims::write(const ses::EndpointName& name, const FabricAddress& local,
                      uint32_t addr_format, void* address, size_t* length) const {
  UetAddress own;
  own.fa = local;
  own.has_pid = own.has_ri = own.has_initiator = true;
  own.absolute = name.absolute;
  own.pid = name.pid.value();
  own.ri = name.ri.value();
  own.ri_count = 1;
  own.initiator_id = name.initiator_id;
  own.payload_mtu = static_cast<uint16_t>(terms_.payload.network);
  own.payload_host = static_cast<uint16_t>(terms_.payload.host);
  own.capabilities = settings_.profiles | ses::kTakesSmallHeader;  // [LF-005, SES-044]
  const std::string octets = write_address(addr_format, own);
  if (octets.empty()) return -FI_EADDRNOTAVAIL;
  return copy_address(octets, address, length) ? 0 : -FI_ETOOSMALL;
}

}  // namespace uet::prov
