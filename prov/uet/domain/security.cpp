// Keys of a domain: read at the start, looked after while packets move.
#include "prov/uet/domain/security.h"

#include "prov/uet/api/log.h"
#include "prov/uet/settings/usual_paths.h"

#include "io/host/system_random.h"
#include "io/seal/sealed_io.h"
#include "io/socket.h"
#include "keys/agent_source.h"
#include "keys/keyring.h"
#include "keys/secret_memory.h"

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace uet::prov {

namespace {

constexpr uint32_t kBindings = 4096;  // of jobs to domains

Instant coarse_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return Instant::from_ns(int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

keys::Present present(Instant now) { return {now, static_cast<int64_t>(::time(nullptr))}; }

// The program may change its folder.
std::string whole(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}
std::string path_or(const std::string& given, const char* usual) {
  return given.empty() ? usual : whole(given);
}

const char* word_of(TssChoice choice) { return choice == TssChoice::agent ? "agent" : "file"; }

// Throws KeyFileError: the agent does not answer.
std::unique_ptr<keys::KeySource> make_source(const Settings& settings) {
  if (settings.tss == TssChoice::agent) {
    return std::make_unique<keys::AgentSource>(path_or(settings.tss_agent, kUsualAgentSocket));
  }
  return std::make_unique<keys::FileSource>(path_or(settings.tss_keys, kUsualKeyFile));
}

class KeptKeys final : public Security, public std::enable_shared_from_this<KeptKeys> {
 public:
  // Throws KeyFileError.
  void start(const Settings& settings, const FabricAddress& local);
  std::unique_ptr<io::PacketIo> around(std::unique_ptr<io::PacketIo> backend) override;

 private:
  void check() const;
  void report_counters(const io::CounterSink& sink) const;
  void reload(Instant now);
  void follow_domains();
  std::span<const io::DomainNews> take_news();
  void look_after(const keys::DomainEntry& entry, Instant now);
  Instant tend(Instant now);

  struct Counts {
    uint64_t reloads = 0, reload_failures = 0, domains_closed = 0;
  };

  std::optional<keys::SecretMemory> secrets_;
  Arena arena_;
  tss::Domains domains_;
  std::optional<keys::Keyring> ring_;
  const char* word_ = "";  // of FI_UET_TSS
  uint64_t cut_dscps_ = 0;
  Instant look_at_ = Instant::zero();
  Instant reload_at_ = Instant::never();  // until it succeeds
  std::string failure_;                   // of the last look at keys and counters; said once
  std::vector<uint32_t> closing_;         // domains
  std::vector<io::DomainNews> news_, told_;
  Counts counts_;
  bool is_rotation_told_ = false;
};

void KeptKeys::start(const Settings& settings, const FabricAddress& local) {
  std::unique_ptr<keys::KeySource> source = make_source(settings);
  limits_ = source->read().limits;
  const size_t secrets = 2 * size_t{limits_.domains};
  secrets_.emplace(secrets * sizeof(tss::KeySecret));
  const auto made = domains_.create(arena_, limits_, secrets_->as<tss::KeySecret>(secrets),
                                    io::SystemRandom().u64());
  if (!made.ok()) {
    throw keys::KeyFileError(made.error() == Errc::no_memory
                                 ? "no memory or addresses for keys (ulimit -v, -d or -l)"
                                 : "the cipher library cannot be used");
  }
  if (!jobs_.create(arena_, kBindings, io::SystemRandom().u64()).ok()) {
    throw keys::KeyFileError("no memory for jobs");
  }
  cut_dscps_ = settings.cut_dscps();
  word_ = word_of(settings.tss);
  ring_.emplace(std::move(source),
                keys::KeyringPaths{path_or(settings.tss_counters, kUsualCounterFile),
                                   whole(settings.tss_keylog)},
                wire::IpAddress::of(local), domains_, present(coarse_now()));
  check();
  for (const keys::DomainEntry& entry : ring_->file().domains) {
    seal_bytes_ = std::max(seal_bytes_, tss::seal_bytes(entry.terms.use_ssi));
  }
  if (!keys::bind_jobs(ring_->file(), jobs_).ok()) {
    throw keys::KeyFileError(
        ring_->source().name() +
        ": two domains without jobs, a job with two policies, or too many jobs");
  }
}

// Key files that the provider cannot serve. Throws KeyFileError.
void KeptKeys::check() const {
  for (const keys::DomainEntry& entry : ring_->file().domains) {
    const bool is_servers = entry.terms.mode == tss::Mode::server && entry.terms.use_ssi;
    if (is_servers && !entry.terms.has_clients) {
      throw keys::KeyFileError(ring_->source().name() + ": domain " +
                               std::to_string(entry.terms.sdi) +
                               ": mode server with an ssi needs the field clients");
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
  terms.news = [self = shared_from_this()] { return self->take_news(); };
  terms.counters = [self = shared_from_this()](const io::CounterSink& sink) {
    self->report_counters(sink);
  };
  return std::make_unique<io::SealedIo>(std::move(backend), domains_, std::move(terms));
}

// Wrong keys change nothing: the old ones stay in use.
void KeptKeys::reload(Instant now) {
  ++counts_.reload_failures;  // if it throws
  const size_t count = ring_->reload(present(now)).size();
  UET_INFO(DOMAIN, "%s was read again: %zu changes\n", ring_->source().name().c_str(), count);
  is_rotation_told_ = false;
  check();
  --counts_.reload_failures;
  ++counts_.reloads;
}

void KeptKeys::report_counters(const io::CounterSink& sink) const {
  sink("tss_key_reloads", counts_.reloads);
  sink("tss_key_reload_failures", counts_.reload_failures);
  sink("tss_key_agent_lost", ring_->source().losses());
  sink("tss_domains_closed", counts_.domains_closed);
}

// Domains that are taken out of use: posts and requests are refused from now on, and each call of
// the engine closes more of their connections. [TSS-146]
void KeptKeys::follow_domains() {
  using Kind = keys::DomainEvent::Kind;
  for (const keys::DomainEvent& event : ring_->take_events()) {
    switch (event.kind) {
      case Kind::closing:
        jobs_.close(event.sdi);
        closing_.push_back(event.sdi);
        UET_WARN(DOMAIN, "domain %u was taken out of %s: it closes within %lld s\n", event.sdi,
                 ring_->source().name().c_str(), static_cast<long long>(event.left.ms() / 1000));
        break;
      case Kind::gone:
        std::erase(closing_, event.sdi);
        news_.push_back({event.sdi, true});
        ++counts_.domains_closed;
        break;
      case Kind::back:
        jobs_.reopen(event.sdi);
        break;
    }
  }
}

std::span<const io::DomainNews> KeptKeys::take_news() {
  told_ = std::exchange(news_, {});
  for (const uint32_t sdi : closing_) told_.push_back({sdi, false});
  return told_;
}

// Warnings for an operator: at most one line a second about forged packets. [TSS-051, TSS-107]
void KeptKeys::look_after(const keys::DomainEntry& entry, Instant now) {
  tss::SecureDomain* const domain = domains_.find(entry.terms.sdi);
  if (domain == nullptr) return;
  if (domain->is_alarmed()) {
    UET_WARN(DOMAIN,
             "secure domain %u: more than %u forged packets in a second (forgeries_max); %s\n",
             entry.terms.sdi, entry.terms.forgeries_max,
             domain->is_latched()
                 ? "the domain drops all packets until it is opened again, because forgery_action "
                   "is latch: find the sender"
                 : "find the sender: `uet_ctl stats` counts them as tss_in_auth_fail_pkts");
    if (!domain->is_latched()) domain->reset_alarm();
  }
  if (is_rotation_told_ || domain->rotation_due(now) == tss::Rotation::not_due) return;
  is_rotation_told_ = true;
  UET_WARN(DOMAIN, "secure domain %u: its key is due for replacement (uet_keys roll)\n",
           entry.terms.sdi);
}

Instant KeptKeys::tend(Instant now) {
  constexpr Duration kLookEvery = Duration::seconds(1);
  constexpr Duration kTryAgainEvery = Duration::seconds(1);
  try {
    if (ring_->has_news(now)) reload_at_ = now;
    if (reload_at_ <= now) {
      reload_at_ = now + kTryAgainEvery;
      reload(now);
      reload_at_ = Instant::never();
    }
    ring_->run(now);
    if (reload_at_ == Instant::never()) failure_.clear();
  } catch (const keys::KeyFileError& error) {
    if (failure_ != error.what()) UET_WARN(DOMAIN, "FI_UET_TSS=%s: %s\n", word_, error.what());
    failure_ = error.what();
  }
  follow_domains();
  if (now >= look_at_) {
    for (const keys::DomainEntry& entry : ring_->file().domains) look_after(entry, now);
    look_at_ = now + kLookEvery;
  }
  return ring_->deadline();
}

}  // namespace

std::shared_ptr<Security> Security::open(const Settings& settings, const FabricAddress& local) {
  auto made = std::make_shared<KeptKeys>();
  try {
    made->start(settings, local);
  } catch (const keys::KeyFileError& error) {
    UET_WARN(DOMAIN, "FI_UET_TSS=%s: %s (docs/howto/keys.md)\n", word_of(settings.tss),
             error.what());
    return nullptr;
  }
  if (!settings.tss_keylog.empty()) {
    UET_WARN(DOMAIN,
             "FI_UET_TSS_KEYLOG=%s: anybody who can read this file can decrypt all packets\n",
             settings.tss_keylog.c_str());
  }
  return made;
}

}  // namespace uet::prov
