// Reads and writes blocks of capture files. A length that reaches beyond the end of the file is an
// error.
#include "tools/pcap/pcap_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

namespace uet::tools {

namespace {

using io::Pcapng;

constexpr uint32_t kPcapMicroseconds = 0xA1B2C3D4, kPcapNanoseconds = 0xA1B23C4D;
constexpr size_t kInterfacesMax = 4096, kTextMax = 256;  // a hostile file may state any number
constexpr uint64_t kNsPerUs = 1000;

// Numbers of a file in either byte order.
class Source {
 public:
  explicit Source(std::span<const std::byte> octets) : octets_(octets) {}
  size_t remaining() const { return octets_.size() - at_; }
  template <class T>
  std::optional<T> take() {
    if (remaining() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, octets_.data() + at_, sizeof value);
    at_ += sizeof value;
    if (!swapped) return value;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  }
  std::optional<std::span<const std::byte>> take(size_t length) {
    if (remaining() < length) return std::nullopt;
    at_ += length;
    return octets_.subspan(at_ - length, length);
  }
  bool swapped = false;

 private:
  std::span<const std::byte> octets_;
  size_t at_ = 0;
};

struct Interface {
  uint16_t link_type = 0;
  uint64_t ns_per_unit = kNsPerUs;
  CapturePoint point;
};

std::string text_of(std::span<const std::byte> octets) {
  const size_t length = std::min(octets.size(), kTextMax);
  return {reinterpret_cast<const char*>(octets.data()), length};
}

Interface interface_of(Source body) {
  Interface out;
  out.link_type = body.take<uint16_t>().value_or(0);
  body.take(6);
  while (body.remaining() >= 4) {
    const uint16_t code = *body.take<uint16_t>();
    const uint16_t length = *body.take<uint16_t>();
    const auto value = body.take((length + 3U) / 4 * 4);
    if (!value) break;
    if (code == Pcapng::kTimeUnit && length == 1) {
      out.ns_per_unit = (*value)[0] == std::byte{9} ? 1 : kNsPerUs;
    }
    if (code == Pcapng::kName) out.point.name = text_of(value->first(length));
    if (code == Pcapng::kComment) out.point.comment = text_of(value->first(length));
  }
  return out;
}

// The interfaces of a section, and how many came before them.
struct Interfaces {
  std::vector<Interface> here;
  uint32_t before = 0;  // points of earlier sections and files
};

std::optional<Captured> packet_of(Source body, const Interfaces& interfaces) {
  const auto interface = body.take<uint32_t>();
  const auto high = body.take<uint32_t>();
  const auto low = body.take<uint32_t>();
  const auto captured = body.take<uint32_t>();
  const auto original = body.take<uint32_t>();
  if (!original || *interface >= interfaces.here.size()) return std::nullopt;
  const auto octets = body.take(*captured);
  if (!octets) return std::nullopt;
  const Interface& of = interfaces.here[*interface];
  const uint64_t units = uint64_t{*high} << 32 | *low;
  return Captured{units * of.ns_per_unit,
                  of.link_type,
                  {octets->begin(), octets->end()},
                  interfaces.before + *interface,
                  0,
                  *original};
}

std::vector<Captured> pcapng_packets(Source in, std::string& problem,
                                     std::vector<CapturePoint>& points) {
  std::vector<Captured> out;
  Interfaces interfaces;
  while (in.remaining() > 0) {
    const auto type = in.take<uint32_t>();
    auto length = in.take<uint32_t>();
    if (type && length && *type == Pcapng::kSectionBlock) {
      Source peek = in;
      const bool other_order = peek.take<uint32_t>() != Pcapng::kByteOrderMagic;
      if (other_order) {
        in.swapped = !in.swapped;
        length = __builtin_bswap32(*length);
      }
      interfaces = {{}, static_cast<uint32_t>(points.size())};
    }
    const auto body = length && *length >= 12 ? in.take(*length - 12) : std::nullopt;
    if (!body || !in.take(4)) {
      problem = "ends in the middle of a block";
      return out;
    }
    Source content(*body);
    content.swapped = in.swapped;
    if (*type == Pcapng::kInterfaceBlock) {
      if (points.size() == kInterfacesMax) {
        problem = "more than 4096 interfaces";
        return out;
      }
      interfaces.here.push_back(interface_of(content));
      points.push_back(interfaces.here.back().point);
    }
    if (*type != Pcapng::kPacketBlock) continue;
    auto packet = packet_of(content, interfaces);
    if (!packet) {
      problem = "a packet block is shorter than its packet";
      return out;
    }
    packet->number = static_cast<uint32_t>(out.size() + 1);
    out.push_back(std::move(*packet));
  }
  return out;
}

std::vector<Captured> pcap_packets(Source in, uint64_t ns_per_unit, std::string& problem,
                                   std::vector<CapturePoint>& points) {
  std::vector<Captured> out;
  points.emplace_back();
  in.take(20);  // versions, zone, accuracy, snapshot length are of no interest
  const auto link = in.take<uint32_t>();
  while (link && in.remaining() > 0) {
    const auto seconds = in.take<uint32_t>();
    const auto units = in.take<uint32_t>();
    const auto captured = in.take<uint32_t>();
    const auto original = in.take<uint32_t>();
    const auto octets = original ? in.take(*captured) : std::nullopt;
    if (!octets) {
      problem = "ends in the middle of a packet";
      return out;
    }
    out.push_back({*seconds * uint64_t{1000000000} + *units * ns_per_unit,
                   static_cast<uint16_t>(*link),
                   {octets->begin(), octets->end()},
                   static_cast<uint32_t>(points.size() - 1),
                   static_cast<uint32_t>(out.size() + 1),
                   *original});
  }
  return out;
}

}  // namespace

std::string read_octets(const std::string& path, std::vector<std::byte>& out) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "cannot read " + path + ": " + std::strerror(errno);
  out.clear();
  size_t got = 0;
  do {
    constexpr size_t kPiece = 1 << 16;
    const size_t before = out.size();
    out.resize(before + kPiece);
    got = std::fread(out.data() + before, 1, kPiece, file);
    out.resize(before + got);
  } while (got > 0);
  const bool failed = std::ferror(file) != 0;
  const int why = errno;
  if (file != stdin) std::fclose(file);
  return failed ? "cannot read " + path + ": " + std::strerror(why) : "";
}

