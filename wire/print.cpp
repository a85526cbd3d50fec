// The words of the one-line rendering: names in capitals as in the specification, flags by name
// when set, numbers in decimal, keys and bitmaps in hexadecimal.
#include "wire/print.h"

#include <cinttypes>

namespace uet::wire {

namespace {

template <class Header>
void print_pdcids(Text& t, const Header& h) {
  t.add(" spdcid=%u", h.spdcid.value());
  if (h.syn) {
    t.add(" start=%u", h.start_psn().value());
    t.flag(h.use_rsv_pdc, "use_rsv_pdc");
    t.flag(h.private_mark, "private_mark");
  } else {
    t.add(" dpdcid=%u", h.dpdcid.value());
  }
}

void line(Text&, const std::monostate&) {}

void line(Text& t, const Request& h) {
  t.add("%s", name(h.type));
  t.flag(h.retx, "retx");
  t.flag(h.ar, "ar");
  t.flag(h.syn, "syn");
  t.add(" psn=%u clear=%u", h.psn.value(), h.clear_psn().value());
  print_pdcids(t, h);
  if (h.has_cc()) t.add(" ccc_id=%u credit_target=%u", h.ccc_id, h.credit_target);
}

void line(Text& t, const Ack& h) {
  t.add("%s", name(h.type));
  t.flag(h.m, "m");
  t.flag(h.retx, "retx");
  if (h.req != AckRequest::none) t.add(" req=%s", name(h.req));
  t.add(" cack=%u", h.cack_psn.value());
  if (h.p)
    t.add(" probe_opaque=0x%04x", h.probe_opaque);
  else
    t.add(" ack=%u", h.ack_psn().value());
  t.add(" spdcid=%u dpdcid=%u", h.spdcid.value(), h.dpdcid.value());
  if (h.has_expected_psn()) t.add(" expected_start=%u", h.expected_start_psn.value());
}

template <class Header>
void print_sack(Text& t, const Header& h) {
  line(t, h.ack);
  t.add(" mpr=%u sack=%u:0x%016" PRIx64, h.mpr, h.sack_base().value(), h.sack_bitmap);
}

void line(Text& t, const AckCc& h) {
  print_sack(t, h);
  t.add(" %s", name(h.cc_type));
  if (h.cc_type == CcType::nscc) {
    const NsccState s = NsccState::unpack(h.state);
    t.add(" service_time=%u", s.service_time);
    t.flag(s.rc, "rc");
    t.add(" rcv_cwnd_pend=%u rcvd_bytes=%u ooo=%u", s.rcv_cwnd_pend, s.rcvd_bytes, s.ooo_count);
  } else if (h.cc_type == CcType::credit) {
    const CreditState s = CreditState::unpack(h.state);
    t.add(" credit=%u ooo=%u", s.credit, s.ooo_count);
  } else {
    t.add(" state=0x%016" PRIx64, h.state);
  }
}

void line(Text& t, const AckCcx& h) {
  print_sack(t, h);
  t.add(" ccx_type=%u state=0x%016" PRIx64 "%016" PRIx64, h.ccx_type, load_u64(h.state.data()),
        load_u64(h.state.data() + 8));
}

void line(Text& t, const Nack& h) {
  t.add("%s %s", name(h.type), name(h.nack_code));
  t.add("(0x%02x)", static_cast<unsigned>(h.nack_code));
  if (h.vendor_code != 0) t.add(" vendor=0x%02x", h.vendor_code);
  t.flag(h.m, "m");
  t.flag(h.retx, "retx");
  if (h.nt)
    t.add(" pkt_id=%u", h.nack_pkt_id.value());
  else
    t.add(" psn=%u", h.nack_psn.value());
  t.add(" spdcid=%u dpdcid=%u payload=%u", h.spdcid.value(), h.dpdcid.value(), h.payload);
}

void line(Text& t, const NackCcx& h) {
  line(t, h.nack);
  t.add(" nccx_type=%u state=0x%016" PRIx64 "%016" PRIx64, h.nccx_type, load_u64(h.state.data()),
        load_u64(h.state.data() + 8));
}

void line(Text& t, const Control& h) {
  t.add("CP %s", name(h.ctl_type));
  t.flag(h.isrod, "isrod");
  t.flag(h.retx, "retx");
  t.flag(h.ar, "ar");
  t.flag(h.syn, "syn");
  t.add(" psn=%u", h.psn.value());
  print_pdcids(t, h);
  if (h.ctl_type == CtlType::probe) t.add(" probe_opaque=0x%04x", h.probe_opaque);
  if (h.ctl_type == CtlType::credit) {
    t.add(" credit=%u", unpack_credit(h.payload));
  } else if (h.ctl_type == CtlType::credit_req) {
    const CreditRequest r = CreditRequest::unpack(h.payload);
    t.add(" ccc_id=%u credit_target=%u", r.ccc_id, r.credit_target);
  } else if (h.payload != 0) {
    t.add(" payload=%u", h.payload);
  }
}

void line(Text& t, const RudiRequest& h) {
  t.add("RUDI_REQ");
  t.flag(h.retx, "retx");
  t.flag(h.private_mark, "private_mark");
  t.add(" pkt_id=%u", h.pkt_id.value());
}

void line(Text& t, const RudiResponse& h) {
  t.add("RUDI_RESP");
  t.flag(h.m, "m");
  t.flag(h.retx, "retx");
  t.add(" pkt_id=%u", h.pkt_id.value());
}

void line(Text& t, const Uud&) { t.add("UUD_REQ"); }

void print_common(Text& t, const char* format, const RequestCommon& h) {
  t.add("%s %s", format, name(h.opcode));
  if (h.ver != 0) t.add(" ver=%u", h.ver);
  t.flag(h.dc, "dc");
  t.flag(h.ie, "ie");
  t.flag(h.rel, "rel");
  t.flag(h.hd, "hd");
  t.flag(h.som, "som");
  t.flag(h.eom, "eom");
  t.add(" job=%u pid=%u ri=%u gen=%u", h.job_id.value(), h.pid_on_fep.value(),
        h.resource_index.value(), h.ri_generation);
}

void print_tokens(Text& t, RestartTokens tokens) {
  t.add(" tokens=0x%08x,0x%08x", tokens.initiator, tokens.target);
}

void print_match(Text& t, SesOpcode opcode, uint64_t value) {
  t.add(" %s=0x%" PRIx64, has_memory_key(opcode) ? "key" : "match", value);
}

void line(Text& t, const SmallRequest& h) {
  print_common(t, "SMALL", h.common);
  t.add(" length=%u offset=0x%" PRIx64, h.request_length, h.buffer_offset);
}

void line(Text& t, const MediumRequest& h) {
  print_common(t, "MEDIUM", h.common);
  t.add(" length=%u initiator=%u", h.request_length, h.initiator);
  if (h.common.hd)
    t.add(" header_data=0x%" PRIx64, h.header_data);
  else
    t.add(" offset=0x%" PRIx64, h.buffer_offset);
  print_match(t, h.common.opcode, h.match_bits);
}

void line(Text& t, const StandardRequest& h) {
  const SesOpcode opcode = h.common.opcode;
  print_common(t, "STANDARD", h.common);
  t.add(" msg=%u length=%u initiator=%u", h.message_id.value(), h.request_length, h.initiator);
  if (is_deferrable_send(opcode))
    print_tokens(t, h.deferrable_tokens());
  else
    t.add(" offset=0x%" PRIx64, h.buffer_offset);
  if (opcode == SesOpcode::deferrable_rtr)
    print_tokens(t, h.rtr_tokens());
  else
    print_match(t, opcode, h.match_bits);
  if (!h.common.som)
    t.add(" at=%u+%u", h.message_offset, h.payload_length);
  else if (h.common.hd)
    t.add(" header_data=0x%" PRIx64, h.header_data);
}

void print_common(Text& t, const char* format, const ResponseCommon& h) {
  t.add("%s %s %s %s", format, name(h.opcode), name(h.return_code), name(h.list));
  if (h.ver != 0) t.add(" ver=%u", h.ver);
}

void line(Text& t, const Response& h) {
  print_common(t, "RESP", h.common);
  t.add(" msg=%u gen=%u job=%u modified=%u", h.message_id.value(), h.ri_generation,
        h.job_id.value(), h.modified_length);
}

void line(Text& t, const ResponseData& h) {
  print_common(t, "RESP_DATA", h.common);
  t.add(" msg=%u read_msg=%u job=%u modified=%u at=%u+%u", h.response_message_id.value(),
        h.read_request_message_id.value(), h.job_id.value(), h.modified_length, h.message_offset,
        h.payload_length);
}

void line(Text& t, const ResponseDataSmall& h) {
  print_common(t, "RESP_DATA_SMALL", h.common);
  t.add(" request_psn=%u job=%u length=%u", h.original_request_psn.value(), h.job_id.value(),
        h.payload_length);
}

void line(Text& t, const Rendezvous& h) {
  t.add("RENDEZVOUS eager=%u pid=%u ri=%u gen=%u offset=0x%" PRIx64 " key=0x%" PRIx64,
        h.eager_length, h.read_pid_on_fep.value(), h.read_resource_index.value(),
        h.read_ri_generation, h.read_offset, h.read_memory_key);
}

void line(Text& t, const Atomic& h) {
  t.add("%s %s sem_ctl=0x%02x", name(h.atomic_opcode), name(h.atomic_datatype), h.sem_ctl);
}

void line(Text& t, const CompareSwap& h) {
  line(t, h.atomic);
  t.add(" compare=0x%016" PRIx64 "%016" PRIx64, load_u64(h.compare_value.data()),
        load_u64(h.compare_value.data() + 8));
  t.add(" swap=0x%016" PRIx64 "%016" PRIx64, load_u64(h.swap_value.data()),
        load_u64(h.swap_value.data() + 8));
}

// "source > destination dscp=n ecn=n ev=n" of what is known below UET.
void print_below_uet(Text& t, const DecodedPacket& packet) {
  const auto addresses = [&](const auto& h) {
    print(t, h.src);
    t.add(" > ");
    print(t, h.dst);
    t.add(" dscp=%u ecn=%u", h.dscp, h.ecn);
  };
  if (const auto* v4 = std::get_if<Ipv4Header>(&packet.ip)) addresses(*v4);
  if (const auto* v6 = std::get_if<Ipv6Header>(&packet.ip)) addresses(*v6);
  if (packet.udp) t.add(" udp %u > %u", packet.udp->sport, packet.udp->dport);
  if (packet.entropy) t.add(" native ev=%u", packet.entropy->entropy.value());
  t.flag(packet.trimmed, "trimmed");
}

class Separator {
 public:
  explicit Separator(Text& text) : text_(text) {}
  // Before each part but the first.
  void next() {
    if (text_.length() > 0) text_.add(" | ");
  }

