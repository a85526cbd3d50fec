// The golden files' view of every header.
#include "wire/test/fields_of.h"

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

template <class Syn>
void add_pdcids(Json& j, const Syn& h) {
  j["spdcid"] = h.spdcid.value();
  if (h.syn) {
    j["use_rsv_pdc"] = flag(h.use_rsv_pdc);
    j["psn_offset"] = h.psn_offset;
  } else {
    j["dpdcid"] = h.dpdcid.value();
  }
}

void add(Json& j, const Request& h) {
  j["retx"] = flag(h.retx);
  j["ar"] = flag(h.ar);
  j["syn"] = flag(h.syn);
  j["clear_psn_offset"] = h.clear_psn_offset;
  j["psn"] = h.psn.value();
  add_pdcids(j, h);
  if (h.has_cc()) {
    j["ccc_id"] = h.ccc_id;
    j["credit_target"] = h.credit_target;
  }
}

void add(Json& j, const Ack& h) {
  if (h.type == PdsType::ack) j["epsn"] = flag(h.epsn);
  j["m"] = flag(h.m);
  j["retx"] = flag(h.retx);
  j["p"] = flag(h.p);
  j["req"] = static_cast<int>(h.req);
  if (h.p)
    j["probe_opaque"] = h.probe_opaque;
  else
    j["ack_psn_offset"] = h.ack_psn_offset;
  j["cack_psn"] = h.cack_psn.value();
  j["spdcid"] = h.spdcid.value();
  j["dpdcid"] = h.dpdcid.value();
  if (h.has_expected_psn()) j["payload"] = h.expected_start_psn.value();
}

template <class AckWithSack>
void add_sack(Json& j, const AckWithSack& h) {
  add(j, h.ack);
  j["cc_flags"] = h.cc_flags;
  j["mpr"] = h.mpr;
  j["sack_psn_offset"] = h.sack_psn_offset;
  j["sack_bitmap"] = wide(h.sack_bitmap);
}

void add(Json& j, const AckCc& h) {
  add_sack(j, h);
  j["cc_type"] = static_cast<int>(h.cc_type);
  if (h.cc_type == CcType::nscc) {
    const NsccState s = NsccState::unpack(h.state);
    j["service_time"] = s.service_time;
    j["rc"] = flag(s.rc);
    j["rcv_cwnd_pend"] = s.rcv_cwnd_pend;
    j["rcvd_bytes"] = s.rcvd_bytes;
    j["ooo_count"] = s.ooo_count;
  } else if (h.cc_type == CcType::credit) {
    const CreditState s = CreditState::unpack(h.state);
    j["credit"] = s.credit;
    j["ooo_count"] = s.ooo_count;
  } else {
    j["ack_cc_state"] = wide(h.state);
  }
}

void add(Json& j, const AckCcx& h) {
  add_sack(j, h);
  j["ccx_type"] = h.ccx_type;
  j["ack_ccx_state"] = "0x" + hex_of(h.state);
}

void add(Json& j, const Nack& h) {
  j["m"] = flag(h.m);
  j["retx"] = flag(h.retx);
  j["nt"] = flag(h.nt);
  j["nack_code"] = static_cast<int>(h.nack_code);
  j["vendor_code"] = h.vendor_code;
  if (h.nt)
    j["nack_pkt_id"] = h.nack_pkt_id.value();
  else
    j["nack_psn"] = h.nack_psn.value();
  j["spdcid"] = h.spdcid.value();
  j["dpdcid"] = h.dpdcid.value();
  j["payload"] = h.payload;
}

void add(Json& j, const NackCcx& h) {
  add(j, h.nack);
  j["nccx_type"] = h.nccx_type;
  j["nack_ccx_state"] = "0x" + hex_of(h.state).substr(1);
}

void add(Json& j, const Control& h) {
  j["ctl_type"] = static_cast<int>(h.ctl_type);
  if (h.ctl_type <= CtlType::negotiation) j["ctl_name"] = name(h.ctl_type);
  j["isrod"] = flag(h.isrod);
  j["retx"] = flag(h.retx);
  j["ar"] = flag(h.ar);
  j["syn"] = flag(h.syn);
  j["probe_opaque"] = h.probe_opaque;
  j["psn"] = h.psn.value();
  add_pdcids(j, h);
  if (h.ctl_type == CtlType::credit) j["credit"] = unpack_credit(h.payload);
  j["payload"] = h.payload;
}

void add(Json& j, const RudiRequest& h) {
  j["retx"] = flag(h.retx);
  j["pkt_id"] = h.pkt_id.value();
}

void add(Json& j, const RudiResponse& h) {
  j["m"] = flag(h.m);
  j["retx"] = flag(h.retx);
  j["pkt_id"] = h.pkt_id.value();
}

void add(Json&, const Uud&) {}
void add(Json&, const std::monostate&) {}

void add(Json& j, const RequestCommon& h) {
  j["opcode"] = static_cast<int>(h.opcode);
  j["opcode_name"] = name(h.opcode);
  j["ver"] = h.ver;
  j["dc"] = flag(h.dc);
  j["ie"] = flag(h.ie);
  j["rel"] = flag(h.rel);
  j["hd"] = flag(h.hd);
  j["eom"] = flag(h.eom);
  j["som"] = flag(h.som);
  j["ri_generation"] = h.ri_generation;
  j["job_id"] = h.job_id.value();
  j["pid_on_fep"] = h.pid_on_fep.value();
  j["resource_index"] = h.resource_index.value();
}

void add_tokens(Json& j, RestartTokens tokens) {
  j["initiator_restart_token"] = tokens.initiator;
  j["target_restart_token"] = tokens.target;
}

