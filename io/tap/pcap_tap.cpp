// Records packets as raw IP with a direction each, into a file of one section and one interface.
#include "io/tap/pcap_tap.h"

#include "io/frame/frame.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace uet::io {
namespace {

int64_t wall_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string with_process_id(std::string path) {
  const std::string id = std::to_string(::getpid());
  for (size_t at = path.find("%p"); at != path.npos; at = path.find("%p", at)) {
    path.replace(at, 2, id);
  }
  return path;
}

// Opens for writing without harm to what another process writes there; EWOULDBLOCK when one does.
Fd open_alone(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  struct stat kind {};
  if (!fd || ::fstat(fd.get(), &kind) != 0) return Fd();
  if (S_ISFIFO(kind.st_mode)) {
    errno = EINVAL;  // a reader that leaves would end this process by a signal
    return Fd();
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  if (S_ISREG(kind.st_mode) && ::ftruncate(fd.get(), 0) != 0) return Fd();
  return fd;
}

}  // namespace

std::unique_ptr<PcapTap> PcapTap::open(std::unique_ptr<PacketIo>& inner, const std::string& path,
                                       const CapturedInterface& interface, std::string* error) {
  constexpr int kNames = 64;
  std::unique_ptr<PcapTap> tap(new PcapTap);
  tap->path_ = with_process_id(path);
  tap->file_ = open_alone(tap->path_);
  for (int i = 0; !tap->file_ && errno == EWOULDBLOCK && i < kNames; ++i) {
    tap->path_ = with_process_id(path + ".%p") + (i == 0 ? "" : "." + std::to_string(i));
    tap->file_ = open_alone(tap->path_);
  }
  if (!tap->file_) {
    if (error != nullptr) {
      *error = "cannot write the capture file " + tap->path_ + ": " + errno_text(errno);
    }
    return nullptr;
  }
  tap->flushed_at_ = monotonic_now();
  tap->wall_offset_ns_ = wall_ns() - tap->flushed_at_.ns();
  tap->buffer_.reset(new std::byte[kBufferBytes]);
  tap->blocks_ = PcapngWriter({tap->buffer_.get(), kBufferBytes});
  tap->blocks_.section();
  tap->blocks_.interface(
      {kLinkRawIp, interface.name.substr(0, 256), interface.comment.substr(0, 1024)});
  tap->take_over(inner);
  return tap;
}

PcapTap::~PcapTap() { flush(); }

// Begins a packet with the headers made up for it; the datagram follows, then end_packet().
void PcapTap::begin_packet(const Datagram& d) {
  if (blocks_.used() > kFlushBytes) flush();
  const uint8_t protocol = inner().caps().ip_protocol;
  const uint32_t udp_headers = header_bytes_of(d.to);
  const uint32_t headers = protocol == 0 ? udp_headers : udp_headers - kUdpHeader + kEntropyHeader;
  blocks_.begin_packet({.time_ns = static_cast<uint64_t>(d.at.ns() + wall_offset_ns_),
                        .bytes = headers + d.bytes,
                        .direction = d.direction});
  const auto tos = static_cast<uint8_t>(d.dscp << 2 | static_cast<uint8_t>(d.ecn));
  if (protocol == 0) {
    put_udp_headers(blocks_.take(headers), d.from, d.to, tos, d.bytes);
  } else {
    put_native_headers(blocks_.take(headers), d.from, d.to, tos, protocol, d.ev, d.bytes);
  }
}

void PcapTap::end_packet() {
  if (inner().caps().ip_protocol == 0) put_udp_checksum(blocks_.packet());
  blocks_.end_packet();
}

void PcapTap::send(std::span<TxPacket> packets) {
  inner().send(packets);
  if (!is_recording()) return;
  const Instant now = monotonic_now();
  const FabricAddress local = inner().local_address();
  FabricAddress from = local;
  for (const TxPacket& p : packets) {
    if (p.fate != TxFate::sent) continue;
    // A sealed packet can be opened only with the port that it left with. [TSS-022]
    from.port = p.sdi == 0 ? nominal_source_port(local, p.ev) : inner().source_port(p.ev);
    begin_packet({from, p.to, p.dscp, p.ecn, p.bytes(), p.ev, now, Direction::outbound});
    blocks_.put(p.header, p.header_bytes);
    for (uint32_t i = 0; i < p.slice_count; ++i) blocks_.put(p.slices[i].data, p.slices[i].length);
    end_packet();
  }
  flush_when_due(now);
}

std::span<RxDatagram> PcapTap::receive() {
  const std::span<RxDatagram> datagrams = inner().receive();
  if (!is_recording()) return datagrams;
  const FabricAddress to = inner().local_address();
  for (const RxDatagram& d : datagrams) {
    begin_packet({d.from, to, d.dscp, d.ecn, static_cast<uint32_t>(d.bytes.size()), d.ev, d.at,
                  Direction::inbound});
    blocks_.put(d.bytes.data(), d.bytes.size());
    end_packet();
  }
  flush_when_due(datagrams.empty() ? monotonic_now() : datagrams.back().at);
  return datagrams;
}

void PcapTap::flush_when_due(Instant now) {
  if (blocks_.used() == 0) {
    flushed_at_ = now;
  } else if (now - flushed_at_ >= Duration::seconds(1)) {
    flush();
    flushed_at_ = now;
  }
}

void PcapTap::finish() {
  flush();
  finished_ = true;
  inner().finish();
}

void PcapTap::flush() {
  std::span<const std::byte> left = blocks_.written();
  while (!failed_ && !left.empty()) {
    const ssize_t n = ::write(file_.get(), left.data(), left.size());
    if (n > 0) {
      left = left.subspan(static_cast<size_t>(n));
    } else if (n < 0 && errno != EINTR) {
      failed_ = true;
      std::fprintf(stderr, "uet: capture to %s ends here: %s\n", path_.c_str(),
                   errno_text(errno).c_str());
    }
  }
  blocks_.clear();
}

}  // namespace uet::io
