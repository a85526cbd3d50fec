// The part of fi_info that stays with an endpoint, and the settings that follow from it.
// [LF-041..046, LF-067, LF-089, LF-092]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/settings/settings.h"

#include "ses/types.h"

#include <cstddef>
#include <cstdint>

namespace uet::prov {

class Domain;

// Entries of a queue for which the user asked for `asked`; 0: the default. [LF-076]
uint32_t endpoint_queue_size(size_t asked);

// The endpoint's own traffic class, else the domain's.
uint32_t class_of(const struct fi_info& info);
// Receivers would take data of that class for packets that a switch has trimmed. [CMS-177]
bool is_of_trimmed(const Settings& settings, uint32_t tclass);

struct EndpointAttributes {
  EndpointAttributes(const Domain& domain, const struct fi_info& info);

  // FI_UET_MODE wins; fi_getinfo refused the orders that it cannot keep. [SES-026, SES-028, LF-089]
  pds::Mode delivery_mode() const {
    if (datagram) return pds::Mode::uud;
    if (mode == ModeChoice::rod) return pds::Mode::rod;
    return ordered ? pds::Mode::rod : pds::Mode::rud;
  }

  uint64_t caps;
  uint32_t tx_size;
  uint32_t rx_size;
  size_t message_bytes_max;  // [LF-073, LF-072]
  uint32_t addr_format;
  TrafficClass tc;
  uint64_t tag_format;  // kTagMpi, kTagCcl or bits
  ModeChoice mode;      // FI_UET_MODE
  bool ordered;
  bool datagram;  // UUD [LF-044, LF-072]
  bool shares;    // opened with FI_SHARED_CONTEXT
};

}  // namespace uet::prov
