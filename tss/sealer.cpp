// Seals one packet after the other; the key of the last one is kept at hand for the next.
#include "tss/sealer.h"

#include "tss/ready.h"

namespace uet::tss {

namespace {

size_t content_bytes(const ClearPacket& packet) {
  size_t size = packet.header.size();
  for (const IoSlice& slice : packet.payload) size += slice.length;
  return size;
}

constexpr size_t kUdpBytesMax = 0xFFFF - wire::UdpHeader::kSize;

// Copies the first octets of the packet, which stay in clear; returns how many there are.
size_t copy_clear(const ClearPacket& packet, size_t wanted, std::byte* out) {
  size_t done = std::min(wanted, packet.header.size());
  if (done != 0) std::memcpy(out, packet.header.data(), done);
  for (const IoSlice& slice : packet.payload) {
    const size_t piece = std::min<size_t>(wanted - done, slice.length);
    if (piece != 0) std::memcpy(out + done, slice.data, piece);
    done += piece;
  }
  return done;
}

// The pieces of a payload without its first octets.
struct Pieces {
  std::array<IoSlice, TxBatch::kSlicesPerPacket> slices;
  size_t count = 0;
  std::span<const IoSlice> span() const { return std::span(slices).first(count); }
};

Pieces without_first(std::span<const IoSlice> payload, size_t octets) {
  Pieces rest;
  UET_ASSERT(payload.size() <= rest.slices.size());
  for (const IoSlice& slice : payload) {
    const size_t cut = std::min<size_t>(octets, slice.length);
    rest.slices[rest.count++] = {slice.data + cut, slice.length - cut};
    octets -= cut;
  }
  return rest;
}

}  // namespace

uint32_t Sealer::seal(std::span<ClearPacket> packets, Instant now) {
  uint32_t sealed = 0;
  for (ClearPacket& packet : packets) sealed += seal(packet, now) ? 1 : 0;
  return sealed;
}

bool Sealer::seal(ClearPacket& packet, Instant now) {
  packet.sealed_bytes = 0;
  packet.refusal = Refusal::count_;
  SecureDomain* const domain = domains_.find(packet.sdi);
  if (domain == nullptr) {
    packet.refusal = Refusal::unknown_domain;
    domains_.count(Count::out_errored_pkts);  // [TSS-102]
    return false;
  }
  if (const auto refused = try_seal(packet, *domain, now)) {
    packet.refusal = *refused;
    domain->count(counter_of(*refused));
    return false;
  }
  domain->count(Count::out_auth_pkts);
  return true;
}

std::optional<Refusal> Sealer::try_seal(ClearPacket& packet, SecureDomain& domain, Instant now) {
  const DomainTerms& terms = domain.terms();
  KeySlot* const slot = domain.tx_slot(now);
  if (slot == nullptr) return Refusal::no_tx_key;
  const bool is_servers = terms.mode == Mode::server && terms.use_ssi;
  std::optional<uint32_t> client = packet.client_ssi;
  if (!client && is_servers && terms.has_clients) {  // [TSS-147]
    client = domains_.client_of(terms.sdi, packet.route.destination);
  }
  if (client.has_value() != is_servers) return Refusal::wrong_client;
  wire::TssHeader header{.sp = terms.use_ssi, .an = slot->key.an, .sdi = terms.sdi};
  if (terms.use_ssi) header.ssi = client.value_or(terms.ssi);
  if (!is_allowed(terms.mode, header, packet.route.source.family)) {
    return Refusal::wrong_source_form;
  }
  const size_t total = content_bytes(packet) + seal_bytes(terms.use_ssi);
  if (total > packet.room.size() || total > kUdpBytesMax) return Refusal::too_long;
  const std::optional<uint64_t> counter = slot->secret->counter.take();
  if (!counter) return Refusal::no_counter;
  header.tsc = uint64_t{slot->epoch} << 48 | *counter;
  packet.sealed_bytes = static_cast<uint32_t>(total);
  const auto refused = write(packet, *slot, header);
  if (refused) packet.sealed_bytes = 0;
  return refused;
}

// | security header | octets in clear | encrypted | ICV |
std::optional<Refusal> Sealer::write(ClearPacket& packet, KeySlot& slot,
                                     const wire::TssHeader& header) {
  const bool is_server = slot.key.mode == Mode::server;
  const Route& route = packet.route;
  ReadyKey* const key = key_for(slot, header, is_server ? route.destination : route.source);
  if (key == nullptr) return Refusal::cipher;
  const auto out = packet.room.first(packet.sealed_bytes);
  wire::Writer w(out);
  header.emit(w);
  const size_t clear = copy_clear(packet, slot.key.clear_bytes, out.data() + header.size());
  Aad aad(route.source, route.destination, route.transport(out.size()).span());
  aad.add(out.first(header.size() + clear));

  const size_t in_header = std::min(clear, packet.header.size());
  const Nonce nonce = nonce_of(*key, header, route.source);
  const auto encrypted = out.subspan(header.size() + clear);
  const auto seal_rest = [&](std::span<const IoSlice> rest) {
    return key->aead.seal(nonce, aad.span(), packet.header.subspan(in_header), rest,
                          encrypted.first(encrypted.size() - kIcvBytes),
                          encrypted.last<kIcvBytes>());
  };
  const bool is_sealed = clear == in_header
                             ? seal_rest(packet.payload)
                             : seal_rest(without_first(packet.payload, clear - in_header).span());
  if (!is_sealed) return Refusal::cipher;
  return std::nullopt;
}

ReadyKey* Sealer::key_for(KeySlot& slot, const wire::TssHeader& header,
                          const wire::IpAddress& owner) {
  const ReadyName name = ready_name(slot, header, owner);
  ReadyKey* const known = domains_.keys().find(name, last_);
  if (known != nullptr) return known;
  if (!make_draft(domains_.keys(), slot, name, header, owner)) return nullptr;
  domains_.find(slot.key.sdi)->count(Count::key_derive);
  last_ = &domains_.keys().keep_draft();
  return last_;
}

}  // namespace uet::tss
