// Writing a domain's state as JSON.
#include "prov/uet/observe/status.h"

#include "prov/uet/observe/json.h"

#include "io/socket.h"

#include <unistd.h>

namespace uet::prov {
namespace {

// Endpoints that an answer lists; for more than these it only gives their number.
constexpr size_t kEndpointsListed = 64;

}  // namespace

void put_identity(std::string& out, const DomainStatus& status) {
  put_member(out, "version", 1);
  put_member(out, "pid", static_cast<uint64_t>(getpid()));
  put_member(out, "domain", status.domain);
  put_member(out, "fabric", status.fabric);
  put_member(out, "address", io::ip_text(status.local));
  put_member(out, "port", status.local.port);
}

void put_address(std::string& out, const char* name, const FabricAddress& a) {
  put_member(out, name, a.valid() ? io::ip_text(a) + " " + std::to_string(a.port) : "");
}

std::string status_text(const DomainStatus& status, std::span<const fi_uet_counter> counters) {
  std::string out = "{";
  put_identity(out, status);
  put_member(out, "job_id", status.job);
  put_member(out, "payload_mtu", status.payload_mtu);
  put_member(out, "open_ms", static_cast<uint64_t>(status.open.ns() / 1'000'000));
  put_member(out, "failure", status.failure != 0 ? io::errno_text(status.failure) : std::string());
  put_member(out, "endpoint_count", status.endpoints.size());
  put_elements(out, "endpoints", status.endpoints, kEndpointsListed, [&out](const auto& endpoint) {
    put_member(out, "pid_on_fep", endpoint.first);
    put_member(out, "resource_index", endpoint.second);
  });
  put_member(out, "counters");
  out += '{';
  for (const fi_uet_counter& counter : counters) put_member(out, counter.name, counter.value);
  out += "}}";
  return out;
}

}  // namespace uet::prov
