// A key for each period: installed in the second half of the one before, used in its own.
#include "sim/secured_host.h"

#include "base/assert.h"

#include <algorithm>
#include <utility>

namespace uet::sim {

SecuredHost::SecuredHost(const FabricAddress& address, uint64_t counter, uint64_t seed,
                         std::function<Instant()> now, uint32_t peers)
    : secrets_(2), now_(std::move(now)), counter_(counter) {
  tss::DomainsConfig config;
  config.domains = 1;
  config.ready_keys = peers;
  config.sources = peers;
  config.members = 1;
  tss::DomainTerms terms;
  terms.sdi = kSdi;
  terms.guard = kPeriod / 4;
  const wire::IpAddress own = wire::IpAddress::of(address);
  const bool is_made = domains_.create(arena_, config, secrets_, seed).ok() &&
                       domains_.add(terms, own.family).ok() && jobs_.create(arena_, 1, seed).ok();
  UET_ASSERT(is_made);
  jobs_.set_default(tss::Policy::require, kSdi);
}

std::unique_ptr<io::PacketIo> SecuredHost::around(std::unique_ptr<io::PacketIo> card,
                                                  uint64_t cut_dscps) {
  io::SealedIo::Terms terms;
  terms.cut_dscps = cut_dscps;
  terms.clock = now_;
  terms.tend = [this](Instant now) { return tend(now); };
  return std::make_unique<io::SealedIo>(std::move(card), domains_, std::move(terms));
}

void SecuredHost::install(uint64_t number, Instant now) {
  tss::Key key;
  key.sdi = kSdi;
  key.an = number % 2 == 1;
  key.mode = tss::Mode::cluster;
  for (size_t i = 0; i < sizeof number; ++i) {
    key.secret[i] = static_cast<std::byte>(number >> 8 * i & 0xFF);
  }
  domains_.find(kSdi)->remove(key.an);
  const auto installed = domains_.install(key, now);
  UET_ASSERT(installed.ok());
  newest_ = number;
}

Instant SecuredHost::tend(Instant now) {
  domains_.run(now);
  const auto number = static_cast<uint64_t>(now.ns() / kPeriod.ns());
  const bool is_late = now.ns() % kPeriod.ns() >= kPeriod.ns() / 2;
  if (newest_ < number) install(number, now);
  if (transmits_ != number) {
    const auto begun = domains_.find(kSdi)->transmit_with(number % 2 == 1, now);
    UET_ASSERT(begun.ok());
    transmits_ = number;
  }
  if (is_late && newest_ == number) install(number + 1, now);
  tss::TxCounter& counter = domains_.find(kSdi)->slot(number % 2 == 1).secret->counter;
  if (counter.left() < kGrant / 2) {
    const uint64_t from = std::max(counter_, counter.granted());
    domains_.find(kSdi)->grant(number % 2 == 1, from, from + kGrant);
    counter_ = from + kGrant;
  }
  // No deadline: keys are replaced very often here, and a host that waits for minutes would do
  // nothing else.
  return Instant::never();
}

}  // namespace uet::sim
