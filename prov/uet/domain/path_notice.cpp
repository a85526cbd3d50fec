// Lines for routes that became smaller; see path_notice.h.
#include "prov/uet/domain/path_notice.h"

#include "prov/uet/api/log.h"

#include "io/socket.h"
#include "wire/payload_mtu.h"

namespace uet::prov {
void log_path_notice(const fep::Engine::PathNotice& notice) {
  const std::string ip = io::ip_text(notice.to);
  if (notice.change == nullptr || notice.change->after == notice.change->before) return;
  UET_WARN(
      EP_DATA,
      "%s port %u: the route now carries packets of at most %u octets, too small for a payload "
      "of %u: operations whose packets are longer end with FI_EMSGSIZE, later ones use "
      "payloads of %u%s. Raise the MTU on the path, or set FI_UET_PAYLOAD_MTU on both ends\n",
      ip.c_str(), notice.to.port, notice.mtu_bytes, notice.change->before, notice.change->after,
      wire::payload_for_path(notice.mtu_bytes) == 0 ? ", and even those packets are too long" : "");
}

}  // namespace uet::prov
