// Words for records. Fields that are 0 are left out, as in uet_pcap's language.
#include "tools/replay/record_text.h"

#include "sim/recording/events.h"
#include "tools/pcap/packet_words.h"
#include "wire/packet.h"
#include "wire/text.h"

#include <algorithm>
#include <cstdio>

namespace uet::tools {

namespace {

using namespace recording;
using Lines = std::vector<std::string>;

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// " name=value", or nothing for 0.
std::string field(const char* name, uint64_t value) {
  return value == 0 ? std::string() : std::string(" ") + name + "=" + std::to_string(value);
}

std::string bit(const char* name, bool value) {
  return value ? std::string(" ") + name : std::string();
}

std::string address_text(const FabricAddress& address) {
  char room[64];
  wire::Text print_of(room);
  wire::print(print_of, wire::IpAddress::of(address));
  return std::string(room) + field("port", address.port == kUetPort ? 0 : address.port);
}

std::string headers_text(std::span<const std::byte> octets) {
  const wire::DecodedPacket packet = wire::decode(octets, wire::DecodeOptions{});
  std::string text = print({packet.pds, packet.ses, packet.extension});
  if (packet.outcome == wire::Outcome::reject) {
    text += std::string(text.empty() ? "" : " | ") + "rejected, " + wire::name(packet.error) +
            ", " + std::to_string(octets.size()) + " octets";
  }
  return text;
}

std::string text_of(const Packets::Packet& p) {
  std::string text = "to " + address_text(p.to) + field("ev", p.ev.value()) +
                     field("dscp", p.dscp) + field("ecn", static_cast<uint64_t>(p.ecn)) +
                     field("sdi", p.sdi) + " | " + headers_text(p.header);
  if (p.payload_bytes != 0) {
    text += " | payload ?" + std::to_string(p.payload_bytes) + " digest " + hex(p.payload_digest);
  }
  return text;
}

std::string text_of(const Datagrams::Datagram& d) {
  return "from " + address_text(d.about.from) + " | " + headers_text(d.octets) + ", " +
         std::to_string(d.octets.size()) + " octets";
}

std::string text_of(const Completed& c) {
  constexpr const char* kKinds[] = {"send",        "tagged_send",   "write",
                                    "read",        "atomic",        "fetching_atomic",
                                    "recv",        "tagged_recv",   "remote_write",
                                    "remote_read", "remote_atomic", "remote_fetching_atomic"};
  constexpr const char* kStatus[] = {"ok",        "truncated", "refused", "undeliverable",
                                     "cancelled", "aborted",   "fault"};
  std::string text = std::string(kKinds[static_cast<size_t>(c.kind)]) + " " +
                     kStatus[static_cast<size_t>(c.status)];
  text += field("sink", c.sink) + field("context", c.context.op) + field("user", c.context.user) +
          field("bytes", c.bytes) + field("truncated_bytes", c.truncated_bytes) +
          field("buffer", c.buffer) + field("tag", c.tag) + field("data", c.data) +
          bit("has_data", c.has_data) + bit("multi_done", c.multi_done) +
          field("peer", c.peer.value()) + field("initiator", c.initiator_id) +
          field("job", c.job.value()) + bit("retained", c.was_retained) +
          field("code", static_cast<uint64_t>(c.code)) +
          field("reason", static_cast<uint64_t>(c.failure.reason)) +
          field("nack", static_cast<uint64_t>(c.failure.nack)) +
          bit("not_delivered", c.failure.not_delivered) + field("errno", c.local_error);
  return text + (c.digest == 0 ? "" : " digest=" + hex(c.digest));
}

std::string text_of(const Returned& r) {
  std::string text = r.error == 0 ? "ok" : uet::name(static_cast<Errc>(r.error - 1));
  text += field("value", r.value);
  if (r.deadline == Instant::zero()) return text;
  return text + (r.deadline.is_never() ? " deadline=never"
                                       : field("deadline_ns", uint64_t(r.deadline.ns())));
}

Lines lines_of(const Packets& body) {
  Lines lines;
  for (const Packets::Packet& p : body.all) lines.push_back(text_of(p));
  return lines;
}

Lines lines_of(const Datagrams& body) {
  Lines lines;
  for (const Datagrams::Datagram& d : body.all) lines.push_back(text_of(d));
  return lines;
}

Lines lines_of(const Ended& body) {
  Lines lines = {"memory digest=" + hex(body.memory_digest)};
  for (const Ended::Counter& c : body.counters) {
    lines.push_back(c.name + "=" + std::to_string(c.value));
  }
  return lines;
}

Lines lines_of(const Completed& body) { return {text_of(body)}; }
Lines lines_of(const Returned& body) { return {text_of(body)}; }
Lines lines_of(const Reserved& body) { return {"sink=" + std::to_string(body.sink)}; }
Lines lines_of(const Released& body) { return {"sink=" + std::to_string(body.sink)}; }
Lines lines_of(const RouteMtu& body) { return {address_text(body.to)}; }
Lines lines_of(const Send& body) {
  return {field("endpoint", body.endpoint) + field("to_peer", body.to.peer) +
          field("tag", body.tag) + field("flags", body.flags) + field("context", body.context.op)};
}
Lines lines_of(const Rma& body) {
  return {bit("read", body.read) + field("endpoint", body.endpoint) +
          field("to_peer", body.to.peer) + field("offset", body.remote_offset) +
          field("key", body.key) + field("flags", body.flags) + field("context", body.context.op)};
}

template <class Body>
Lines read_lines(std::span<const std::byte> octets) {
  Body body;
  return decode(octets, body) ? lines_of(body) : Lines{"broken"};
}

Lines parts_of(Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case Kind::packets:
      return read_lines<Packets>(body);
    case Kind::datagrams:
      return read_lines<Datagrams>(body);
    case Kind::completed:
      return read_lines<Completed>(body);
    case Kind::returned:
      return read_lines<Returned>(body);
    case Kind::ended:
      return read_lines<Ended>(body);
    case Kind::reserved:
      return read_lines<Reserved>(body);
    case Kind::released:
      return read_lines<Released>(body);
    case Kind::route_mtu:
      return read_lines<RouteMtu>(body);
    case Kind::send:
      return read_lines<Send>(body);
    case Kind::rma:
      return read_lines<Rma>(body);
    default:
      return {};
  }
}

void number_parts(Lines& lines, Kind kind) {
  if (kind != Kind::packets) return;
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i] =
        "packet " + std::to_string(i + 1) + " of " + std::to_string(lines.size()) + " " + lines[i];
  }
}

