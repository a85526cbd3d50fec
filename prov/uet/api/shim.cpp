// Error numbers and the stubs of op tables; see shim.h.
#include "prov/uet/api/shim.h"

namespace uet::prov {

int to_fi_errno(Errc e) {
  switch (e) {
    case Errc::again:
      return -FI_EAGAIN;
    case Errc::invalid:
      return -FI_EINVAL;
    case Errc::too_long:
      return -FI_EMSGSIZE;
    case Errc::not_found:
      return -FI_ENOENT;
    case Errc::exists:
      return -FI_EADDRINUSE;
    case Errc::no_memory:
      return -FI_ENOMEM;
    case Errc::unsupported:
      return -FI_EOPNOTSUPP;
    case Errc::no_key:
      return -FI_ENOKEY;
    case Errc::permission:
      return -FI_EACCES;
    case Errc::closed:
      return -FI_ESHUTDOWN;
    case Errc::io:
      return -FI_EIO;
  }
  return -FI_EOTHER;
}

int no_bind(fid*, fid*, uint64_t) noexcept { return -FI_ENOSYS; }

int no_control(fid*, int, void*) noexcept { return -FI_ENOSYS; }

int no_ops_open(fid*, const char*, uint64_t, void**, void*) noexcept { return -FI_ENOSYS; }

}  // namespace uet::prov
