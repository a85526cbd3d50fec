// The libfabric fabric; see fabric.h.
#include "prov/uet/fabric.h"

#include "prov/uet/domain.h"
#include "prov/uet/eq.h"
#include "prov/uet/info.h"
#include "prov/uet/wait.h"

#include <strings.h>

namespace uet::prov {
namespace {

int close_op(fid* fid) noexcept {
  return guard([&] { return Fabric::from(fid).close(); });
}

int domain_op(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) noexcept {
  return guard([&] { return Domain::open(Fabric::from(fabric), *info, domain, context); });
}

int eq_open_op(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** eq, void* context) noexcept {
  return guard([&] { return EventQueue::open(Fabric::from(fabric), attr, eq, context); });
}

int trywait_op(fid_fabric*, fid** fids, int count) noexcept {
  return guard([&] { return trywait(fids, count); });
}

int domain2_op(fid_fabric* fabric, fi_info* info, fid_domain** domain, uint64_t flags,
               void* context) noexcept {
  if (flags != 0) return -FI_EBADFLAGS;
  return domain_op(fabric, info, domain, context);
}

fi_ops object_ops = {sizeof(fi_ops), close_op, no_bind, no_control, no_ops_open, nullptr, nullptr};

fi_ops_fabric fabric_ops = {
    .size = sizeof(fi_ops_fabric),
    .domain = domain_op,
    .passive_ep = not_offered,
    .eq_open = eq_open_op,
    .wait_open = not_offered,
    .trywait = trywait_op,
    .domain2 = domain2_op,
};

}  // namespace

fi_ops* Fabric::fid_ops() { return &object_ops; }

int Fabric::open(fi_fabric_attr& attr, fid_fabric** fid, void* context) {
  if (attr.name != nullptr && !is_fabric_name(attr.name)) return -FI_ENODATA;
  auto* fabric = new Fabric;
  fabric->link_.owner = fabric;
  fid_fabric& face = fabric->link_.fid;
  face.fid.fclass = FI_CLASS_FABRIC;
  face.fid.context = context;
  face.fid.ops = &object_ops;
  face.ops = &fabric_ops;
  face.api_version = attr.api_version;
  *fid = &face;
  return 0;
}

int Fabric::close() {
  if (refs_ != 0) return -FI_EBUSY;
  delete this;
  return 0;
}

}  // namespace uet::prov
