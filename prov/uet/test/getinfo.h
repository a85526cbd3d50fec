// Asking fi_getinfo in one line. Throws nothing, keeps nothing.
#pragma once

#include "prov/uet/api/compat.h"

#include <cstring>
#include <functional>
#include <memory>

namespace uet::prov {

using Info = std::unique_ptr<fi_info, decltype(&fi_freeinfo)>;

inline Info make_hints() {
  Info hints(fi_allocinfo(), &fi_freeinfo);
  hints->fabric_attr->prov_name = strdup("uet");
  return hints;
}

struct Answer {
  int result;
  Info info;
};

inline Answer ask(const fi_info* hints, const char* node = nullptr, const char* service = nullptr,
                  uint64_t flags = 0, uint32_t version = FI_VERSION(1, 17)) {
  fi_info* info = nullptr;
  const int result = fi_getinfo(version, node, service, flags, hints, &info);
  return {result, Info(info, &fi_freeinfo)};
}

inline Answer ask_with(const std::function<void(fi_info&)>& change, const char* node = nullptr,
                       const char* service = nullptr, uint64_t flags = 0) {
  const Info hints = make_hints();
  change(*hints);
  return ask(hints.get(), node, service, flags);
}

}  // namespace uet::prov
