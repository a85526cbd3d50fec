// The words of the one-line rendering: names in capitals as in the specification, flags by name
// when set, numbers in decimal, keys and bitmaps in hexadecimal. Values and names come from the
// lists of fields; here is which of them a line shows, and in what order.
#include "wire/print.h"

#include "wire/fields.h"

#include <algorithm>
#include <cinttypes>
#include <string_view>

namespace uet::wire {

namespace {

// Appends fields of a header. The layout is a list of words NAME[~][?][:WORD]:
//   psn              " psn=16" of the field psn
//   clear_psn:clear  " clear=15": another word for it
//   cc_type:         " NSCC": no word
//   payload_length:+ "+100": a sign instead of the blank and the word; "(" is closed behind it
//   ~ before :       in hexadecimal with all its digits
//   ? before :       left out if it is 0
// Flags are shown by their name if they are set; fields that this form of the header does not have,
// and rare ones that are 0, are left out.
class Layout {
 public:
  Layout(Text& text, const FieldList& fields) : text_(text), fields_(fields) {}

  void print(std::string_view layout) {
    while (!layout.empty()) {
      const size_t length = std::min(layout.find(' '), layout.size());
      word(layout.substr(0, length));
      layout.remove_prefix(std::min(length + 1, layout.size()));
    }
  }

 private:
  void word(std::string_view word) {
    const size_t colon = word.find(':');
    std::string_view name = word.substr(0, colon);
    const bool hides_zero = take_suffix(name, '?');
    const bool all_digits = take_suffix(name, '~');
    const Field* const f = fields_.find(name);
    UET_ASSERT(f != nullptr);
    if (!f->is_present || (f->value == 0 && (hides_zero || f->is_rare))) return;
    const std::string_view shown = colon == word.npos ? name : word.substr(colon + 1);
    const bool is_sign = shown.find_first_not_of(",:+(") == shown.npos && !shown.empty();
    text_.add("%s%.*s", is_sign ? "" : " ", static_cast<int>(shown.size()), shown.data());
    if (f->meaning == Meaning::flag) return;
    if (!is_sign && !shown.empty()) text_.add("=");
    value(*f, all_digits);
    if (shown == "(") text_.add(")");
  }

  static bool take_suffix(std::string_view& name, char suffix) {
    if (!name.ends_with(suffix)) return false;
    name.remove_suffix(1);
    return true;
  }

  void value(const Field& f, bool all_digits) {
    if (f.meaning == Meaning::octets) {
      text_.add("0x");
      for (const std::byte octet : f.octets) text_.add("%02x", static_cast<unsigned>(octet));
    } else if (all_digits) {
      text_.add("0x%0*" PRIx64, (f.bits + 3) / 4, f.value);
    } else if (f.meaning == Meaning::hex) {
      text_.add("0x%" PRIx64, f.value);
    } else if (f.meaning == Meaning::code) {
      text_.add("%s", f.names->name(f.value));
    } else {
      text_.add("%" PRId64, f.signed_value());
    }
  }

