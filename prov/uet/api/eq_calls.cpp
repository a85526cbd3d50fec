// The operation tables of event queues. [LF-001]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/completion_error.h"
#include "prov/uet/completion/eq.h"

#include <cstdio>

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

ssize_t read(fid_eq* eq, uint32_t* event, void* buf, size_t length, uint64_t flags) noexcept {
  return guard([&] { return object_of<EventQueue>(eq).read(event, buf, length, flags); });
}

ssize_t readerr(fid_eq* eq, fi_eq_err_entry* entry, uint64_t flags) noexcept {
  return guard([&] { return object_of<EventQueue>(eq).read_error(entry, flags); });
}

ssize_t write(fid_eq* eq, uint32_t event, const void* buf, size_t length, uint64_t flags) noexcept {
  return guard([&] { return object_of<EventQueue>(eq).write(event, buf, length, flags); });
}

ssize_t sread(fid_eq* eq, uint32_t* event, void* buf, size_t length, int timeout,
              uint64_t flags) noexcept {
  return guard([&] { return object_of<EventQueue>(eq).sread(event, buf, length, timeout, flags); });
}

const char* strerror(fid_eq*, int prov_errno, const void*, char* buf, size_t length) noexcept {
  const char* const text = event_error_name(prov_errno);
  if (buf != nullptr && length > 0) std::snprintf(buf, length, "%s", text);
  return text;
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<EventQueue>(fid).close(); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<EventQueue>(fid).control(command, arg); });
}

}  // namespace

fi_ops eq_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = no_bind,
    .control = control,
    .ops_open = no_ops_open,
};

fi_ops_eq eq_ops = {
    .size = sizeof(fi_ops_eq),
    .read = read,
    .readerr = readerr,
    .write = write,
    .sread = sread,
    .strerror = strerror,
};

}  // namespace uet::prov
