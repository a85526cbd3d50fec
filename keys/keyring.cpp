// Changes of the keys become calls of tss::Domains.
#include "keys/keyring.h"

#include "keys/whole_file.h"
#include "wire/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace uet::keys {

namespace {

[[noreturn]] void fail_domain(const std::string& path, uint32_t sdi, const std::string& what) {
  throw KeyFileError(path + ": domain " + std::to_string(sdi) + ": " + what);
}

}  // namespace

Keyring::Keyring(std::unique_ptr<KeySource> source, const KeyringPaths& paths,
                 const wire::IpAddress& own, tss::Domains& domains, Present present)
    : source_(std::move(source)),
      paths_(paths),
      own_(own),
      domains_(domains),
      marks_(paths.counters) {
  reload(present);
}

std::vector<Change> Keyring::reload(Present present) {
  KeyFile next = source_->read();
  for (const DomainEntry& entry : next.domains) {
    if (const char* problem = tss::problem_of(entry.terms, own_.family)) {
      fail_domain(source_->name(), entry.terms.sdi, problem);
    }
  }
  std::vector<Change> all = changes(file_, next);
  const KeyFile before = std::exchange(file_, std::move(next));
  // A failed change does not stop the others.
  std::optional<KeyFileError> first;
  for (const Change& change : all) {
    try {
      apply(change, before, present);
    } catch (const KeyFileError& error) {
      if (!first) first = error;
    }
  }
  if (first) throw *first;
  run(present.now);
  return all;
}

// Never, for a key without an end and for one that ends beyond the clock's range.
Instant Keyring::expiry_of(const KeyEntry& key, Present present) {
  constexpr int64_t kFarAway = int64_t{100} * 366 * 24 * 3600;
  if (!key.expires || *key.expires - present.unix_seconds > kFarAway) return Instant::never();
  return present.now + Duration::seconds(*key.expires - present.unix_seconds);
}

void Keyring::apply(const Change& change, const KeyFile& before, Present present) {
  const DomainEntry* const entry = file_.domain(change.sdi);
  switch (change.kind) {
    case ChangeKind::domain_removed:
      return begin_closing(*before.domain(change.sdi), present.now);
    case ChangeKind::terms_changed:
      return make_anew(*entry, present);
    case ChangeKind::domain_added:
      return add_domain(*entry);
    case ChangeKind::key_removed:
      if (auto* const domain = domains_.find(change.sdi)) domain->remove(change.an);
      return;
    case ChangeKind::key_added:
      return add_key(*entry, change.an, present);
    case ChangeKind::expiry_changed:
      return move_expiry(*entry, change.an, present);
    case ChangeKind::epochs_changed:
      return set_epochs(*entry, change.an);
    case ChangeKind::transmit:
      return transmit(*entry, present);
  }
}

// Its keys work even if a list of it has no room.
void Keyring::make_anew(const DomainEntry& entry, Present present) {
  domains_.remove(entry.terms.sdi);
  std::optional<KeyFileError> problem;
  try {
    add_domain(entry);
  } catch (const KeyFileError& error) {
    problem = error;
  }
  for (const KeyEntry& key : entry.keys) add_key(entry, key.key.an, present);
  transmit(entry, present);
  if (problem) throw *problem;
}

void Keyring::begin_closing(const DomainEntry& entry, Instant now) {
  closing_.push_back({entry, now + entry.terms.closing});
  events_.push_back({DomainEvent::Kind::closing, entry.terms.sdi, entry.terms.closing});
}

void Keyring::end_closing(const Closing& over) {
  domains_.remove(over.entry.terms.sdi);
  events_.push_back({DomainEvent::Kind::gone, over.entry.terms.sdi, {}});
}

// A key that is expired: then nothing is sent, and every try is counted.
void Keyring::transmit(const DomainEntry& entry, Present present) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  if (domain != nullptr) (void)domain->transmit_with(entry.transmit, present.now);
}

// Epochs only advance: with another key they begin anew. [TSS-052]
void Keyring::set_epochs(const DomainEntry& entry, bool an) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  if (domain == nullptr || domain->slot(an).serial == 0) return;
  const KeyEntry& key = *entry.key(an);
  domain->set_epoch_floor(an, key.epoch_floor);
  if (key.epoch && !domain->advance_epoch(an, *key.epoch).ok()) {
    fail_domain(source_->name(), entry.terms.sdi, "epoch: is older than the one in use");
  }
}

// A key that was expired is installed again.
void Keyring::move_expiry(const DomainEntry& entry, bool an, Present present) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  if (domain == nullptr) return;
  if (domain->slot(an).serial != 0) return domain->expire(an, expiry_of(*entry.key(an), present));
  add_key(entry, an, present);
  if (an == entry.transmit) transmit(entry, present);
}

