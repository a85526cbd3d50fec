// The libfabric fabric; see fabric.h.
#include "prov/uet/domain/fabric.h"

#include "prov/uet/completion/eq.h"
#include "prov/uet/completion/wait.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/domain/info.h"

#include <strings.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace uet::prov {
namespace {

// The open fabrics of this process with their names, under open_objects(); never destroyed.
// [ABI-015]
using OpenFabrics = std::vector<std::pair<fid_fabric*, std::string>>;
OpenFabrics& open_fabrics() {
  static auto* const kFabrics = new OpenFabrics;
  return *kFabrics;
}

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

int Fabric::open(const Settings& settings, fi_fabric_attr& attr, fid_fabric** fid, void* context) {
  if (attr.name != nullptr && !is_fabric_name(attr.name)) return -FI_ENODATA;
  std::unique_ptr<Fabric> fabric(new Fabric(settings));
  fabric->link_.owner = fabric.get();
  fid_fabric& face = fabric->link_.fid;
  face.fid.fclass = FI_CLASS_FABRIC;
  face.fid.context = context;
  face.fid.ops = &object_ops;
  face.ops = &fabric_ops;
  face.api_version = attr.api_version;
  {
    const std::lock_guard lock(open_objects());
    open_fabrics().emplace_back(&face, attr.name != nullptr ? attr.name : "");
  }
  *fid = &fabric.release()->link_.fid;
  return 0;
}

std::optional<std::string> Fabric::name_of(const fid_fabric* fid) {
  const std::lock_guard lock(open_objects());
  for (const auto& [known, name] : open_fabrics()) {
    if (known == fid) return name;
  }
  return std::nullopt;
}

fid_fabric* Fabric::first_open(const std::string& name) {
  const std::lock_guard lock(open_objects());
  for (const auto& [known, its_name] : open_fabrics()) {
    if (strcasecmp(its_name.c_str(), name.c_str()) == 0) return known;
  }
  return nullptr;
}

int Fabric::close() {
  if (refs_ != 0) return -FI_EBUSY;
  {
    const std::lock_guard lock(open_objects());
    std::erase_if(open_fabrics(), [this](const auto& entry) { return entry.first == fid(); });
  }
  delete this;
  return 0;
}

}  // namespace uet::prov
