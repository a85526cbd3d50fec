// Order of the set-up, the queues of an interface, and sentences for what fails.
#include "io/xdp/port.h"

#include "io/frame/frame.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace uet::io {
namespace {

std::string socket_failure(const std::string& where, int error) {
  std::string text = "cannot open an AF_XDP socket" + where + ": " + errno_text(error);
  if (error == EBUSY) {
    return text + "; another AF_XDP socket has it: stop that process, or use FI_UET_IO=packet";
  }
  if (error == ENOBUFS) {
    return text + "; let the process lock more memory (ulimit -l), or lower FI_UET_SOCKBUF";
  }
  if (error == EPERM || error == EACCES) {
    return text + "; give the process CAP_NET_RAW, or use FI_UET_IO=packet";
  }
  if (error == EAFNOSUPPORT) {
    return text + "; this kernel has no AF_XDP (CONFIG_XDP_SOCKETS): use FI_UET_IO=packet";
  }
  return text + "; use FI_UET_IO=packet";
}

std::string queue_text(const Interface& interface, uint32_t queue) {
  return " on queue " + std::to_string(queue) + " of " + interface.name;
}

}  // namespace

std::string XdpPort::why_refused() {
  const Fd socket(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket) return socket_failure("", errno);
  FabricAddress any;
  any.family = FabricAddress::Family::ipv4;
  std::string why;
  (void)XdpProgram().load(any, 0, {}, why);
  return why;
}

bool XdpPort::open(const Settings& settings, std::string& error) {
  if (!count_queues(settings.interface, error)) return false;
  uint32_t bytes = settings.receive_buffer_bytes;
  if (bytes == 0) bytes = kReceiveBytesDefault;
  bytes = std::min(bytes, kReceiveBytesMax / 2) * 2;  // the shortest packet takes a frame, too
  frames_per_queue_ = std::clamp(std::bit_floor(bytes / XdpMemory::kFrameBytes / queue_count_),
                                 kFramesPerQueueMin, kFramesPerQueueMax);
  if (!memory_.map(kTxFrames + frames_per_queue_ * queue_count_)) {
    error = "no memory for AF_XDP: " + errno_text(errno) + "; lower FI_UET_SOCKBUF";
    return false;
  }
  const Interface& interface = settings.interface;
  if (!program_.load(settings.local, settings.ip_protocol, interface, error)) return false;
  const bool is_there = settings.generic
                            ? program_.attach_at(XdpProgram::Place::generic, interface, error)
                            : program_.attach(interface, error);
  if (!is_there) return false;
  if (const int failure = open_queues(settings); failure != 0) {
    error = socket_failure(queue_text(settings.interface, failed_queue_), failure);
    return false;
  }
  is_zero_copy_ = queues_[0].is_zero_copy();
  for (uint32_t i = 0; i < queue_count_; ++i) {
    if (program_.hand_to(i, queues_[i].socket())) continue;
    error = socket_failure(queue_text(settings.interface, i), errno);
    return false;
  }
  return true;
}

// A queue without a socket would leave its packets to the slow way.
bool XdpPort::count_queues(const Interface& interface, std::string& error) {
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request{};
  std::memcpy(request.ifr_name, interface.name.data(),
              std::min(interface.name.size(), sizeof request.ifr_name - 1));
  request.ifr_data = reinterpret_cast<char*>(&channels);
  const bool is_known = ::ioctl(any.get(), SIOCETHTOOL, &request) == 0;
  queue_count_ = is_known ? channels.rx_count + channels.combined_count : 1;
  queue_count_ = std::max(queue_count_, 1u);
  if (queue_count_ <= XdpProgram::kQueuesMax) return true;
  error = interface.name + " has " + std::to_string(queue_count_) +
          " receive queues, and AF_XDP is used on " + std::to_string(XdpProgram::kQueuesMax) +
          " at most: give it fewer (ethtool -L " + interface.name +
          " combined N), or use FI_UET_IO=packet";
  return false;
}

// Without copies comes first, then long packets. Returns 0, or an errno.
int XdpPort::open_queues(const Settings& settings) {
  const bool in_pieces = settings.interface.mtu_bytes > packet_bytes_max();
  const bool in_driver = program_.place() == XdpProgram::Place::driver;
  int failure = EOPNOTSUPP;
  for (const int mode :
       {XDP_ZEROCOPY | XDP_USE_SG, XDP_ZEROCOPY, XDP_COPY | XDP_USE_SG, XDP_COPY}) {
    const bool is_piecewise = (mode & XDP_USE_SG) != 0;
    if ((is_piecewise && !in_pieces) || ((mode & XDP_ZEROCOPY) != 0 && !in_driver)) continue;
    failure = open_queues(settings, static_cast<uint16_t>(mode));
    if (failure == 0) pieces_max_ = is_piecewise ? kPiecesMax : 1;
    if (failure == 0 || failure == EBUSY) break;
  }
  return failure;
}

// All or none: a socket that failed to bind, and those that share with it, are made again.
int XdpPort::open_queues(const Settings& settings, uint16_t mode) {
  queues_ = std::make_unique<XdpQueue[]>(queue_count_);
  XdpQueue::Settings one;
  one.interface_index = settings.interface.index;
  one.rx_frames = frames_per_queue_;
  one.tx_frames = kTxFrames;
  one.send_buffer_bytes = settings.send_buffer_bytes;
  one.mode = mode;
  uint32_t frame = kTxFrames;
  for (uint32_t i = 0; i < queue_count_; ++i) {
    one.queue = i;
    XdpQueue& queue = queues_[i];
    if (!queue.open(one, memory_, i == 0 ? nullptr : &queues_[0])) {
      failed_queue_ = i;
      const int failure = errno;
      queues_.reset();
      return failure;
    }
    for (uint32_t k = 0; k < frames_per_queue_; ++k)
      queue.fill().put(XdpMemory::address_of(frame++));
    queue.give_back();
    one.tx_frames = 0;
    one.send_buffer_bytes = 0;
  }
  return 0;
}

// The program's stamp stands in the first frame, too.
uint32_t XdpPort::packet_bytes_max() const {
  return pieces_max_ * XdpMemory::kFilledBytes - static_cast<uint32_t>(sizeof(XdpStamp)) -
         kEthernetHeader;
}

std::string XdpPort::mode_text() const {
  if (program_.place() == XdpProgram::Place::generic) return "generic";
  return is_zero_copy_ ? "in the driver, zero-copy" : "in the driver, copied";
}

}  // namespace uet::io
