// The table of profiles. The letters rest on few sources, the last rows on recollection: they are
// nowhere else. [SES-185, SES-186]
#include "ses/profile.h"

#include "base/assert.h"

namespace uet::ses {
namespace {

constexpr Support kNo = Support::absent;
constexpr Support kMay = Support::optional;
constexpr Support kMust = Support::mandatory;

struct Row {
  Feature feature;
  Support ai_base;
  Support ai_full;
  Support hpc;
};

constexpr Row kRows[] = {
    {Feature::rudi, kMay, kMay, kMust},         {Feature::read, kMay, kMust, kMust},
    {Feature::tagged_send, kMay, kMust, kMust}, {Feature::tag_wildcards, kNo, kNo, kMust},
    {Feature::kept_messages, kNo, kMay, kMust}, {Feature::deferral, kNo, kMust, kNo},
    {Feature::rendezvous, kMay, kMay, kMust},   {Feature::fetching_atomics, kMay, kMust, kMust},
    {Feature::send_atomics, kNo, kNo, kMay},    {Feature::mandatory, kMust, kMust, kMust},
};

constexpr bool is_in_order() {
  for (unsigned i = 0; i < sizeof kRows / sizeof kRows[0]; ++i) {
    if (static_cast<unsigned>(kRows[i].feature) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

Support support(uint8_t profiles, Feature feature) {
  const Row& row = kRows[static_cast<unsigned>(feature)];
  Support most = row.ai_base;
  if ((profiles & kAiFull) != 0 && row.ai_full > most) most = row.ai_full;
  if ((profiles & kHpc) != 0 && row.hpc > most) most = row.hpc;
  return most;
}

Feature feature_of(wire::SesOpcode opcode) {
  switch (opcode) {
    case wire::SesOpcode::read:
      return Feature::read;
    case wire::SesOpcode::fetching_atomic:
      return Feature::fetching_atomics;
    case wire::SesOpcode::tagged_send:
    case wire::SesOpcode::deferrable_tsend:  // as TAGGED_SEND at least [SES-103]
      return Feature::tagged_send;
    case wire::SesOpcode::rendezvous_send:
    case wire::SesOpcode::rendezvous_tsend:
      return Feature::rendezvous;
    case wire::SesOpcode::deferrable_rtr:
      return Feature::deferral;
    case wire::SesOpcode::tsend_atomic:
    case wire::SesOpcode::tsend_fetch_atomic:
      return Feature::send_atomics;
    case wire::SesOpcode::no_op:
    case wire::SesOpcode::write:
    case wire::SesOpcode::atomic:
    case wire::SesOpcode::send:
    case wire::SesOpcode::datagram_send:
    case wire::SesOpcode::deferrable_send:
    case wire::SesOpcode::msg_error:
    case wire::SesOpcode::extended:
      return Feature::mandatory;
  }
  return Feature::mandatory;
}

}  // namespace uet::ses
