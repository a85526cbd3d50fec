// The whole-packet decoder: one method per layer, outermost first.
#include "wire/packet.h"

#include <cstring>

namespace uet::wire {

namespace {

class Decoder {
 public:
  Decoder(std::span<const std::byte> octets, const DecodeOptions& options)
      : options_(options), r_(octets) {}

  DecodedPacket run() {
    switch (options_.start) {
      case Start::ethernet:
        ethernet();
        break;
      case Start::ip:
        ip();
        break;
      case Start::uet:
        uet();
        break;
      case Start::pds_after_tss:
        pds(true);
        break;
    }
    return out_;
  }

 private:
  void reject(ParseError cause) {
    if (out_.outcome == Outcome::reject) return;
    out_.outcome = Outcome::reject;
    out_.error = cause;
  }
  void truncated(const char* header, size_t need, size_t have) {
    if (out_.outcome != Outcome::reject) {
      out_.shortfall = {header, static_cast<uint32_t>(need), static_cast<uint32_t>(have)};
    }
    reject(ParseError::truncated);
  }
  // Later enumerators say more and win.
  void tolerate(Tolerance why) {
    if (why > out_.tolerance) out_.tolerance = why;
    if (out_.outcome == Outcome::accept) out_.outcome = Outcome::tolerate;
  }
  void judge(Checked verdict) {
    if (!verdict.ok()) reject(verdict.error());
  }

  // Whether `need` octets are left for the header.
  bool have(const char* header, size_t need) {
    if (r_.remaining() >= need) return true;
    truncated(header, need, r_.remaining());
    return false;
  }

  // Reads a header that is known to be there. A field that emit() would write differently is
  // reserved.
  template <class Header>
  Header take() {
    const Reader start = r_;
    const Header h = Header::read(r_);
    const size_t size = r_.position() - start.position();
    std::byte again[64];
    Writer w(again);
    h.emit(w);
    UET_ASSERT(w.position() == size);
    if (std::memcmp(again, start.peek(size), size) != 0) tolerate(Tolerance::reserved_bits);
    return h;
  }

  // The same for headers whose size is always kSize.
  template <class Header, class Into>
  const Header* take(const char* header, Into& into) {
    if (!have(header, Header::kSize)) return nullptr;
    return &into.template emplace<Header>(take<Header>());
  }

  void ethernet();
  void ip();
  void ipv4();
  void ipv6();
  void udp_or_native(uint8_t protocol, size_t addresses_at);
  bool udp();
  bool crc(size_t addresses_at);
  void uet();
  void tss();
  void pds(bool inside_tss);
  void request(PdsType type);
  void ack(PdsType type);
  void control();
  void ses(NextHeader next_hdr);
  void standard();
  void atomic(bool possible);
  void operands();
  void rest_is_payload();
  void rest_is_surplus();

