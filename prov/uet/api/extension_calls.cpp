// The operations of fi_ext_uet.h: counters of a domain, for programs.
#include "prov/uet/api/fi_ext_uet.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/observe/counters.h"

#include <cstring>

namespace uet::prov {
namespace {

// Null: neither a domain nor an endpoint of uet.
Domain* domain_of(fid* fid) {
  if (auto* domain = checked_object_of<Domain>(fid)) return domain;
  if (auto* endpoint = checked_object_of<Endpoint>(fid)) return &endpoint->core().domain();
  return nullptr;
}

int read(fid* fid, fi_uet_counter* out, size_t* count) noexcept {
  return guard([&] {
    Domain* const domain = domain_of(fid);
    return domain != nullptr ? copy_counters(*domain, out, count) : -FI_EINVAL;
  });
}

fi_uet_ops_counters uet_counter_ops = {sizeof(fi_uet_ops_counters), read};

}  // namespace

int open_ops(fid* fid, const char* name, uint64_t flags, void** ops, void*) noexcept {
  if (fid == nullptr || name == nullptr || ops == nullptr) return -FI_EINVAL;
  if (flags != 0) return -FI_EBADFLAGS;
  if (std::strcmp(name, FI_UET_COUNTERS) != 0) return -FI_ENOSYS;
  *ops = &uet_counter_ops;
  return 0;
}

}  // namespace uet::prov
