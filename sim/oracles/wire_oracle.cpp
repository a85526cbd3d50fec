// The PSN rules, checked from outside the stack.
#include "sim/oracles/wire_oracle.h"

#include "sim/oracles/digest.h"

#include "wire/pds.h"
#include "wire/reader.h"
#include "wire/ses.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

namespace uet::sim {
namespace {

uint64_t digest_of(std::span<const std::byte> octets) {
  Digest digest;
  digest.add(octets);
  return digest.value();
}

uint64_t digest_of_payload(const TxPacket& packet, bool has_payload) {
  if (!has_payload) return packet.payload_bytes;
  Digest digest;
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    digest.add({packet.slices[i].data, packet.slices[i].length});
  }
  return digest.value();
}

constexpr Room kRoom{16, HashMap<uint32_t, uint64_t>::kCapacityMax};  // of the tables of an oracle

// The value of that key, which is `value` where it had none, and whether that was so.
template <class Key, class Value>
std::pair<Value*, bool> find_or_insert(HashMap<Key, Value>& map, const Key& key,
                                       const Value& value) {
  if (Value* const found = map.find(key)) return {found, false};
  const auto inserted = map.insert(key, value);
  UET_ASSERT(inserted.ok());
  return {*inserted, true};
}

// Digest of the octets after the PDS header, and of the payload; never 0.
uint64_t digest_of(std::span<const std::byte> rest, uint64_t payload) {
  return std::max<uint64_t>(mix(digest_of(rest), payload), 1);
}

// Return data of a source that no longer exists: a rendezvous send that is over removes it, even if
// a failed context resends packets of it. [SES-092]
bool is_gone(const wire::Request& request, wire::Reader reader) {
  if (request.next_hdr != wire::NextHeader::response_data) return false;
  const auto data = wire::ResponseData::parse(reader);
  return data.ok() && data->common.return_code == wire::ReturnCode::bad_mkey;
}

// An operation that ended before its packets were answered: its memory is not read any more, and IE
// says so. [PDS-182, SES-049]
bool is_void(wire::NextHeader next_hdr, wire::Reader reader) {
  const bool is_request = next_hdr == wire::NextHeader::standard ||
                          next_hdr == wire::NextHeader::medium ||
                          next_hdr == wire::NextHeader::small;
  if (!is_request || reader.remaining() < wire::RequestCommon::kSize) return false;
  return wire::RequestCommon::read(reader.take(wire::RequestCommon::kSize)).ie;
}

// A PSN this far from the last one sent belongs to another PDC: windows are smaller.
constexpr int32_t kElsewhere = 1 << 14;

bool takes_psn(wire::PdsType type) {
  return type == wire::PdsType::rud_request || type == wire::PdsType::rod_request ||
         type == wire::PdsType::rud_cc_request || type == wire::PdsType::rod_cc_request;
}

}  // namespace

WireOracle::WireOracle(std::unique_ptr<io::PacketIo> below, Windows windows)
    : IoLayer(std::move(below)), windows_(windows) {
  UET_ASSERT(sent_by_rudi_.create(arena_, kRoom, 2).ok() &&
             context_by_id_.create(arena_, kRoom, 3).ok());
}

void WireOracle::send(std::span<TxPacket> packets) {
  inner().send(packets);
  for (const TxPacket& packet : packets) {
    if (packet.fate != TxFate::sent) continue;
    ++packets_;
    const uint64_t payload = digest_of_payload(packet, windows_.has_payload);
    digest_ = mix(mix(digest_, digest_of({packet.header, packet.header_bytes})), payload);
    if (violation_.empty()) check(packet, payload);
  }
}

std::span<RxDatagram> WireOracle::receive() {
  const std::span<RxDatagram> datagrams = inner().receive();
  for (const RxDatagram& d : datagrams) {
    wire::Reader peek(d.bytes);
    const auto prologue = wire::Prologue::parse(peek);
    if (!prologue.ok()) continue;
    if (prologue->type == wire::PdsType::nack) note_new_start(d.bytes);
    if (wire::is_ack(prologue->type)) note_ack(d.bytes, prologue->type);
  }
  return datagrams;
}

