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
    case Algorithm::tfc:  // the same
      return FixedWindow(uint64_t{tfc_first_cells(config)} * config.tfc.cell_bytes);
    case Algorithm::nscc:
    case Algorithm::both:
      break;
  }
  return Nscc(config);
}

// Little is left after a packet of that size.
bool is_nearly_spent(const GrantedCredit& credit, uint32_t bytes) {
  if (const auto* const cells = std::get_if<TfcSource>(&credit)) return !cells->may_send(bytes, 2);
  return std::get_if<CreditSource>(&credit)->credit_bytes() <= int64_t{bytes};
}

}  // namespace

bool is_granted(const GrantedCredit& credit, uint32_t bytes) {
  if (const auto* const cells = std::get_if<TfcSource>(&credit)) return cells->may_send(bytes);
  const auto* const source = std::get_if<CreditSource>(&credit);
  return source != nullptr && source->may_send();
}

Ccc::Ccc(const Config& config) : window_(make(config)), pacer_(config) {
  if (config.has_credit()) credit_.emplace<CreditSource>(config);
  if (config.algorithm == Algorithm::tfc) credit_.emplace<TfcSource>(config);
}

Algorithm Ccc::algorithm() const {
  if (std::holds_alternative<AimdWindow>(window_)) return Algorithm::aimd;
  if (nscc() != nullptr) return has_credit() ? Algorithm::both : Algorithm::nscc;
  if (std::holds_alternative<TfcSource>(credit_)) return Algorithm::tfc;
  return has_credit() ? Algorithm::rccc : Algorithm::fixed;
}

int64_t Ccc::credit_bytes() const {
  if (const auto* const cells = std::get_if<TfcSource>(&credit_)) return cells->free_bytes();
  const auto* const source = std::get_if<CreditSource>(&credit_);
  return source != nullptr ? source->credit_bytes() : 0;
}

Duration Ccc::base_rtt() const {
  if (const Nscc* const nscc = this->nscc()) {
    return nscc->base_rtt() < Nscc::kUnknownRtt ? nscc->base_rtt() : Duration::zero();
  }
  const AimdWindow* const aimd = std::get_if<AimdWindow>(&window_);
  return aimd != nullptr ? aimd->shortest_rtt() : Duration::zero();
}

bool Ccc::wants_ack(uint32_t bytes, uint32_t ack_gen_trigger) const {
  if (credit_.index() != 0 && is_nearly_spent(credit_, bytes)) return true;
  if (pacer_.is_sparse()) return true;  // the next one leaves a round trip later, or several
  if (!has_window()) return false;
  if (const Nscc* const nscc = this->nscc()) return nscc->wants_ack(bytes, ack_gen_trigger);
  return !std::visit([&](const auto& a) { return a.may_send(2 * bytes); }, window_);
}

}  // namespace uet::cms
