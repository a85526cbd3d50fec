// One function a header; each adds its fields in the order of the wire.
#include "tools/ladder/fields.h"

#include <cinttypes>
#include <cstdio>

namespace uet::tools::ladder {

namespace {

using namespace wire;

class Fields {
 public:
  explicit Fields(std::vector<Field>& out) : out_(out) {}

  void text(const char* name, std::string value) { out_.push_back({name, std::move(value)}); }
  void number(const char* name, int64_t value) { text(name, std::to_string(value)); }
  void hex(const char* name, uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%" PRIx64, value);
    text(name, digits);
  }
  void octets(const char* name, std::span<const std::byte> value, size_t at_most) {
    std::string digits;
    for (size_t i = 0; i < value.size() && i < at_most; ++i) {
      char two[4];
      std::snprintf(two, sizeof two, "%s%02x", i == 0 ? "" : " ", static_cast<unsigned>(value[i]));
      digits += two;
    }
    if (value.size() > at_most) digits += " ...";
    text(name, digits);
  }
  template <class Code>
  void code(const char* name, Code value) {
    text(name, std::string(wire::name(value)) + " (" +
                   std::to_string(static_cast<unsigned>(value)) + ")");
  }
  void flag(const char* name, bool set) {
    if (set) number(name, 1);
  }