void WireOracle::note_new_start(std::span<const std::byte> bytes) {
  wire::Reader reader(bytes);
  const auto nack = wire::Nack::parse(reader);
  if (!nack.ok() || nack->nack_code != wire::NackCode::new_start_psn) return;
  told_starts_.insert({nack->dpdcid.value(), nack->payload});
}

// [PDS-051] After NEW_START_PSN the initiator sends its packets again from the new Start_PSN. Each
// packet keeps its distance from the start, so its record moves there.
void WireOracle::move(const wire::Request& syn) {
  const uint32_t id = syn.spdcid.value();
  if (told_starts_.count({id, syn.start_psn().value()}) == 0) return;
  Context* const context = context_of(syn.spdcid);
  if (context == nullptr || context->pdc.first == syn.start_psn()) return;
  Pdc& pdc = context->pdc;
  SentPackets& sent = context->sent;
  std::vector<std::pair<int32_t, uint64_t>> moved;  // distance from the start, digest
  for (int32_t i = 0; i <= pdc.sent; ++i) {
    uint64_t* const digest = sent.find(pdc.first + i);
    if (digest == nullptr) continue;
    moved.emplace_back(i, *digest);
    *digest = 0;
  }
  // An earlier PDC with that PDCID may have got the same start: forgets its packets there.
  sent.forget_near(syn.start_psn(), kElsewhere);
  for (const auto& [i, digest] : moved) {
    const Psn psn = syn.start_psn() + i;
    if (sent.find(psn) == nullptr) sent.add(psn, digest);
  }
  pdc.first = syn.start_psn();
}

// Any contents of an ACK are possible: the stack trusts less of it, never more.
void WireOracle::note_ack(std::span<const std::byte> bytes, wire::PdsType type) {
  wire::Reader reader(bytes);
  wire::AckCc h;
  if (type == wire::PdsType::ack) {
    const auto ack = wire::Ack::parse(reader);
    if (!ack.ok()) return;
    h.ack = *ack;
    h.mpr = 0;
  } else {
    const auto ack = wire::AckCc::parse(reader);
    if (!ack.ok()) return;
    h = *ack;
  }
  Context* const known = context_of(h.ack.dpdcid);
  if (known == nullptr) return;
  Pdc& pdc = known->pdc;
  const int32_t cack = h.ack.cack_psn - pdc.first;
  // A Close Request has a PSN, but is a control packet: it may be answered before later packets
  // left.
  const int32_t newest = pdc.sent + 1;
  if (cack > newest) return;
  pdc.cack = std::max(pdc.cack, cack);
  pdc.base = std::max(pdc.base, cack + 1);
  pdc.range = std::max(pdc.range, int32_t{h.mpr} * 128);
  const auto note = [&](Psn psn) {
    const int32_t at = psn - pdc.first;
    if (at == pdc.base && at <= newest) {
      ++pdc.base;
    } else if (at > pdc.base && at <= newest) {
      pdc.answered.insert(at);
    }
  };
  if (!h.ack.p) note(h.ack.ack_psn());
  for (uint64_t left = h.sack_bitmap; left != 0; left &= left - 1) {
    note(h.sack_base() + std::countr_zero(left));
  }
  while (!pdc.answered.empty() && pdc.answered.erase(pdc.base) != 0) ++pdc.base;
}

// [PDS-035, PDS-037] A new packet is within the window of its PDC, and within the peer's range.
void WireOracle::check_windows(Pdc& pdc, bool is_new, const wire::Request& request) {
  // When all PDCIDs were used they are used again, by PDCs that begin elsewhere, or at another
  // PDCID of the receiver: secured ones begin just above the last one. [PDS-011, PDS-019, PDS-053]
  const bool begins_elsewhere = request.syn && request.start_psn() != pdc.first;
  const bool has_other_peer = !request.syn && pdc.peer != Pdcid{} && pdc.peer != request.dpdcid;
  const bool is_elsewhere = begins_elsewhere || has_other_peer ||
                            std::abs(int64_t{request.psn - pdc.first} - pdc.sent) > kElsewhere;
  if (is_new || is_elsewhere) {
    pdc = Pdc{};
    pdc.first = request.syn ? request.start_psn() : request.psn;
    pdc.range = static_cast<int32_t>(windows_.default_range);
  }
  if (!request.syn) pdc.peer = request.dpdcid;
  pdc.sent = std::max(pdc.sent, request.psn - pdc.first);
  const int32_t outstanding = pdc.sent - pdc.base + 1;
  if (outstanding > static_cast<int32_t>(windows_.packets)) {
    violation_ = "PDC " + std::to_string(request.spdcid.value()) + ": " +
                 std::to_string(outstanding) + " packets outstanding";
  } else if (pdc.sent - pdc.cack > pdc.range) {
    violation_ = "PDC " + std::to_string(request.spdcid.value()) + ": " +
                 std::to_string(pdc.sent - pdc.cack) + " PSNs beyond the cumulative ACK";
  }
}

