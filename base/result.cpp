// Names of the shared error words.
#include "base/result.h"

namespace uet {

const char* name(Errc e) {
  switch (e) {
    case Errc::again:
      return "again";
    case Errc::invalid:
      return "invalid";
    case Errc::too_long:
      return "too long";
    case Errc::not_found:
      return "not found";
    case Errc::exists:
      return "exists";
    case Errc::no_memory:
      return "no memory";
    case Errc::unsupported:
      return "unsupported";
    case Errc::no_key:
      return "no key";
    case Errc::permission:
      return "permission";
    case Errc::closed:
      return "closed";
    case Errc::io:
      return "io";
  }
  return "unknown error";
}

}  // namespace uet
