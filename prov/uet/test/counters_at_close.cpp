// Loaded into any program by LD_PRELOAD: writes the counters of its domain to the file that
// UET_COUNTERS names, before the domain is closed, so that a test can compare them with a capture.
// Wraps the objects that fi_fabric returns.
#include "prov/uet/api/fi_ext_uet.h"

#include <rdma/fi_domain.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

fi_ops_fabric* fabric_ops;  // of the provider
fi_ops* domain_ops;

std::vector<fi_uet_counter> counters_of(fid* domain) {
  void* opened = nullptr;
  if (fi_open_ops(domain, FI_UET_COUNTERS, 0, &opened, nullptr) != 0) return {};
  auto* const ops = static_cast<fi_uet_ops_counters*>(opened);
  size_t count = 0;
  ops->read(domain, nullptr, &count);
  std::vector<fi_uet_counter> counters(count);
  if (ops->read(domain, counters.data(), &count) != 0) return {};
  return counters;
}

uint64_t value_of(const std::vector<fi_uet_counter>& counters, const char* name) {
  const auto at = std::ranges::find_if(
      counters, [&](const fi_uet_counter& c) { return std::strcmp(c.name, name) == 0; });
  return at == counters.end() ? 0 : at->value;
}

void write(const std::vector<fi_uet_counter>& counters) {
  const char* path = std::getenv("UET_COUNTERS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  char separator = '{';
  for (const fi_uet_counter& c : counters) {
    std::fprintf(file, "%c\"%s\": %llu", separator, c.name,
                 static_cast<unsigned long long>(c.value));
    separator = ',';
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
}

// Waits until no packet has come for a quarter of a second: lost packets have been resent.
int close_domain(fid* domain) {
  domain->ops = domain_ops;  // by which the provider knows its own
  std::vector<fi_uet_counter> counters = counters_of(domain);
  for (uint64_t before = UINT64_MAX; value_of(counters, "rx_packets") != before;) {
    before = value_of(counters, "rx_packets");
    ::usleep(250'000);
    counters = counters_of(domain);
  }
  write(counters);
  return domain->ops->close(domain);
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  const int opened = fabric_ops->domain(fabric, info, domain, context);
  if (opened != 0) return opened;
  static fi_ops ours;
  domain_ops = (*domain)->fid.ops;
  ours = *domain_ops;
  ours.close = close_domain;
  (*domain)->fid.ops = &ours;
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fi_fabric(fi_fabric_attr* attr,
                                                                fid_fabric** fabric,
                                                                void* context) {
  using Open = int (*)(fi_fabric_attr*, fid_fabric**, void*);
  const auto real = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, "fi_fabric"));
  const int opened = real == nullptr ? -FI_ENOSYS : real(attr, fabric, context);
  if (opened != 0) return opened;
  static fi_ops_fabric ours;
  fabric_ops = (*fabric)->ops;
  ours = *fabric_ops;
  ours.domain = open_domain;
  (*fabric)->ops = &ours;
  return 0;
}
