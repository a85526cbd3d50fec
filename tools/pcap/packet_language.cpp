// Takes a line apart at its bars, and puts Ethernet, IP and UDP or the entropy header around it.
#include "tools/pcap/packet_language.h"

#include "tools/pcap/packet_seal.h"
#include "tools/pcap/packet_words.h"

#include "wire/crc.h"
#include "wire/ethernet.h"
#include "wire/ip.h"
#include "wire/ip_address.h"
#include "wire/writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>

namespace uet::tools {

namespace {

using Octets = std::vector<std::byte>;
using Words = std::vector<std::string_view>;
using MacAddress = std::array<uint8_t, 6>;

constexpr uint16_t kSourcePort = 49152;

struct Endpoint {
  wire::IpAddress address{};
  uint16_t port = 0;
  std::optional<MacAddress> mac{};  // given instead of the address
};

bool is_v4(const Endpoint& e) { return e.address.family == wire::IpFamily::v4; }

// The layers around the UET headers.
struct Around {
  uint64_t time_ns = 0;
  Endpoint from{.port = kSourcePort};
  Endpoint to{.port = wire::kUdpPort};
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  bool native = false;
  bool crc = false;
  uint32_t cut = 0;        // octets that a switch has cut off the end of the content
  uint16_t ethertype = 0;  // of a frame without IP
  std::string_view point;  // interface of the capture
  Seal seal;
};

template <class Number>
bool number(std::string_view text, uint64_t max, Number& out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() && out <= max;
}

// 02:00:00:00:00:01.
bool mac_address(std::string_view text, Endpoint& out) {
  MacAddress mac{};
  if (text.size() != 3 * mac.size() - 1) return false;
  for (size_t i = 0; i < mac.size(); ++i) {
    if (i > 0 && text[3 * i - 1] != ':') return false;
    if (!number(text.substr(3 * i, 2), 0xFF, mac[i], 16)) return false;
  }
  out.mac = mac;
  return true;
}

// 10.0.0.1, 10.0.0.1:50000, fd00::1, [fd00::1]:50000; or a MAC address.
bool endpoint(std::string_view text, Endpoint& out) {
  if (mac_address(text, out)) return true;
  const bool bracket = text.starts_with('[');
  const size_t close = bracket ? text.find(']') : std::string_view::npos;
  std::string_view address = bracket ? text.substr(1, close - 1) : text;
  std::string_view port;
  if (bracket && close != std::string_view::npos && text.size() > close + 1) {
    port = text.substr(close + 2);
  } else if (!bracket && text.find(':') == text.rfind(':') && text.find(':') < text.size()) {
    address = text.substr(0, text.find(':'));
    port = text.substr(text.find(':') + 1);
  }
  const auto parsed = wire::parse_ip_address(address);
  if (!parsed.ok()) return false;
  out.address = *parsed;
  uint32_t value = out.port;
  if (!port.empty() && !number(port, 0xFFFF, value)) return false;
  out.port = static_cast<uint16_t>(value);
  return true;
}

// An option that is a word alone, or a number.
struct Option {
  std::string_view name;
  uint64_t max;  // 0: a word alone
  void (*set)(Around&, uint64_t);
};

constexpr Option kOptions[] = {
    {"native", 0, [](Around& a, uint64_t) { a.native = true; }},
    {"crc", 0, [](Around& a, uint64_t) { a.crc = true; }},
    {"from_server", 0, [](Around& a, uint64_t) { a.seal.from_server = true; }},
    {"dscp", 63, [](Around& a, uint64_t v) { a.dscp = static_cast<uint8_t>(v); }},
    {"ecn", 3, [](Around& a, uint64_t v) { a.ecn = static_cast<uint8_t>(v); }},
    {"cut", 0xFFFF, [](Around& a, uint64_t v) { a.cut = static_cast<uint32_t>(v); }},
    {"sdi", 0xFFFFFF, [](Around& a, uint64_t v) { a.seal.sdi = static_cast<uint32_t>(v); }},
    {"an", 1, [](Around& a, uint64_t v) { a.seal.an = static_cast<uint32_t>(v); }},
    {"epoch", 0xFFFF, [](Around& a, uint64_t v) { a.seal.epoch = static_cast<uint32_t>(v); }},
    {"ssi", 0xFFFFFFFF, [](Around& a, uint64_t v) { a.seal.ssi = static_cast<uint32_t>(v); }},
    {"ethertype", 0xFFFF, [](Around& a, uint64_t v) { a.ethertype = static_cast<uint16_t>(v); }},
    {"counter", 0xFFFFFFFFFFFF, [](Around& a, uint64_t v) { a.seal.counter = v; }},
    {"key_line", 0xFFFF, [](Around& a, uint64_t v) { a.seal.key_line = static_cast<uint32_t>(v); }},
};

std::string option(std::string_view word, Around& out) {
  const std::string_view name = word.substr(0, word.find('='));
  if (name == "on" && word.size() > name.size() + 1) {
    out.point = word.substr(name.size() + 1);
    return {};
  }
  for (const Option& o : kOptions) {
    if (o.name != name || (o.max == 0) != (name == word)) continue;
    uint64_t value = 0;
    const std::string_view text = o.max == 0 ? std::string_view() : word.substr(name.size() + 1);
    const bool hex = text.starts_with("0x");
    if (o.max != 0 && !number(text.substr(hex ? 2 : 0), o.max, value, hex ? 16 : 10)) {
      return std::string(word) + ": no number up to " + std::to_string(o.max);
    }
    o.set(out, value);
    return {};
  }
  return "no option " + std::string(word);
}

// TIME FROM > TO OPTION...
std::string around(std::string_view text, Around& out) {
  const Words words = words_of(text);
  if (words.size() < 4 || words[2] != ">") return "a line begins with TIME FROM > TO";
  const std::string time(words[0]);
  char* end = nullptr;
  const double seconds = std::strtod(time.c_str(), &end);
  if (*end != '\0' || !(seconds >= 0 && seconds < 1e6)) return time + ": no time in seconds";
  out.time_ns = static_cast<uint64_t>(std::llround(seconds * 1e9));
  if (!endpoint(words[1], out.from)) return std::string(words[1]) + ": no address";
  if (!endpoint(words[3], out.to)) return std::string(words[3]) + ": no address";
  if (is_v4(out.from) != is_v4(out.to)) return "addresses of two families";
  for (size_t i = 4; i < words.size(); ++i) {
    if (std::string problem = option(words[i], out); !problem.empty()) return problem;
  }
  if (out.from.mac.has_value() != out.to.mac.has_value() ||
      out.from.mac.has_value() != (out.ethertype != 0)) {
    return "MAC addresses on both sides, and ethertype, or none of them";
  }
  return {};
}

template <class Part>
void emit(const Part& part, Octets& out) {
  std::byte room[64];
  wire::Writer w(room);
  std::visit(
      [&](const auto& h) {
        if constexpr (requires { h.emit(w); }) h.emit(w);
      },
      part);
  out.insert(out.end(), w.written().begin(), w.written().end());
}

// IP and Ethernet around an IP payload of `length` octets.
template <class Ip>
void ip_header(const Around& a, uint16_t length, Ip& h) {
  h.dscp = a.dscp;
  h.ecn = a.ecn;
  h.src = a.from.address;
  h.dst = a.to.address;
  const uint8_t protocol = a.native ? wire::kNativeIpProtocol : wire::kIpProtocolUdp;
  if constexpr (requires { h.protocol; }) {
    h.protocol = protocol;
    h.total_length = static_cast<uint16_t>(Ip::kSize + length);
  } else {
    h.next_header = protocol;
    h.payload_length = length;
  }
}

Octets headers_of(const Around& a, uint16_t length) {
  const bool v4 = is_v4(a.from);
  const size_t ip = v4 ? wire::Ipv4Header::kSize : wire::Ipv6Header::kSize;
  Octets out(wire::EthernetHeader::kSizeUntagged + ip);
  wire::Writer w(out);
  wire::EthernetHeader ethernet;
  ethernet.src = {2, 0, 0, 0, 0, 1};
  ethernet.dst = {2, 0, 0, 0, 0, 2};
  ethernet.ethertype = v4 ? wire::EthernetHeader::kIpv4 : wire::EthernetHeader::kIpv6;
  ethernet.emit(w);
  if (v4) {
    wire::Ipv4Header h;
    ip_header(a, length, h);
    h.emit(w);
  } else {
    wire::Ipv6Header h;
    ip_header(a, length, h);
    h.emit(w);
  }
  return out;
}

// The entropy header, or that of UDP.
Octets transport_of(const Around& a, uint16_t length) {
  Octets out(a.native ? wire::EntropyHeader::kSize : wire::UdpHeader::kSize);
  wire::Writer w(out);
  if (a.native) {
    wire::EntropyHeader{Entropy(a.from.port)}.emit(w);
  } else {
    wire::UdpHeader{a.from.port, a.to.port, length, 0}.emit(w);
  }
  return out;
}

// The payload of Ethernet itself.
Octets link_frame_of(const Around& a, const Octets& content) {
  Octets out(wire::EthernetHeader::kSizeUntagged);
  wire::Writer w(out);
  wire::EthernetHeader h;
  h.dst = *a.to.mac;
  h.src = *a.from.mac;
  h.ethertype = a.ethertype;
  h.emit(w);
  out.insert(out.end(), content.begin(), content.end());
  return out;
}

void append(Octets& out, std::span<const std::byte> octets) {
  out.insert(out.end(), octets.begin(), octets.end());
}

// A sealed packet has no CRC; a trimmed one also loses its ICV. [TSS-005]
std::string frame_of(const Around& a, const Octets& uet, Sealer* sealer, Octets& out) {
  const bool sealed = sealer != nullptr && sealer->seals(a.seal);
  const size_t crc = a.crc ? wire::CrcTrailer::kSize : 0;
  const size_t added = sealed ? Sealer::overhead(a.seal) : crc;
  const size_t transport_bytes = a.native ? wire::EntropyHeader::kSize : wire::UdpHeader::kSize;
  const auto length = static_cast<uint16_t>(transport_bytes + uet.size() + added);
  const Octets transport = transport_of(a, length);
  out = headers_of(a, length);
  const size_t addresses = out.size() - 2 * a.from.address.size();
  append(out, transport);
  if (sealed) {
    const SealedRoute route{a.from.address, a.to.address, transport};
    if (std::string problem = sealer->seal(a.seal, route, uet, out); !problem.empty()) {
      return problem;
    }
  } else {
    append(out, uet);
  }
  if (a.crc && !sealed) {
    const wire::CrcTrailer trailer{crc32c(std::span(out).subspan(addresses))};
    out.resize(out.size() + crc);
    wire::Writer w{std::span(out).last(crc)};
    trailer.emit(w);
  }
  const size_t icv = sealed && a.cut > 0 ? wire::TssHeader::kIcvBytes : 0;
  out.resize(out.size() - std::min<size_t>(a.cut + icv, out.size()));
  return {};
}

// TIME FROM > TO OPTION... | HEADER... | HEADER...
std::string packet_of(std::string_view text, Sealer* sealer, Frame& out) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos) return "no headers: TIME FROM > TO | HEADER ...";
  Around a;
  if (std::string problem = around(text.substr(0, bar), a); !problem.empty()) return problem;
  Octets uet;
  if (std::string problem = take_content(text.substr(bar + 1), uet); !problem.empty())
    return problem;
  if (uet.size() > 65000) return "more than 65000 octets";
  out.time_ns = a.time_ns;
  out.point = a.point;
  if (a.ethertype == 0) return frame_of(a, uet, sealer, out.octets);
  out.octets = link_frame_of(a, uet);
  return {};
}