  Text& text_;
  FieldList fields_;
};

// How the line of a header begins, and what follows.
struct Shape {
  const char* head = "";
  std::string_view layout{};
  std::string_view rest{};
};

constexpr std::string_view kAck =
    "m retx req? cack_psn:cack probe_opaque~ ack_psn:ack spdcid dpdcid";
constexpr std::string_view kNack =
    "nack_code: nack_code~:( vendor_code~?:vendor m retx nack_pkt_id:pkt_id nack_psn:psn"
    " spdcid dpdcid payload";
constexpr std::string_view kRequestCommon =
    "opcode: ver dc ie rel hd som eom job_id:job pid_on_fep:pid resource_index:ri"
    " ri_generation:gen";
constexpr std::string_view kResponseCommon = "response_opcode: return_code: list: ver";
constexpr std::string_view kAtomic = "atomic_datatype: sem_ctl~";

Shape shape_of(const std::monostate&) { return {}; }
Shape shape_of(const Request& h) {
  return {name(h.type),
          "retx ar syn psn clear_psn:clear spdcid start_psn:start use_rsv_pdc private_mark dpdcid",
          "ccc_id credit_target"};
}
Shape shape_of(const Ack& h) { return {name(h.type), kAck, "payload:expected_start"}; }
Shape shape_of(const AckCc& h) {
  return {name(h.ack.type), kAck,
          "mpr sack_base:sack sack_bitmap~:: cc_type: service_time rc rcv_cwnd_pend rcvd_bytes"
          " credit ooo_count:ooo ack_cc_state~:state"};
}
Shape shape_of(const AckCcx& h) {
  return {name(h.ack.type), kAck, "mpr sack_base:sack sack_bitmap~:: ccx_type ack_ccx_state:state"};
}
Shape shape_of(const Nack& h) { return {name(h.type), kNack}; }
Shape shape_of(const NackCcx& h) {
  return {name(h.nack.type), kNack, "nccx_type nack_ccx_state:state"};
}
Shape shape_of(const Control& h) {
  const bool credit = h.ctl_type == CtlType::credit || h.ctl_type == CtlType::credit_req;
  return {"CP",
          "ctl_type: isrod retx ar syn psn spdcid start_psn:start use_rsv_pdc private_mark dpdcid",
          credit                         ? "credit ccc_id credit_target"
          : h.ctl_type == CtlType::probe ? "probe_opaque~ payload?"
                                         : "payload?"};
}
Shape shape_of(const RudiRequest&) { return {"RUDI_REQ", "retx private_mark pkt_id"}; }
Shape shape_of(const RudiResponse&) { return {"RUDI_RESP", "m retx pkt_id"}; }
Shape shape_of(const Uud&) { return {"UUD_REQ"}; }

Shape shape_of(const SmallRequest&) {
  return {"SMALL", kRequestCommon, "request_length:length buffer_offset:offset"};
}
Shape shape_of(const MediumRequest&) {
  return {"MEDIUM", kRequestCommon,
          "request_length:length initiator header_data buffer_offset:offset match_bits:match"
          " memory_key:key"};
}
Shape shape_of(const StandardRequest&) {
  return {"STANDARD", kRequestCommon,
          "message_id:msg request_length:length initiator buffer_offset:offset"
          " initiator_restart_token~:tokens target_restart_token~:, match_bits:match"
          " memory_key:key message_offset:at payload_length:+ header_data"};
}
Shape shape_of(const Response&) {
  return {"RESP", kResponseCommon,
          "message_id:msg ri_generation:gen job_id:job modified_length:modified"};
}
Shape shape_of(const ResponseData&) {
  return {"RESP_DATA", kResponseCommon,
          "response_message_id:msg read_request_message_id:read_msg job_id:job"
          " modified_length:modified message_offset:at payload_length:+"};
}
Shape shape_of(const ResponseDataSmall&) {
  return {"RESP_DATA_SMALL", kResponseCommon,
          "original_request_psn:request_psn job_id:job payload_length:length"};
}

Shape shape_of(const Rendezvous&) {
  return {"RENDEZVOUS",
          "eager_length:eager read_pid_on_fep:pid read_resource_index:ri read_ri_generation:gen"
          " read_offset:offset read_memory_key:key"};
}
Shape shape_of(const Atomic& h) { return {name(h.atomic_opcode), kAtomic}; }
Shape shape_of(const CompareSwap& h) {
  return {name(h.atomic.atomic_opcode), kAtomic, "compare_value:compare swap_value:swap"};
}

template <class Header>
void print_header(Text& text, const Header& header) {
  const Shape shape = std::visit([](const auto& h) { return shape_of(h); }, header);
  Layout words(text, fields_of(header));
  text.add("%s", shape.head);
  words.print(shape.layout);
  words.print(shape.rest);
}

// "source > destination dscp=n ecn=n ev=n": the facts known below UET.
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

void print(Text& text, const PdsHeader& header) { print_header(text, header); }
void print(Text& text, const SesHeader& header) { print_header(text, header); }
void print(Text& text, const SesExtension& header) { print_header(text, header); }

size_t print(std::span<char> out, const DecodedPacket& packet) {
  Text text(out);
  Separator separator(text);
  print_below_uet(text, packet);
  if (packet.tss) {
    separator.next();
    text.add("TSS");
    Layout(text, fields_of(*packet.tss)).print("sdi an ssi~");
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