// Where the octets of two headers differ that the words may not show.
std::string octets_text(const Difference& d, size_t part) {
  Packets recorded, now;
  if (!decode(d.recorded.body, recorded) || !decode(d.body, now)) return {};
  if (part >= recorded.all.size() || part >= now.all.size()) return {};
  const Octets& a = recorded.all[part].header;
  const Octets& b = now.all[part].header;
  const auto [at, other] = std::ranges::mismatch(a, b);
  if (at == a.end() && other == b.end()) return {};
  std::string text = "octet " + std::to_string(at - a.begin()) + " of the headers: ";
  text += at == a.end() ? "none" : hex(static_cast<uint8_t>(*at));
  return text + ", now " + (other == b.end() ? "none" : hex(static_cast<uint8_t>(*other)));
}

}  // namespace

std::vector<std::string> lines_of(Kind kind, std::span<const std::byte> body) {
  Lines lines = {recording::name(kind)};
  Lines parts = parts_of(kind, body);
  number_parts(parts, kind);
  lines.insert(lines.end(), parts.begin(), parts.end());
  return lines;
}

SideBySide side_by_side(const Difference& d) {
  constexpr size_t kShown = 8;
  Lines recorded = lines_of(d.recorded.kind, d.recorded.body);
  Lines now = lines_of(d.kind, d.body);
  if (d.recorded.kind != d.kind) {
    recorded.resize(std::min(recorded.size(), kShown));
    now.resize(std::min(now.size(), kShown));
    return {recorded, now};
  }
  SideBySide out{{recorded[0]}, {now[0]}};
  for (size_t i = 1; i < std::max(recorded.size(), now.size()); ++i) {
    const std::string a = i < recorded.size() ? recorded[i] : "nothing";
    const std::string b = i < now.size() ? now[i] : "nothing";
    if (a == b) continue;
    out.recorded.push_back(a);
    out.now.push_back(b);
    if (d.kind == Kind::packets) {
      if (const std::string text = octets_text(d, i - 1); !text.empty()) out.now.push_back(text);
      break;  // later packets may be the same ones, shifted
    }
    if (out.now.size() > kShown) break;
  }
  return out;
}

}  // namespace uet::tools
