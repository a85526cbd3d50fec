// The tables of header and field names, and how a value is read.
#include "tools/packet_fields.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace uet::tools {

namespace {

using namespace wire;

// A name of a code to its value: the first that has it.
using Names = std::optional<uint64_t> (*)(std::string_view);

template <class Code, unsigned Count>
std::optional<uint64_t> code_of(std::string_view text) {
  for (unsigned value = 0; value < Count; ++value) {
    if (text == name(static_cast<Code>(value))) return value;
  }
  return std::nullopt;
}

template <class Header>
struct Field {
  std::string_view name;
  unsigned bits;
  void (*set)(Header&, uint64_t);
  Names names = nullptr;
};

// Into a member of any of the types that headers have.
template <class Member>
void assign(Member& member, uint64_t value) {
  if constexpr (std::is_class_v<Member>) {
    member = Member(static_cast<decltype(member.value())>(value));
  } else {
    member = static_cast<Member>(value);
  }
}

#define UET_FIELD(Header, name_, bits_, member, ...)                                            \
  Field<Header> {                                                                               \
    name_, bits_, [](Header& h, uint64_t v) { assign(h.member, v); } __VA_OPT__(, ) __VA_ARGS__ \
  }

const Field<Request> kRequest[] = {
    UET_FIELD(Request, "retx", 1, retx),
    UET_FIELD(Request, "ar", 1, ar),
    UET_FIELD(Request, "syn", 1, syn),
    UET_FIELD(Request, "use_rsv_pdc", 1, use_rsv_pdc),
    UET_FIELD(Request, "private_mark", 1, private_mark),
    UET_FIELD(Request, "psn_offset", 12, psn_offset),
    UET_FIELD(Request, "clear_psn_offset", 16, clear_psn_offset),
    UET_FIELD(Request, "spdcid", 16, spdcid),
    UET_FIELD(Request, "dpdcid", 16, dpdcid),
    UET_FIELD(Request, "psn", 32, psn),
    UET_FIELD(Request, "ccc_id", 8, ccc_id),
    UET_FIELD(Request, "credit_target", 24, credit_target),
};

// `front` leads to the Ack inside ACK_CC and ACK_CCX.
#define UET_ACK_FIELDS(Header, front)                                           \
  UET_FIELD(Header, "m", 1, front m), UET_FIELD(Header, "retx", 1, front retx), \
      UET_FIELD(Header, "p", 1, front p),                                       \
      UET_FIELD(Header, "req", 2, front req, code_of<AckRequest, 4>),           \
      UET_FIELD(Header, "ack_psn_offset", 16, front ack_psn_offset),            \
      UET_FIELD(Header, "probe_opaque", 16, front probe_opaque),                \
      UET_FIELD(Header, "cack_psn", 32, front cack_psn),                        \
      UET_FIELD(Header, "spdcid", 16, front spdcid), UET_FIELD(Header, "dpdcid", 16, front dpdcid)

const Field<Ack> kAck[] = {
    UET_ACK_FIELDS(Ack, ),
    UET_FIELD(Ack, "epsn", 1, epsn),
    UET_FIELD(Ack, "payload", 32, expected_start_psn),
};

#define UET_SACK_FIELDS(Header)                                                                    \
  UET_ACK_FIELDS(Header, ack.), UET_FIELD(Header, "cc_flags", 4, cc_flags),                        \
      UET_FIELD(Header, "mpr", 8, mpr), UET_FIELD(Header, "sack_psn_offset", 16, sack_psn_offset), \
      UET_FIELD(Header, "sack_bitmap", 64, sack_bitmap)

// A field of the congestion control state, which the header keeps packed.
template <class State, auto member>
void set_state(AckCc& h, uint64_t value) {
  State state = State::unpack(h.state);
  assign(state.*member, value);
  h.state = state.pack();
}

const Field<AckCc> kAckCc[] = {
    UET_SACK_FIELDS(AckCc),
    UET_FIELD(AckCc, "cc_type", 4, cc_type, code_of<CcType, 16>),
    UET_FIELD(AckCc, "ack_cc_state", 64, state),
    {"service_time", 16, set_state<NsccState, &NsccState::service_time>},
    {"rc", 1, set_state<NsccState, &NsccState::rc>},
    {"rcv_cwnd_pend", 7, set_state<NsccState, &NsccState::rcv_cwnd_pend>},
    {"rcvd_bytes", 24, set_state<NsccState, &NsccState::rcvd_bytes>},
    {"ooo_count", 16, set_state<NsccState, &NsccState::ooo_count>},
    {"credit", 24, set_state<CreditState, &CreditState::credit>},
};

// The last octets of a long field.
void set_low(std::span<std::byte> field, uint64_t value) {
  for (size_t i = 0; i < sizeof value; ++i) {
    field[field.size() - 1 - i] = static_cast<std::byte>(value >> (8 * i));
  }
}

const Field<AckCcx> kAckCcx[] = {
    UET_SACK_FIELDS(AckCcx),
    UET_FIELD(AckCcx, "ccx_type", 4, ccx_type),
    {"ack_ccx_state", 64, [](AckCcx& h, uint64_t v) { set_low(h.state, v); }},
};

#define UET_NACK_FIELDS(Header, front)                                            \
  UET_FIELD(Header, "m", 1, front m), UET_FIELD(Header, "retx", 1, front retx),   \
      UET_FIELD(Header, "nt", 1, front nt),                                       \
      UET_FIELD(Header, "nack_code", 8, front nack_code, code_of<NackCode, 256>), \
      UET_FIELD(Header, "vendor_code", 8, front vendor_code),                     \
      UET_FIELD(Header, "nack_psn", 32, front nack_psn),                          \
      UET_FIELD(Header, "nack_pkt_id", 32, front nack_pkt_id),                    \
      UET_FIELD(Header, "spdcid", 16, front spdcid),                              \
      UET_FIELD(Header, "dpdcid", 16, front dpdcid),                              \
      UET_FIELD(Header, "payload", 32, front payload)

const Field<Nack> kNack[] = {UET_NACK_FIELDS(Nack, )};
const Field<NackCcx> kNackCcx[] = {
    UET_NACK_FIELDS(NackCcx, nack.),
    UET_FIELD(NackCcx, "nccx_type", 4, nccx_type),
    {"nack_ccx_state", 64, [](NackCcx& h, uint64_t v) { set_low(h.state, v); }},
};

const Field<Control> kControl[] = {
    UET_FIELD(Control, "ctl_type", 4, ctl_type, code_of<CtlType, 16>),
    UET_FIELD(Control, "isrod", 1, isrod),
    UET_FIELD(Control, "retx", 1, retx),
    UET_FIELD(Control, "ar", 1, ar),
    UET_FIELD(Control, "syn", 1, syn),
    UET_FIELD(Control, "use_rsv_pdc", 1, use_rsv_pdc),
    UET_FIELD(Control, "private_mark", 1, private_mark),
    UET_FIELD(Control, "psn_offset", 12, psn_offset),
    UET_FIELD(Control, "probe_opaque", 16, probe_opaque),
    UET_FIELD(Control, "spdcid", 16, spdcid),
    UET_FIELD(Control, "dpdcid", 16, dpdcid),
    UET_FIELD(Control, "psn", 32, psn),
    UET_FIELD(Control, "payload", 32, payload),
};
const Field<RudiRequest> kRudiRequest[] = {
    UET_FIELD(RudiRequest, "retx", 1, retx),
    UET_FIELD(RudiRequest, "private_mark", 1, private_mark),
    UET_FIELD(RudiRequest, "pkt_id", 32, pkt_id),
};
const Field<RudiResponse> kRudiResponse[] = {
    UET_FIELD(RudiResponse, "m", 1, m),
    UET_FIELD(RudiResponse, "retx", 1, retx),
    UET_FIELD(RudiResponse, "pkt_id", 32, pkt_id),
};

#define UET_COMMON_FIELDS(Header)                                                     \
  UET_FIELD(Header, "opcode", 6, common.opcode, code_of<SesOpcode, 64>),              \
      UET_FIELD(Header, "ver", 2, common.ver), UET_FIELD(Header, "dc", 1, common.dc), \
      UET_FIELD(Header, "ie", 1, common.ie), UET_FIELD(Header, "rel", 1, common.rel), \
      UET_FIELD(Header, "hd", 1, common.hd), UET_FIELD(Header, "eom", 1, common.eom), \
      UET_FIELD(Header, "som", 1, common.som),                                        \
      UET_FIELD(Header, "ri_generation", 8, common.ri_generation),                    \
      UET_FIELD(Header, "job_id", 24, common.job_id),                                 \
      UET_FIELD(Header, "pid_on_fep", 12, common.pid_on_fep),                         \
      UET_FIELD(Header, "resource_index", 12, common.resource_index)

const Field<SmallRequest> kSmall[] = {
    UET_COMMON_FIELDS(SmallRequest),
    UET_FIELD(SmallRequest, "request_length", 14, request_length),
    UET_FIELD(SmallRequest, "buffer_offset", 64, buffer_offset),
};
const Field<MediumRequest> kMedium[] = {
    UET_COMMON_FIELDS(MediumRequest),
    UET_FIELD(MediumRequest, "request_length", 14, request_length),
    UET_FIELD(MediumRequest, "header_data", 64, header_data),
    UET_FIELD(MediumRequest, "buffer_offset", 64, buffer_offset),
    UET_FIELD(MediumRequest, "initiator", 32, initiator),
    UET_FIELD(MediumRequest, "match_bits", 64, match_bits),
    UET_FIELD(MediumRequest, "memory_key", 64, match_bits),
};

// One of the two tokens, in the 64 bits that the opcode gives them.
template <bool target>
void set_token(StandardRequest& h, uint64_t value) {
  uint64_t& word = is_deferrable_send(h.common.opcode) ? h.buffer_offset : h.match_bits;
  RestartTokens tokens = RestartTokens::unpack(word);
  (target ? tokens.target : tokens.initiator) = static_cast<uint32_t>(value);
  word = tokens.pack();
}

const Field<StandardRequest> kStandard[] = {
    UET_COMMON_FIELDS(StandardRequest),
    UET_FIELD(StandardRequest, "message_id", 16, message_id),
    UET_FIELD(StandardRequest, "buffer_offset", 64, buffer_offset),
    UET_FIELD(StandardRequest, "initiator", 32, initiator),
    UET_FIELD(StandardRequest, "match_bits", 64, match_bits),
    UET_FIELD(StandardRequest, "memory_key", 64, match_bits),
    UET_FIELD(StandardRequest, "header_data", 64, header_data),
    UET_FIELD(StandardRequest, "payload_length", 14, payload_length),
    UET_FIELD(StandardRequest, "message_offset", 32, message_offset),
    UET_FIELD(StandardRequest, "request_length", 32, request_length),
    {"initiator_restart_token", 32, set_token<false>},
    {"target_restart_token", 32, set_token<true>},
};

#define UET_RESPONSE_FIELDS(Header)                                                        \
  UET_FIELD(Header, "list", 2, common.list, code_of<ListCode, 4>),                         \
      UET_FIELD(Header, "response_opcode", 6, common.opcode, code_of<ResponseOpcode, 64>), \
      UET_FIELD(Header, "ver", 2, common.ver),                                             \
      UET_FIELD(Header, "return_code", 6, common.return_code, code_of<ReturnCode, 64>),    \
      UET_FIELD(Header, "job_id", 24, job_id)

const Field<Response> kResponse[] = {
    UET_RESPONSE_FIELDS(Response),
    UET_FIELD(Response, "message_id", 16, message_id),
    UET_FIELD(Response, "ri_generation", 8, ri_generation),
    UET_FIELD(Response, "modified_length", 32, modified_length),
};
const Field<ResponseData> kResponseData[] = {
    UET_RESPONSE_FIELDS(ResponseData),
    UET_FIELD(ResponseData, "response_message_id", 16, response_message_id),
    UET_FIELD(ResponseData, "read_request_message_id", 16, read_request_message_id),
    UET_FIELD(ResponseData, "payload_length", 14, payload_length),
    UET_FIELD(ResponseData, "modified_length", 32, modified_length),
    UET_FIELD(ResponseData, "message_offset", 32, message_offset),
};
const Field<ResponseDataSmall> kResponseDataSmall[] = {
    UET_RESPONSE_FIELDS(ResponseDataSmall),
    UET_FIELD(ResponseDataSmall, "payload_length", 14, payload_length),
    UET_FIELD(ResponseDataSmall, "original_request_psn", 32, original_request_psn),
};

const Field<Rendezvous> kRendezvous[] = {
    UET_FIELD(Rendezvous, "eager_length", 32, eager_length),
    UET_FIELD(Rendezvous, "read_ri_generation", 8, read_ri_generation),
    UET_FIELD(Rendezvous, "read_pid_on_fep", 12, read_pid_on_fep),
    UET_FIELD(Rendezvous, "read_resource_index", 12, read_resource_index),
    UET_FIELD(Rendezvous, "read_offset", 64, read_offset),
    UET_FIELD(Rendezvous, "read_memory_key", 64, read_memory_key),
};

#define UET_ATOMIC_FIELDS(Header, front)                                                  \
  UET_FIELD(Header, "atomic_opcode", 8, front atomic_opcode, code_of<AtomicOpcode, 256>), \
      UET_FIELD(Header, "atomic_datatype", 8, front atomic_datatype,                      \
                code_of<AtomicDatatype, 256>),                                            \
      UET_FIELD(Header, "sem_ctl", 8, front sem_ctl)

const Field<Atomic> kAtomic[] = {UET_ATOMIC_FIELDS(Atomic, )};
const Field<CompareSwap> kCompareSwap[] = {
    UET_ATOMIC_FIELDS(CompareSwap, atomic.),
    {"compare_value", 64, [](CompareSwap& h, uint64_t v) { set_low(h.compare_value, v); }},
    {"swap_value", 64, [](CompareSwap& h, uint64_t v) { set_low(h.swap_value, v); }},
};

// A number, with 0x in hex, negative for a field that can be; it must fit.
std::optional<uint64_t> number(std::string_view text, unsigned bits) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (negative) {
    if (value > uint64_t{1} << (bits - 1)) return std::nullopt;
    return ~value + 1;
  }
  if (bits < 64 && value >> bits != 0) return std::nullopt;
  return value;
}