void add(Json& j, const SmallRequest& h) {
  j["format"] = "SMALL";
  add(j, h.common);
  j["request_length"] = h.request_length;
  j["buffer_offset"] = wide(h.buffer_offset);
}

void add(Json& j, const MediumRequest& h) {
  j["format"] = "MEDIUM";
  add(j, h.common);
  j["request_length"] = h.request_length;
  if (h.common.hd)
    j["header_data"] = wide(h.header_data);
  else
    j["buffer_offset"] = wide(h.buffer_offset);
  j["initiator"] = h.initiator;
  j[has_memory_key(h.common.opcode) ? "memory_key" : "match_bits"] = wide(h.match_bits);
}

void add(Json& j, const StandardRequest& h) {
  j["format"] = "STANDARD";
  add(j, h.common);
  j["message_id"] = h.message_id.value();
  if (is_deferrable_send(h.common.opcode))
    add_tokens(j, h.deferrable_tokens());
  else
    j["buffer_offset"] = wide(h.buffer_offset);
  j["initiator"] = h.initiator;
  if (h.common.opcode == SesOpcode::deferrable_rtr)
    add_tokens(j, h.rtr_tokens());
  else
    j[has_memory_key(h.common.opcode) ? "memory_key" : "match_bits"] = wide(h.match_bits);
  if (h.common.som) {
    j["header_data"] = wide(h.header_data);
  } else {
    j["payload_length"] = h.payload_length;
    j["message_offset"] = h.message_offset;
  }
  j["request_length"] = h.request_length;
}

void add(Json& j, const ResponseCommon& h) {
  j["list"] = static_cast<int>(h.list);
  j["opcode"] = static_cast<int>(h.opcode);
  j["ver"] = h.ver;
  j["return_code"] = static_cast<int>(h.return_code);
}

void add(Json& j, const Response& h) {
  j["format"] = "RESP";
  add(j, h.common);
  j["message_id"] = h.message_id.value();
  j["ri_generation"] = h.ri_generation;
  j["job_id"] = h.job_id.value();
  j["modified_length"] = h.modified_length;
}

void add(Json& j, const ResponseData& h) {
  j["format"] = "RESP_DATA";
  add(j, h.common);
  j["response_message_id"] = h.response_message_id.value();
  j["job_id"] = h.job_id.value();
  j["read_request_message_id"] = h.read_request_message_id.value();
  j["payload_length"] = h.payload_length;
  j["modified_length"] = h.modified_length;
  j["message_offset"] = h.message_offset;
}

void add(Json& j, const ResponseDataSmall& h) {
  j["format"] = "RESP_DATA_SMALL";
  add(j, h.common);
  j["payload_length"] = h.payload_length;
  j["job_id"] = h.job_id.value();
  j["original_request_psn"] = h.original_request_psn.value();
}

void add_ext(Json& j, const Rendezvous& h) {
  j["format"] = "RENDEZVOUS";
  j["eager_length"] = h.eager_length;
  j["read_ri_generation"] = h.read_ri_generation;
  j["read_pid_on_fep"] = h.read_pid_on_fep.value();
  j["read_resource_index"] = h.read_resource_index.value();
  j["read_offset"] = wide(h.read_offset);
  j["read_memory_key"] = wide(h.read_memory_key);
}

void add_ext(Json& j, const Atomic& h) {
  j["format"] = "ATOMIC";
  j["atomic_opcode"] = static_cast<int>(h.atomic_opcode);
  j["atomic_datatype"] = static_cast<int>(h.atomic_datatype);
  j["sem_ctl"] = h.sem_ctl;
}

void add_ext(Json& j, const CompareSwap& h) {
  add_ext(j, h.atomic);
  j["format"] = "COMPARE_SWAP";
  j["compare_value"] = "0x" + hex_of(h.compare_value);
  j["swap_value"] = "0x" + hex_of(h.swap_value);
}

void add_ext(Json&, const std::monostate&) {}

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

Json fields_of(const TssHeader& h) {
  Json j = {{"type", 1},    {"sp", flag(h.sp)},   {"an", flag(h.an)},
            {"sdi", h.sdi}, {"epoch", h.epoch()}, {"counter", h.counter()}};
  if (h.sp) j["ssi"] = h.ssi;
  return j;
}

Json fields_of(const SesExtension& extension) {
  Json j;
  std::visit([&](const auto& h) { add_ext(j, h); }, extension);
  return j;
}

Json fields_of(const DecodedPacket& packet) {
  Json fields = Json::object();
  add_below_uet(fields, packet);
  if (packet.tss) {
    fields["tss"] = fields_of(*packet.tss);
    if (!packet.icv.empty()) {
      fields["ciphertext"] = hex_of(packet.ciphertext);
      fields["icv"] = hex_of(packet.icv);
    }
  }
  if (packet.prologue) {
    Json& pds = fields["pds"];
    const bool control = packet.prologue->type == PdsType::control;
    pds["type"] = static_cast<int>(packet.prologue->type);
    pds["type_name"] = name(packet.prologue->type);
    pds["flags"] = packet.prologue->flags;
    if (!control) pds["next_hdr"] = packet.prologue->next_hdr_or_ctl_type;
    std::visit([&](const auto& h) { add(pds, h); }, packet.pds);
  }
  if (packet.ses.index() != 0) {
    std::visit([&](const auto& h) { add(fields["ses"], h); }, packet.ses);
  }
  if (packet.extension.index() != 0) fields["ext"] = fields_of(packet.extension);
  if (packet.payload) fields["payload"] = hex_of(*packet.payload);
  return fields;
}

}  // namespace uet::wire::test
