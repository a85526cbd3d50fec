// The operation tables of completion queues. [LF-093, LF-095, LF-159]
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/completion_error.h"
#include "prov/uet/completion/cq.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

ssize_t read(fid_cq* cq, void* buf, size_t count) noexcept {
  return guard([&] { return object_of<CompletionQueue>(cq).read(buf, count, nullptr); });
}

ssize_t readfrom(fid_cq* cq, void* buf, size_t count, fi_addr_t* src_addr) noexcept {
  return guard([&] { return object_of<CompletionQueue>(cq).read(buf, count, src_addr); });
}

ssize_t readerr(fid_cq* cq, fi_cq_err_entry* entry, uint64_t) noexcept {
  return guard([&] { return object_of<CompletionQueue>(cq).read_error(entry); });
}

ssize_t sread(fid_cq* cq, void* buf, size_t count, const void* cond, int timeout) noexcept {
  return guard(
      [&] { return object_of<CompletionQueue>(cq).sread(buf, count, nullptr, cond, timeout); });
}

ssize_t sreadfrom(fid_cq* cq, void* buf, size_t count, fi_addr_t* src_addr, const void* cond,
                  int timeout) noexcept {
  return guard(
      [&] { return object_of<CompletionQueue>(cq).sread(buf, count, src_addr, cond, timeout); });
}

int signal(fid_cq* cq) noexcept {
  return guard([&] { return object_of<CompletionQueue>(cq).signal(); });
}

const char* strerror(fid_cq*, int prov_errno, const void* err_data, char* buf,
                     size_t len) noexcept {
  return completion_error_text(prov_errno, static_cast<const char*>(err_data), buf, len);
}

ssize_t peer_read(fid_cq* cq, void*, size_t) noexcept {
  return guard([&] { return object_of<CompletionQueue>(cq).run(); });
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<CompletionQueue>(fid).close(); });
}

int control(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return object_of<CompletionQueue>(fid).control(command, arg); });
}

}  // namespace

fi_ops cq_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = no_bind,
    .control = control,
    .ops_open = no_ops_open,
};

fi_ops_cq cq_ops = {
    .size = sizeof(fi_ops_cq),
    .read = read,
    .readfrom = readfrom,
    .readerr = readerr,
    .sread = sread,
    .sreadfrom = sreadfrom,
    .signal = signal,
    .strerror = strerror,
};

// The owner of the entries reads them. [fi_peer, PEER CQ]
fi_ops_cq peer_cq_ops = {
    .size = sizeof(fi_ops_cq),
    .read = peer_read,
    .readfrom = not_offered_op,
    .readerr = not_offered_op,
    .sread = not_offered_op,
    .sreadfrom = not_offered_op,
    .signal = not_offered,
    .strerror = strerror,
};

}  // namespace uet::prov