template <class Header>
std::string take_fields(Header& header, std::span<const Field<Header>> fields,
                        std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    const size_t equals = word.find('=');
    const std::string_view field_name = word.substr(0, equals);
    const Field<Header>* field = nullptr;
    for (const Field<Header>& f : fields) {
      if (f.name == field_name) field = &f;
    }
    if (field == nullptr) return "no field " + std::string(field_name) + " in this header";
    std::optional<uint64_t> value;
    if (equals == std::string_view::npos) {
      if (field->bits != 1) return std::string(word) + " needs a value";
      value = 1;
    } else {
      const std::string_view text = word.substr(equals + 1);
      value = number(text, field->bits);
      if (!value && field->names != nullptr) value = field->names(text);
    }
    if (!value) return std::string(word) + ": no such value";
    field->set(header, *value);
  }
  return {};
}

template <class Header, class Into, size_t N>
std::string take(Into& into, Header header, const Field<Header> (&fields)[N],
                 std::span<const std::string_view> words) {
  std::string problem = take_fields<Header>(header, fields, words);
  into = header;
  return problem;
}

// UUD has no field of its own to set.
std::string take_uud(PdsPart& into, std::span<const std::string_view> words) {
  Uud header;
  std::string problem = take_fields<Uud>(header, {}, words);
  into = header;
  return problem;
}