// The first packet of another PDC with that PDCID, whose start is that of the one before: that one
// ended without a close that moves it. [PDS-050, PDS-053]
bool WireOracle::begins_again(Context& context, const wire::Request& request) const {
  return windows_.starts_repeat && request.syn && !request.retx &&
         request.psn == request.start_psn() && context.sent.find(request.psn) != nullptr;
}

// [PDS-032] a PSN names one packet; [PDS-065, PDS-146] a resend says so and carries the same
// octets.
void WireOracle::check(const TxPacket& packet, uint64_t payload) {
  const std::span<const std::byte> header(packet.header, packet.header_bytes);
  wire::Reader peek(header);
  const auto prologue = wire::Prologue::parse(peek);
  if (!prologue.ok()) return;
  if (prologue->type == wire::PdsType::rudi_request) return check_rudi(packet, payload);
  if (!takes_psn(prologue->type)) return;
  wire::Reader reader(header);
  const auto request = wire::Request::parse(reader);
  if (!request.ok()) {
    violation_ =
        std::string("sent a request that our own parser rejects: ") + wire::name(request.error());
    return;
  }
  const uint64_t content = digest_of(header.last(reader.remaining()), payload);
  if (request->syn) move(*request);
  const auto [at, is_new] =
      find_or_insert<uint32_t, Context*>(context_by_id_, request->spdcid.value(), nullptr);
  if (is_new) *at = &contexts_.emplace_back();
  Context& context = **at;
  if (begins_again(context, *request)) {
    context.sent.forget_near(request->psn, kElsewhere);
    context.pdc = Pdc{};
    context.pdc.first = request->psn;
    context.pdc.range = static_cast<int32_t>(windows_.default_range);
  }
  uint64_t* const entry = context.sent.find(request->psn);
  const bool fresh = entry == nullptr;
  if (fresh) {
    context.sent.add(request->psn, content);
    check_windows(context.pdc, is_new, *request);
  }
  const auto broken = [&](const char* what) {
    violation_ = "PDC " + std::to_string(request->spdcid.value()) + " PSN " +
                 std::to_string(request->psn.value()) + what;
  };
  if (fresh && request->retx) {
    broken(": RETX on a first transmission");
  } else if (!fresh && !request->retx) {
    broken(" used for a second packet");
  } else if (!fresh && *entry != content &&
             (is_gone(*request, reader) || is_void(request->next_hdr, reader))) {
    *entry = content;
  } else if (!fresh && *entry != content) {
    broken(": a resend with other octets");
  }
}

// [PDS-201] The same of RUDI: a pkt_id names one packet, a resend says so and carries the same.
void WireOracle::check_rudi(const TxPacket& packet, uint64_t payload) {
  const std::span<const std::byte> header(packet.header, packet.header_bytes);
  wire::Reader reader(header);
  const wire::RudiRequest request = wire::RudiRequest::read(reader);
  const uint64_t content = digest_of(header.last(reader.remaining()), payload);
  const auto [entry, fresh] = find_or_insert(sent_by_rudi_, request.pkt_id.value(), content);
  if (is_void(request.next_hdr, reader)) *entry = content;
  const char* const what = fresh == request.retx ? "RETX says the opposite"
                           : *entry != content   ? "two packets of one pkt_id"
                                                 : nullptr;
  if (what == nullptr) return;
  violation_ = "RUDI packet " + std::to_string(request.pkt_id.value()) + ": " + what;
}

}  // namespace uet::sim
