// The operation table of memory regions; domain_calls.cpp has those that register. [LF-035, LF-038]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/memory/mr.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

int close(fid* fid) noexcept {
  return guard([&] { return object_of<MemoryRegion>(fid).close(); });
}

int bind(fid* fid, struct fid* bound, uint64_t flags) noexcept {
  return guard([&] { return object_of<MemoryRegion>(fid).bind(bound, flags); });
}

int control(fid* fid, int command, void*) noexcept {
  return guard([&] { return object_of<MemoryRegion>(fid).control(command); });
}

}  // namespace

fi_ops mr_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = bind,
    .control = control,
    .ops_open = no_ops_open,
};

}  // namespace uet::prov
