// The table of domains, and the check of the ciphers before the first key comes.
#include "tss/domains.h"

namespace uet::tss {

namespace {

constexpr std::byte operator""_o(unsigned long long n) { return static_cast<std::byte>(n); }

// K1 of the reference, part D: the first octets of the SDK, and that a packet comes back.
bool ciphers_work() {
  constexpr std::array<std::byte, kSdkBytes> kMaster = {
      0x34_o, 0x44_o, 0x8a_o, 0x06_o, 0x42_o, 0x92_o, 0x60_o, 0x1b_o, 0x11_o, 0xa0_o, 0x97_o,
      0x8f_o, 0x56_o, 0xa2_o, 0xd3_o, 0x4c_o, 0xf3_o, 0xfc_o, 0x35_o, 0xed_o, 0xe1_o, 0xa6_o,
      0xbc_o, 0x04_o, 0xf8_o, 0xdb_o, 0x3e_o, 0x52_o, 0x43_o, 0xa2_o, 0xb0_o, 0xca_o};
  constexpr std::array<std::byte, 8> kSdkBegins = {0x15_o, 0x1b_o, 0x4d_o, 0xdb_o,
                                                   0x30_o, 0x11_o, 0x29_o, 0x71_o};
  constexpr uint32_t kClient = 0xC0A82A01;
  Key key;
  key.mode = Mode::cluster;
  const wire::TssHeader header{.tsc = 0x1DC0'74E5'0000'0023};
  Kdf kdf;
  KeyMaterial made;
  if (!kdf.create().ok() || !kdf.set_master(kMaster)) return false;
  if (!kdf.derive(key, header, wire::IpAddress::v4(kClient), made)) return false;
  if (!std::equal(kSdkBegins.begin(), kSdkBegins.end(), made.octets.begin())) return false;
  Aead aead;
  std::array<std::byte, 8> octets{};
  Icv icv;
  return aead.create().ok() && aead.set_key(made.sdk()) &&
         aead.seal(Nonce{}, kSdkBegins, kSdkBegins, {}, octets, icv) && octets != kSdkBegins &&
         aead.unseal(Nonce{}, kSdkBegins, octets, icv) && octets == kSdkBegins;
}

}  // namespace

void DerivationBudget::create(uint32_t per_second, uint32_t at_once) {
  UET_ASSERT(per_second > 0);
  per_second_ = per_second;
  room_ns_ = int64_t{1'000'000'000} * at_once / per_second;
  left_ns_ = room_ns_;
}

bool DerivationBudget::take(Instant now) {
  const int64_t cost_ns = 1'000'000'000 / per_second_;
  left_ns_ = std::min(room_ns_, left_ns_ + std::min(room_ns_, (now - filled_).ns()));
  filled_ = now;
  if (left_ns_ < cost_ns) return false;
  left_ns_ -= cost_ns;
  return true;
}

void DerivationBudget::give_back() { left_ns_ += 1'000'000'000 / per_second_; }

Result<void> Domains::create(Arena& arena, const DomainsConfig& config,
                             std::span<KeySecret> secrets, uint64_t seed) {
  if (secrets.size() < size_t{2} * config.domains) return Errc::invalid;
  if (!ciphers_work()) return Errc::unsupported;
  secrets_ = secrets;
  UET_CHECK(keys_.create(arena, config.ready_keys, seed));
  UET_CHECK(sources_.create(arena, config.sources, config.replay_packets, seed));
  UET_CHECK(domains_.create(arena, config.domains));
  UET_CHECK(by_sdi_.create(arena, config.domains, seed));
  UET_CHECK(members_.create(arena, config.members, seed));
  UET_CHECK(clients_.create(arena, config.clients, seed));
  budget_.create(config.derivations_per_second, config.derivations_at_once);
  return {};
}

Result<SecureDomain*> Domains::add(const DomainTerms& terms, wire::IpFamily family) {
  if (problem_of(terms, family) != nullptr) return Errc::invalid;
  if (by_sdi_.find(terms.sdi) != nullptr) return Errc::exists;
  SecureDomain* const made = domains_.alloc();
  if (made == nullptr) return Errc::again;
  const size_t at = size_t{2} * domains_.handle(made).index();
  const std::span<KeySecret, 2> secrets(secrets_.data() + at, 2);
  if (const auto created = made->create(terms, secrets, keys_, sources_); !created.ok()) {
    domains_.free(made);
    return created.error();
  }
  const auto inserted = by_sdi_.insert(terms.sdi, made);
  UET_ASSERT(inserted.ok());
  return made;
}

void Domains::remove(uint32_t sdi) {
  SecureDomain* const domain = find(sdi);
  if (domain == nullptr) return;
  domain->remove(false);
  domain->remove(true);
  forget(members_, sdi);
  forget(clients_, sdi);
  removed_counts_ += domain->counts();
  by_sdi_.erase(sdi);
  last_ = nullptr;
  domains_.free(domain);
}

SecureDomain* Domains::find(uint32_t sdi) {
  if (last_ != nullptr && last_->terms().sdi == sdi) return last_;
  SecureDomain* const* const found = by_sdi_.find(sdi);
  if (found != nullptr) last_ = *found;
  return found == nullptr ? nullptr : *found;
}

Result<void> Domains::install(const Key& key, Instant now, Instant expires) {
  SecureDomain* const domain = find(key.sdi);
  if (domain == nullptr) return Errc::not_found;
  domain->retire_due(now);
  UET_CHECK(domain->install(key, next_serial_, now, expires));
  ++next_serial_;
  return {};
}

Result<void> Domains::add_member(uint32_t sdi, const Identity& source) {
  const auto added = members_.insert({sdi, source}, true);
  if (!added.ok() && added.error() != Errc::exists) return added.error();
  return {};
}

bool Domains::is_member(uint32_t sdi, const Identity& source) const {
  return members_.find({sdi, source}) != nullptr;
}

Result<void> Domains::add_client(uint32_t sdi, const wire::IpAddress& address, uint32_t ssi) {
  const auto added = clients_.insert({sdi, Identity::of(address)}, ssi);
  if (!added.ok()) return added.error();
  return {};
}

std::optional<uint32_t> Domains::client_of(uint32_t sdi, const wire::IpAddress& address) const {
  const uint32_t* const found = clients_.find({sdi, Identity::of(address)});
  if (found == nullptr) return std::nullopt;
  return *found;
}

// A map may not change while one walks over it.
template <class Map>
void Domains::forget(Map& map, uint32_t sdi) {
  std::array<Member, 64> some;
  size_t count = 0;
  do {
    count = 0;
    map.for_each([&](const Member& one, auto&) {
      if (one.sdi == sdi && count < some.size()) some[count++] = one;
    });
    for (size_t i = 0; i < count; ++i) map.erase(some[i]);
  } while (count == some.size());
}

void Domains::run(Instant now) {
  domains_.for_each([now](SecureDomain& domain) { domain.retire_due(now); });
}

Counts Domains::total_counts() {
  Counts total = port_counts_;
  total += removed_counts_;
  domains_.for_each([&total](const SecureDomain& domain) { total += domain.counts(); });
  return total;
}

Instant Domains::deadline() {
  Instant next = Instant::never();
  domains_.for_each([&next](SecureDomain& d) { next = std::min(next, d.deadline()); });
  return next;
}

}  // namespace uet::tss
