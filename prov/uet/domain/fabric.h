// The libfabric fabric: remembers the application's API version, opens domains and event queues.
#pragma once

#include "prov/uet/api/shim.h"
#include "prov/uet/settings/settings.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace uet::prov {

class Fabric {
 public:
  using Link = FidLink<fid_fabric, Fabric>;
  static fi_ops* fid_ops();

  // fi_fabric. -FI_ENODATA for a name that is not ours. `settings` outlive the fabric.
  static int open(const Settings& settings, fi_fabric_attr& attr, fid_fabric** fid, void* context);
  // For fi_getinfo. The name of an open fabric; nothing when `fid` is not an open fabric of uet.
  static std::optional<std::string> name_of(const fid_fabric* fid);
  // The first one that was opened under that name, or null.
  static fid_fabric* first_open(const std::string& name);
  // -FI_EBUSY while a domain or an event queue is open.
  int close();

  // The API version of the application: gates every write to its memory. [LF-107]
  uint32_t api_version() const { return link_.fid.api_version; }

  const Settings& settings() const { return settings_; }
  fid_fabric* fid() { return &link_.fid; }
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

 private:
  explicit Fabric(const Settings& settings) : settings_(settings) {}

  Link link_;
  const Settings& settings_;
  std::atomic<uint32_t> refs_{0};
};

}  // namespace uet::prov