  DecodeOptions options_;
  Reader r_;
  std::span<const std::byte> ip_;  // from the IP header to the end of its payload
  DecodedPacket out_;
};

void Decoder::ethernet() {
  const size_t size = r_.remaining();
  auto parsed = EthernetHeader::parse(r_);
  if (!parsed.ok()) {  // each tag that is there asks for four octets more
    const size_t untagged = EthernetHeader::kSizeUntagged;
    const size_t tags = size < untagged ? 0 : (size - untagged) / EthernetHeader::kTagBytes + 1;
    return truncated("ethernet", untagged + EthernetHeader::kTagBytes * tags, size);
  }
  out_.ethernet = *parsed;
  const bool is_ip =
      parsed->ethertype == EthernetHeader::kIpv4 || parsed->ethertype == EthernetHeader::kIpv6;
  if (!is_ip) return reject(ParseError::wrong_type);
  ip();
}

void Decoder::ip() {
  if (!have("ip", 1)) return;
  switch (load_u8(r_.peek(1)) >> 4) {
    case 4:
      return ipv4();
    case 6:
      return ipv6();
    default:
      return reject(ParseError::wrong_type);
  }
}

void Decoder::ipv4() {
  if (!have("ipv4", Ipv4Header::kSize)) return;
  const std::span<const std::byte> frame = r_.rest();
  const Ipv4Header h = Ipv4Header::read(r_);
  out_.ip = h;
  const auto checked = h.check();
  if (!checked.ok()) return reject(checked.error());
  if (checksum_finish(checksum_add(frame.first(Ipv4Header::kSize))) != 0) {
    return reject(ParseError::ipv4_checksum);
  }
  out_.trimmed = h.dscp == options_.dscp_trimmed || h.dscp == options_.dscp_trimmed_lasthop;
  size_t length = h.total_length;
  if (length > frame.size()) {
    if (!out_.trimmed) return truncated("ip_payload", length, frame.size());
    length = frame.size();  // the switch did not rewrite it [WIRE-021]
  }
  if (length < Ipv4Header::kSize) return truncated("ip_payload", Ipv4Header::kSize, length);
  ip_ = frame.first(length);
  r_ = Reader(ip_.subspan(Ipv4Header::kSize));
  udp_or_native(h.protocol, 12);
}

void Decoder::ipv6() {
  if (!have("ipv6", Ipv6Header::kSize)) return;
  const std::span<const std::byte> frame = r_.rest();
  const Ipv6Header h = Ipv6Header::read(r_);
  out_.ip = h;
  out_.trimmed = h.dscp == options_.dscp_trimmed || h.dscp == options_.dscp_trimmed_lasthop;
  size_t length = Ipv6Header::kSize + size_t{h.payload_length};
  if (length > frame.size()) {
    if (!out_.trimmed) return truncated("ip_payload", length, frame.size());
    length = frame.size();
  }
  ip_ = frame.first(length);
  r_ = Reader(ip_.subspan(Ipv6Header::kSize));
  const auto extensions = Ipv6Extensions::skip(r_, h.next_header);
  if (!extensions.ok()) {
    if (extensions.error() != ParseError::truncated) return reject(extensions.error());
    const size_t left = r_.remaining();  // from the header that is short
    return truncated("ipv6_extension", left < 8 ? 8 : 8 + 8 * size_t{load_u8(r_.peek(2) + 1)},
                     left);
  }
  out_.ipv6_extensions = *extensions;
  udp_or_native(extensions->protocol, 8);
}

void Decoder::udp_or_native(uint8_t protocol, size_t addresses_at) {
  if (protocol == kIpProtocolUdp) {
    if (!udp()) return;
  } else if (protocol == options_.native_protocol) {
    if (!have("entropy", EntropyHeader::kSize)) return;
    out_.entropy = take<EntropyHeader>();
  } else {
    return reject(ParseError::wrong_type);
  }
  if (options_.trailer == Trailer::crc && !out_.trimmed && !crc(addresses_at)) return;
  uet();
}

// The UDP header, and the reader cut to its length. [WIRE-021, WIRE-024, WIRE-118]
bool Decoder::udp() {
  if (!have("udp", UdpHeader::kSize)) return false;
  const std::span<const std::byte> datagram = r_.rest();
  const UdpHeader h = take<UdpHeader>();
  out_.udp = h;
  if (options_.udp_port != 0 && h.dport != options_.udp_port) {
    reject(ParseError::wrong_type);
    return false;
  }
  if (out_.trimmed) return true;
  if (h.length < UdpHeader::kSize || h.length > datagram.size()) {
    reject(ParseError::udp_length);
    return false;
  }
  const auto within = datagram.first(h.length);
  const auto* v4 = std::get_if<Ipv4Header>(&out_.ip);
  const auto* v6 = std::get_if<Ipv6Header>(&out_.ip);
  const bool right = v4 != nullptr ? udp_checksum_is_right(v4->src, v4->dst, within)
                                   : udp_checksum_is_right(v6->src, v6->dst, within);
  if (!right) {
    reject(ParseError::udp_checksum);
    return false;
  }
  ip_ = ip_.first(static_cast<size_t>(within.data() - ip_.data()) + h.length);
  r_ = Reader(within.subspan(UdpHeader::kSize));
  return true;
}

// Takes the trailer off and verifies it. [WIRE-091, WIRE-092]
bool Decoder::crc(size_t addresses_at) {
  if (!have("crc", CrcTrailer::kSize)) return false;
  const auto covered = ip_.subspan(addresses_at, ip_.size() - addresses_at - CrcTrailer::kSize);
  Reader tail(ip_.last(CrcTrailer::kSize));
  out_.crc = CrcFound{CrcTrailer::read(tail), static_cast<uint32_t>(addresses_at),
                      static_cast<uint32_t>(covered.size())};
  r_ = Reader(r_.rest().first(r_.remaining() - CrcTrailer::kSize));
  if (crc32c(covered) == out_.crc->trailer.value) return true;
  reject(ParseError::crc);
  return false;
}

void Decoder::uet() {
  if (!have("pds_prologue", 1)) {
    out_.shortfall.need = Prologue::kSize;
    return;
  }
  if (load_u8(r_.peek(1)) >> 3 == static_cast<uint8_t>(PdsType::tss)) return tss();
  if (options_.start == Start::uet && options_.trailer == Trailer::crc) {
    if (!have("crc", CrcTrailer::kSize)) return;
    const auto all = r_.rest();
    Reader tail(all.last(CrcTrailer::kSize));
    out_.crc = CrcFound{CrcTrailer::read(tail), 0, 0};
    r_ = Reader(all.first(all.size() - CrcTrailer::kSize));
  }
  pds(false);
}

void Decoder::tss() {
  if (!have("tss", TssHeader::kSize)) return;
  if (!have("tss", TssHeader::size_of(load_u8(r_.peek(1))))) return;
  out_.tss = take<TssHeader>();
  const auto sealed = r_.rest();
  if (out_.trimmed) {
    out_.ciphertext = sealed;
    return;
  }
  if (!have("icv", TssHeader::kIcvBytes)) return;
  out_.ciphertext = sealed.first(sealed.size() - TssHeader::kIcvBytes);
  out_.icv = sealed.last(TssHeader::kIcvBytes);
}

void Decoder::pds(bool inside_tss) {
  if (!have("pds_prologue", Prologue::kSize)) return;
  const Prologue prologue = Prologue::of(load_u16(r_.peek(Prologue::kSize)));
  if (is_reserved(prologue.type)) return reject(ParseError::pds_type_reserved);
  switch (prologue.type) {
    case PdsType::rud_request:
    case PdsType::rod_request:
    case PdsType::rud_cc_request:
    case PdsType::rod_cc_request:
      request(prologue.type);
      break;
    case PdsType::ack:
    case PdsType::ack_cc:
    case PdsType::ack_ccx:
      ack(prologue.type);
      break;
    case PdsType::control:
      control();
      break;
    case PdsType::nack:
      take<Nack>("NACK", out_.pds);
      break;
    case PdsType::nack_ccx:
      take<NackCcx>("NACK_CCX", out_.pds);
      break;
    case PdsType::rudi_request:
      if (const auto* h = take<RudiRequest>("RUDI_REQ", out_.pds)) judge(h->check());
      break;
    case PdsType::rudi_response:
      if (const auto* h = take<RudiResponse>("RUDI_RESP", out_.pds)) judge(h->check());
      break;
    case PdsType::uud_request:
      if (const auto* h = take<Uud>("UUD_REQ", out_.pds)) judge(h->check());
      break;
    case PdsType::tss:
      return reject(inside_tss ? ParseError::tss_inside_tss : ParseError::wrong_type);
  }
  if (std::holds_alternative<std::monostate>(out_.pds)) return;
  out_.prologue = prologue;
  if (out_.trimmed) return;
  if (is_nack(prologue.type) || prologue.type == PdsType::control) return rest_is_surplus();
  ses(prologue.next_hdr());
}

void Decoder::request(PdsType type) {
  const size_t size = is_request_with_cc(type) ? Request::kSizeCc : Request::kSize;
  if (!have(name(type), size)) return;
  const Request h = take<Request>();
  out_.pds = h;
  judge(h.check());
}

void Decoder::ack(PdsType type) {
  if (type == PdsType::ack_cc) {
    const auto* h = take<AckCc>("ACK_CC", out_.pds);
    if (h == nullptr) return;
    if (h->cc_type > CcType::credit) tolerate(Tolerance::reserved_code);
    return judge(h->check());
  }
  if (type == PdsType::ack_ccx) {
    if (const auto* h = take<AckCcx>("ACK_CCX", out_.pds)) judge(h->check());
    return;
  }
  if (!have("ACK", Ack::kSize)) return;
  const size_t size = Ack::size_of(Prologue::of(load_u16(r_.peek(Prologue::kSize))));
  if (!have("ACK", size)) return;
  const Ack h = take<Ack>();
  out_.pds = h;
  if (h.epsn && !h.has_expected_psn()) tolerate(Tolerance::reserved_bits);
  judge(h.check());
}

void Decoder::control() {
  const auto* h = take<Control>("CP", out_.pds);
  if (h == nullptr) return;
  if (h->ctl_type > CtlType::negotiation) tolerate(Tolerance::reserved_code);
  judge(h->check());
}

void Decoder::ses(NextHeader next_hdr) {
  switch (next_hdr) {
    case NextHeader::none:
      return rest_is_surplus();
    case NextHeader::small:
      if (const auto* h = take<SmallRequest>("ses_small", out_.ses)) {
        judge(h->check());
        atomic(has_atomic_extension(h->common.opcode));
      }
      return;
    case NextHeader::medium:
      if (const auto* h = take<MediumRequest>("ses_medium", out_.ses)) {
        judge(h->check());
        atomic(has_atomic_extension(h->common.opcode));
      }
      return;
    case NextHeader::standard:
      return standard();
    case NextHeader::response:
      if (const auto* h = take<Response>("ses_resp", out_.ses)) {
        judge(h->check());
        rest_is_surplus();
      }
      return;
    case NextHeader::response_data:
      if (const auto* h = take<ResponseData>("ses_resp_data", out_.ses)) {
        judge(h->check());
        judge(h->check_sum(r_.remaining()));
        rest_is_payload();
      }
      return;
    case NextHeader::response_data_small:
      if (const auto* h = take<ResponseDataSmall>("ses_resp_data_small", out_.ses)) {
        judge(h->check());
        judge(h->check_sum(r_.remaining()));
        rest_is_payload();
      }
      return;
  }
  // Reserved: the check of the PDS header has said so. [WIRE-116]
}

void Decoder::standard() {
  const auto* h = take<StandardRequest>("ses_standard", out_.ses);
  if (h == nullptr) return;
  judge(h->check());
  if (has_rendezvous_extension(h->common.opcode)) {
    if (take<Rendezvous>("ext_rendezvous", out_.extension) != nullptr) operands();
    return;
  }
  atomic(has_atomic_extension(h->common.opcode));
}

// The atomic or compare-and-swap extension, if there is one, and the payload. [WIRE-088]
void Decoder::atomic(bool possible) {
  if (!possible) return operands();
  const auto opcode = Atomic::peek_opcode(r_);
  const bool swap = opcode.ok() && is_compare_swap(*opcode);
  const bool taken = swap ? take<CompareSwap>("ext_compare_swap", out_.extension) != nullptr
                          : take<Atomic>("ext_atomic", out_.extension) != nullptr;
  if (taken) operands();
}

// The payload of a request. [WIRE-073, WIRE-119]
void Decoder::operands() {
  const bool swap = std::holds_alternative<CompareSwap>(out_.extension);
  if (const auto* h = std::get_if<StandardRequest>(&out_.ses)) {
    judge(h->check_sum(r_.remaining() + (swap ? CompareSwap::kPayloadBytes : 0)));
  }
  rest_is_payload();
}

void Decoder::rest_is_payload() {
  out_.payload = r_.rest();
  if (r_.remaining() > kPayloadBytesMax) reject(ParseError::payload_length_limit);
}

void Decoder::rest_is_surplus() {
  out_.surplus = r_.rest();
  const auto* cp = std::get_if<Control>(&out_.pds);
  const bool negotiation = cp != nullptr && cp->ctl_type == CtlType::negotiation &&
                           out_.surplus.size() == Control::kNegotiationSurplus;
  if (!out_.surplus.empty() && !negotiation) tolerate(Tolerance::surplus_bytes);
}

}  // namespace

const char* name(Outcome o) {
  switch (o) {
    case Outcome::accept:
      return "accept";
    case Outcome::tolerate:
      return "tolerate";
    case Outcome::reject:
      return "reject";
  }
  return "reserved";
}

const char* name(Tolerance t) {
  switch (t) {
    case Tolerance::none:
      return "none";
    case Tolerance::reserved_bits:
      return "reserved_bits";
    case Tolerance::reserved_code:
      return "reserved_code";
    case Tolerance::surplus_bytes:
      return "surplus_bytes";
  }
  return "reserved";
}

DecodedPacket decode(std::span<const std::byte> octets, const DecodeOptions& options) {
  return Decoder(octets, options).run();
}

}  // namespace uet::wire
