// Blocks of capture files. Lengths come from the file and are believed only as far as it reaches.
#include "tools/pcap_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

namespace uet::tools {

namespace {

using Octets = std::vector<std::byte>;

constexpr uint32_t kSectionHeader = 0x0A0D0D0A, kInterface = 1, kSimplePacket = 3, kPacket = 6;
constexpr uint32_t kByteOrder = 0x1A2B3C4D;
constexpr uint32_t kPcapMicroseconds = 0xA1B2C3D4, kPcapNanoseconds = 0xA1B23C4D;
constexpr uint16_t kOptionComment = 1, kOptionName = 2, kOptionTimeUnits = 9;
constexpr size_t kInterfacesMax = 4096, kTextMax = 256;  // of a file, which may be hostile
constexpr uint64_t kNsPerUs = 1000;

template <class T>
void put(Octets& out, T value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), p, p + sizeof value);
}

void put_padded(Octets& out, std::span<const std::byte> octets) {
  out.insert(out.end(), octets.begin(), octets.end());
  out.resize((out.size() + 3) / 4 * 4);
}

void put_block(Octets& out, uint32_t type, const Octets& body) {
  const auto length = static_cast<uint32_t>(body.size() + 12);
  put(out, type);
  put(out, length);
  out.insert(out.end(), body.begin(), body.end());
  put(out, length);
}

void put_text(Octets& out, uint16_t option, const std::string& text) {
  if (text.empty()) return;
  const auto length = static_cast<uint16_t>(std::min<size_t>(text.size(), 4096));
  put(out, option);
  put(out, length);
  put_padded(out, std::as_bytes(std::span(text.data(), length)));
}

void put_interface(Octets& out, const CapturePoint& point) {
  Octets body;
  put(body, uint32_t{kLinkEthernet});
  put(body, uint32_t{0});  // whole packets
  put_text(body, kOptionName, point.name);
  put(body, kOptionTimeUnits);
  put(body, uint16_t{1});
  put(body, uint32_t{9});  // nanoseconds, and padding
  put_text(body, kOptionComment, point.comment);
  put(body, uint32_t{0});  // end of the options
  put_block(out, kInterface, body);
}

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
    if (code == kOptionTimeUnits && length == 1) {
      out.ns_per_unit = (*value)[0] == std::byte{9} ? 1 : kNsPerUs;
    }
    if (code == kOptionName) out.point.name = text_of(value->first(length));
    if (code == kOptionComment) out.point.comment = text_of(value->first(length));
  }
  return out;
}

// The interfaces of a section, and what the file had before it.
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
    if (type && length && *type == kSectionHeader) {
      Source peek = in;
      const bool other_order = peek.take<uint32_t>() != kByteOrder;
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
    if (*type == kInterface) {
      if (points.size() == kInterfacesMax) {
        problem = "more than 4096 interfaces";
        return out;
      }
      interfaces.here.push_back(interface_of(content));
      points.push_back(interfaces.here.back().point);
    }
    if (*type != kPacket) continue;
    auto packet = packet_of(content, interfaces);
    if (!packet) {
      problem = "a packet block that does not hold its packet";
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
  Octets out;
  Octets section;
  put(section, kByteOrder);
  put(section, uint32_t{1});  // version 1.0
  put(section, UINT64_MAX);   // length: not given
  put_block(out, kSectionHeader, section);
  for (const CapturePoint& point : points) put_interface(out, point);
  for (const Captured& packet : packets) {
    const auto length = static_cast<uint32_t>(packet.octets.size());
    Octets body;
    put(body, packet.point);
    put(body, static_cast<uint32_t>(packet.time_ns >> 32));
    put(body, static_cast<uint32_t>(packet.time_ns));
    put(body, length);
    put(body, length);
    put_padded(body, packet.octets);
    put_block(out, kPacket, body);
  }
  return out;
}

std::vector<Captured> packets_of(const std::vector<std::byte>& file, std::string& problem,
                                 std::vector<CapturePoint>* points) {
  std::vector<CapturePoint> unwanted;
  if (points == nullptr) points = &unwanted;
  Source in(file);
  const uint32_t magic = Source(in).take<uint32_t>().value_or(0);
  if (magic == kSectionHeader) return pcapng_packets(in, problem, *points);
  const uint32_t turned = __builtin_bswap32(magic);
  in.swapped = turned == kPcapMicroseconds || turned == kPcapNanoseconds;
  const uint32_t kind = in.swapped ? turned : magic;
  if (kind == kPcapMicroseconds) return pcap_packets(in, kNsPerUs, problem, *points);
  if (kind == kPcapNanoseconds) return pcap_packets(in, 1, problem, *points);
  problem = "neither pcap nor pcapng";
  return {};
}

}  // namespace uet::tools
