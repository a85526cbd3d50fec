// Installs and removes keys; with a key goes all state that belongs to it.
#include "tss/domain.h"

namespace uet::tss {

namespace {

constexpr uint64_t kPacketsPerDerivedKey = uint64_t{1} << 32;  // [TSS-051]

// The nonces of both ends of a server domain differ only by the counter. [TSS-044]
bool shares_nonces(const DomainTerms& terms) {
  return terms.use_ssi && (terms.mode == Mode::server || terms.mode == Mode::client);
}

}  // namespace

const char* problem_of(const DomainTerms& terms, wire::IpFamily family) {
  const wire::TssHeader header{.sp = terms.use_ssi};
  if (terms.sdi == 0 || terms.sdi > 0xFFFFFF) return "sdi is 1 to 16777215";
  if (!is_allowed(terms.mode, header, family)) return "IPv6 without ssi is for mode cluster";
  if (terms.shares_address && !terms.use_ssi) {
    return "processes that share an address need an ssi each";
  }
  if (terms.counter_end > kCounterMax) return "a counter has 48 bits";
  return nullptr;
}

Result<void> SecureDomain::create(const DomainTerms& terms, std::span<KeySecret, 2> secrets,
                                  KeyCache& keys, Sources& sources) {
  terms_ = terms;
  keys_ = &keys;
  sources_ = &sources;
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].secret = &secrets[i];
    if (is_derived(terms.mode)) UET_CHECK(slots_[i].kdf.create());
  }
  return {};
}

uint64_t SecureDomain::first_counter() const {
  return shares_nonces(terms_) && terms_.mode == Mode::server ? kServerFirstCounter : 0;
}

uint64_t SecureDomain::counter_end() const {
  const bool is_lower_half = shares_nonces(terms_) && terms_.mode == Mode::client;
  return is_lower_half ? std::min(terms_.counter_end, kServerFirstCounter - 1) : terms_.counter_end;
}

Result<void> SecureDomain::install(const Key& key, uint32_t serial, Instant now, Instant expires) {
  UET_ASSERT(serial != 0);
  if (key.sdi != terms_.sdi || key.mode != terms_.mode) return Errc::invalid;
  KeySlot& made = slot(key.an);
  if (made.serial != 0) return Errc::exists;
  made.secret->secret = key.secret;
  made.secret->iv_mask = key.iv_mask;
  made.secret->counter.start(std::min(first_counter(), counter_end()), counter_end());
  made.key = key;
  wipe(made.key.secret);
  wipe(made.key.iv_mask);
  made.epoch = key.epoch.value_or(0);
  made.floor = std::nullopt;
  made.installed = now;
  made.retires = Instant::never();
  made.expires = expires;
  made.serial = serial;
  if (make_ready(made)) return {};
  remove(key.an);
  return Errc::io;
}

// A master sets up its derivation; a key for direct use becomes ready at once, so that no forged
// packet can delay it.
bool SecureDomain::make_ready(KeySlot& made) {
  if (is_derived(terms_.mode)) return made.kdf.set_master(made.secret->secret);
  ReadyKey& draft = keys_->draft();
  draft.name = {.serial = made.serial};
  draft.iv_mask = made.secret->iv_mask;
  if (!draft.aead.set_key(made.secret->secret)) return false;
  keys_->keep_draft();
  return true;
}

Result<void> SecureDomain::transmit_with(bool an, Instant now) {
  KeySlot& next = slot(an);
  if (!next.is_live(now)) return Errc::not_found;
  KeySlot& before = slot(!an);
  if (has_tx_ && tx_an_ != an && before.serial != 0) {
    before.retires = std::min(before.retires, now + terms_.guard);
  }
  has_tx_ = true;
  tx_an_ = an;
  return {};
}

void SecureDomain::remove(bool an) {
  KeySlot& gone = slot(an);
  if (gone.serial == 0) return;
  keys_->forget(gone.serial);
  sources_->forget(gone.serial);
  gone.kdf.forget_master();
  wipe(std::as_writable_bytes(std::span(gone.secret, 1)));
  gone.key = {};
  gone.serial = 0;
  gone.retires = gone.expires = Instant::never();
  if (tx_an_ == an) has_tx_ = false;
}

void SecureDomain::retire_due(Instant now) {
  for (const bool an : {false, true}) {
    if (slot(an).serial != 0 && !slot(an).is_live(now)) remove(an);
  }
}

Instant SecureDomain::deadline() const {
  Instant next = Instant::never();
  for (const KeySlot& one : slots_) {
    if (one.serial != 0) next = std::min(next, one.ends());
  }
  return next;
}

void SecureDomain::grant(bool an, uint64_t from, uint64_t until) {
  if (slot(an).serial != 0) slot(an).secret->counter.grant(from, until);
}

Result<void> SecureDomain::start_epoch(bool an, uint16_t epoch) {
  KeySlot& of = slot(an);
  if (of.serial == 0) return Errc::not_found;
  if (terms_.mode == Mode::client) return Errc::invalid;
  of.epoch = epoch;
  return {};
}

Result<void> SecureDomain::advance_epoch(bool an, uint16_t epoch) {
  KeySlot& of = slot(an);
  if (of.serial == 0) return Errc::not_found;
  if (terms_.mode == Mode::client) return Errc::invalid;
  if (epoch != of.epoch && !is_newer_epoch(of.epoch, epoch)) return Errc::invalid;
  of.epoch = epoch;
  return {};
}

void SecureDomain::set_epoch_floor(bool an, std::optional<uint16_t> epoch) {
  if (slot(an).serial != 0) slot(an).floor = epoch;
}

Rotation SecureDomain::rotation_due(Instant now) const {
  if (!has_tx_) return Rotation::not_due;
  const KeySlot& of = slots_[tx_an_ ? 1 : 0];
  const TxCounter& counter = of.secret->counter;
  const uint64_t sent = counter.next() - std::min(first_counter(), counter.next());
  if (counter.is_used_up()) return Rotation::used_up;
  if (sent >= kCounterWarning) return Rotation::packets;
  const bool is_one_key = is_derived(terms_.mode) && of.key.rekey_shift > 32;
  if (is_one_key && sent >= kPacketsPerDerivedKey) return Rotation::packets;
  return now - of.installed >= terms_.lifetime ? Rotation::age : Rotation::not_due;
}

KeySlot* SecureDomain::tx_slot(Instant now) {
  KeySlot& of = slot(tx_an_);
  return has_tx_ && of.is_live(now) ? &of : nullptr;
}

// The mean of the last second: what of the second before lies within it counts in proportion.
void SecureDomain::on_forgery(Instant now) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t within = (now - forgeries_.second).ns();
  if (within >= kSecond) {
    forgeries_.before = within < 2 * kSecond ? forgeries_.now : 0;
    forgeries_.now = 0;
    forgeries_.second = forgeries_.second + Duration::nanoseconds(within / kSecond * kSecond);
    within %= kSecond;
  }
  ++forgeries_.now;
  const int64_t in_a_second =
      forgeries_.now + int64_t{forgeries_.before} * (kSecond - within) / kSecond;
  if (in_a_second <= terms_.forgeries_max) return;
  is_alarmed_ = true;
  is_latched_ = terms_.forgery_action == ForgeryAction::latch;
}

}  // namespace uet::tss
