// The operation tables of address vectors. [LF-012..016]
#include "prov/uet/address/av.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/api/tables.h"

// Newer headers append members to the operation tables; they stay null. [ABI-026]
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace uet::prov {
namespace {

int insert(fid_av* av, const void* addr, size_t count, fi_addr_t* fi_addr, uint64_t flags,
           void* context) noexcept {
  return guard(
      [&] { return object_of<AddressVector>(av).insert(addr, count, fi_addr, flags, context); });
}

int insertsym(fid_av* av, const char* node, size_t node_count, const char* service,
              size_t service_count, fi_addr_t* fi_addr, uint64_t flags, void* context) noexcept {
  return guard([&] {
    return object_of<AddressVector>(av).insert_named(node, node_count, service, service_count,
                                                     fi_addr, flags, context);
  });
}

int insertsvc(fid_av* av, const char* node, const char* service, fi_addr_t* fi_addr, uint64_t flags,
              void* context) noexcept {
  return insertsym(av, node, 1, service, 1, fi_addr, flags, context);
}

int remove(fid_av* av, fi_addr_t* fi_addr, size_t count, uint64_t flags) noexcept {
  return guard([&] { return object_of<AddressVector>(av).remove(fi_addr, count, flags); });
}

int lookup(fid_av* av, fi_addr_t fi_addr, void* addr, size_t* length) noexcept {
  return guard([&] { return object_of<AddressVector>(av).lookup(fi_addr, addr, length); });
}

const char* straddr(fid_av* av, const void* addr, char* buf, size_t* length) noexcept {
  try {
    return object_of<AddressVector>(av).to_text(addr, buf, length);
  } catch (...) {
    return nullptr;
  }
}

[[maybe_unused]] int insert_auth_key(fid_av* av, const void* key, size_t bytes, fi_addr_t* fi_addr,
                                     uint64_t flags) noexcept {
  return guard(
      [&] { return object_of<AddressVector>(av).insert_auth_key(key, bytes, fi_addr, flags); });
}

[[maybe_unused]] int lookup_auth_key(fid_av* av, fi_addr_t fi_addr, void* key,
                                     size_t* bytes) noexcept {
  return guard([&] { return object_of<AddressVector>(av).lookup_auth_key(fi_addr, key, bytes); });
}

[[maybe_unused]] int set_user_id(fid_av* av, fi_addr_t fi_addr, fi_addr_t id,
                                 uint64_t flags) noexcept {
  return guard([&] { return object_of<AddressVector>(av).set_user_id(fi_addr, id, flags); });
}

int close(fid* fid) noexcept {
  return guard([&] { return object_of<AddressVector>(fid).close(); });
}

int bind(fid* fid, struct fid* bound, uint64_t flags) noexcept {
  return guard([&] { return object_of<AddressVector>(fid).bind(bound, flags); });
}

}  // namespace

fi_ops av_fid_ops = {
    .size = sizeof(fi_ops),
    .close = close,
    .bind = bind,
    .control = no_control,
    .ops_open = no_ops_open,
};

fi_ops_av av_ops = {
    .size = sizeof(fi_ops_av),
    .insert = insert,
    .insertsvc = insertsvc,
    .insertsym = insertsym,
    .remove = remove,
    .lookup = lookup,
    .straddr = straddr,
    .av_set = not_offered,
#if UET_HAVE_AV_AUTH_KEY
    .insert_auth_key = insert_auth_key,  // [LF-108]
    .lookup_auth_key = lookup_auth_key,
    .set_user_id = set_user_id,  // [LF-160]
#endif
};

}  // namespace uet::prov