 private:
  Text& text_;
};

void print_verdict(Text& t, const DecodedPacket& packet) {
  if (packet.outcome == Outcome::accept) return;
  const bool rejected = packet.outcome == Outcome::reject;
  t.add("%s %s", name(packet.outcome), rejected ? name(packet.error) : name(packet.tolerance));
  if (rejected && packet.error == ParseError::truncated) {
    t.add(" %s %u of %u octets", packet.shortfall.header, packet.shortfall.have,
          packet.shortfall.need);
  }
}

}  // namespace

void print(Text& text, const PdsHeader& header) {
  std::visit([&](const auto& h) { line(text, h); }, header);
}

void print(Text& text, const SesHeader& header) {
  std::visit([&](const auto& h) { line(text, h); }, header);
}

void print(Text& text, const SesExtension& header) {
  std::visit([&](const auto& h) { line(text, h); }, header);
}

size_t print(std::span<char> out, const DecodedPacket& packet) {
  Text text(out);
  Separator separator(text);
  print_below_uet(text, packet);
  if (packet.tss) {
    separator.next();
    text.add("TSS sdi=%u an=%u", packet.tss->sdi, packet.tss->an ? 1U : 0U);
    if (packet.tss->sp) text.add(" ssi=0x%08x", packet.tss->ssi);
    text.add(" tsc=0x%016" PRIx64 " %zu octets sealed", packet.tss->tsc, packet.ciphertext.size());
  }
  if (packet.pds.index() != 0) {
    separator.next();
    print(text, packet.pds);
  }
  if (packet.ses.index() != 0) {
    separator.next();
    print(text, packet.ses);
  }
  if (packet.extension.index() != 0) {
    separator.next();
    print(text, packet.extension);
  }
  if (packet.payload) {
    separator.next();
    text.add("%zu octets", packet.payload->size());
  }
  if (packet.outcome != Outcome::accept) {
    separator.next();
    print_verdict(text, packet);
  }
  return text.length();
}

size_t print(std::span<char> out, std::span<const std::byte> octets, const DecodeOptions& options) {
  return print(out, decode(octets, options));
}

}  // namespace uet::wire
