// The operation table of fi_info.nic. [LF-087, ABI-025]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/domain/nic.h"

namespace uet::prov {
namespace {

int close(fid* fid) noexcept {
  return guard([&] { return object_of<Nic>(fid).close(); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<Nic>(fid).control(command, arg); });
}

int tostr(const fid* fid, char* buf, size_t room) noexcept {
  return guard([&] { return Nic::print(*reinterpret_cast<const fid_nic*>(fid), buf, room); });
}

}  // namespace

fi_ops nic_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = no_bind,
    .control = control,
    .ops_open = no_ops_open,
    .tostr = tostr,
    .ops_set = nullptr,
};

}  // namespace uet::prov
