// The operation tables of shared receive contexts. [LF-133]
#include "prov/uet/api/receive_shims.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/endpoint/shared_receives.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

ssize_t cancel(fid* fid, void* context) noexcept {
  return guard([&] { return object_of<SharedReceives>(fid).cancel(context); });
}

int getopt(fid* fid, int level, int name, void* value, size_t* length) noexcept {
  return guard(
      [&] { return object_of<SharedReceives>(fid).get_option(level, name, value, length); });
}

int setopt(fid* fid, int level, int name, const void* value, size_t length) noexcept {
  return guard(
      [&] { return object_of<SharedReceives>(fid).set_option(level, name, value, length); });
}

ssize_t rx_size_left(fid_ep* ep) noexcept {
  return guard([&] { return object_of<SharedReceives>(ep).rx_size_left(); });
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<SharedReceives>(fid).close(); });
}

int bind(fid*, fid*, uint64_t) noexcept {
  return guard([] { return SharedReceives::refuse_bind(); });
}

int control(fid*, int command, void*) noexcept {
  return guard([&] { return SharedReceives::control(command); });
}

using Shims = ReceiveShims<SharedReceives>;

}  // namespace

fi_ops shared_receives_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = bind,
    .control = control,
    .ops_open = no_ops_open,
};

fi_ops_ep shared_receives_ops = {
    .size = sizeof(fi_ops_ep),
    .cancel = cancel,
    .getopt = getopt,
    .setopt = setopt,
    .tx_ctx = not_offered,
    .rx_ctx = not_offered,
    .rx_size_left = rx_size_left,
    .tx_size_left = not_offered_op,
};

fi_ops_msg shared_message_ops = {
    .size = sizeof(fi_ops_msg),
    .recv = Shims::recv,
    .recvv = Shims::recvv,
    .recvmsg = Shims::recvmsg,
    .send = not_offered_op,
    .sendv = not_offered_op,
    .sendmsg = not_offered_op,
    .inject = not_offered_op,
    .senddata = not_offered_op,
    .injectdata = not_offered_op,
};

fi_ops_tagged shared_tagged_ops = {
    .size = sizeof(fi_ops_tagged),
    .recv = Shims::trecv,
    .recvv = Shims::trecvv,
    .recvmsg = Shims::trecvmsg,
    .send = not_offered_op,
    .sendv = not_offered_op,
    .sendmsg = not_offered_op,
    .inject = not_offered_op,
    .senddata = not_offered_op,
    .injectdata = not_offered_op,
};

}  // namespace uet::prov
