// The ring in a build without liburing.
#include "io/udp/ring.h"

namespace uet::io {

std::unique_ptr<UdpRing> UdpRing::open(const Fd&, uint32_t, std::string* error) {
  if (error != nullptr) {
    *error =
        "this build has no io_uring: build it where liburing-dev is installed, or use "
        "FI_UET_IO=udp";
  }
  return nullptr;
}

}  // namespace uet::io
