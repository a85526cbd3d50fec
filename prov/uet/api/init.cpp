// The entry point that libfabric looks up, and the provider's descriptor. [ABI-005 .. ABI-015]
#include "prov/uet/api/log.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/domain/open_domains.h"
#include "prov/uet/settings/of_process.h"

#include <algorithm>

namespace uet::prov {
namespace {

constexpr uint32_t kProviderVersion = FI_VERSION(0, 1);  // of this project [LF-086]

// Read on the first call. fi_getinfo and fi_fabric get no object of the provider that could hold
// them; everything below a fabric gets them handed in. Never destroyed. [ABI-015]
const Settings& settings() {
  static const Settings* const kSettings = new Settings(read_settings_of_process());
  return *kSettings;
}

int getinfo_op(uint32_t version, const char* node, const char* service, uint64_t flags,
               const fi_info* hints, fi_info** info) noexcept {
  return guard([&] { return get_info(settings(), version, node, service, flags, hints, info); });
}

int fabric_op(fi_fabric_attr* attr, fid_fabric** fabric, void* context) noexcept {
  return guard([&] { return Fabric::open(settings(), *attr, fabric, context); });
}

// An application may leave without closing its domains, and with threads inside them.
void cleanup_op() noexcept { open_domains().stop_all(); }

}  // namespace

fi_provider& provider() {
  // A heap object, because static objects are gone before the core calls cleanup(). [ABI-015]
  static fi_provider* const kProvider = [] {
    auto* p = new fi_provider{};
    p->version = kProviderVersion;
    p->name = "uet";
    p->getinfo = getinfo_op;
    p->fabric = fabric_op;
    p->cleanup = cleanup_op;
    return p;
  }();
  return *kProvider;
}

}  // namespace uet::prov

extern "C" FI_EXT_INI {
  using namespace uet::prov;
  try {
    const uint32_t running = fi_version();
    if (!can_load_into(running, kApiHeaders)) {
      UET_WARN(CORE,
               "built for libfabric %u.%u, which %u.%u cannot load; rebuild with its headers\n",
               FI_MAJOR(kApiHeaders), FI_MINOR(kApiHeaders), FI_MAJOR(running), FI_MINOR(running));
      return nullptr;
    }
    // libfabric does not ask a provider whose version here is older than the application's.
    // [ABI-010, ABI-013]
    provider().fi_version = std::min(running, kApiReviewed);
    define_settings();
    return &provider();
  } catch (...) {
    return nullptr;
  }
}
