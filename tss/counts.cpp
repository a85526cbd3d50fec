// Names of counters and refusals, and which refusal counts where. [TSS-083..091, TSS-095..104]
#include "tss/counts.h"

namespace uet::tss {

const char* name(Count c) {
  static constexpr const char* kNames[] = {
#define X(name) #name,
      UET_TSS_COUNTS(X)
#undef X
          "?"};
  return kNames[static_cast<size_t>(c)];
}

const char* name(Refusal r) {
  static constexpr const char* kNames[] = {"malformed",
                                           "unknown_domain",
                                           "no_key",
                                           "latched",
                                           "wrong_source_form",
                                           "wrong_direction",
                                           "not_a_member",
                                           "late",
                                           "throttled",
                                           "forged",
                                           "replayed",
                                           "no_tx_key",
                                           "no_counter",
                                           "wrong_client",
                                           "too_long",
                                           "cipher",
                                           "?"};
  static_assert(std::size(kNames) == static_cast<size_t>(Refusal::count_) + 1);
  return kNames[static_cast<size_t>(r)];
}

Count counter_of(Refusal r) {
  switch (r) {
    case Refusal::malformed:
    case Refusal::unknown_domain:
      return Count::in_errored_pkts;
    case Refusal::no_key:
      return Count::in_invalid_sa;
    case Refusal::latched:
    case Refusal::wrong_source_form:
    case Refusal::wrong_direction:
    case Refusal::not_a_member:
      return Count::in_invalid;
    case Refusal::late:
      return Count::in_late_pkts;
    case Refusal::throttled:
      return Count::key_derive_throttled;
    case Refusal::forged:
      return Count::in_auth_fail_pkts;
    case Refusal::replayed:
      return Count::in_replay;
    case Refusal::no_counter:
      return Count::out_invoke_fail;
    case Refusal::no_tx_key:
    case Refusal::wrong_client:
    case Refusal::too_long:
    case Refusal::cipher:
    case Refusal::count_:
      break;
  }
  return Count::out_errored_pkts;
}

}  // namespace uet::tss
