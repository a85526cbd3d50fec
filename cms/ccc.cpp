// Which algorithm a congestion control context uses.
#include "cms/ccc.h"

namespace uet::cms {
namespace {

std::variant<AimdWindow, FixedWindow, Nscc> make(const Config& config) {
  switch (config.algorithm) {
    case Algorithm::aimd:
      return AimdWindow(config);
    case Algorithm::fixed:
      return FixedWindow(config);
    case Algorithm::rccc:  // counts only: credit decides
      return FixedWindow(credit_window_bytes(config));
    case Algorithm::nscc:
    case Algorithm::both:
      break;
  }
  return Nscc(config);
}

}  // namespace

Ccc::Ccc(const Config& config) : window_(make(config)), pacer_(config) {
  if (config.has_credit()) credit_.emplace(config);
}

Algorithm Ccc::algorithm() const {
  if (std::holds_alternative<AimdWindow>(window_)) return Algorithm::aimd;
  if (nscc() != nullptr) return credit_ ? Algorithm::both : Algorithm::nscc;
  return credit_ ? Algorithm::rccc : Algorithm::fixed;
}

Duration Ccc::base_rtt() const {
  if (const Nscc* const nscc = this->nscc()) {
    return nscc->base_rtt() < Nscc::kUnknownRtt ? nscc->base_rtt() : Duration::zero();
  }
  const AimdWindow* const aimd = std::get_if<AimdWindow>(&window_);
  return aimd != nullptr ? aimd->shortest_rtt() : Duration::zero();
}

bool Ccc::wants_ack(uint32_t bytes, uint32_t ack_gen_trigger) const {
  if (credit_ && credit_->credit_bytes() <= int64_t{bytes}) return true;
  if (!has_window()) return false;
  if (const Nscc* const nscc = this->nscc()) return nscc->wants_ack(bytes, ack_gen_trigger);
  return !std::visit([&](const auto& a) { return a.may_send(2 * bytes); }, window_);
}

}  // namespace uet::cms
