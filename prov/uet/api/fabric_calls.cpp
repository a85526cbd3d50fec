// The operation tables of fabrics. fi_fabric itself is in init.cpp. [LF-001]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/completion/wait.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/domain/fabric.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

int domain2(fid_fabric* fabric, fi_info* info, fid_domain** domain, uint64_t flags,
            void* context) noexcept {
  return guard(
      [&] { return Domain::open(object_of<Fabric>(fabric), info, flags, domain, context); });
}

int domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) noexcept {
  return domain2(fabric, info, domain, 0, context);
}

int eq_open(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** eq, void* context) noexcept {
  return guard([&] { return EventQueue::open(object_of<Fabric>(fabric), attr, eq, context); });
}

int trywait(fid_fabric*, fid** fids, int count) noexcept {
  return guard([&] { return prov::trywait(fids, count); });
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<Fabric>(fid).close(); });
}

}  // namespace

fi_ops fabric_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = no_bind,
    .control = no_control,
    .ops_open = no_ops_open,
};

fi_ops_fabric fabric_ops = {
    .size = sizeof(fi_ops_fabric),
    .domain = domain,
    .passive_ep = not_offered,
    .eq_open = eq_open,
    .wait_open = not_offered,
    .trywait = trywait,
    .domain2 = domain2,
};

}  // namespace uet::prov
