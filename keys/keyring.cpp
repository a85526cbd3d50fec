// Changes of the key file become calls of tss::Domains.
#include "keys/keyring.h"

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

Keyring::Keyring(const KeyringPaths& paths, const wire::IpAddress& own, tss::Domains& domains,
                 Present present)
    : paths_(paths), own_(own), domains_(domains), marks_(paths.counters) {
  reload(present);
}

std::vector<Change> Keyring::reload(Present present) {
  KeyFile next = read_key_file(paths_.keys);
  for (const DomainEntry& entry : next.domains) {
    if (const char* problem = tss::problem_of(entry.terms, own_.family)) {
      fail_domain(paths_.keys, entry.terms.sdi, problem);
    }
  }
  const std::vector<Change> all = changes(file_, next);
  for (const Change& change : all) apply(change, next, present);
  file_ = std::move(next);
  return all;
}

void Keyring::apply(const Change& change, const KeyFile& next, Present present) {
  const DomainEntry* const entry = next.domain(change.sdi);
  switch (change.kind) {
    case ChangeKind::domain_removed:
      return domains_.remove(change.sdi);
    case ChangeKind::domain_added:
      return add_domain(*entry);
    case ChangeKind::terms_changed:
      domains_.remove(change.sdi);
      add_domain(*entry);
      for (const KeyEntry& key : entry->keys) add_key(*entry, key.key.an, present);
      return apply({ChangeKind::transmit, change.sdi, entry->transmit}, next, present);
    case ChangeKind::key_removed:
      return domains_.find(change.sdi)->remove(change.an);
    case ChangeKind::key_added:
      return add_key(*entry, change.an, present);
    case ChangeKind::transmit:
      // Errc::not_found: that key is expired. Then nothing is sent, and every try is counted.
      if (domains_.find(change.sdi)->transmit_with(change.an, present.now).ok()) {
        grant(*domains_.find(change.sdi), *entry->key(change.an));
      }
  }
}

void Keyring::add_domain(const DomainEntry& entry) {
  const auto added = domains_.add(entry.terms, own_.family);
  if (!added.ok()) fail_domain(paths_.keys, entry.terms.sdi, name(added.error()));
}

void Keyring::add_key(const DomainEntry& entry, bool an, Present present) {
  const KeyEntry& key = *entry.key(an);
  Instant expires = Instant::never();
  if (key.expires) {
    if (*key.expires <= present.unix_seconds) return;
    expires = present.now + Duration::seconds(*key.expires - present.unix_seconds);
  }
  log(key.key);
  const auto installed = domains_.install(key.key, present.now, expires);
  if (!installed.ok() && installed.error() != Errc::exists) {
    fail_domain(paths_.keys, entry.terms.sdi, name(installed.error()));
  }
}

void Keyring::run(Instant now) {
  domains_.run(now);
  for (const DomainEntry& entry : file_.domains) {
    tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
    const KeyEntry* const key = entry.key(entry.transmit);
    if (domain != nullptr && key != nullptr) grant(*domain, *key);
  }
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
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw KeyFileError(path + ": cannot be opened");
  std::string line = key_line(key) + "\n";
  const ssize_t written = write(file, line.data(), line.size());
  const bool is_whole = written == static_cast<ssize_t>(line.size());
  tss::wipe(std::as_writable_bytes(std::span(line)));
  close(file);
  if (!is_whole) throw KeyFileError(path + ": cannot be written");
}

}  // namespace uet::keys
