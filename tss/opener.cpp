// The order of checks, section B7 of the reference.
#include "tss/opener.h"

#include "tss/ready.h"

#include "wire/pds_prologue.h"
#include "wire/reader.h"

namespace uet::tss {

using wire::TssHeader;

namespace {

bool is_without_pdc(std::span<const std::byte> content) {
  const auto prologue = wire::Prologue::peek(wire::Reader(content));
  if (!prologue.ok()) return false;
  const wire::PdsType type = prologue->type;
  return type == wire::PdsType::rudi_request || type == wire::PdsType::rudi_response ||
         type == wire::PdsType::uud_request;
}

// The server counts in the upper half, clients in the lower one. [TSS-044]
bool is_from_other_side(const DomainTerms& terms, uint64_t counter) {
  const bool is_servers = counter >= kServerFirstCounter;
  return terms.mode == Mode::client ? is_servers : terms.mode != Mode::server || !is_servers;
}

}  // namespace

// A packet on its way through the checks.
struct Opener::Arrived {
  std::span<std::byte> packet;
  const Route& route;
  TssHeader header{};
  SecureDomain* domain = nullptr;
  KeySlot* slot = nullptr;
  Identity source{};

  // The owner of the key. [TSS-030, TSS-031]
  const wire::IpAddress& owner() const { return route.source; }
  SourceName name() const { return {slot->serial, source}; }
};

bool Opener::is_secured(std::span<const std::byte> packet) {
  return !packet.empty() &&
         wire::load_u8(packet.data()) >> 3 == static_cast<uint8_t>(wire::PdsType::tss);
}

Result<Opened, Refusal> Opener::unseal(std::span<std::byte> packet, const Route& route,
                                       Instant now) {
  Arrived in{.packet = packet, .route = route};
  auto refused = check(in, now);
  if (!refused) refused = decrypt(in, now);
  if (!refused) refused = note(in);
  if (refused) {
    if (in.domain == nullptr) {
      domains_.count(counter_of(*refused));
    } else {
      in.domain->count(counter_of(*refused));
    }
    return *refused;
  }
  in.domain->count(Count::in_auth_pkts);  // [TSS-094]
  const size_t begin = in.header.size();
  return Opened{packet.subspan(begin, packet.size() - begin - kIcvBytes),
                {in.header.sdi, in.header.an, in.header.tsc, in.source}};
}

std::optional<Refusal> Opener::check(Arrived& in, Instant now) {
  wire::Reader r(in.packet);
  const auto header = TssHeader::parse(r);
  if (!header.ok() || r.remaining() < kIcvBytes) return Refusal::malformed;  // 1, 2 [TSS-083]
  in.header = *header;
  in.domain = domains_.find(in.header.sdi);
  if (in.domain == nullptr) return Refusal::unknown_domain;  // 3 [TSS-085]
  const DomainTerms& terms = in.domain->terms();
  in.slot = &in.domain->slot(in.header.an);
  if (!in.slot->is_live(now)) return Refusal::no_key;           // 4 [TSS-086]
  if (in.domain->is_latched()) return Refusal::latched;         // 5 [TSS-087]
  const bool has_right_form = in.header.sp == terms.use_ssi &&  // 6 [TSS-017, TSS-088]
                              is_allowed(terms.mode, in.header, in.route.source.family);
  if (!has_right_form) return Refusal::wrong_source_form;
  in.source = in.header.sp ? Identity::of(in.header.ssi) : Identity::of(in.route.source);
  if (terms.strict_direction && terms.use_ssi && !is_from_other_side(terms, in.header.counter())) {
    return Refusal::wrong_direction;
  }
  // Else a client could speak for the address of another one. [TSS-147]
  if (terms.has_clients && domains_.client_of(terms.sdi, in.route.source) != in.header.ssi) {
    return Refusal::not_a_member;
  }
  if (terms.has_members && !domains_.is_member(terms.sdi, in.source)) return Refusal::not_a_member;
  if (terms.rejects_late && is_late(in)) return Refusal::late;  // 7 [TSS-089]
  return std::nullopt;
}

// By the newest authentic epoch; without one by the epoch in the domain's configuration; without
// that no packet is late. [TSS-054, TSS-055]
bool Opener::is_late(const Arrived& in) {
  const uint16_t* const known = domains_.sources().epoch_of(in.name());
  const std::optional<uint16_t>& floor = in.slot->floor;
  const uint16_t lifetime = in.domain->terms().epoch_lifetime_max;
  const uint16_t epoch = in.header.epoch();
  if (known != nullptr && tss::is_late(*known, epoch, lifetime)) return true;
  return floor && tss::is_late(*floor, epoch, lifetime);
}

// 8: with the key that is ready, or with a draft that is kept when the packet is authentic.
// [TSS-090]
std::optional<Refusal> Opener::decrypt(Arrived& in, Instant now) {
  KeyCache& keys = domains_.keys();
  const ReadyName name = ready_name(*in.slot, in.header, in.owner());
  ReadyKey* const ready = keys.find(name, last_);
  if (ready == nullptr) {
    if (!domains_.budget().take(now)) return Refusal::throttled;
    in.domain->count(Count::key_derive);
    if (!make_draft(keys, *in.slot, name, in.header, in.owner())) return Refusal::cipher;
  }
  ReadyKey& key = ready == nullptr ? keys.draft() : *ready;
  const size_t clear_end =
      std::min<size_t>(in.header.size() + in.slot->key.clear_bytes, in.packet.size() - kIcvBytes);
  Aad aad(in.route.source, in.route.destination, in.route.transport(in.packet.size()).span());
  aad.add(in.packet.first(clear_end));  // as received: reserved bits, too
  const auto rest = in.packet.subspan(clear_end);
  const bool is_authentic =
      key.aead.unseal(nonce_of(key, in.header, in.route.source), aad.span(),
                      rest.first(rest.size() - kIcvBytes), rest.last<kIcvBytes>());
  if (!is_authentic) {
    in.domain->on_forgery(now);
    return Refusal::forged;
  }
  if (ready == nullptr) {
    last_ = &keys.keep_draft();
    domains_.budget().give_back();
  }
  return std::nullopt;
}

// Updates after an authentic packet; 9: packets without a PDC must be new. [TSS-071, TSS-091]
std::optional<Refusal> Opener::note(const Arrived& in) {
  const DomainTerms& terms = in.domain->terms();
  domains_.sources().note(in.name(), in.header.epoch());
  if (terms.is_multi_counter) return std::nullopt;
  const auto content =
      in.packet.subspan(in.header.size(), in.packet.size() - in.header.size() - kIcvBytes);
  if (!terms.checks_all_replays && !is_without_pdc(content)) return std::nullopt;
  if (domains_.sources().accept(in.name(), in.header.tsc)) return std::nullopt;
  wipe(content);
  return Refusal::replayed;
}

std::span<std::byte> Opener::peek_trimmed(std::span<const std::byte> packet, const Route& route,
                                          std::span<std::byte> out, Instant now) {
  wire::Reader r(packet);
  const auto header = TssHeader::parse(r);
  if (!header.ok()) return {};
  SecureDomain* const domain = domains_.find(header->sdi);
  if (domain == nullptr) return {};
  const KeySlot& slot = domain->slot(header->an);
  if (!slot.is_live(now) || header->sp != domain->terms().use_ssi) return {};
  ReadyKey* const key = domains_.keys().find(ready_name(slot, *header, route.source), last_);
  if (key == nullptr) return {};
  const auto rest = packet.subspan(header->size());
  const auto read = out.first(std::min(out.size(), rest.size()));
  std::copy_n(rest.begin(), read.size(), read.begin());
  const auto secret = read.subspan(std::min<size_t>(slot.key.clear_bytes, read.size()));
  const bool is_read = key->aead.decrypt_unverified(nonce_of(*key, *header, route.source), secret);
  if (read.empty() || !is_read) return {};
  domain->count(Count::in_trim_unauth);
  return read;
}

}  // namespace uet::tss