// interface NAME COMMENT...
std::string interface_of(const Words& words, CapturePoint& out) {
  if (words.size() < 2) return "interface NAME COMMENT...";
  out.name = words[1];
  for (size_t i = 2; i < words.size(); ++i) {
    if (i > 2) out.comment += ' ';
    out.comment += words[i];
  }
  return {};
}

}  // namespace

std::string take_content(std::string_view text, std::vector<std::byte>& out) {
  Parts parts;
  Octets behind;
  while (!text.empty()) {
    const size_t bar = std::min(text.find('|'), text.size());
    const Words words = words_of(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
    if (words.empty()) return "nothing between two bars";
    if (words[0] == "payload" || words[0] == "raw") {
      for (size_t i = 1; i < words.size(); ++i) {
        if (!take_octets(words[i], behind)) return std::string(words[i]) + ": no octets";
      }
    } else if (std::string problem = take_header(parts, words); !problem.empty()) {
      return problem;
    }
  }
  const auto* swap = std::get_if<wire::CompareSwap>(&parts.extension);
  if (swap != nullptr && !wire::is_compare_swap(swap->atomic.atomic_opcode)) {
    return std::string("COMPARE_SWAP has no atomic_opcode=") +
           wire::name(swap->atomic.atomic_opcode) + "; ATOMIC has";
  }
  set_next_header(parts);
  emit(parts.pds, out);
  emit(parts.ses, out);
  emit(parts.extension, out);
  out.insert(out.end(), behind.begin(), behind.end());
  return {};
}

Line parse_line(std::string_view text, Sealer* sealer) {
  text = text.substr(0, text.find('#'));
  const Words words = words_of(text);
  if (words.empty()) return {};
  Line line;
  if (words[0] == "interface") {
    line.problem = interface_of(words, line.point.emplace());
    return line;
  }
  line.problem = packet_of(text, sealer, line.frame.emplace());
  if (!line.problem.empty()) line.frame.reset();
  return line;
}

std::string Text::take(Line line) {
  if (!line.problem.empty()) return line.problem;
  if (line.point) {
    const bool known =
        std::ranges::any_of(points, [&](const auto& p) { return p.name == line.point->name; });
    if (known) return "interface " + line.point->name + " is there already";
    points.push_back(std::move(*line.point));
  }
  if (!line.frame) return {};
  const auto of = std::ranges::find(points, line.frame->point, &CapturePoint::name);
  if (of == points.end() && !line.frame->point.empty()) {
    return "no interface " + line.frame->point + " before this line";
  }
  const auto point = of == points.end() ? 0 : static_cast<uint32_t>(of - points.begin());
  packets.push_back({line.frame->time_ns, kLinkEthernet, std::move(line.frame->octets), point});
  return {};
}

}  // namespace uet::tools
