// Asks the host which backends it supports, and caches the answer.
#include "prov/uet/domain/backend.h"

#include "io/frame/frame_io.h"
#include "io/host/bypass.h"
#include "io/socket.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace uet::prov {
namespace {

bool has_net_raw() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return ::syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_NET_RAW & 1) != 0;
}

struct Answer {
  Instant at;
  std::string why;
};

// Answers of the last second. Never destroyed: calls may come while the process ends.
std::string remembered(const io::Interface& interface) {
  static std::mutex& mutex = *new std::mutex;
  static auto& answers = *new std::map<uint32_t, Answer>;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return why_no_packet_sockets(interface);
  const Instant now = io::monotonic_now();
  const auto found = answers.find(interface.index);
  if (found != answers.end() && now - found->second.at < Duration::seconds(1)) {
    return found->second.why;
  }
  return (answers[interface.index] = {now, why_no_packet_sockets(interface)}).why;
}

}  // namespace

std::string why_no_packet_sockets(const io::Interface& interface, uint32_t own_rings) {
  if (!io::FrameIo::is_offered_by_kernel()) return "they need Linux 6.2 or later";
  if (!has_net_raw()) return "they need CAP_NET_RAW, which this process lacks";
  return io::why_frames_differ(interface, own_rings);
}

std::string backend_text(IoChoice choice, const io::Interface& interface) {
  switch (choice) {
    case IoChoice::udp:
      return "UDP sockets (FI_UET_IO=udp)";
    case IoChoice::uring:
      return "UDP sockets with io_uring (FI_UET_IO=uring)";
    case IoChoice::packet:
      return "packet sockets (FI_UET_IO=packet)";
    case IoChoice::ip:
      return "raw sockets, without UDP (FI_UET_IO=ip)";
    case IoChoice::ip_packet:
      return "packet sockets, without UDP (FI_UET_IO=ip-packet)";
    case IoChoice::ip_xdp:
      return "AF_XDP, without UDP (FI_UET_IO=ip-xdp)";
    case IoChoice::xdp:
      return "AF_XDP (FI_UET_IO=xdp)";
    case IoChoice::automatic:
      break;
  }
  const std::string why = remembered(interface);
  if (why.empty()) return "packet sockets (FI_UET_IO=auto)";
  return "UDP sockets (FI_UET_IO=auto; packet sockets: " + why + ")";
}

}  // namespace uet::prov
