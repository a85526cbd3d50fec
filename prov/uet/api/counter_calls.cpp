// The operation tables of counters. [LF-097, LF-159]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/cntr.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

uint64_t read(fid_cntr* cntr) noexcept {
  return guard([&] { return object_of<Counter>(cntr).read(); });
}

uint64_t readerr(fid_cntr* cntr) noexcept {
  return guard([&] { return object_of<Counter>(cntr).read_error(); });
}

int add(fid_cntr* cntr, uint64_t value) noexcept {
  return guard([&] { return object_of<Counter>(cntr).add(value); });
}

int set(fid_cntr* cntr, uint64_t value) noexcept {
  return guard([&] { return object_of<Counter>(cntr).set(value); });
}

int wait(fid_cntr* cntr, uint64_t threshold, int timeout) noexcept {
  return guard([&] { return object_of<Counter>(cntr).wait(threshold, timeout); });
}

int adderr(fid_cntr* cntr, uint64_t value) noexcept {
  return guard([&] { return object_of<Counter>(cntr).add_error(value); });
}

int seterr(fid_cntr* cntr, uint64_t value) noexcept {
  return guard([&] { return object_of<Counter>(cntr).set_error(value); });
}

uint64_t peer_read(fid_cntr* cntr) noexcept {
  return guard([&] { return object_of<Counter>(cntr).run(); });
}

uint64_t peer_readerr(fid_cntr*) noexcept { return 0; }

int close(fid* fid) noexcept {
  return guard([&] { return object_of<Counter>(fid).close(); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<Counter>(fid).control(command, arg); });
}

}  // namespace

fi_ops counter_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = no_bind,
    .control = control,
    .ops_open = no_ops_open,
};

fi_ops_cntr counter_ops = {
    .size = sizeof(fi_ops_cntr),
    .read = read,
    .readerr = readerr,
    .add = add,
    .set = set,
    .wait = wait,
    .adderr = adderr,
    .seterr = seterr,
};

// The owner of the values reads and changes them. [fi_peer, PEER COUNTER]
fi_ops_cntr peer_counter_ops = {
    .size = sizeof(fi_ops_cntr),
    .read = peer_read,
    .readerr = peer_readerr,
    .add = not_offered,
    .set = not_offered,
    .wait = not_offered,
    .adderr = not_offered,
    .seterr = not_offered,
};

}  // namespace uet::prov
