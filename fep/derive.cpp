// Members of a Config that follow from others; see derive.h.
#include "fep/derive.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::fep {

namespace {
// Limits of the specification's profile. [SES-108, SES-135, decision 4]
void count_tries(ses::Config& c) {
  constexpr uint32_t kTries = 5;
  if (c.retry_limit == 0) c.retry_limit = kTries;
  c.retry_time_cap = c.retry_time_max * (int64_t{1} << kTries);  // it says nothing of a cap
  c.partial_message_time = Duration::seconds(5);
}
}  // namespace

void meet_refprov(Config& config) {
  pds::meet_refprov(config.pds);
  config.ses.disable_index = true;  // it gives a context up after five NACKs
}

void derive(Config& config) {
  constexpr uint32_t kHeaderBytes = 128;  // SES header with any extension
  constexpr uint32_t kPathBytes = 148;    // IP, UDP, PDS and SES headers, and the nominal 40
  config.pds.payload_mtu = config.ses.payload_mtu;
  config.pds.reorder_packet_bytes = wire::kPayloadMtuMax + kHeaderBytes;  // whatever peers choose
  config.cms.mtu_bytes = config.ses.payload_mtu + kPathBytes;
  config.pds.rto_max = std::max(config.pds.rto_max, config.pds.rto_init);
  // A peer that was not asked is not silent.
  config.pds.quiet_time = std::min(config.pds.quiet_time, config.pds.peer_timeout / 2);
  config.ses.idle_time = config.pds.idle_time;
  // With TFC each ACK carries credit. [CMS-146]
  const bool has_cells = config.cms.algorithm == cms::Algorithm::tfc;
  if (has_cells && config.pds.ack_form == pds::AckForm::by_need) {
    config.pds.ack_form = pds::AckForm::cc;
  }
  if (config.pressure_percent != 0) {
    config.cms.pressure_high_bytes = config.ses.unexpected_bytes;
    config.cms.pressure_low_bytes = config.ses.unexpected_bytes / 100 * config.pressure_percent;
  }
  // Refusals end on the same clock as silence. [decision 4]
  if (config.pds.patience == pds::Patience::time) {
    config.ses.partial_message_time = config.pds.peer_timeout;
    config.ses.retry_patience = config.pds.peer_timeout;
  } else {
    count_tries(config.ses);
  }
}

}  // namespace uet::fep
