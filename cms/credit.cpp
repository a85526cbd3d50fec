// The demands of one source.
#include "cms/credit.h"

#include <algorithm>

namespace uet::cms {

namespace {
constexpr uint64_t kLimitUnitsMax = uint64_t{1} << 22;  // half of what 24 bits tell apart [CMS-118]
}

CreditDemands::CreditDemands(uint64_t limit_bytes)
    : limit_units_(
          static_cast<uint32_t>(std::min(limit_bytes / kCreditUnitBytes, kLimitUnitsMax))) {}

// That context, or the place of one that wants nothing; null: all of them want something.
CreditDemands::Context* CreditDemands::context_of(const CreditDemand& e) {
  Context* spare = nullptr;
  for (Context& c : contexts_) {
    if (c.is_known && c.ccc_id == e.ccc_id) return &c;
    if (c.backlog() == 0) spare = &c;
  }
  if (spare == nullptr) return nullptr;
  // A source that is far ahead was granted that before we lost its state. [CMS-119]
  const bool is_lost = e.target > 2 * limit_units_;
  const uint32_t granted = is_lost ? e.target - limit_units_ : 0;
  *spare = {granted, granted, e.ccc_id, true};
  return spare;
}

bool CreditDemands::on_request(const CreditDemand& e) {
  Context* const c = context_of(e);
  if (c == nullptr) return false;
  const int32_t ahead = credit_ahead(e.target, c->target);
  if (ahead <= 0) return true;  // heard before, or overtaken
  const uint32_t room = limit_units_ - backlog_units();
  const uint32_t taken = std::min(static_cast<uint32_t>(ahead), room);
  c->target += taken;
  return taken == static_cast<uint32_t>(ahead);
}

uint32_t CreditDemands::backlog_units() const {
  uint32_t sum = 0;
  for (const Context& c : contexts_) sum += c.backlog();
  return sum;
}

uint32_t CreditDemands::backlog_units(uint8_t ccc_id) const {
  for (const Context& c : contexts_) {
    if (c.is_known && c.ccc_id == ccc_id) return c.backlog();
  }
  return 0;
}

}  // namespace uet::cms