std::string write_octets(const std::string& path, const void* octets, size_t length) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return "cannot write " + path + ": " + std::strerror(errno);
  bool done = std::fwrite(octets, 1, length, file) == length;
  done = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && done;
  return done ? "" : "cannot write " + path + ": " + std::strerror(errno);
}

std::vector<std::byte> pcapng_of(const std::vector<Captured>& packets,
                                 const std::vector<CapturePoint>& points) {
  const auto described = [](const CapturePoint& p) -> io::PcapngInterface {
    return {kLinkEthernet, p.name, p.comment};
  };
  const auto announced = [](const Captured& p) -> io::PcapngPacket {
    return {p.point, p.time_ns, static_cast<uint32_t>(p.octets.size())};
  };
  size_t bytes = io::PcapngWriter::kSectionBytes;
  for (const auto& p : points) bytes += io::PcapngWriter::interface_bytes(described(p));
  for (const auto& p : packets) bytes += io::PcapngWriter::packet_bytes(announced(p));
  std::vector<std::byte> out(bytes);
  io::PcapngWriter writer(out);
  writer.section();
  for (const CapturePoint& point : points) writer.interface(described(point));
  for (const Captured& packet : packets) {
    writer.begin_packet(announced(packet));
    writer.put(packet.octets.data(), packet.octets.size());
    writer.end_packet();
  }
  return out;
}

std::vector<Captured> packets_of(const std::vector<std::byte>& file, std::string& problem,
                                 std::vector<CapturePoint>* points) {
  std::vector<CapturePoint> unwanted;
  if (points == nullptr) points = &unwanted;
  Source in(file);
  const uint32_t magic = Source(in).take<uint32_t>().value_or(0);
  if (magic == Pcapng::kSectionBlock) return pcapng_packets(in, problem, *points);
  const uint32_t turned = __builtin_bswap32(magic);
  in.swapped = turned == kPcapMicroseconds || turned == kPcapNanoseconds;
  const uint32_t kind = in.swapped ? turned : magic;
  if (kind == kPcapMicroseconds) return pcap_packets(in, kNsPerUs, problem, *points);
  if (kind == kPcapNanoseconds) return pcap_packets(in, 1, problem, *points);
  problem = "neither pcap nor pcapng";
  return {};
}

}  // namespace uet::tools
