// The lists of fields as text. Names and values of layers below UET are here.
#include "tools/pcap/ladder/fields.h"

#include "wire/fields.h"

#include <cinttypes>
#include <cstdio>

namespace uet::tools::ladder {

namespace {

using namespace wire;

std::string octets_text(std::span<const std::byte> value, size_t at_most) {
  std::string digits;
  for (size_t i = 0; i < value.size() && i < at_most; ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%s%02x", i == 0 ? "" : " ", static_cast<unsigned>(value[i]));
    digits += two;
  }
  return value.size() > at_most ? digits + " ..." : digits;
}

std::string value_text(const Field& f) {
  if (f.meaning == Meaning::octets) return octets_text(f.octets, f.octets.size());
  if (f.meaning == Meaning::code) {
    return std::string(f.names->name(f.value)) + " (" + std::to_string(f.value) + ")";
  }
  if (f.meaning != Meaning::hex) return std::to_string(f.signed_value());
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%" PRIx64, f.value);
  return digits;
}

std::string shown_name(const Field& f) {
  if (f.name == "type") return "pds.type";
  return f.role == Role::sum ? "[" + std::string(f.name) + "]" : std::string(f.name);
}

void add(std::vector<FieldText>& out, const FieldList& fields) {
  for (const Field& f : fields) {
    // The SES header that follows says what next_hdr does.
    if (!f.is_present || (f.is_rare && f.value == 0) || f.name == "next_hdr") continue;
    out.push_back({shown_name(f), value_text(f)});
  }
}

void add_below_uet(std::vector<FieldText>& out, const DecodedPacket& packet) {
  const auto number = [&](const char* name, unsigned value) {
    out.push_back({name, std::to_string(value)});
  };
  const auto add_ip = [&](const auto& h) {
    if constexpr (requires { h.dscp; }) {
      out.push_back({"ip.src", text_of(h.src)});
      out.push_back({"ip.dst", text_of(h.dst)});
      number("ip.dscp", h.dscp);
      number("ip.ecn", h.ecn);
    }
  };
  std::visit(add_ip, packet.ip);
  if (packet.udp) {
    number("udp.srcport", packet.udp->sport);
    number("udp.dstport", packet.udp->dport);
  }
  if (packet.entropy) add(out, wire::fields_of(*packet.entropy));
}

}  // namespace

std::vector<FieldText> fields_of(const Captured& captured, Decoder& decode) {
  constexpr size_t kPayloadShown = 16;
  const DecodedPacket packet = decode(captured);
  const bool is_whole = captured.on_wire_octets <= captured.octets.size();
  std::vector<FieldText> out;
  add_below_uet(out, packet);
  if (packet.tss) {
    for (const Field& f : wire::fields_of(*packet.tss)) {
      if (f.is_present && f.name != "type") out.push_back({shown_name(f), value_text(f)});
    }
  }
  add(out, wire::fields_of(packet.pds));
  if (packet.ses.index() != 0) out.push_back({"ses", header_name(packet.ses)});
  add(out, wire::fields_of(packet.ses));
  add(out, wire::fields_of(packet.extension));
  if (!is_whole) {
    out.push_back({"captured", std::to_string(captured.octets.size()) + " of " +
                                   std::to_string(captured.on_wire_octets) + " octets"});
  } else if (packet.payload && !packet.payload->empty()) {
    out.push_back({"data", octets_text(*packet.payload, kPayloadShown)});
  }
  if (packet.trimmed) out.push_back({"trimmed", "1"});
  if (packet.outcome == Outcome::reject) out.push_back({"rejected", name(packet.error)});
  if (packet.outcome == Outcome::tolerate) out.push_back({"tolerated", name(packet.tolerance)});
  return out;
}

}  // namespace uet::tools::ladder
