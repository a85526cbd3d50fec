// Prints headers as JSON in the form of the golden files. Where those files name a field otherwise
// than the lists of fields do, this file has the exception.
#include "wire/test/json_of.h"

#include "wire/fields.h"

#include "wire/test/octets_of.h"

#include <cinttypes>

namespace uet::wire::test {

namespace {

std::string wide(uint64_t v) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%016" PRIx64, v);
  return text;
}

std::string text_of(const IpAddress& a) {
  char text[64];
  Text out(text);
  print(out, a);
  return text;
}

std::string mac_of(const std::array<uint8_t, 6>& mac) {
  char text[32];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

int flag(bool b) { return b ? 1 : 0; }

// Not in the files: derived fields, the project's own bit [WIRE-121], and the parts of a
// CREDIT_REQ's payload.
bool is_in_files(const Field& f) {
  const bool is_part_of_payload =
      f.role == Role::view && (f.name == "ccc_id" || f.name == "credit_target");
  return f.is_present && f.role != Role::sum && f.name != "private_mark" && !is_part_of_payload;
}

Json value_of(const Field& f) {
  if (f.meaning == Meaning::octets) {
    const std::string digits = hex_of(f.octets);
    return "0x" + digits.substr(digits.size() - f.bits / 4);
  }
  return f.bits == 64 ? Json(wide(f.value)) : Json(f.signed_value());
}

void add(Json& j, const FieldList& fields) {
  for (const Field& f : fields) {
    if (is_in_files(f))
      j[f.name == "response_opcode" ? "opcode" : std::string(f.name)] = value_of(f);
  }
}

Json json_of(const PdsHeader& header, const Prologue& prologue) {
  Json j;
  add(j, wire::fields_of(header));
  j["type_name"] = name(prologue.type);
  j["flags"] = prologue.flags;
  if (const auto* cp = std::get_if<Control>(&header)) {
    if (cp->ctl_type <= CtlType::negotiation) j["ctl_name"] = name(cp->ctl_type);
  } else {
    j["next_hdr"] = prologue.next_hdr_or_ctl_type;  // of a NACK, too
  }
  return j;
}

Json json_of(const SesHeader& header) {
  constexpr const char* kFormats[] = {"",     "SMALL",     "MEDIUM",         "STANDARD",
                                      "RESP", "RESP_DATA", "RESP_DATA_SMALL"};
  Json j;
  add(j, wire::fields_of(header));
  j["format"] = kFormats[header.index()];
  std::visit(
      [&](const auto& h) {
        if constexpr (requires { h.common.som; }) j["opcode_name"] = name(h.common.opcode);
      },
      header);
  if (const auto* h = std::get_if<StandardRequest>(&header); h != nullptr && h->common.som) {
    j["header_data"] = wide(h->header_data);  // without hd, too
  }
  return j;
}

void add_ip(Json& fields, const DecodedPacket& packet) {
  if (const auto* v4 = std::get_if<Ipv4Header>(&packet.ip)) {
    fields["ip"] = {{"version", 4},
                    {"dscp", v4->dscp},
                    {"ecn", v4->ecn},
                    {"total_length", v4->total_length},
                    {"df", flag(v4->df)},
                    {"ttl", v4->ttl},
                    {"protocol", v4->protocol},
                    {"src", text_of(v4->src)},
                    {"dst", text_of(v4->dst)}};
  } else if (const auto* v6 = std::get_if<Ipv6Header>(&packet.ip)) {
    fields["ip"] = {{"version", 6},
                    {"dscp", v6->dscp},
                    {"ecn", v6->ecn},
                    {"flow_label", v6->flow_label},
                    {"payload_length", v6->payload_length},
                    {"next_header", v6->next_header},
                    {"hop_limit", v6->hop_limit},
                    {"src", text_of(v6->src)},
                    {"dst", text_of(v6->dst)}};
    const auto& ext = packet.ipv6_extensions;
    for (uint8_t i = 0; i < ext.count; ++i)
      fields["ip"]["extension_headers"].push_back(ext.types[i]);
  }
}

void add_below_uet(Json& fields, const DecodedPacket& packet) {
  if (packet.ethernet) {
    const auto& h = *packet.ethernet;
    fields["ethernet"] = {
        {"dst", mac_of(h.dst)}, {"src", mac_of(h.src)}, {"ethertype", h.ethertype}};
    for (uint8_t i = 0; i < h.tag_count; ++i) {
      fields["ethernet"]["vlan_ids"].push_back(h.tags[i].vlan_id());
    }
  }
  add_ip(fields, packet);
  if (packet.udp) {
    fields["udp"] = {{"sport", packet.udp->sport},
                     {"dport", packet.udp->dport},
                     {"length", packet.udp->length},
                     {"checksum", packet.udp->checksum}};
  }
  if (packet.entropy) fields["entropy"] = {{"entropy", packet.entropy->entropy.value()}};
  if (packet.crc) {
    fields["crc"] = {{"value", packet.crc->trailer.value},
                     {"covered_from", packet.crc->covered_from},
                     {"covered_length", packet.crc->covered_length}};
  }
}

}  // namespace

Json json_of(const TssHeader& h) {
  Json j;
  add(j, wire::fields_of(h));
  return j;
}

Json json_of(const SesExtension& extension) {
  Json j;
  add(j, wire::fields_of(extension));
  if (extension.index() != 0) j["format"] = header_name(extension);
  return j;
}

Json json_of(const DecodedPacket& packet) {
  Json fields = Json::object();
  add_below_uet(fields, packet);
  if (packet.tss) {
    fields["tss"] = json_of(*packet.tss);
    if (!packet.icv.empty()) {
      fields["ciphertext"] = hex_of(packet.ciphertext);
      fields["icv"] = hex_of(packet.icv);
    }
  }
  if (packet.prologue) fields["pds"] = json_of(packet.pds, *packet.prologue);
  if (packet.ses.index() != 0) fields["ses"] = json_of(packet.ses);
  if (packet.extension.index() != 0) fields["ext"] = json_of(packet.extension);
  if (packet.payload) fields["payload"] = hex_of(*packet.payload);
  return fields;
}

}  // namespace uet::wire::test