 private:
  std::vector<Field>& out_;
};

void add(Fields&, const std::monostate&) {}

template <class Ip>
void add_ip(Fields& f, const Ip& h) {
  f.text("ip.src", text_of(h.src));
  f.text("ip.dst", text_of(h.dst));
  f.number("ip.dscp", h.dscp);
  f.number("ip.ecn", h.ecn);
}
void add(Fields& f, const Ipv4Header& h) { add_ip(f, h); }
void add(Fields& f, const Ipv6Header& h) { add_ip(f, h); }

// The last 16 bits of requests and control packets, by syn.
template <class Header>
void add_pdcids(Fields& f, const Header& h) {
  f.number("spdcid", h.spdcid.value());
  if (!h.syn) return f.number("dpdcid", h.dpdcid.value());
  f.flag("use_rsv_pdc", h.use_rsv_pdc);
  f.flag("private_mark", h.private_mark);
  f.number("psn_offset", h.psn_offset);
  f.number("[start_psn]", h.start_psn().value());
}

void add(Fields& f, const Request& h) {
  f.code("pds.type", h.type);
  f.flag("retx", h.retx);
  f.flag("ar", h.ar);
  f.flag("syn", h.syn);
  f.number("clear_psn_offset", h.clear_psn_offset);
  f.number("[clear_psn]", h.clear_psn().value());
  f.number("psn", h.psn.value());
  add_pdcids(f, h);
  if (!h.has_cc()) return;
  f.number("ccc_id", h.ccc_id);
  f.number("credit_target", h.credit_target);
}

void add(Fields& f, const Ack& h) {
  f.code("pds.type", h.type);
  f.flag("m", h.m);
  f.flag("retx", h.retx);
  f.code("req", h.req);
  if (h.p) {
    f.number("probe_opaque", h.probe_opaque);
  } else {
    f.number("ack_psn_offset", h.ack_psn_offset);
    f.number("[ack_psn]", h.ack_psn().value());
  }
  f.number("cack_psn", h.cack_psn.value());
  f.number("spdcid", h.spdcid.value());
  f.number("dpdcid", h.dpdcid.value());
  if (h.has_expected_psn()) f.number("payload", h.expected_start_psn.value());
}

template <class Header>
void add_sack(Fields& f, const Header& h) {
  add(f, h.ack);
  f.number("mpr", h.mpr);
  f.number("sack_psn_offset", h.sack_psn_offset);
  f.number("[sack_base]", h.sack_base().value());
  f.hex("sack_bitmap", h.sack_bitmap);
}

void add(Fields& f, const AckCc& h) {
  add_sack(f, h);
  f.code("cc_type", h.cc_type);
  if (h.cc_type == CcType::nscc) {
    const NsccState s = NsccState::unpack(h.state);
    f.number("service_time", s.service_time);
    f.flag("rc", s.rc);
    f.number("rcv_cwnd_pend", s.rcv_cwnd_pend);
    f.number("rcvd_bytes", s.rcvd_bytes);
    f.number("ooo_count", s.ooo_count);
  } else if (h.cc_type == CcType::credit) {
    const CreditState s = CreditState::unpack(h.state);
    f.number("credit", s.credit);
    f.number("ooo_count", s.ooo_count);
  } else {
    f.hex("ack_cc_state", h.state);
  }
}

void add(Fields& f, const AckCcx& h) {
  add_sack(f, h);
  f.number("ccx_type", h.ccx_type);
  f.octets("ack_ccx_state", h.state, h.state.size());
}

void add(Fields& f, const Nack& h) {
  f.code("pds.type", h.type);
  f.flag("m", h.m);
  f.flag("retx", h.retx);
  f.code("nack_code", h.nack_code);
  f.number("vendor_code", h.vendor_code);
  f.number("nack_psn", h.nack_psn.value());
  f.number("spdcid", h.spdcid.value());
  f.number("dpdcid", h.dpdcid.value());
  f.number("payload", h.payload);
}

void add(Fields& f, const NackCcx& h) {
  add(f, h.nack);
  f.number("nccx_type", h.nccx_type);
  f.octets("nack_ccx_state", h.state, h.state.size());
}

void add(Fields& f, const Control& h) {
  f.text("pds.type", "CP (" + std::to_string(static_cast<unsigned>(PdsType::control)) + ")");
  f.code("ctl_type", h.ctl_type);
  f.flag("isrod", h.isrod);
  f.flag("retx", h.retx);
  f.flag("ar", h.ar);
  f.flag("syn", h.syn);
  f.number("probe_opaque", h.probe_opaque);
  f.number("psn", h.psn.value());
  add_pdcids(f, h);
  f.number("payload", h.payload);
}

// They are of no PDC.
void add(Fields& f, const RudiRequest& h) { f.number("pkt_id", h.pkt_id.value()); }
void add(Fields& f, const RudiResponse& h) { f.number("pkt_id", h.pkt_id.value()); }
void add(Fields&, const Uud&) {}

void add_common(Fields& f, const char* format, const RequestCommon& h) {
  f.text("ses", format);
  f.code("opcode", h.opcode);
  f.flag("dc", h.dc);
  f.flag("ie", h.ie);
  f.flag("rel", h.rel);
  f.flag("hd", h.hd);
  f.flag("eom", h.eom);
  f.flag("som", h.som);
  f.number("ri_generation", h.ri_generation);
  f.number("job_id", h.job_id.value());
  f.number("pid_on_fep", h.pid_on_fep.value());
  f.number("resource_index", h.resource_index.value());
}

void add_match(Fields& f, SesOpcode opcode, uint64_t value) {
  f.hex(has_memory_key(opcode) ? "memory_key" : "match_bits", value);
}

void add(Fields& f, const SmallRequest& h) {
  add_common(f, "SMALL", h.common);
  f.number("request_length", h.request_length);
  f.hex("buffer_offset", h.buffer_offset);
}

void add(Fields& f, const MediumRequest& h) {
  add_common(f, "MEDIUM", h.common);
  f.number("request_length", h.request_length);
  if (h.common.hd) {
    f.hex("header_data", h.header_data);
  } else {
    f.hex("buffer_offset", h.buffer_offset);
  }
  f.number("initiator", h.initiator);
  add_match(f, h.common.opcode, h.match_bits);
}

void add_tokens(Fields& f, RestartTokens tokens) {
  f.hex("initiator_restart_token", tokens.initiator);
  f.hex("target_restart_token", tokens.target);
}

void add(Fields& f, const StandardRequest& h) {
  add_common(f, "STANDARD", h.common);
  f.number("message_id", h.message_id.value());
  if (is_deferrable_send(h.common.opcode)) {
    add_tokens(f, h.deferrable_tokens());
  } else {
    f.hex("buffer_offset", h.buffer_offset);
  }
  f.number("initiator", h.initiator);
  if (h.common.opcode == SesOpcode::deferrable_rtr) {
    add_tokens(f, h.rtr_tokens());
  } else {
    add_match(f, h.common.opcode, h.match_bits);
  }
  if (!h.common.som) {
    f.number("payload_length", h.payload_length);
    f.number("message_offset", h.message_offset);
  } else if (h.common.hd) {
    f.hex("header_data", h.header_data);
  }
  f.number("request_length", h.request_length);
}

void add_common(Fields& f, const char* format, const ResponseCommon& h) {
  f.text("ses", format);
  f.code("list", h.list);
  f.code("response_opcode", h.opcode);
  f.code("return_code", h.return_code);
}

void add(Fields& f, const Response& h) {
  add_common(f, "RESPONSE", h.common);
  f.number("message_id", h.message_id.value());
  f.number("ri_generation", h.ri_generation);
  f.number("job_id", h.job_id.value());
  f.number("modified_length", h.modified_length);
}

void add(Fields& f, const ResponseData& h) {
  add_common(f, "RESPONSE_DATA", h.common);
  f.number("response_message_id", h.response_message_id.value());
  f.number("job_id", h.job_id.value());
  f.number("read_request_message_id", h.read_request_message_id.value());
  f.number("payload_length", h.payload_length);
  f.number("modified_length", h.modified_length);
  f.number("message_offset", h.message_offset);
}

void add(Fields& f, const ResponseDataSmall& h) {
  add_common(f, "RESPONSE_DATA_SMALL", h.common);
  f.number("payload_length", h.payload_length);
  f.number("job_id", h.job_id.value());
  f.number("original_request_psn", h.original_request_psn.value());
}

void add(Fields& f, const Rendezvous& h) {
  f.number("eager_length", h.eager_length);
  f.number("read_ri_generation", h.read_ri_generation);
  f.number("read_pid_on_fep", h.read_pid_on_fep.value());
  f.number("read_resource_index", h.read_resource_index.value());
  f.hex("read_offset", h.read_offset);
  f.hex("read_memory_key", h.read_memory_key);
}

void add(Fields& f, const Atomic& h) {
  f.code("atomic_opcode", h.atomic_opcode);
  f.code("atomic_datatype", h.atomic_datatype);
  f.hex("sem_ctl", h.sem_ctl);
}

void add(Fields& f, const CompareSwap& h) {
  add(f, h.atomic);
  f.octets("compare_value", h.compare_value, h.compare_value.size());
  f.octets("swap_value", h.swap_value, h.swap_value.size());
}

}  // namespace

std::vector<Field> fields_of(const Captured& captured, Decoder& decode) {
  constexpr size_t kPayloadShown = 16;
  const DecodedPacket packet = decode(captured);
  const bool is_whole = captured.on_wire_octets <= captured.octets.size();
  std::vector<Field> out;
  Fields f(out);
  const auto each = [&](const auto& header) { add(f, header); };
  std::visit(each, packet.ip);
  if (packet.udp) {
    f.number("udp.srcport", packet.udp->sport);
    f.number("udp.dstport", packet.udp->dport);
  }
  if (packet.entropy) f.number("entropy", packet.entropy->entropy.value());
  std::visit(each, packet.pds);
  std::visit(each, packet.ses);
  std::visit(each, packet.extension);
  if (!is_whole) {
    f.text("captured", std::to_string(captured.octets.size()) + " of " +
                           std::to_string(captured.on_wire_octets) + " octets");
  } else if (packet.payload && !packet.payload->empty()) {
    f.octets("data", *packet.payload, kPayloadShown);
  }
  f.flag("trimmed", packet.trimmed);
  if (packet.outcome == Outcome::reject) f.text("rejected", name(packet.error));
  if (packet.outcome == Outcome::tolerate) f.text("tolerated", name(packet.tolerance));
  return out;
}

}  // namespace uet::tools::ladder