// The PDS header of the name; no value: there is none.
std::optional<std::string> take_pds(PdsPart& into, std::string_view kind,
                                    std::span<const std::string_view> words) {
  const auto type = code_of<PdsType, 16>(kind);
  if (!type) return std::nullopt;
  switch (static_cast<PdsType>(*type)) {
    case PdsType::rud_request:
    case PdsType::rod_request:
    case PdsType::rud_cc_request:
    case PdsType::rod_cc_request:
      return take(into, Request{.type = static_cast<PdsType>(*type)}, kRequest, words);
    case PdsType::rudi_request:
      return take(into, RudiRequest{}, kRudiRequest, words);
    case PdsType::rudi_response:
      return take(into, RudiResponse{}, kRudiResponse, words);
    case PdsType::uud_request:
      return take_uud(into, words);
    case PdsType::ack:
      return take(into, Ack{}, kAck, words);
    case PdsType::ack_cc:
      return take(into, AckCc{}, kAckCc, words);
    case PdsType::ack_ccx:
      return take(into, AckCcx{}, kAckCcx, words);
    case PdsType::nack:
      return take(into, Nack{}, kNack, words);
    case PdsType::nack_ccx:
      return take(into, NackCcx{}, kNackCcx, words);
    case PdsType::control:
      return take(into, Control{}, kControl, words);
    case PdsType::tss:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> take_ses(SesPart& into, std::string_view kind,
                                    std::span<const std::string_view> words) {
  const auto next = code_of<NextHeader, 7>(kind);
  if (!next) return std::nullopt;
  switch (static_cast<NextHeader>(*next)) {
    case NextHeader::small:
      return take(into, SmallRequest{}, kSmall, words);
    case NextHeader::medium:
      return take(into, MediumRequest{}, kMedium, words);
    case NextHeader::standard:
      return take(into, StandardRequest{}, kStandard, words);
    case NextHeader::response:
      return take(into, Response{}, kResponse, words);
    case NextHeader::response_data:
      return take(into, ResponseData{}, kResponseData, words);
    case NextHeader::response_data_small:
      return take(into, ResponseDataSmall{}, kResponseDataSmall, words);
    case NextHeader::none:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string take_header(Parts& parts, const std::vector<std::string_view>& words) {
  const std::string_view kind = words.front();
  const std::span<const std::string_view> fields(words.data() + 1, words.size() - 1);
  if (auto problem = take_pds(parts.pds, kind, fields)) return *problem;
  if (auto problem = take_ses(parts.ses, kind, fields)) return *problem;
  if (kind == "RENDEZVOUS") return take(parts.extension, Rendezvous{}, kRendezvous, fields);
  if (kind == "ATOMIC") return take(parts.extension, Atomic{}, kAtomic, fields);
  if (kind == "COMPARE_SWAP") return take(parts.extension, CompareSwap{}, kCompareSwap, fields);
  return "no header " + std::string(kind);
}

void set_next_header(Parts& parts) {
  const auto next = static_cast<NextHeader>(parts.ses.index());  // in the order of the codes
  std::visit(
      [&](auto& h) {
        if constexpr (requires { h.next_hdr; }) h.next_hdr = next;
        if constexpr (requires { h.ack.next_hdr; }) h.ack.next_hdr = next;
      },
      parts.pds);
}

}  // namespace uet::tools
