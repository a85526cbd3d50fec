// The helper's errand for a domain; see domain_errand.h.
#include "prov/uet/observe/domain_errand.h"

#include "prov/uet/api/log.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/observe/contexts.h"
#include "prov/uet/observe/counters.h"
#include "prov/uet/observe/dump.h"
#include "prov/uet/observe/status.h"

#include <vector>

namespace uet::prov {
namespace {

// Four system calls each time; an interface does not come and go faster than people notice.
constexpr Duration kLookEvery = Duration::seconds(1);
// For a thread that is stopped inside the engine.
constexpr Duration kPatience = Duration::seconds(1);

}  // namespace

DomainErrand::DomainErrand(Domain& domain, const DomainEngine& engine)
    : domain_(domain), engine_(engine), opened_(monotonic_now()), look_at_(opened_) {
  if (!domain.settings().stats) return;
  control_ = ControlSocket::open([this](std::string_view request) { return answer(request); });
  if (control_ == nullptr) {
    UET_INFO(DOMAIN, "uet_ctl cannot query this domain: no socket: %s\n",
             io::errno_text(errno).c_str());
  }
}

Instant DomainErrand::run(Instant now) {
  try {
    if (now >= look_at_) look_at_network(now);
    if (control_ != nullptr) control_->serve();
  } catch (const std::bad_alloc&) {
    // A client gets no answer, or a queue no event; there is no memory for a report.
  }
  return look_at_;
}

// The first engine's helper looks for all of them.
void DomainErrand::look_at_network(Instant now) {
  look_at_ = now + kLookEvery;
  if (engine_.index != 0) return;
  const int before = domain_.failures().get();
  // All use one interface; the socket of one may fail alone.
  int error = 0;
  for (const DomainEngine& engine : domain_.engines()) {
    if (error == 0) error = engine.progress->io().failure();
  }
  if (error != 0 && before == 0) {
    UET_WARN(DOMAIN,
             "%s: the network fails (%s): operations toward peers end in error after "
             "FI_UET_PEER_TIMEOUT unless it comes back\n",
             domain_.terms().name.c_str(), io::errno_text(error).c_str());
  } else if (error == 0 && before != 0) {
    UET_WARN(DOMAIN, "%s: the network works again\n", domain_.terms().name.c_str());
  }
  domain_.failures().set(error);
}

std::string DomainErrand::answer(std::string_view request) const {
  const std::optional<uint32_t> page = page_asked_for(request);
  if (!page && request != kStatsRequest && request != kDumpRequest) return {};
  DomainStatus status;
  ProgressEngine& progress = *engine_.progress;
  domain_.describe(engine_, status);
  if (page) return contexts_text(status, *take_contexts(progress, *page));
  if (request == kDumpRequest) return dump_text(status, *take_dump(progress));
  status.open = monotonic_now() - opened_;
  const std::vector<fi_uet_counter> counters = read_counters(progress, kPatience);
  return status_text(status, counters);
}

}  // namespace uet::prov
