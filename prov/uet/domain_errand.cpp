// The helper's errand for a domain; see domain_errand.h.
#include "prov/uet/domain_errand.h"

#include "prov/uet/counters.h"
#include "prov/uet/domain.h"
#include "prov/uet/log.h"
#include "prov/uet/params.h"
#include "prov/uet/status.h"

#include <vector>

namespace uet::prov {

DomainErrand::DomainErrand(const Domain& domain, ProgressEngine& engine)
    : domain_(domain), engine_(engine), opened_(monotonic_now()) {
  if (!params().stats) return;
  control_ = ControlSocket::open([this] { return answer(); });
  if (control_ == nullptr) {
    UET_INFO(DOMAIN, "no socket for uet_ctl: %s\n", io::errno_text(errno).c_str());
  }
}

Instant DomainErrand::run(Instant) {
  try {
    if (control_ != nullptr) control_->serve();
  } catch (const std::bad_alloc&) {
    // That client gets no answer.
  }
  return Instant::never();
}

std::string DomainErrand::answer() const {
  DomainStatus status;
  domain_.describe(status);
  status.open = monotonic_now() - opened_;
  const std::vector<fi_uet_counter> counters = read_counters(engine_);
  return status_text(status, counters);
}

}  // namespace uet::prov
