// Keys of a domain: read at the start, looked after while packets move.
#include "prov/uet/domain/security.h"

#include "prov/uet/api/log.h"

#include "io/sealed_io.h"
#include "io/socket.h"
#include "io/system_random.h"
#include "keys/file_watch.h"
#include "keys/keyring.h"
#include "keys/secret_memory.h"

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace uet::prov {

namespace {

constexpr uint32_t kBindings = 4096;  // of jobs to domains

Instant coarse_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return Instant::from_ns(int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

keys::Present present(Instant now) { return {now, static_cast<int64_t>(::time(nullptr))}; }

class KeptKeys final : public Security, public std::enable_shared_from_this<KeptKeys> {
 public:
  KeptKeys() : secrets_(2 * size_t{tss::DomainsConfig{}.domains} * sizeof(tss::KeySecret)) {}

  // Throws KeyFileError.
  void start(const Settings& settings, const FabricAddress& local);
  std::unique_ptr<io::PacketIo> around(std::unique_ptr<io::PacketIo> backend) override;

 private:
  void check() const;
  void reload(Instant now);
  void look_after(const keys::DomainEntry& entry, Instant now);
  Instant tend(Instant now);

  keys::SecretMemory secrets_;
  Arena arena_;
  tss::Domains domains_;
  std::optional<keys::Keyring> ring_;
  std::optional<keys::FileWatch> watch_;
  std::string path_;
  uint64_t cut_dscps_ = 0;
  Instant look_at_ = Instant::zero();
  Instant reload_at_ = Instant::never();  // until it succeeds
  bool has_failed_ = false;               // the last look at the files; said once
  bool is_rotation_told_ = false;
};

void KeptKeys::start(const Settings& settings, const FabricAddress& local) {
  const auto domains = 2 * tss::DomainsConfig{}.domains;
  const auto made = domains_.create(arena_, tss::DomainsConfig{},
                                    secrets_.as<tss::KeySecret>(domains), io::SystemRandom().u64());
  if (!made.ok()) {
    throw keys::KeyFileError(made.error() == Errc::no_memory
                                 ? "no memory or addresses for keys (ulimit -v, -d or -l)"
                                 : "the cipher library cannot be used");
  }
  if (!jobs_.create(arena_, kBindings, io::SystemRandom().u64()).ok()) {
    throw keys::KeyFileError("no memory for jobs");
  }
  cut_dscps_ = settings.cut_dscps();
  // The program may change its folder.
  const auto whole = [](const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path).string();
  };
  path_ = settings.tss_keys.empty() ? "/etc/uet/keys.toml" : whole(settings.tss_keys);
  const std::string counters =
      settings.tss_counters.empty() ? "/etc/uet/counters" : whole(settings.tss_counters);
  watch_.emplace(path_);
  ring_.emplace(keys::KeyringPaths{path_, counters, whole(settings.tss_keylog)},
                wire::IpAddress::of(local), domains_, present(coarse_now()));
  check();
  for (const keys::DomainEntry& entry : ring_->file().domains) {
    seal_bytes_ = std::max(seal_bytes_, tss::seal_bytes(entry.terms.use_ssi));
  }
  if (!keys::bind_jobs(ring_->file(), jobs_).ok()) {
    throw keys::KeyFileError(
        path_ + ": two domains without jobs, a job with two policies, or too many jobs");
  }
}

// What the provider cannot serve. Throws KeyFileError.
void KeptKeys::check() const {
  for (const keys::DomainEntry& entry : ring_->file().domains) {
    if (entry.terms.mode == tss::Mode::server && entry.terms.use_ssi) {
      throw keys::KeyFileError(path_ + ": domain " + std::to_string(entry.terms.sdi) +
                               ": mode server with an ssi is not supported by the provider");
    }
  }
}

std::unique_ptr<io::PacketIo> KeptKeys::around(std::unique_ptr<io::PacketIo> backend) {
  io::SealedIo::Terms terms;
  terms.refuses_clear = !jobs_.clear_may_pass();
  // Room for the longest seal: a reload may give a domain an SSI.
  terms.seal_bytes = tss::kSealBytesMax;
  terms.cut_dscps = cut_dscps_;
  terms.clock = coarse_now;
  terms.tend = [self = shared_from_this()](Instant now) { return self->tend(now); };
  return std::make_unique<io::SealedIo>(std::move(backend), domains_, std::move(terms));
}

// A key file that is wrong changes nothing: the keys of before stay in use.
void KeptKeys::reload(Instant now) {
  const size_t count = ring_->reload(present(now)).size();
  UET_INFO(DOMAIN, "%s was read again: %zu changes\n", path_.c_str(), count);
  is_rotation_told_ = false;
  check();
}

// What an operator must know, once: at most a line a second about forged packets. [TSS-051,
// TSS-107]
void KeptKeys::look_after(const keys::DomainEntry& entry, Instant now) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  if (domain == nullptr) return;
  if (domain->is_alarmed()) {
    UET_WARN(DOMAIN, "domain %u: more than %u forged packets in a second%s\n", entry.terms.sdi,
             entry.terms.forgeries_max,
             domain->is_latched() ? "; it takes no packets any more" : "");
    if (!domain->is_latched()) domain->reset_alarm();
  }
  if (is_rotation_told_ || domain->rotation_due(now) == tss::Rotation::not_due) return;
  is_rotation_told_ = true;
  UET_WARN(DOMAIN, "domain %u: its key should be replaced (uet_keys roll)\n", entry.terms.sdi);
}

Instant KeptKeys::tend(Instant now) {
  constexpr Duration kLookEvery = Duration::seconds(1);
  constexpr Duration kTryAgainEvery = Duration::seconds(1);
  try {
    if (watch_->has_changed()) reload_at_ = now;
    if (reload_at_ <= now) {
      reload_at_ = now + kTryAgainEvery;
      reload(now);
      reload_at_ = Instant::never();
    }
    ring_->run(now);
    if (reload_at_ == Instant::never()) has_failed_ = false;
  } catch (const keys::KeyFileError& error) {
    if (!has_failed_) UET_WARN(DOMAIN, "FI_UET_TSS=file: %s\n", error.what());
    has_failed_ = true;
  }
  if (now >= look_at_) {
    for (const keys::DomainEntry& entry : ring_->file().domains) look_after(entry, now);
    look_at_ = now + kLookEvery;
  }
  return domains_.deadline();
}

}  // namespace

std::shared_ptr<Security> Security::open(const Settings& settings, const FabricAddress& local) {
  auto made = std::make_shared<KeptKeys>();
  try {
    made->start(settings, local);
  } catch (const keys::KeyFileError& error) {
    UET_WARN(DOMAIN, "FI_UET_TSS=file: %s (docs/howto/keys.md)\n", error.what());
    return nullptr;
  }
  if (!settings.tss_keylog.empty()) {
    UET_WARN(DOMAIN, "FI_UET_TSS_KEYLOG=%s: who reads this file can read all packets\n",
             settings.tss_keylog.c_str());
  }
  return made;
}

}  // namespace uet::prov
