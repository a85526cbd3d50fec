// The tables of field names, one a header.
#include "tools/packet_fields.h"

#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace uet::tools {

namespace {

using namespace wire;

// The names of a code's values.
struct Codes {
  std::optional<uint64_t> (*value)(std::string_view);  // the first that has the name
  const char* (*text)(uint64_t);                       // of a value
};

template <class Code, unsigned Count>
std::optional<uint64_t> code_of(std::string_view text) {
  for (unsigned value = 0; value < Count; ++value) {
    if (text == name(static_cast<Code>(value))) return value;
  }
  return std::nullopt;
}

template <class Code, unsigned Count>
constexpr Codes kCodes = {code_of<Code, Count>,
                          [](uint64_t value) { return name(static_cast<Code>(value)); }};

template <class Header>
struct Field {
  std::string_view name;
  unsigned bits;
  void (*set)(Header&, uint64_t);  // null: it follows from other fields
  uint64_t (*get)(const Header&);  // of its low 64 bits
  const Codes* codes = nullptr;
  bool is_signed = false;
  bool is_other_name = false;  // of octets that another field of the table has, too
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

template <class Member>
uint64_t value_in(const Member& member) {
  if constexpr (std::is_class_v<Member>) {
    return static_cast<uint64_t>(member.value());
  } else {
    return static_cast<uint64_t>(member);
  }
}

template <class Member>
constexpr bool kIsSigned = std::is_integral_v<Member>&& std::is_signed_v<Member>;

#define UET_FIELD_OF(Header, name_, bits_, member, codes_, is_other_name_) \
  Field<Header> {                                                          \
    name_, bits_, [](Header& h, uint64_t v) { assign(h.member, v); },      \
        [](const Header& h) { return value_in(h.member); }, codes_,        \
        kIsSigned<decltype(std::declval<Header>().member)>, is_other_name_ \
  }
#define UET_FIELD(Header, name_, bits_, member) \
  UET_FIELD_OF(Header, name_, bits_, member, nullptr, false)
#define UET_OTHER_NAME(Header, name_, bits_, member) \
  UET_FIELD_OF(Header, name_, bits_, member, nullptr, true)
#define UET_CODE(Header, name_, bits_, member, Code) \
  UET_FIELD_OF(Header, name_, bits_, member, (&kCodes<Code, 1U << bits_>), false)
// A sum of two fields: it can be looked at, not set.
#define UET_SUM(Header, name_, function)                                                        \
  Field<Header> {                                                                               \
    name_, 32, nullptr, [](const Header& h) { return value_in(h.function()); }, nullptr, false, \
        true                                                                                    \
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
    UET_SUM(Request, "start_psn", start_psn),
    UET_SUM(Request, "clear_psn", clear_psn),
};

// `front` leads to the Ack inside ACK_CC and ACK_CCX.
#define UET_ACK_FIELDS(Header, front)                                                        \
  UET_FIELD(Header, "m", 1, front m), UET_FIELD(Header, "retx", 1, front retx),              \
      UET_FIELD(Header, "p", 1, front p), UET_CODE(Header, "req", 2, front req, AckRequest), \
      UET_FIELD(Header, "ack_psn_offset", 16, front ack_psn_offset),                         \
      UET_FIELD(Header, "probe_opaque", 16, front probe_opaque),                             \
      UET_FIELD(Header, "cack_psn", 32, front cack_psn),                                     \
      UET_FIELD(Header, "spdcid", 16, front spdcid), UET_FIELD(Header, "dpdcid", 16, front dpdcid)

const Field<Ack> kAck[] = {
    UET_ACK_FIELDS(Ack, ),
    UET_FIELD(Ack, "epsn", 1, epsn),
    UET_FIELD(Ack, "payload", 32, expected_start_psn),
    UET_SUM(Ack, "ack_psn", ack_psn),
};

#define UET_SACK_FIELDS(Header)                                                                    \
  UET_ACK_FIELDS(Header, ack.), UET_FIELD(Header, "cc_flags", 4, cc_flags),                        \
      UET_FIELD(Header, "mpr", 8, mpr), UET_FIELD(Header, "sack_psn_offset", 16, sack_psn_offset), \
      UET_FIELD(Header, "sack_bitmap", 64, sack_bitmap), UET_SUM(Header, "ack_psn", ack.ack_psn),  \
      UET_SUM(Header, "sack_base", sack_base)

// A field of the congestion control state, which the header keeps packed.
template <class State, auto member>
void set_state(AckCc& h, uint64_t value) {
  State state = State::unpack(h.state);
  assign(state.*member, value);
  h.state = state.pack();
}

template <class State, auto member>
uint64_t state_of(const AckCc& h) {
  return value_in(State::unpack(h.state).*member);
}

template <class State, auto member>
constexpr Field<AckCc> state_field(std::string_view name, unsigned bits) {
  return {name, bits, set_state<State, member>, state_of<State, member>, nullptr, false, true};
}

const Field<AckCc> kAckCc[] = {
    UET_SACK_FIELDS(AckCc),
    UET_CODE(AckCc, "cc_type", 4, cc_type, CcType),
    UET_FIELD(AckCc, "ack_cc_state", 64, state),
    state_field<NsccState, &NsccState::service_time>("service_time", 16),
    state_field<NsccState, &NsccState::rc>("rc", 1),
    state_field<NsccState, &NsccState::rcv_cwnd_pend>("rcv_cwnd_pend", 7),
    state_field<NsccState, &NsccState::rcvd_bytes>("rcvd_bytes", 24),
    state_field<NsccState, &NsccState::ooo_count>("ooo_count", 16),
    state_field<CreditState, &CreditState::credit>("credit", 24),
};

// The last octets of a long field.
void set_low(std::span<std::byte> field, uint64_t value) {
  for (size_t i = 0; i < sizeof value; ++i) {
    field[field.size() - 1 - i] = static_cast<std::byte>(value >> (8 * i));
  }
}

uint64_t low_of(std::span<const std::byte> field) {
  uint64_t value = 0;
  for (const std::byte octet : field.last(sizeof value)) value = value << 8 | uint64_t(octet);
  return value;
}

const Field<AckCcx> kAckCcx[] = {
    UET_SACK_FIELDS(AckCcx),
    UET_FIELD(AckCcx, "ccx_type", 4, ccx_type),
    {"ack_ccx_state", 64, [](AckCcx& h, uint64_t v) { set_low(h.state, v); },
     [](const AckCcx& h) { return low_of(h.state); }},
};

#define UET_NACK_FIELDS(Header, front)                                          \
  UET_FIELD(Header, "m", 1, front m), UET_FIELD(Header, "retx", 1, front retx), \
      UET_FIELD(Header, "nt", 1, front nt),                                     \
      UET_CODE(Header, "nack_code", 8, front nack_code, NackCode),              \
      UET_FIELD(Header, "vendor_code", 8, front vendor_code),                   \
      UET_FIELD(Header, "nack_psn", 32, front nack_psn),                        \
      UET_FIELD(Header, "nack_pkt_id", 32, front nack_pkt_id),                  \
      UET_FIELD(Header, "spdcid", 16, front spdcid),                            \
      UET_FIELD(Header, "dpdcid", 16, front dpdcid),                            \
      UET_FIELD(Header, "payload", 32, front payload)

const Field<Nack> kNack[] = {UET_NACK_FIELDS(Nack, )};
const Field<NackCcx> kNackCcx[] = {
    UET_NACK_FIELDS(NackCcx, nack.),
    UET_FIELD(NackCcx, "nccx_type", 4, nccx_type),
    {"nack_ccx_state", 64, [](NackCcx& h, uint64_t v) { set_low(h.state, v); },
     [](const NackCcx& h) { return low_of(h.state); }},
};

const Field<Control> kControl[] = {
    UET_CODE(Control, "ctl_type", 4, ctl_type, CtlType),
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
    UET_SUM(Control, "start_psn", start_psn),
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
  UET_CODE(Header, "opcode", 6, common.opcode, SesOpcode),                            \
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
    UET_OTHER_NAME(MediumRequest, "memory_key", 64, match_bits),
};

// One of the two tokens, in the 64 bits that the opcode gives them.
template <bool target>
void set_token(StandardRequest& h, uint64_t value) {
  uint64_t& word = is_deferrable_send(h.common.opcode) ? h.buffer_offset : h.match_bits;
  RestartTokens tokens = RestartTokens::unpack(word);
  (target ? tokens.target : tokens.initiator) = static_cast<uint32_t>(value);
  word = tokens.pack();
}

template <bool target>
uint64_t token_of(const StandardRequest& h) {
  const auto tokens =
      RestartTokens::unpack(is_deferrable_send(h.common.opcode) ? h.buffer_offset : h.match_bits);
  return target ? tokens.target : tokens.initiator;
}

const Field<StandardRequest> kStandard[] = {
    UET_COMMON_FIELDS(StandardRequest),
    UET_FIELD(StandardRequest, "message_id", 16, message_id),
    UET_FIELD(StandardRequest, "buffer_offset", 64, buffer_offset),
    UET_FIELD(StandardRequest, "initiator", 32, initiator),
    UET_FIELD(StandardRequest, "match_bits", 64, match_bits),
    UET_OTHER_NAME(StandardRequest, "memory_key", 64, match_bits),
    UET_FIELD(StandardRequest, "header_data", 64, header_data),
    UET_FIELD(StandardRequest, "payload_length", 14, payload_length),
    UET_FIELD(StandardRequest, "message_offset", 32, message_offset),
    UET_FIELD(StandardRequest, "request_length", 32, request_length),
    {"initiator_restart_token", 32, set_token<false>, token_of<false>, nullptr, false, true},
    {"target_restart_token", 32, set_token<true>, token_of<true>, nullptr, false, true},
};

#define UET_RESPONSE_FIELDS(Header)                                          \
  UET_CODE(Header, "list", 2, common.list, ListCode),                        \
      UET_CODE(Header, "response_opcode", 6, common.opcode, ResponseOpcode), \
      UET_FIELD(Header, "ver", 2, common.ver),                               \
      UET_CODE(Header, "return_code", 6, common.return_code, ReturnCode),    \
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

#define UET_ATOMIC_FIELDS(Header, front)                                             \
  UET_CODE(Header, "atomic_opcode", 8, front atomic_opcode, AtomicOpcode),           \
      UET_CODE(Header, "atomic_datatype", 8, front atomic_datatype, AtomicDatatype), \
      UET_FIELD(Header, "sem_ctl", 8, front sem_ctl)

const Field<Atomic> kAtomic[] = {UET_ATOMIC_FIELDS(Atomic, )};
const Field<CompareSwap> kCompareSwap[] = {
    UET_ATOMIC_FIELDS(CompareSwap, atomic.),
    {"compare_value", 64, [](CompareSwap& h, uint64_t v) { set_low(h.compare_value, v); },
     [](const CompareSwap& h) { return low_of(h.compare_value); }},
    {"swap_value", 64, [](CompareSwap& h, uint64_t v) { set_low(h.swap_value, v); },
     [](const CompareSwap& h) { return low_of(h.swap_value); }},
};

// The table of a header.
#define UET_TABLE(Header, table) \
  std::span<const Field<Header>> fields_of(const Header&) { return table; }
UET_TABLE(Request, kRequest)
UET_TABLE(Ack, kAck)
UET_TABLE(AckCc, kAckCc)
UET_TABLE(AckCcx, kAckCcx)
UET_TABLE(Nack, kNack)
UET_TABLE(NackCcx, kNackCcx)
UET_TABLE(Control, kControl)
UET_TABLE(RudiRequest, kRudiRequest)
UET_TABLE(RudiResponse, kRudiResponse)
UET_TABLE(SmallRequest, kSmall)
UET_TABLE(MediumRequest, kMedium)
UET_TABLE(StandardRequest, kStandard)
UET_TABLE(Response, kResponse)
UET_TABLE(ResponseData, kResponseData)
UET_TABLE(ResponseDataSmall, kResponseDataSmall)
UET_TABLE(Rendezvous, kRendezvous)
UET_TABLE(Atomic, kAtomic)
UET_TABLE(CompareSwap, kCompareSwap)
// UUD has no field of its own.
std::span<const Field<Uud>> fields_of(const Uud&) { return {}; }

template <class Header>
std::vector<FieldView> views_of(const Header& header) {
  std::vector<FieldView> views;
  for (const Field<Header>& f : fields_of(header)) {
    FieldView& view = views.emplace_back();
    view.name = f.name;
    view.bits = f.bits;
    const uint64_t mask = f.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << f.bits) - 1;
    view.value = f.get(header) & mask;
    view.is_signed = f.is_signed;
    view.is_extra = f.is_other_name;
    view.is_sum = f.set == nullptr;
    if (f.codes != nullptr) {
      view.code_of = f.codes->value;
      view.code_text = f.codes->text;
    }
  }
  return views;
}

}  // namespace

std::vector<FieldView> fields_of(const Parts& parts, Section section) {
  const auto views = [](const auto& header) -> std::vector<FieldView> {
    if constexpr (std::is_same_v<std::decay_t<decltype(header)>, std::monostate>) {
      return {};
    } else {
      return views_of(header);
    }
  };
  switch (section) {
    case Section::pds:
      return std::visit(views, parts.pds);
    case Section::ses:
      return std::visit(views, parts.ses);
    case Section::extension:
      return std::visit(views, parts.extension);
  }
  return {};
}

void set_field(Parts& parts, Section section, std::string_view field, uint64_t value) {
  const auto set = [&](auto& header) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(header)>, std::monostate>) {
      for (const auto& f : fields_of(header)) {
        if (f.name == field && f.set != nullptr) f.set(header, value);
      }
    }
  };
  if (section == Section::pds) std::visit(set, parts.pds);
  if (section == Section::ses) std::visit(set, parts.ses);
  if (section == Section::extension) std::visit(set, parts.extension);
}

}  // namespace uet::tools
