// Congestion control as the tests of single parts see it: a fixed window, the cells of TFC where
// they are asked for, and one entropy value at a time, which stand in headers. Nothing of cms is
// linked: a call of another algorithm ends the test. The test sets what a context reports.
#include "cms/ccc.h"
#include "cms/context_entropy.h"
#include "pds/test/part.h"

namespace uet::cms {

namespace {
[[noreturn]] void not_in_use() {
  UET_ASSERT(false);
  __builtin_unreachable();
}
}  // namespace

Ccc::Ccc(const Config& config) : window_(FixedWindow(config)), pacer_(config) {
  if (config.algorithm == Algorithm::tfc) credit_.emplace<TfcSource>(config);
}
bool Ccc::wants_ack(uint32_t bytes, uint32_t) const {
  return !std::get<FixedWindow>(window_).may_send(2 * bytes);
}
Algorithm Ccc::algorithm() const { return pds::part::answers().algorithm; }
int64_t Ccc::credit_bytes() const { return pds::part::answers().credit_bytes; }
Duration Ccc::base_rtt() const { return Duration::zero(); }
bool is_granted(const GrantedCredit&, uint32_t) { not_in_use(); }

void AimdWindow::on_acked(const Acked&) { not_in_use(); }
void AimdWindow::on_lost(const Lost&) { not_in_use(); }
void AimdWindow::on_early_timeouts() { not_in_use(); }

void Nscc::on_acked(const Acked&) { not_in_use(); }
void Nscc::on_lost(const Lost&) { not_in_use(); }
void Nscc::on_early_timeouts() { not_in_use(); }
void Nscc::on_loss_refuted(uint32_t) { not_in_use(); }
void Nscc::begin_anew(Duration) { not_in_use(); }
void Nscc::note_base_rtt(Duration) { not_in_use(); }

void CreditSource::on_feedback() { not_in_use(); }
void CreditSource::on_lost(bool) { not_in_use(); }
void CreditSource::on_need(const CreditNeed&, Instant) { not_in_use(); }
void CreditSource::on_requested(Instant) { not_in_use(); }
CreditNews CreditSource::on_credit(const Credit&) { not_in_use(); }
Instant CreditSource::deadline() const { not_in_use(); }
uint32_t CreditSource::target(const CreditNeed&) { not_in_use(); }

RestingEntropy::RestingEntropy(const Config& config, uint32_t) : marks_(config.base_rtt) {}
EntropySelector::EntropySelector(const Config& config, Rng& rng)
    : rng_(rng.u64()),
      range_(config, config.entropy_values, rng_),
      walk_(range_.size(), rng_),
      spraying_(config.entropy.spraying),
      resting_(config, range_.size()) {}
Entropy EntropySelector::next(Instant, uint32_t) { not_in_use(); }
bool EntropySelector::on_feedback(Entropy, PathFeedback, Instant) { not_in_use(); }

}  // namespace uet::cms
