// The libfabric fabric; see fabric.h.
#include "prov/uet/domain/fabric.h"

#include "prov/uet/api/tables.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/progress/home.h"

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

}  // namespace

fi_ops* Fabric::fid_ops() { return &fabric_fid_ops; }

int Fabric::open(const Settings& settings, fi_fabric_attr& attr, fid_fabric** fid, void* context) {
  if (attr.name != nullptr && !is_fabric_name(attr.name)) return -FI_ENODATA;
  std::unique_ptr<Fabric> fabric(new Fabric(settings));
  fabric->link_.owner = fabric.get();
  fid_fabric& face = fabric->link_.fid;
  face.fid.fclass = FI_CLASS_FABRIC;
  face.fid.context = context;
  face.fid.ops = &fabric_fid_ops;
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
