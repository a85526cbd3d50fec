// The operation tables of endpoints that are not about posting. [LF-041..046, LF-099]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/endpoint/ep.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

ssize_t cancel(fid* fid, void* context) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).core().cancel(context); });
}

int getopt(fid* fid, int level, int name, void* value, size_t* length) noexcept {
  return guard(
      [&] { return object_of<Endpoint>(fid).core().get_option(level, name, value, length); });
}

int setopt(fid* fid, int level, int name, const void* value, size_t length) noexcept {
  return guard(
      [&] { return object_of<Endpoint>(fid).core().set_option(level, name, value, length); });
}

ssize_t rx_size_left(fid_ep* ep) noexcept {
  return guard([&] { return object_of<Endpoint>(ep).core().rx_size_left(); });
}

ssize_t tx_size_left(fid_ep* ep) noexcept {
  return guard([&] { return object_of<Endpoint>(ep).core().tx_size_left(); });
}

int setname(fid* fid, void* address, size_t length) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).core().set_name(address, length); });
}

int getname(fid* fid, void* address, size_t* length) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).core().get_name(address, length); });
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).close(); });
}

int bind(fid* fid, struct fid* bound, uint64_t flags) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).core().bind(*fid, bound, flags); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<Endpoint>(fid).control(command, arg); });
}

}  // namespace

fi_ops endpoint_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = bind,
    .control = control,
    .ops_open = open_ops,
};

fi_ops_ep endpoint_ops = {
    .size = sizeof(fi_ops_ep),
    .cancel = cancel,
    .getopt = getopt,
    .setopt = setopt,
    .tx_ctx = not_offered,
    .rx_ctx = not_offered,
    .rx_size_left = rx_size_left,
    .tx_size_left = tx_size_left,
};

fi_ops_cm endpoint_cm_ops = {
    .size = sizeof(fi_ops_cm),
    .setname = setname,
    .getname = getname,
    .getpeer = not_offered,
    .connect = not_offered,
    .listen = not_offered,
    .accept = not_offered,
    .reject = not_offered,
    .shutdown = not_offered,
    .join = not_offered,
};

}  // namespace uet::prov