// A domain that came back before its end starts again: its keys may differ.
void Keyring::add_domain(const DomainEntry& entry) {
  std::erase_if(closing_, [&](const Closing& one) {
    if (one.entry.terms.sdi != entry.terms.sdi) return false;
    end_closing(one);
    return true;
  });
  events_.push_back({DomainEvent::Kind::back, entry.terms.sdi, {}});
  const auto added = domains_.add(entry.terms, own_.family);
  if (!added.ok()) fail_domain(source_->name(), entry.terms.sdi, name(added.error()));
  for (const ClientEntry& client : entry.clients) {
    const auto known = domains_.add_client(entry.terms.sdi, client.address, client.ssi);
    if (!known.ok()) fail_domain(source_->name(), entry.terms.sdi, "clients: no room ([limits])");
  }
  for (const tss::Identity& member : entry.members) {
    const auto known = domains_.add_member(entry.terms.sdi, member);
    if (!known.ok()) fail_domain(source_->name(), entry.terms.sdi, "members: no room ([limits])");
  }
}

void Keyring::add_key(const DomainEntry& entry, bool an, Present present) {
  const KeyEntry& key = *entry.key(an);
  if (key.expires && *key.expires <= present.unix_seconds) return;
  if (domains_.find(entry.terms.sdi) == nullptr) return;  // it could not be made, which was said
  log(key.key);
  const auto installed = domains_.install(key.key, present.now, expiry_of(key, present));
  if (!installed.ok() && installed.error() != Errc::exists) {
    fail_domain(source_->name(), entry.terms.sdi, name(installed.error()));
  }
  if (installed.ok() && key.epoch) {
    (void)domains_.find(entry.terms.sdi)->start_epoch(an, *key.epoch);  // false for clients
  }
  set_epochs(entry, an);
}

void Keyring::run(Instant now) {
  domains_.run(now);
  std::erase_if(closing_, [&](const Closing& one) {
    if (now < one.until) return false;
    end_closing(one);
    return true;
  });
  for (const DomainEntry& entry : file_.domains) grant(entry);
  for (const Closing& one : closing_) grant(one.entry);
}

Instant Keyring::deadline() const {
  Instant next = domains_.deadline();
  for (const Closing& one : closing_) next = std::min(next, one.until);
  return next;
}

void Keyring::grant(const DomainEntry& entry) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  const KeyEntry* const key = entry.key(entry.transmit);
  if (domain != nullptr && key != nullptr) grant(*domain, *key);
}

void Keyring::grant(tss::SecureDomain& domain, const KeyEntry& key) {
  const tss::KeySlot& slot = domain.slot(key.key.an);
  if (slot.serial == 0) return;
  const tss::TxCounter& counter = slot.secret->counter;
  if (!counter.can_grow() || counter.left() >= tss::kCountersAhead / 2) return;
  const Reserved reserved =
      marks_.reserve(check_value(key.key), source_of(domain.terms()), counter.granted());
  domain.grant(key.key.an, reserved.from, reserved.until);
}

void Keyring::log(const tss::Key& key) const {
  if (!paths_.log.empty()) append_to_key_log(paths_.log, key);
}

// A server has one counter for all its clients.
std::string Keyring::source_of(const tss::DomainTerms& terms) const {
  if (terms.mode == tss::Mode::server) return "server";
  char name[64];
  wire::Text text(name);
  if (terms.use_ssi) {
    text.add("0x%08x", terms.ssi);
  } else {
    wire::print(text, own_);
  }
  return name;
}

Result<void> bind_jobs(const KeyFile& file, tss::JobTable& jobs) {
  jobs.set_default(tss::Policy::require);
  for (const DomainEntry& entry : file.domains) {
    if (entry.jobs.empty()) {
      if (jobs.default_domain() != 0) return Errc::exists;
      jobs.set_default(entry.policy, entry.terms.sdi);
    }
    for (const uint32_t job : entry.jobs) {
      UET_CHECK(jobs.bind(JobId(job), entry.terms.sdi, entry.policy));
    }
  }
  return {};
}

void append_to_key_log(const std::string& path, const tss::Key& key) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) throw KeyFileError(path + ": cannot be opened");
  try {
    check_secret_file(file, path);  // another user may have made it, to read along
  } catch (const KeyFileError&) {
    close(file);
    throw;
  }
  std::string line = key_line(key) + "\n";
  const ssize_t written = write(file, line.data(), line.size());
  const bool is_whole = written == static_cast<ssize_t>(line.size());
  tss::wipe(std::as_writable_bytes(std::span(line)));
  close(file);
  if (!is_whole) throw KeyFileError(path + ": cannot be written");
}

}  // namespace uet::keys
