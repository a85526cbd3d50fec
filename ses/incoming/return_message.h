// The record of one answer to a READ on its way back, which is a separate request to PDS.
// ReadAnswers owns these records. [SES-074]
#pragma once

#include "ses/memory/memory_region.h"
#include "ses/resources.h"

#include "base/serial.h"

#include <cstdint>

namespace uet::ses {

struct ReturnMessage {
  RegionId region;
  uint64_t region_offset = 0;
  uint32_t message_offset = 0;
  uint32_t modified_length = 0;
  uint16_t length = 0;
  bool is_pulled = false;
  bool is_unreadable = false;  // the system could not read the region's memory
  bool is_too_long = false;    // for the route to the peer [LF-141]
  bool is_unsure = false;      // its data was sent before that, and may have arrived
  bool is_counted = false;     // in the quota of its peer
  bool holds_peer = false;     // has a reference on it
  bool is_small = false;       // answers a small or medium request, named by PSN
  MessageId id;
  MessageId read_id;
  PeerId peer;
  JobId job;
  Psn psn;
  FetchBuffer* fetched = nullptr;  // the octets, instead of memory of the region
  uint32_t exposed = 0;            // rendezvous: handle of the Exposure that is read
  uint16_t attempt = 0;            // of reading it

  bool has_data() const { return !is_unreadable && !is_too_long; }
};

}  // namespace uet::ses
