// Writing pcapng: section header, one interface block, enhanced packet blocks in the byte order of
// this machine, each with raw IP (link type 101) and a direction flag.
#include "io/pcap_tap.h"

#include "io/frame.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace uet::io {
namespace {

constexpr uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr uint32_t kInterfaceBlock = 1;
constexpr uint32_t kPacketBlock = 6;
constexpr uint16_t kLinkTypeRaw = 101;  // the packet starts with its IP header
constexpr uint16_t kOptionEnd = 0;
constexpr uint16_t kOptionComment = 1;
constexpr uint16_t kOptionFlags = 2;      // of a packet
constexpr uint16_t kOptionName = 2;       // of an interface
constexpr uint16_t kOptionTimeUnits = 9;  // of an interface: negative power of ten
constexpr uint32_t kBlockHead = 28;       // of a packet block, before the octets

constexpr size_t padding(size_t length) { return (4 - length % 4) % 4; }

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
  tap->put_file_header({interface.name.substr(0, 256), interface.comment.substr(0, 1024)});
  tap->inner_ = std::move(inner);
  return tap;
}

PcapTap::~PcapTap() { flush(); }

void PcapTap::put(const void* octets, size_t length) {
  UET_ASSERT(used_ + length <= kBufferBytes);
  if (length > 0) std::memcpy(buffer_.get() + used_, octets, length);
  used_ += length;
}

void PcapTap::put_option(uint16_t code, const void* octets, size_t length) {
  const uint32_t zero = 0;
  put_u16(code);
  put_u16(static_cast<uint16_t>(length));
  put(octets, length);
  put(&zero, padding(length));
}

void PcapTap::put_file_header(const CapturedInterface& interface) {
  constexpr uint32_t kSectionBytes = 28;
  put_u32(kSectionHeader);
  put_u32(kSectionBytes);
  put_u32(kByteOrderMagic);
  put_u16(1);  // version 1.0
  put_u16(0);
  put_u32(UINT32_MAX);  // section length: not given
  put_u32(UINT32_MAX);
  put_u32(kSectionBytes);

  const auto option_bytes = [](size_t length) { return 4 + length + padding(length); };
  const std::string& name = interface.name;
  const std::string& comment = interface.comment;
  const size_t comment_bytes = comment.empty() ? 0 : option_bytes(comment.size());
  const auto block =
      static_cast<uint32_t>(16 + option_bytes(name.size()) + 8 + comment_bytes + 4 + 4);
  const uint8_t nanoseconds = 9;
  put_u32(kInterfaceBlock);
  put_u32(block);
  put_u16(kLinkTypeRaw);
  put_u16(0);
  put_u32(0);  // whole packets
  put_option(kOptionName, name.data(), name.size());
  put_option(kOptionTimeUnits, &nanoseconds, 1);
  if (!comment.empty()) put_option(kOptionComment, comment.data(), comment.size());
  put_option(kOptionEnd, nullptr, 0);
  put_u32(block);
}

// Starts a packet block; the headers and octets follow, then end_packet().
void PcapTap::begin_packet(uint32_t datagram_bytes, uint32_t headers, Instant at) {
  if (used_ > kFlushBytes) flush();
  const uint32_t bytes = datagram_bytes + headers;
  const auto time = static_cast<uint64_t>(at.ns() + wall_offset_ns_);
  packet_start_ = used_;
  put_u32(kPacketBlock);
  put_u32(static_cast<uint32_t>(kBlockHead + bytes + padding(bytes) + 8 + 4 + 4));
  put_u32(0);  // the interface
  put_u32(static_cast<uint32_t>(time >> 32));
  put_u32(static_cast<uint32_t>(time));
  put_u32(bytes);
  put_u32(bytes);
}

void PcapTap::put_headers(const FabricAddress& from, const FabricAddress& to, uint8_t tos,
                          uint32_t datagram_bytes) {
  UET_ASSERT(used_ + kUdpPacketHeaderMax <= kBufferBytes);
  used_ += put_udp_headers(buffer_.get() + used_, from, to, tos, datagram_bytes);
}

// Completes the block once all octets of the packet are in the buffer.
void PcapTap::end_packet(Direction direction) {
  const size_t start = packet_start_ + kBlockHead;
  const auto bytes = static_cast<uint32_t>(used_ - start);
  put_udp_checksum({buffer_.get() + start, bytes});

  const uint32_t zero = 0;
  put(&zero, padding(bytes));
  const auto flags = static_cast<uint32_t>(direction);
  put_option(kOptionFlags, &flags, sizeof flags);
  put_option(kOptionEnd, nullptr, 0);
  put_u32(static_cast<uint32_t>(used_ + 4 - packet_start_));
}

void PcapTap::send(std::span<TxPacket> packets) {
  inner_->send(packets);
  if (!is_recording()) return;
  const Instant now = monotonic_now();
  FabricAddress from = inner_->local_address();
  const uint32_t headers = header_bytes_of(from);
  const FabricAddress local = from;
  for (const TxPacket& p : packets) {
    if (p.fate != TxFate::sent) continue;
    from.port = nominal_source_port(local, p.ev);
    begin_packet(p.bytes(), headers, now);
    put_headers(from, p.to, static_cast<uint8_t>(p.dscp << 2 | static_cast<uint8_t>(p.ecn)),
                p.bytes());
    put(p.header, p.header_bytes);
    for (uint32_t i = 0; i < p.slice_count; ++i) put(p.slices[i].data, p.slices[i].length);
    end_packet(Direction::outbound);
  }
  flush_when_due(now);
}

std::span<RxDatagram> PcapTap::receive() {
  const std::span<RxDatagram> datagrams = inner_->receive();
  if (!is_recording()) return datagrams;
  const FabricAddress to = inner_->local_address();
  const uint32_t headers = header_bytes_of(to);
  for (const RxDatagram& d : datagrams) {
    const auto bytes = static_cast<uint32_t>(d.bytes.size());
    begin_packet(bytes, headers, d.at);
    put_headers(d.from, to, static_cast<uint8_t>(d.dscp << 2 | static_cast<uint8_t>(d.ecn)), bytes);
    put(d.bytes.data(), bytes);
    end_packet(Direction::inbound);
  }
  flush_when_due(datagrams.empty() ? monotonic_now() : datagrams.back().at);
  return datagrams;
}

void PcapTap::flush_when_due(Instant now) {
  if (used_ == 0) {
    flushed_at_ = now;
  } else if (now - flushed_at_ >= Duration::seconds(1)) {
    flush();
    flushed_at_ = now;
  }
}

void PcapTap::finish() {
  flush();
  finished_ = true;
  inner_->finish();
}

void PcapTap::flush() {
  size_t written = 0;
  while (!failed_ && written < used_) {
    const ssize_t n = ::write(file_.get(), buffer_.get() + written, used_ - written);
    if (n > 0) {
      written += static_cast<size_t>(n);
    } else if (n < 0 && errno != EINTR) {
      failed_ = true;
      std::fprintf(stderr, "uet: capture to %s ends here: %s\n", path_.c_str(),
                   errno_text(errno).c_str());
    }
  }
  used_ = 0;
}

}  // namespace uet::io
