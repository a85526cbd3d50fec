// A build without OpenSSL or toml++ has no keys.
#include "prov/uet/api/log.h"
#include "prov/uet/domain/security.h"

namespace uet::prov {

std::shared_ptr<Security> Security::open(const Settings&, const FabricAddress&) {
  UET_WARN(DOMAIN, "FI_UET_TSS: this build cannot seal packets: it lacks OpenSSL or toml++\n");
  return nullptr;
}

}  // namespace uet::prov
